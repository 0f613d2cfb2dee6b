// Package gatechange does what follows a change of a build's gate, in the transaction that
// stores the change: the commit of the build gets its status, a notification of testers that
// waited for the gate goes out when it passes, and who asked for it is told by mail when it
// fails, or stays unknown because nothing decides it any more.
//
// The events of webhooks are written by package storage/gate. A mail is written once for each
// time that a gate fails; who asked may be gone, or have no address: then nobody is told.
// Errors are those of the database.
package gatechange

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// Follower does what follows changes. Its members are required, but for Queue: nil leaves the
// delivery of tasks to the relay.
type Follower struct {
	Letters *letter.Writer
	Links   link.Links
	Queue   *dispatch.Enqueuer
}

// actor is who the audit log names for a notification that a gate let go.
const actor = "gate"

// Follow writes what follows changes.
func (f *Follower) Follow(ctx context.Context, tx *storage.Tx, changes []gate.Change) error {
	if err := setStatuses(ctx, tx, changes); err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.Held == nil {
			continue
		}
		switch {
		case c.Released:
			if err := f.release(ctx, tx, c); err != nil {
				return err
			}
		case c.Stuck, c.To == gate.Fail && c.From != gate.Fail:
			if err := f.tell(ctx, tx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// setStatuses says at the commits what the gates are. The text of a gate that fails may have
// numbers in it, but only a change of the state leads here.
func setStatuses(ctx context.Context, tx *storage.Tx, changes []gate.Change) error {
	var list []commitstatus.Change
	for i := range changes {
		if c := &changes[i]; c.From != c.To {
			list = append(list, statusOf(c))
		}
	}
	return commitstatus.SetAll(ctx, tx, list)
}

func statusOf(c *gate.Change) commitstatus.Change {
	state, text := commitstatus.Pending, "The gate is unknown"
	switch c.To {
	case gate.Pass:
		state, text = commitstatus.Pass, "The gate is open"
	case gate.Fail:
		state, text = commitstatus.Fail, "The gate is closed"
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return commitstatus.Change{OrganizationID: c.OrganizationID, ProjectID: c.ProjectID, BuildID: c.BuildID, State: state, Text: text}
}

// release lets the notification of testers go.
func (f *Follower) release(ctx context.Context, tx *storage.Tx, c *gate.Change) error {
	b, err := distribution.BuildByID(ctx, tx, c.OrganizationID, 0, c.BuildID)
	if err != nil {
		return err
	}
	task := tasks.NewBuildNotify(c.OrganizationID, c.Held.RequestID, c.BuildID)
	if err := f.Queue.Insert(ctx, tx, task); err != nil {
		return err
	}
	return announcement.AuditNotified(ctx, tx, account.Actor{Name: actor, RequestID: c.Held.RequestID}, b, task)
}

// stuck begins the reason of a mail about a gate that stays unknown.
const stuck = "Nothing that is under way decides the gate, so it stays unknown until somebody does something about this:\n\n"

// tell writes to who asked for the notification why it does not go out.
func (f *Follower) tell(ctx context.Context, tx *storage.Tx, c *gate.Change) error {
	email, err := gate.MailOf(ctx, tx, c.OrganizationID, c.Held.UserID)
	if err != nil || email == "" {
		return err
	}
	reason := c.Reason
	if c.Stuck {
		reason = stuck + reason
	}
	_, err = f.Letters.Write(ctx, tx, letter.Letter{OrganizationID: c.OrganizationID, UserID: c.Held.UserID, Recipient: email,
		RequestID: c.Held.RequestID,
		Content: mailtemplate.GateFailed{App: c.AppName, Version: c.Version, VersionCode: c.VersionCode, Reason: reason,
			Link: f.Links.Path(fmt.Sprintf("/console/builds/builds/%d", c.BuildID))}})
	return err
}
