// Package mail stores mail: written in the transaction of what it is about, sent
// by a task each, readable by operators until its retention ends.
//
// A mail is addressed to one person. Its id is also the Message-ID, by which mail
// servers and readers recognize one that was sent twice. Where the installation has
// no mail server, mail stays here (state kept) and operators read it at /ops/mail.
//
// A caller that may run twice sets a dedupe key: the second Insert then writes
// nothing. Whoever inserts a mail inserts its mail:send task in the same
// transaction, so that there is never one without the other.
//
// Recipients, subjects and kinds end up in headers, so a value that could begin
// another header is an *storage.InvalidError; bodies are only bounded.
package mail

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// State of a mail.
type State string

// The states.
const (
	Queued State = "queued"
	Sent   State = "sent"
	Kept   State = "kept"
	Failed State = "failed"
	// Suppressed mail was not sent: its recipient unsubscribed, or the address is
	// marked.
	Suppressed State = "suppressed"
	// Bounced mail was sent, and came back.
	Bounced State = "bounced"
)

// Mail is a stored mail.
type Mail struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID *int64     `db:"organization_id"`
	Kind           string     `db:"kind"`
	Recipient      string     `db:"recipient"`
	Subject        string     `db:"subject"`
	TextBody       string     `db:"text_body"`
	HTMLBody       string     `db:"html_body"`
	UserID         *int64     `db:"user_id"`
	Icon           string     `db:"icon_key"`
	QR             string     `db:"qr"`
	Unsubscribe    string     `db:"unsubscribe"`
	State          State      `db:"state"`
	Error          string     `db:"error"`
	CreatedAt      time.Time  `db:"created_at"`
	SentAt         *time.Time `db:"sent_at"`
}

// New is a mail to insert.
type New struct {
	OrganizationID int64 // 0: the installation's
	UserID         int64 // 0: not written to a person of the organization
	Kind           string
	Recipient      string
	Subject        string
	TextBody       string
	HTMLBody       string
	// Icon is the object key of the picture cid:icon@mail, QR the link in the picture
	// cid:qr@mail; "" where the HTML shows none.
	Icon, QR string
	// Unsubscribe is the page where the recipient ends mail of this sort; "" for mail
	// that is not for choosing.
	Unsubscribe string
	// DedupeKey, when set, is unique: a second mail with it is not written.
	DedupeKey string
}

// Bounds: a subject in characters, as mail readers show it; bodies in bytes, for
// a mail is a few paragraphs and release notes have a bound of their own.
const (
	maxSubject = 255
	maxBody    = 256 << 10
	maxReason  = 2000
	maxKey     = 255
	maxPage    = 1000
)

func (n *New) check() error {
	if err := account.CheckEmail(n.Recipient); err != nil {
		return &storage.InvalidError{Field: "recipient", Msg: "must be one mail address"}
	}
	if n.Kind == "" || !printable(n.Kind, maxKey) {
		return &storage.InvalidError{Field: "kind", Msg: "must be a printable name"}
	}
	if n.Subject == "" || !printable(n.Subject, maxSubject) {
		return &storage.InvalidError{Field: "subject", Msg: fmt.Sprintf("must be printable text of 1 to %d characters", maxSubject)}
	}
	if !printable(n.DedupeKey, maxKey) {
		return &storage.InvalidError{Field: "dedupe_key", Msg: fmt.Sprintf("must be printable text of at most %d characters", maxKey)}
	}
	for field, body := range map[string]string{"text_body": n.TextBody, "html_body": n.HTMLBody} {
		if len(body) > maxBody || !utf8.ValidString(body) || strings.Contains(body, "\x00") {
			return &storage.InvalidError{Field: field, Msg: fmt.Sprintf("must be UTF-8 text of at most %d bytes", maxBody)}
		}
	}
	return nil
}

// printable reports whether a text is bounded and has no line end, which would
// begin another header, and no other control character.
func printable(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsFunc(text, unicode.IsControl)
}

// Insert writes a mail; the id is zero when one with the dedupe key exists. The
// caller inserts the task mail:send of a new one in the same transaction. A
// recipient or subject that could break out of its header is an
// *storage.InvalidError.
func Insert(ctx context.Context, q storage.Querier, n New) (uuid.UUID, error) {
	ids, err := InsertAll(ctx, q, []New{n})
	if err != nil {
		return uuid.Nil, err
	}
	return ids[0], nil
}

const mailColumns = `id, organization_id, kind, recipient, subject, text_body, user_id, icon_key, qr, unsubscribe, state, error,
	created_at, sent_at`

// ByID reads a mail.
func ByID(ctx context.Context, q storage.Querier, id uuid.UUID) (*Mail, error) {
	var m Mail
	if err := q.GetContext(ctx, &m, `select `+mailColumns+`, html_body from mails where id = $1`, id); err != nil {
		return nil, storage.Wrap(err, "mail "+id.String())
	}
	return &m, nil
}

const setState = `
update mails set state = $2, error = $3, sent_at = case when $2 in ('sent', 'bounced') then coalesce(sent_at, now()) end
where id = $1 returning id`

// SetState stores the outcome of a mail; reason is the failure's, "" otherwise.
func SetState(ctx context.Context, q storage.Querier, id uuid.UUID, state State, reason string) error {
	switch state {
	case Queued, Sent, Kept, Failed, Suppressed, Bounced:
	default:
		return &storage.InvalidError{Field: "state", Msg: "must be queued, sent, kept, failed, suppressed or bounced"}
	}
	var found uuid.UUID
	return storage.Wrap(q.GetContext(ctx, &found, setState, id, state, clip(reason)), "state of mail "+id.String())
}

// clip returns a mail server's text as the table can store it.
func clip(reason string) string {
	reason = reason[:min(len(reason), maxReason)]
	return strings.ReplaceAll(strings.ToValidUTF8(reason, "\uFFFD"), "\x00", "\uFFFD")
}

const listMails = `
select ` + mailColumns + ` from mails order by created_at desc, id desc limit $1 offset $2`

// List returns mails, newest first and without HTMLBody, and the number of all.
func List(ctx context.Context, q storage.Querier, limit, offset int) ([]Mail, int, error) {
	if limit <= 0 || limit > maxPage {
		limit = maxPage
	}
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from mails`); err != nil {
		return nil, 0, storage.Wrap(err, "count mails")
	}
	list := []Mail{}
	err := q.SelectContext(ctx, &list, listMails, limit, max(0, offset))
	return list, total, storage.Wrap(err, "list mails")
}

const pruneMails = `
delete from mails where id in (select id from mails where created_at < $1
	order by created_at limit $2 for update skip locked)`

// Prune deletes mails that were created before a time, at most limit of them.
func Prune(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	result, err := q.ExecContext(ctx, pruneMails, before, limit)
	if err != nil {
		return 0, storage.Wrap(err, "prune mails")
	}
	n, err := result.RowsAffected()
	return n, storage.Wrap(err, "count pruned mails")
}
