package crash

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const (
	// maxComments bounds the comments of one group, those of its parts aside: a robot
	// that comments on every build must not fill the disk.
	maxComments = 1000
	// maxComment bounds a comment in characters; the table has the same bound.
	maxComment = 10_000
)

// Comment is what somebody wrote about a group. GroupID is the group that it belongs
// to, which may be a part of the one that shows it.
type Comment struct {
	ID        int64      `db:"id"`
	GroupID   int64      `db:"group_id"`
	AuthorID  *int64     `db:"author_id"` // nil: the user is gone
	Author    string     `db:"author"`
	Text      string     `db:"text"`
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt *time.Time `db:"updated_at"` // nil: never
}

const commentColumns = `c.id, c.group_id, c.author_id, c.author, c.text, c.created_at, c.updated_at`

// commentsOfGroup are the comments of $1, a group that is shown, and of its parts.
const commentsOfGroup = ` from crash_group_comments c
	where c.group_id in (select p.id from crash_groups p where p.id = $1 or p.root_id = $1)`

// Comments lists the comments of a group that is shown, as ResolveGroup returns it, and
// of its parts, oldest first, and the number of all.
func Comments(ctx context.Context, q storage.Querier, root int64, p storage.Page) ([]Comment, int, error) {
	total, err := CountComments(ctx, q, root)
	if err != nil {
		return nil, 0, err
	}
	list := []Comment{}
	err = q.SelectContext(ctx, &list, `select `+commentColumns+commentsOfGroup+` order by c.id limit $2 offset $3`,
		root, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "comments of a crash group")
}

// CountComments counts the comments of a group that is shown, and of its parts.
func CountComments(ctx context.Context, q storage.Querier, root int64) (int, error) {
	var total int
	err := q.GetContext(ctx, &total, `select count(*)`+commentsOfGroup, root)
	return total, storage.Wrap(err, "count comments of a crash group")
}

// CreateComment writes a comment on a group that is shown, with its audit row. The
// trail does not repeat the text, which can be deleted. ErrConflict when the group has
// its most.
func CreateComment(ctx context.Context, tx *storage.Tx, w account.Writer, group int64, text string) (*Comment, error) {
	text, err := commentText(text)
	if err != nil {
		return nil, err
	}
	g, err := lockShown(ctx, tx, w.OrganizationID, group)
	if err != nil {
		return nil, err
	}
	var had int
	if err := tx.GetContext(ctx, &had, `select count(*) from crash_group_comments where group_id = $1`, g.ID); err != nil {
		return nil, storage.Wrap(err, "count comments of a crash group")
	}
	if had >= maxComments {
		return nil, fmt.Errorf("a crash group has at most %d comments: %w", maxComments, storage.ErrConflict)
	}
	var c Comment
	err = tx.GetContext(ctx, &c, `insert into crash_group_comments as c (group_id, author_id, author, text)
		values ($1, nullif($2::bigint, 0), $3, $4) returning `+commentColumns, g.ID, w.Actor.UserID, w.Actor.Name, text)
	if err != nil {
		return nil, storage.Wrap(err, "comment on a crash group")
	}
	return &c, auditComment(ctx, tx, w, &c, "created")
}

// UpdateComment replaces the text of a comment of the group or of one of its parts.
// Authors may, and admins; others have *NotAuthorError.
func UpdateComment(ctx context.Context, tx *storage.Tx, w account.Writer, group, id int64, text string) (*Comment, error) {
	text, err := commentText(text)
	if err != nil {
		return nil, err
	}
	c, err := lockComment(ctx, tx, w, group, id)
	if err != nil {
		return nil, err
	}
	err = tx.GetContext(ctx, c, `update crash_group_comments c set text = $2, updated_at = now()
		where c.id = $1 returning `+commentColumns, c.ID, text)
	if err != nil {
		return nil, storage.Wrap(err, "change a comment")
	}
	return c, auditComment(ctx, tx, w, c, "updated")
}

// DeleteComment deletes a comment, by the rules of UpdateComment.
func DeleteComment(ctx context.Context, tx *storage.Tx, w account.Writer, group, id int64) error {
	c, err := lockComment(ctx, tx, w, group, id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from crash_group_comments where id = $1`, c.ID); err != nil {
		return storage.Wrap(err, "delete a comment")
	}
	return auditComment(ctx, tx, w, c, "deleted")
}

// NotAuthorError means that a comment is its author's and the admins'.
type NotAuthorError struct{ Comment int64 }

func (e *NotAuthorError) Error() string {
	return fmt.Sprintf("comment %d was written by somebody else", e.Comment)
}

// lockComment locks a comment that the writer may change.
func lockComment(ctx context.Context, tx *storage.Tx, w account.Writer, group, id int64) (*Comment, error) {
	root, err := ResolveGroup(ctx, tx, w.OrganizationID, group)
	if err != nil {
		return nil, err
	}
	var c Comment
	err = tx.GetContext(ctx, &c, `select `+commentColumns+commentsOfGroup+` and c.id = $2 for update of c`, root, id)
	switch {
	case err != nil:
		return nil, storage.Wrap(err, fmt.Sprintf("comment %d", id))
	case !w.Admin && (c.AuthorID == nil || *c.AuthorID != w.Actor.UserID):
		return nil, &NotAuthorError{id}
	}
	return &c, nil
}

func auditComment(ctx context.Context, tx *storage.Tx, w account.Writer, c *Comment, change string) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupCommented,
		Actor: w.Actor, Subject: groupSubject(c.GroupID), Detail: map[string]any{"comment": c.ID, "change": change}})
}

// commentText returns the text as it is stored: line ends of one kind, nothing around
// it, and no characters that no page can show.
func commentText(text string) (string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	unshown := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unshown):
		return "", storage.Invalid("text", "must be printable UTF-8 text")
	case text == "":
		return "", storage.Invalid("text", "is required")
	case utf8.RuneCountInString(text) > maxComment:
		return "", storage.Invalid("text", "must have at most %d characters", maxComment)
	}
	return text, nil
}
