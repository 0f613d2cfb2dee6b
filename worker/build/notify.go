// Package build does the slow work of builds: it verifies the signature of its
// package (build:verify), mails testers about a new one (build:notify), copies its file to the organization's own storage
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
	"net/url"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/device"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	"github.com/slipway-qa/slipway/worker"
)

// Notify is the handler of build:notify: it stores the new-build mail to each
// tester, with the task that sends it.
type Notify struct {
	DB      *storage.DB
	Links   link.Links
	Letters *letter.Writer
}

// NotifyResult is the task's result. Reason is why there is no mail, when the build
// must not be installed any more.
type NotifyResult struct {
	Mails int `json:"mails"`
	// Skipped is the number of people whose address is invalid.
	Skipped int `json:"skipped,omitempty"`
	// Devices is the number of people who were asked to register a device instead: the
	// build installs on registered ones only, and they have none.
	Devices int `json:"devices,omitempty"`
	// Unsubscribed and Bounced are the numbers of those who want no mail, and whose
	// address is marked as unreachable.
	Unsubscribed int    `json:"unsubscribed,omitempty"`
	Bounced      int    `json:"bounced,omitempty"`
	Reason       string `json:"reason,omitempty"`
	// After is the last person of the steps so far, while the task runs.
	After int64 `json:"after,omitempty"`
}

// count adds what became of a letter.
func (r *NotifyResult) count(reason string) {
	switch reason {
	case "":
		r.Mails++
	case letter.Invalid:
		r.Skipped++
	case letter.Unsubscribed:
		r.Unsubscribed++
	case letter.Bounced:
		r.Bounced++
	}
}

// notifyStep mails are stored by one transaction of a few statements, some 200 ms.
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
			if err := awaitVerification(b); err != nil {
				return err
			}
			sum.Reason = b.Distributable()
		}
		if sum.Reason != "" {
			break
		}
		people, err := announcement.Recipients(ctx, n.DB, b.ID, sum.After, notifyStep)
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
func (n *Notify) step(ctx context.Context, claim *worker.Claim, b *distribution.Build, people []announcement.Tester,
	sum NotifyResult) (NotifyResult, error) {
	// Converted once for all of them, and outside of the transaction: long
	// notes take some milliseconds.
	notes := mailtemplate.NewNotes(b.ReleaseNotes)
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		ids := make([]int64, len(people))
		for i, person := range people {
			ids[i] = person.UserID
		}
		invites, err := tester.EnsureInvites(ctx, tx, b.OrganizationID, b.ID, ids)
		if err != nil {
			return err
		}
		unregistered, err := withoutDevice(ctx, tx, b, ids)
		if err != nil {
			return err
		}
		var ready, register []letter.Letter
		for _, person := range people {
			l := n.letter(claim.Tasks[0], b, person)
			if unregistered[person.UserID] {
				l.Content = mailtemplate.UDIDNeeded{App: b.AppName, Link: n.Links.Path("/udid/register?build=" + url.QueryEscape(b.Token))}
				register = append(register, l)
				continue
			}
			l.Content = mailtemplate.NewBuild{App: b.AppName, Version: b.Version, VersionCode: b.VersionCode, Platform: string(b.Platform),
				Notes: notes, Link: n.personalLink(b, invites[person.UserID]), Icon: b.IconKey}
			ready = append(ready, l)
		}
		if err := n.write(ctx, tx, b, ready, &sum, &sum.Mails); err != nil {
			return err
		}
		if err := n.write(ctx, tx, b, register, &sum, &sum.Devices); err != nil {
			return err
		}
		sum.After = people[len(people)-1].UserID
		return claim.SaveProgress(ctx, tx, sum)
	})
	return sum, err
}

// write stores letters of one kind, counts what became of them, and marks the
// invitations of those who are written to.
func (n *Notify) write(ctx context.Context, tx *storage.Tx, b *distribution.Build, letters []letter.Letter, sum *NotifyResult,
	written *int) error {
	outcomes, err := n.Letters.WriteAll(ctx, tx, letters)
	if err != nil {
		return err
	}
	var sent []int64
	for i, outcome := range outcomes {
		if outcome.Reason == "" {
			*written++
			sent = append(sent, letters[i].UserID)
			continue
		}
		sum.count(outcome.Reason)
	}
	return tester.MarkInvites(ctx, tx, b.ID, sent, tester.Sent)
}

// letter is a letter to a person without its content.
func (n *Notify) letter(task ledger.Task, b *distribution.Build, person announcement.Tester) letter.Letter {
	return letter.Letter{OrganizationID: b.OrganizationID, UserID: person.UserID, Recipient: person.Email,
		DedupeKey: fmt.Sprintf("%s:%s:%d", mailtemplate.KindNewBuild, task.ID, person.UserID), RequestID: task.RequestID}
}

// personalLink opens the build for one person; who was blocked since has the page's
// link, which asks for a sign-in.
func (n *Notify) personalLink(b *distribution.Build, invite tester.Invite) string {
	if invite.Secret == "" {
		return n.Links.Page(b.Token)
	}
	return n.Links.Invite(invite.Secret)
}

// withoutDevice returns the people who have registered no device, for a build that
// installs on registered ones only.
func withoutDevice(ctx context.Context, q storage.Querier, b *distribution.Build, ids []int64) (map[int64]bool, error) {
	if !device.Bound(b.Provisioning) {
		return nil, nil
	}
	devices, err := device.ForUsers(ctx, q, b.OrganizationID, ids)
	if err != nil {
		return nil, err
	}
	without := map[int64]bool{}
	for _, id := range ids {
		without[id] = len(devices[id]) == 0
	}
	return without, nil
}
