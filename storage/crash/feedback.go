package crash

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

const (
	// maxFeedback bounds what is kept of one crash: one user had it.
	maxFeedback = 20
	// maxFeedbackText is in bytes: what a person types into a small window.
	maxFeedbackText  = 8 << 10
	maxFeedbackName  = 200
	maxFeedbackEmail = 254
	// reachFeedback is how many of the newest of a crash project are looked through for those
	// of a group.
	reachFeedback = 10_000
)

// ErrTooMuchFeedback refuses feedback beyond the bound of a crash.
var ErrTooMuchFeedback = errors.New("the crash has as much feedback as it may have")

// Feedback is what a user wrote about a crash.
type Feedback struct {
	ID        int64     `db:"id" json:"id"`
	CrashID   uuid.UUID `db:"crash_id" json:"crash_id"`
	Name      string    `db:"name" json:"name"`
	Email     string    `db:"email" json:"email"`
	Text      string    `db:"text" json:"text"`
	CreatedAt time.Time `db:"created_at" json:"created_at"`
}

const feedbackColumns = `f.id, f.crash_id, f.name, f.email, f.text, f.created_at`

// NewFeedback is feedback that arrived. CrashID is the id of the crash, or the uuid that its
// client gave it.
type NewFeedback struct {
	OrganizationID, ProjectID int64
	CrashID                   uuid.UUID
	Name, Email, Text         string
}

// Clean bounds the texts and takes the space around them away. *storage.InvalidError names
// the member that breaks a rule.
func (n *NewFeedback) Clean() (err error) {
	if n.Name, err = storage.Line("name", n.Name, maxFeedbackName); err != nil {
		return err
	}
	if n.Email, err = storage.Line("email", n.Email, maxFeedbackEmail); err != nil {
		return err
	}
	if n.Email != "" {
		if a, err := mail.ParseAddress(n.Email); err != nil || a.Address != n.Email {
			return storage.Invalid("email", "must be a mail address")
		}
	}
	switch n.Text = strings.TrimSpace(n.Text); {
	case n.Text == "":
		return storage.Invalid("text", "is required: what the user wrote")
	case len(n.Text) > maxFeedbackText:
		return storage.Invalid("text", "is longer than %d bytes", maxFeedbackText)
	case !condition.PlainText(n.Text):
		return storage.Invalid("text", "must be UTF-8 text without NUL")
	}
	return nil
}

// digest tells the same feedback, sent again, from another one.
func (n *NewFeedback) digest() []byte {
	sum := sha256.Sum256([]byte(n.Name + "\x00" + n.Email + "\x00" + n.Text))
	return sum[:]
}

// AddFeedback stores what a user wrote about a crash of the project, pending or not, and
// returns the id of the crash. What was stored before is not stored again. ErrNotFound for a
// crash that the project does not have, ErrTooMuchFeedback when it has enough. The row of its
// batch is locked meanwhile, so that a purge does not come in between.
func (s *Store) AddFeedback(ctx context.Context, n NewFeedback) (uuid.UUID, error) {
	if err := n.Clean(); err != nil {
		return uuid.Nil, err
	}
	err := s.db.InTx(ctx, func(tx *storage.Tx) error {
		err := received.LockEntry(ctx, tx, n.OrganizationID, n.ProjectID, n.CrashID)
		if isNotFound(err) {
			// The index crash_uuids_first serves it.
			if err := tx.GetContext(ctx, &n.CrashID, `select crash_id from crash_uuids
				where crash_project_id = $1 and uuid = $2 and not conflict`, n.ProjectID, n.CrashID); err != nil {
				return storage.Wrap(err, "crash of feedback")
			}
			err = received.LockEntry(ctx, tx, n.OrganizationID, n.ProjectID, n.CrashID)
		}
		if err != nil {
			return err
		}
		var have struct {
			Rows int  `db:"rows"`
			Same bool `db:"same"`
		}
		if err := tx.GetContext(ctx, &have, `select count(*) as rows, coalesce(bool_or(digest = $2), false) as same
			from crash_feedback where crash_id = $1`, n.CrashID, n.digest()); err != nil {
			return storage.Wrap(err, "count the feedback of a crash")
		}
		switch {
		case have.Same:
			return nil
		case have.Rows >= maxFeedback:
			return ErrTooMuchFeedback
		}
		_, err = tx.ExecContext(ctx, `insert into crash_feedback (organization_id, crash_project_id, crash_id, digest, name, email, text)
			values ($1, $2, $3, $4, $5, $6, $7)`, n.OrganizationID, n.ProjectID, n.CrashID, n.digest(), n.Name, n.Email, n.Text)
		return storage.Wrap(err, "store the feedback of a crash")
	})
	return n.CrashID, err
}

// FeedbackOf lists what users wrote about a crash of the organization, newest first.
func FeedbackOf(ctx context.Context, q storage.Querier, organization int64, crash uuid.UUID) ([]Feedback, error) {
	list := []Feedback{}
	err := q.SelectContext(ctx, &list, `select `+feedbackColumns+` from crash_feedback f
		where f.crash_id = $1 and f.organization_id = $2 order by f.id desc`, crash, organization)
	return list, storage.Wrap(err, "feedback of crash "+crash.String())
}

// FeedbackOfGroup lists what users wrote about the crashes of a group that is shown, newest
// first, among the newest of its crash project.
func FeedbackOfGroup(ctx context.Context, q storage.Querier, organization, group int64, p storage.Page) ([]Feedback, int, error) {
	var rows []struct {
		Feedback
		Total int `db:"total"`
	}
	err := q.SelectContext(ctx, &rows, `select `+feedbackColumns+`, count(*) over () as total
		from crash_groups g cross join lateral (select * from crash_feedback where crash_project_id = g.crash_project_id
			order by id desc limit $3) f
		join crashes c on c.id = f.crash_id join crash_group_keys k on k.id = c.key_id join crash_groups o on o.id = k.group_id
		where g.organization_id = $1 and g.id = $2 and coalesce(o.root_id, o.id) = g.id
		order by f.id desc limit $4 offset $5`, organization, group, reachFeedback, p.RowLimit(), p.RowOffset())
	if err != nil {
		return nil, 0, storage.Wrap(err, fmt.Sprintf("feedback of crash group %d", group))
	}
	list, total := make([]Feedback, 0, len(rows)), 0
	for i := range rows {
		list, total = append(list, rows[i].Feedback), rows[i].Total
	}
	return list, total, nil
}
