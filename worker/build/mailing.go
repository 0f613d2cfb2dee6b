package build

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	"github.com/slipway-qa/slipway/worker"
)

// Mailing is the handler of tester:welcome and build:invite: it stores a mail to each
// person of a mailing, with the task that sends it. Who was blocked or removed since
// the request gets none, and neither does who was invited and is not any more.
type Mailing struct {
	DB      *storage.DB
	Links   link.Links
	Letters *letter.Writer
}

const reasonEnded = "the mailing has ended, or its build was deleted"

// Handle stores the mails.
func (m *Mailing) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.MailingPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var sum NotifyResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	mailing, err := tester.MailingByID(ctx, m.DB, payload.MailingID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && mailing.OrganizationID != claim.OrganizationID() {
		sum.Reason, sum.After = reasonEnded, 0
		return claim.Finish(ctx, sum, nil)
	}
	if err != nil {
		return err
	}
	for {
		people := mailing.After(sum.After, notifyStep)
		if len(people) == 0 {
			break
		}
		write, reason, err := m.writer(ctx, mailing)
		if err != nil {
			return err
		}
		if sum.Reason = reason; reason != "" {
			break
		}
		if sum, err = m.step(ctx, claim, mailing, write, people, sum); err != nil {
			return err
		}
	}
	sum.After = 0
	return claim.Finish(ctx, sum, func(tx *storage.Tx) error { return tester.EndMailing(ctx, tx, mailing.ID) })
}

// content is what a mailing has to say to a person; nil when nothing any more.
type content func(ctx context.Context, tx *storage.Tx, people []tester.Recipient) (map[int64]mailtemplate.Content, error)

// writer returns the content of a mailing, or why nobody is to get it any more: the build
// is read again for each step.
func (m *Mailing) writer(ctx context.Context, mailing *tester.Mailing) (write content, reason string, err error) {
	if mailing.BuildID == 0 {
		return m.welcome(mailing), "", nil
	}
	b, err := distribution.BuildByID(ctx, m.DB, mailing.OrganizationID, 0, mailing.BuildID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, reasonDeleted, nil
	}
	if err != nil {
		return nil, "", err
	}
	if err := awaitVerification(b); err != nil {
		return nil, "", err
	}
	return m.invitation(mailing, b), b.Distributable(), nil
}

// welcome greets testers.
func (m *Mailing) welcome(mailing *tester.Mailing) content {
	greeting := mailtemplate.Welcome{Groups: mailing.Groups, Link: m.Links.Path("/me")}
	return func(_ context.Context, _ *storage.Tx, people []tester.Recipient) (map[int64]mailtemplate.Content, error) {
		all := make(map[int64]mailtemplate.Content, len(people))
		for _, person := range people {
			all[person.UserID] = greeting
		}
		return all, nil
	}
}

// invitation sends each person the personal link.
func (m *Mailing) invitation(mailing *tester.Mailing, b *distribution.Build) content {
	// Converted once for all people: long notes take some milliseconds.
	mail := mailtemplate.Invitation{App: b.AppName, Version: b.Version, VersionCode: b.VersionCode, Platform: string(b.Platform),
		Notes: mailtemplate.NewNotes(b.ReleaseNotes), Comment: mailing.Comment, Icon: b.IconKey}
	return func(ctx context.Context, tx *storage.Tx, people []tester.Recipient) (map[int64]mailtemplate.Content, error) {
		ids := make([]int64, 0, len(people))
		for _, person := range people {
			ids = append(ids, person.UserID)
		}
		invites, err := tester.InvitesOf(ctx, tx, mailing.OrganizationID, b.ID, ids)
		if err != nil {
			return nil, err
		}
		all := make(map[int64]mailtemplate.Content, len(invites))
		for user, invite := range invites {
			if invite.Secret != "" {
				personal := mail
				personal.Link = m.Links.Invite(invite.Secret)
				all[user] = personal
			}
		}
		return all, nil
	}
}

// step stores the mails to some people and returns the new sum.
func (m *Mailing) step(ctx context.Context, claim *worker.Claim, mailing *tester.Mailing, write content, people []int64,
	sum NotifyResult) (NotifyResult, error) {
	task := claim.Tasks[0]
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		recipients, err := tester.Recipients(ctx, tx, mailing.OrganizationID, people)
		if err != nil {
			return err
		}
		contents, err := write(ctx, tx, recipients)
		if err != nil {
			return err
		}
		var letters []letter.Letter
		for _, person := range recipients {
			if c := contents[person.UserID]; c != nil {
				letters = append(letters, letter.Letter{OrganizationID: mailing.OrganizationID, UserID: person.UserID, Recipient: person.Email,
					Content: c, DedupeKey: fmt.Sprintf("%s:%s:%d", c.Kind(), task.ID, person.UserID), RequestID: task.RequestID})
			}
		}
		outcomes, err := m.Letters.WriteAll(ctx, tx, letters)
		if err != nil {
			return err
		}
		var sent []int64
		for i, outcome := range outcomes {
			sum.count(outcome.Reason)
			if outcome.Reason == "" {
				sent = append(sent, letters[i].UserID)
			}
		}
		// A welcome is of no build, and marks nobody.
		if err := tester.MarkInvites(ctx, tx, mailing.BuildID, sent, tester.Sent); err != nil {
			return err
		}
		sum.After = people[len(people)-1]
		return claim.SaveProgress(ctx, tx, sum)
	})
	return sum, err
}
