// Package announcement has whom a build reaches: the testers who are mailed about it, and the
// groups that are invited to it.
//
// Recipients are the people who may install a build, are not blocked and have a mail address;
// they are found from the groups, so that the cost is that of the groups and not that of the
// organization. NotifyTesters writes the task that mails them; InviteGroups gives the build to
// groups and returns the people whom that invites.
//
// Who has no admin rights on the team is refused with distribution.ErrNotTeamAdmin, a build
// that nobody can install with *UndeliverableError.
package announcement

import (
	"context"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// UndeliverableError reports why testers cannot install a build.
type UndeliverableError struct{ Reason string }

func (e *UndeliverableError) Error() string { return e.Reason }

// NotifyTesters writes the task that mails the testers of a build, with its audit
// row. ErrNotTeamAdmin, *UndeliverableError.
func NotifyTesters(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, task *ledger.NewTask) error {
	b, err := distribution.BuildByID(ctx, tx, w.OrganizationID, 0, id)
	if err != nil {
		return err
	}
	if !w.May(b.TeamID) {
		return distribution.ErrNotTeamAdmin
	}
	if reason := b.Undeliverable(); reason != "" {
		return &UndeliverableError{Reason: reason}
	}
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return err
	}
	return AuditNotified(ctx, tx, w.Actor, b, task)
}

// AuditNotified writes that the task is to mail the testers of a build.
func AuditNotified(ctx context.Context, tx *storage.Tx, actor account.Actor, b *distribution.Build, task *ledger.NewTask) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: b.OrganizationID, Type: account.TestersNotified,
		Actor: actor, Subject: "build " + strconv.FormatInt(b.ID, 10),
		Detail: map[string]any{"build_id": b.ID, "project_id": b.ProjectID, "task_id": task.ID}})
}

// MaxCounted is how many people an announcement counts.
const MaxCounted = 10_000

// Announcement is whom the mail about a build would reach.
type Announcement struct {
	Build      *distribution.Build
	Refusal    string // why testers cannot install the build; "" when they can
	Recipients int    // of at most MaxCounted
	Exact      bool   // there are no more
	People     []Tester
}

// Of finds whom NotifyTesters would mail, and reads the first of them.
// ErrNotTeamAdmin.
func Of(ctx context.Context, q storage.Querier, w account.Writer, id int64, most int) (*Announcement, error) {
	b, err := distribution.BuildByID(ctx, q, w.OrganizationID, 0, id)
	if err != nil {
		return nil, err
	}
	if !w.May(b.TeamID) {
		return nil, distribution.ErrNotTeamAdmin
	}
	a := &Announcement{Build: b, Refusal: b.Undeliverable()}
	if err := q.GetContext(ctx, &a.Recipients, `select count(*) from (`+recipients+`) people`, b.ID, 0, MaxCounted+1); err != nil {
		return nil, storage.Wrap(err, "count recipients")
	}
	a.Exact = a.Recipients <= MaxCounted
	a.Recipients = min(a.Recipients, MaxCounted)
	a.People, err = Recipients(ctx, q, b.ID, 0, most)
	return a, err
}
