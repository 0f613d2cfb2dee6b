// Package build does the slow work of builds: it mails testers about a new one
// (build:notify), copies its file to the organization's own storage
// (build:sync), removes what belongs to deleted builds and projects
// (build:delete, project:delete), and deletes rows that have expired
// (build:maintenance).
//
// Long work is done in steps. A step is one transaction that checks the claim; its
// progress is stored in the task, and an attempt that follows a killed one
// continues from there. Every step may be repeated without harm: a mail has a
// dedupe key, a removed row is not removed again, a copied file has the same name
// each time.
//
// Stored objects are deleted after the commit that removes their rows, and a copy
// is sent before the commit that records it: a kill in between leaves an object
// that object:sweep finds, or a copy that is sent again.
//
// A connection is an address that somebody else chose, so every byte to it goes
// through the guard of package outbound. Its secret appears in no result, no
// error and no log line; neither does the response of its server, except the
// status.
package build

import (
	"context"
	"errors"
	"fmt"
	"html/template"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	"github.com/slipway-qa/slipway/worker"
)

// Notify is the handler of build:notify: it stores the new-build mail to each
// tester, with the task that sends it.
type Notify struct {
	DB    *storage.DB
	Links link.Links
	// NotesHTML converts release notes to safe HTML; nil shows them as text.
	NotesHTML func(notes string) template.HTML
}

// NotifyResult is the task's result. Reason is why there is no mail, when the build
// must not be installed any more.
type NotifyResult struct {
	Mails int `json:"mails"`
	// Skipped is the number of people whose address is invalid.
	Skipped int    `json:"skipped,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// After is the last person of the steps so far, while the task runs.
	After int64 `json:"after,omitempty"`
}

// notifyStep mails are stored by one transaction: two short statements for each,
// some 100 ms.
const notifyStep = 500

const reasonDeleted = "the build was deleted"

// Handle stores the mails.
func (n *Notify) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.BuildNotifyPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var sum NotifyResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	for {
		// Read again for each step: when the build is disabled meanwhile, nobody
		// else gets a mail.
		b, err := distribution.BuildByID(ctx, n.DB, claim.OrganizationID(), 0, payload.BuildID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			sum.Reason = reasonDeleted
		case err != nil:
			return err
		default:
			sum.Reason = b.Distributable()
		}
		if sum.Reason != "" {
			break
		}
		people, err := distribution.Recipients(ctx, n.DB, b.ID, sum.After, notifyStep)
		if err != nil {
			return err
		}
		if len(people) == 0 {
			break
		}
		if sum, err = n.step(ctx, claim, b, people, sum); err != nil {
			return err
		}
	}
	sum.After = 0
	return claim.Finish(ctx, sum, nil)
}

// step stores the mails to some people and returns the new sum.
func (n *Notify) step(ctx context.Context, claim *worker.Claim, b *distribution.Build, people []distribution.Tester, sum NotifyResult) (NotifyResult, error) {
	// Converted once for all of them, and outside of the transaction: long
	// notes take some milliseconds.
	var notes template.HTML
	if n.NotesHTML != nil {
		notes = n.NotesHTML(b.ReleaseNotes)
	}
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		for _, person := range people {
			id, err := mail.Insert(ctx, tx, n.mail(claim.Tasks[0].ID, b, notes, person))
			var invalid *storage.InvalidError
			switch {
			case errors.As(err, &invalid) && invalid.Field == "recipient":
				sum.Skipped++
				continue
			case err != nil:
				return err
			case id == uuid.Nil:
				continue
			}
			send := tasks.NewMailSend(b.OrganizationID, claim.Tasks[0].RequestID, id)
			if _, err := ledger.Insert(ctx, tx, send); err != nil {
				return err
			}
			sum.Mails++
		}
		sum.After = people[len(people)-1].UserID
		return claim.SaveProgress(ctx, tx, sum)
	})
	return sum, err
}

func (n *Notify) mail(task uuid.UUID, b *distribution.Build, notes template.HTML, person distribution.Tester) mail.New {
	var rendered func(string) template.HTML
	if n.NotesHTML != nil {
		rendered = func(string) template.HTML { return notes }
	}
	subject, text, html := mailtemplate.NewBuild(mailtemplate.Build{
		App: b.AppName, Version: b.Version, VersionCode: b.VersionCode, Platform: b.Platform,
		Notes: b.ReleaseNotes, NotesHTML: rendered, Link: n.Links.Page(b.Token), Recipient: person.Email,
	})
	return mail.New{
		OrganizationID: b.OrganizationID, Kind: mailtemplate.KindNewBuild, Recipient: person.Email,
		Subject: subject, TextBody: text, HTMLBody: html,
		DedupeKey: fmt.Sprintf("%s:%s:%d", mailtemplate.KindNewBuild, task, person.UserID),
	}
}
