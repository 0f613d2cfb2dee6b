package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/slipway-qa/slipway/api"
	apiaccount "github.com/slipway-qa/slipway/api/account"
	"github.com/slipway-qa/slipway/api/auth"
	apidistribution "github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/upload"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/note"
	"github.com/slipway-qa/slipway/worker"
	workbuild "github.com/slipway-qa/slipway/worker/build"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	workmail "github.com/slipway-qa/slipway/worker/mail"
)

// addBuilds adds the rooms of accounts, builds and install pages.
func (p *parts) addBuilds(rooms *api.Rooms, keys *account.Issuer, authenticator *auth.Authenticator, fast *dispatch.Fast) (err error) {
	rooms.Accounts, err = apiaccount.New(apiaccount.Config{DB: p.db, Keys: keys, Guard: p.guard, SigningKey: []byte(p.s.SigningKey)})
	if err != nil {
		return err
	}
	links := link.New(p.s.PublicURL)
	views := apidistribution.NewViews(links, p.s.Vendor)
	rooms.Builds = apidistribution.New(apidistribution.Config{DB: p.db, Objects: p.objects, Links: links, Vendor: p.s.Vendor, Log: p.log})
	rooms.Uploads, err = upload.New(upload.Config{Auth: authenticator, DB: p.db, Objects: p.objects, Links: links, Vendor: p.s.Vendor,
		BuildView: func(b *distribution.Build) any { return views.BuildView(b) }, Fast: fast, MaxBytes: p.s.MaxUploadBytes, Log: p.log})
	if err != nil {
		return err
	}
	rooms.Pages, err = install.New(install.Config{DB: p.db, Objects: p.objects, Links: links, PublicURL: p.s.PublicURL, Log: p.log})
	return err
}

// addBuildWork adds the handlers of builds and mail.
func (p *parts) addBuildWork(handlers map[string]worker.Handler) error {
	transport, err := p.s.mailTransport()
	if err != nil {
		return err
	}
	maintenance, err := workbuild.NewMaintenance(p.db, days(p.s.MailDays), workbuild.Step{Name: "bearer_tokens",
		Run: func(ctx context.Context, limit int) (int64, error) {
			return account.ForgetBearers(ctx, p.db, time.Now(), limit)
		}})
	if err != nil {
		return err
	}
	crashes := &workcrash.BuildCrashes{Store: p.crashes, Objects: p.objects, Log: p.log}
	for kind, handler := range map[string]worker.Handler{
		tasks.BuildNotify.Name:      &workbuild.Notify{DB: p.db, Links: link.New(p.s.PublicURL), NotesHTML: note.HTML},
		tasks.BuildSync.Name:        &workbuild.Sync{DB: p.db, Objects: p.objects, Guard: p.guard, Key: []byte(p.s.SigningKey)},
		tasks.BuildDelete.Name:      &workbuild.Delete{Crashes: crashes, Objects: p.objects, Log: p.log},
		tasks.ProjectDelete.Name:    &workbuild.DeleteProject{DB: p.db, Crashes: crashes, Objects: p.objects, Log: p.log},
		tasks.BuildMaintenance.Name: maintenance,
		tasks.MailSend.Name:         &workmail.Send{DB: p.db, Transport: transport},
	} {
		handlers[kind] = handler
	}
	return nil
}

// unnamedFiles is for the sweep.
func (p *parts) unnamedFiles(ctx context.Context, keys []string) ([]string, error) {
	return distribution.UnnamedObjects(ctx, p.db, keys)
}

// mailTransport is the way that mail goes: a server, or none.
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
		// An address of numbers has a form of its own in mail, which many servers
		// refuse.
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
