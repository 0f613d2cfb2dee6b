package tester

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Mailing is what a task that mails many people needs beside its payload of ids.
type Mailing struct {
	ID             int64
	OrganizationID int64
	BuildID        int64    // 0: a welcome
	UserIDs        []int64  // ascending
	Groups         []string // names
	Comment        string   // text that somebody added
}

// maxComment bounds a comment in characters: a few paragraphs.
const maxComment = 4000

// CheckComment refuses a comment that is too long.
func CheckComment(comment string) error {
	if len(comment) > maxComment*4 || len([]rune(comment)) > maxComment {
		return storage.Invalid("comment", "must have at most %d characters", maxComment)
	}
	return nil
}

const insertMailing = `
insert into tester_mailings (organization_id, build_id, user_ids, groups, comment)
values ($1, nullif($2::bigint, 0), $3, coalesce($4::text[], '{}'), $5) returning id`

// InsertMailing stores a mailing in any order of its people and returns its id.
func InsertMailing(ctx context.Context, tx *storage.Tx, m Mailing) (id int64, err error) {
	people := slices.Clone(m.UserIDs)
	slices.Sort(people)
	err = tx.GetContext(ctx, &id, insertMailing, m.OrganizationID, m.BuildID, pq.Array(slices.Compact(people)), pq.Array(m.Groups), m.Comment)
	return id, storage.Wrap(err, "store mailing")
}

const mailingByID = `
select organization_id, coalesce(build_id, 0) as build_id, user_ids, groups, comment from tester_mailings where id = $1`

// MailingByID reads a mailing; ErrNotFound when it has ended.
func MailingByID(ctx context.Context, q storage.Querier, id int64) (*Mailing, error) {
	var row struct {
		OrganizationID int64          `db:"organization_id"`
		BuildID        int64          `db:"build_id"`
		UserIDs        pq.Int64Array  `db:"user_ids"`
		Groups         pq.StringArray `db:"groups"`
		Comment        string         `db:"comment"`
	}
	if err := q.GetContext(ctx, &row, mailingByID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("mailing %d", id))
	}
	return &Mailing{ID: id, OrganizationID: row.OrganizationID, BuildID: row.BuildID, UserIDs: row.UserIDs, Groups: row.Groups,
		Comment: row.Comment}, nil
}

// After returns the next people of the mailing after one of them, at most limit.
func (m *Mailing) After(userID int64, limit int) []int64 {
	at, found := slices.BinarySearch(m.UserIDs, userID)
	if found {
		at++
	}
	return m.UserIDs[at:min(len(m.UserIDs), at+limit)]
}

// Recipient is a person to mail.
type Recipient struct {
	UserID int64  `db:"user_id"`
	Email  string `db:"email"`
}

const recipients = `
select u.id as user_id, u.email from memberships m join users u on u.id = m.user_id and u.email is not null
where m.organization_id = $1 and m.user_id = any($2) and m.blocked_at is null order by u.id`

// Recipients are those of some people who are members still, and not blocked.
func Recipients(ctx context.Context, q storage.Querier, organizationID int64, userIDs []int64) ([]Recipient, error) {
	list := []Recipient{}
	err := q.SelectContext(ctx, &list, recipients, organizationID, pq.Array(userIDs))
	return list, storage.Wrap(err, "recipients of a mailing")
}

// EndMailing deletes a mailing, in the transaction that ends its task.
func EndMailing(ctx context.Context, tx *storage.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `delete from tester_mailings where id = $1`, id)
	return storage.Wrap(err, fmt.Sprintf("end mailing %d", id))
}

const forgetMailings = `
delete from tester_mailings where id in (select id from tester_mailings where created_at < $1
	order by created_at limit $2 for update skip locked)`

// ForgetMailings deletes mailings whose tasks failed, made before a time, at most limit.
func ForgetMailings(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetMailings, before, limit))
}
