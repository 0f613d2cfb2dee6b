package tier

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	workmail "github.com/slipway-qa/slipway/worker/mail"
)

// mailTransport returns the mail server of the settings with so many connections at
// most, or a transport that keeps mail.
func mailTransport(s *setting.Settings, connections int) (workmail.Transport, error) {
	if s.SMTPURL == "" {
		return workmail.Keep{}, nil
	}
	server, err := workmail.ParseSMTP(string(s.SMTPURL))
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_SMTP_URL: %w", err)
	}
	transport, err := workmail.NewSMTP(workmail.SMTPConfig{Server: server, From: mailFrom(s), Connections: connections})
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_MAIL_FROM: %w", err)
	}
	return transport, nil
}

// mailFrom is the sender of mail.
func mailFrom(s *setting.Settings) string {
	if s.MailFrom != "" {
		return s.MailFrom
	}
	host := "localhost"
	// An IP address needs a special form in mail, which many servers refuse.
	if u, err := url.Parse(s.PublicURL); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
		host = u.Hostname()
	}
	return "Slipway <slipway@" + host + ">"
}

// urgentConnections are kept apart for mail that somebody waits for.
const urgentConnections = 2

// mailSenders returns the handlers of mail:send and mail:urgent.
func (s *Services) mailSenders() (mails, urgent *workmail.Send, err error) {
	connections := s.Settings.MailConnections
	transport, err := mailTransport(s.Settings, connections)
	if err != nil {
		return nil, nil, err
	}
	apart, err := mailTransport(s.Settings, urgentConnections)
	if err != nil {
		return nil, nil, err
	}
	folder := s.Settings.MailJournal
	if folder == "" {
		// Of each user of the machine apart: no other can write to it.
		folder = filepath.Join(os.TempDir(), fmt.Sprintf("slipway-mail-%d", os.Geteuid()))
	}
	journal, err := workmail.OpenJournal(folder, s.Log)
	if err != nil {
		return nil, nil, fmt.Errorf("SLIPWAY_MAIL_JOURNAL: %w", err)
	}
	icons := workmail.NewIcons(s.Objects)
	mails = &workmail.Send{DB: s.DB, Transport: transport, Journal: journal, Icons: icons, Rate: s.Settings.MailRate,
		Parallel: connections, Log: s.Log}
	urgent = &workmail.Send{DB: s.DB, Transport: apart, Journal: journal, Icons: icons, Urgent: true, Log: s.Log}
	return mails, urgent, nil
}
