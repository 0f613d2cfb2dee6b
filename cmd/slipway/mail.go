package main

import (
	"fmt"
	"net"
	"net/url"

	workmail "github.com/slipway-qa/slipway/worker/mail"
)

// mailTransport returns the mail server of the settings, or a transport that keeps
// mail.
func (s *settings) mailTransport() (workmail.Transport, error) {
	if s.SMTPURL == "" {
		return workmail.Keep{}, nil
	}
	server, err := workmail.ParseSMTP(string(s.SMTPURL))
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_SMTP_URL: %w", err)
	}
	from := s.MailFrom
	if from == "" {
		host := "localhost"
		// An IP address needs a special form in mail, which many servers refuse.
		if u, err := url.Parse(s.PublicURL); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
			host = u.Hostname()
		}
		from = "Slipway <slipway@" + host + ">"
	}
	transport, err := workmail.NewSMTP(workmail.SMTPConfig{Server: server, From: from})
	if err != nil {
		return nil, fmt.Errorf("SLIPWAY_MAIL_FROM: %w", err)
	}
	return transport, nil
}
