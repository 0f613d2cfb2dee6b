package installpage

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/install"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// Download is a download of a build by somebody.
type Download struct {
	Build *distribution.Build
	// Actor is who downloads; a visitor of an open page who is not signed in has no UserID
	// and the name Anonymous.
	Actor    account.Actor
	BuildURL string    // of the build's install page
	Referer  string    // of the request
	Via      string    // ViaPage, v1 or v3
	Now      time.Time // of an install through a page
	// Channel is how the build is fetched, API by default; Device on what, "" is not known.
	Channel install.Channel
	Device  string
}

// ViaPage is the Via of a download through a landing page, which keeps to the page's limits.
const ViaPage = "page"

// Anonymous is the name of an Actor that nobody knows.
const Anonymous = "visitor"

// downloadEvent are the own members of the event download.
type downloadEvent struct {
	TesterEmail string `json:"testerEmail"`
	IPAddress   string `json:"ipAddress"`
	BuildURL    string `json:"buildUrl"`
	Referer     string `json:"referer"`
}

// countDownload returns the address of who downloads; "" when nobody knows.
const countDownload = `
update builds set downloads = downloads + 1 where id = $1
returning coalesce((select email from users where id = $2), '')`

// RecordDownload counts one download and writes what follows from it, in one
// transaction. A build that was deleted meanwhile counts nothing, which is no error.
// *ClosedError when the page lets no more through; then nothing may be committed.
func RecordDownload(ctx context.Context, tx *storage.Tx, d Download) error {
	var emails []string
	err := tx.SelectContext(ctx, &emails, countDownload, d.Build.ID, d.Actor.UserID)
	if err != nil || len(emails) == 0 {
		return storage.Wrap(err, "count download")
	}
	if d.Via == ViaPage {
		if err := landing.CountInstall(ctx, tx, d.Build.ProjectID, d.Build.ID, d.Now); err != nil {
			return err
		}
	}
	err = install.Record(ctx, tx, []install.Seen{{OrganizationID: d.Build.OrganizationID, BuildID: d.Build.ID, UserID: d.Actor.UserID,
		Channel: cmp.Or(d.Channel, install.API), Device: d.Device}})
	if err != nil {
		return err
	}
	if emails[0] != "" {
		d.Actor.Name = emails[0]
	}
	if err := d.audit(ctx, tx, emails[0]); err != nil {
		return err
	}
	if d.Actor.UserID != 0 {
		if err := tester.MarkInvite(ctx, tx, d.Build.ID, d.Actor.UserID, tester.Installed); err != nil {
			return err
		}
	}
	return webhook.Emit(ctx, tx, webhook.Event{OrganizationID: d.Build.OrganizationID, Action: webhook.Download,
		ProjectID: d.Build.ProjectID, BuildID: d.Build.ID, Data: downloadEvent{TesterEmail: emails[0],
			IPAddress: d.Actor.IPAddress, BuildURL: d.BuildURL, Referer: storage.Cut(d.Referer, maxReferer)}})
}

// downloaded is what the audit row of a download contains; the members are those that
// version 1 of the interface shows.
type downloaded struct {
	ProjectID   int64  `json:"projectId"`
	BuildID     int64  `json:"buildId"`
	AppName     string `json:"appName"`
	AppVersion  string `json:"appVersion"` // with the version code in parentheses: 1.0 (10)
	TesterEmail string `json:"testerEmail"`
	FileSize    int64  `json:"filesize"`
	Via         string `json:"via"`
}

func (d *Download) audit(ctx context.Context, tx *storage.Tx, email string) error {
	b := d.Build
	version := b.Version
	if b.VersionCode != "" {
		version = strings.TrimSpace(version + " (" + b.VersionCode + ")")
	}
	actor := d.Actor
	if actor.Name == "" {
		actor.Name = Anonymous
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: b.OrganizationID, Type: account.BuildDownloaded, Actor: actor,
		Subject: fmt.Sprintf("build %d", b.ID), Detail: downloaded{ProjectID: b.ProjectID, BuildID: b.ID, AppName: b.AppName,
			AppVersion: version, TesterEmail: email, FileSize: b.File.Size, Via: d.Via}})
}

// maxReferer bounds the referer of a download in characters, as a URL.
const maxReferer = 2048
