package distribution

import (
	"context"
	"errors"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// ErrNotTeamAdmin means that the writer may not have testers notified of what belongs to the
// team.
var ErrNotTeamAdmin = errors.New("this takes admin rights on the app's team")

// UndeliverableError reports why testers cannot install a build.
type UndeliverableError struct{ Reason string }

func (e *UndeliverableError) Error() string { return e.Reason }

// NotifyTesters writes the task that mails the testers of a build, with its audit
// row. ErrNotTeamAdmin, *UndeliverableError.
func NotifyTesters(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, task *ledger.NewTask) error {
	b, err := BuildByID(ctx, tx, w.OrganizationID, 0, id)
	if err != nil {
		return err
	}
	if !w.May(b.TeamID) {
		return ErrNotTeamAdmin
	}
	if reason := b.undeliverable(); reason != "" {
		return &UndeliverableError{Reason: reason}
	}
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return err
	}
	return AuditNotified(ctx, tx, w.Actor, b, task)
}

// AuditNotified writes that the task is to mail the testers of a build.
func AuditNotified(ctx context.Context, tx *storage.Tx, actor account.Actor, b *Build, task *ledger.NewTask) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: b.OrganizationID, Type: account.TestersNotified,
		Actor: actor, Subject: "build " + strconv.FormatInt(b.ID, 10),
		Detail: map[string]any{"build_id": b.ID, "project_id": b.ProjectID, "task_id": task.ID}})
}

// undeliverable is why testers cannot install the build; "" when they can.
func (b *Build) undeliverable() string {
	if reason := b.Distributable(); reason != "" {
		return reason
	}
	if !b.Installable() {
		return "a file of the kind " + string(b.Kind) + " cannot be installed by testers"
	}
	return ""
}

// MaxCounted is how many people an announcement counts.
const MaxCounted = 10_000

// Announcement is whom the mail about a build would reach.
type Announcement struct {
	Build      *Build
	Refusal    string // why testers cannot install the build; "" when they can
	Recipients int    // of at most MaxCounted
	Exact      bool   // there are no more
	People     []Tester
}

// AnnouncementOf finds whom NotifyTesters would mail, and reads the first of them.
// ErrNotTeamAdmin.
func AnnouncementOf(ctx context.Context, q storage.Querier, w account.Writer, id int64, most int) (*Announcement, error) {
	b, err := BuildByID(ctx, q, w.OrganizationID, 0, id)
	if err != nil {
		return nil, err
	}
	if !w.May(b.TeamID) {
		return nil, ErrNotTeamAdmin
	}
	a := &Announcement{Build: b, Refusal: b.undeliverable()}
	if err := q.GetContext(ctx, &a.Recipients, `select count(*) from (`+recipients+`) people`, b.ID, 0, MaxCounted+1); err != nil {
		return nil, storage.Wrap(err, "count recipients")
	}
	a.Exact = a.Recipients <= MaxCounted
	a.Recipients = min(a.Recipients, MaxCounted)
	a.People, err = Recipients(ctx, q, b.ID, 0, most)
	return a, err
}
