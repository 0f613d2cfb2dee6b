package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Feedback is what somebody said of a build.
type Feedback struct {
	ID             int64     `db:"id"`
	ProjectID      int64     `db:"project_id"`
	BuildID        int64     `db:"build_id"`   // 0: none
	SessionID      int64     `db:"session_id"` // 0: none, or removed
	UserID         int64     `db:"user_id"`    // 0: nobody who is known
	Text           string    `db:"text"`
	Source         string    `db:"source"`
	Email          string    `db:"email"`
	CorrelationID  string    `db:"correlation_id"`
	Device                   // its columns
	IPAddress      string    `db:"ip_address"`
	ScreenshotKey  string    `db:"screenshot_key"` // "": none
	ScreenshotType string    `db:"screenshot_type"`
	ScreenshotSize int64     `db:"screenshot_size"`
	Blocker        bool      `db:"blocker"`
	RecordedAt     time.Time `db:"recorded_at"`
}

const feedbackColumns = `id, project_id, coalesce(build_id, 0) as build_id, coalesce(session_id, 0) as session_id,
	coalesce(user_id, 0) as user_id, text, source, email, correlation_id, device_model, os, os_version, locale, ip_address,
	screenshot_key, screenshot_type, screenshot_size, blocker, recorded_at`

// FeedbackFilter selects feedback of an organization. Zero members select all.
type FeedbackFilter struct {
	ProjectID int64
	BuildID   int64
	// Search is a part of the text, the address or the source, in any case. It looks
	// at the newest 10,000.
	Search string
}

// Feedbacks lists feedback, newest first. What belongs to deleted builds and apps is
// not in it.
func Feedbacks(ctx context.Context, q storage.Querier, organizationID int64, f FeedbackFilter, p storage.Page) ([]Feedback,
	Counted, error) {
	column, id := "organization_id", organizationID
	switch {
	case f.BuildID != 0:
		column, id = "build_id", f.BuildID
	case f.ProjectID != 0:
		column, id = "project_id", f.ProjectID
	}
	order := fmt.Sprintf(` order by %s desc, id desc`, column)
	source := fmt.Sprintf(`(select f.* from feedbacks f
		where (f.%[1]s, f.id) >= ($1::bigint, 0) and (f.%[1]s, f.id) <= ($1, 9223372036854775807) and f.organization_id = $2
			and ($3::bigint = 0 or f.project_id = $3)
			and not exists (select from builds b where b.id = f.build_id and b.deleted_at is not null)
			and not exists (select from projects p where p.id = f.project_id and p.deleted_at is not null)
		order by f.%[1]s desc, f.id desc limit %[2]d) s`, column, countMost+1)
	args := []any{id, organizationID, f.ProjectID, strings.ToLower(f.Search)}
	source += ` where ($4::text = '' or position($4 in lower(text)) > 0 or position($4 in lower(email)) > 0
		or position($4 in lower(source)) > 0)`
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from `+source, args...); err != nil {
		return nil, Counted{}, storage.Wrap(err, "count feedback")
	}
	list := []Feedback{}
	err := q.SelectContext(ctx, &list, `select `+feedbackColumns+` from `+source+order+` limit $5 offset $6`,
		append(args, p.RowLimit(), p.RowOffset())...)
	return list, Counted{Total: min(total, countMost), Exact: total <= countMost}, storage.Wrap(err, "list feedback")
}

// FeedbackByID reads feedback of the organization.
func FeedbackByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Feedback, error) {
	var f Feedback
	err := q.GetContext(ctx, &f, `select `+feedbackColumns+` from feedbacks where organization_id = $1 and id = $2`, organizationID, id)
	return &f, storage.Wrap(err, fmt.Sprintf("feedback %d", id))
}

const teamOfFeedback = `
select p.team_id from feedbacks f join projects p on p.id = f.project_id where f.organization_id = $1 and f.id = $2`

// lockBuildOfFeedback locks the build first: whoever locks builds and rows that belong to them
// does so.
const lockBuildOfFeedback = `
select id from builds where id = (select build_id from feedbacks where organization_id = $1 and id = $2) for no key update`

const deleteFeedback = `
delete from feedbacks where organization_id = $1 and id = $2
returning project_id, coalesce(build_id, 0) as build_id, email, screenshot_key`

// DeleteFeedback removes feedback and takes it off the count of its build. It returns the
// key of the screenshot, "" without one, which the caller deletes after the commit. The
// writer must be admin of the app's team: denied is returned else.
func DeleteFeedback(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, denied error) (string, error) {
	var team int64
	if err := tx.GetContext(ctx, &team, teamOfFeedback, w.OrganizationID, id); err != nil {
		return "", storage.Wrap(err, fmt.Sprintf("feedback %d", id))
	}
	if !w.May(team) {
		return "", denied
	}
	var build int64
	err := storage.Wrap(tx.GetContext(ctx, &build, lockBuildOfFeedback, w.OrganizationID, id), "lock build of feedback")
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return "", err
	}
	var f Feedback
	if err := tx.GetContext(ctx, &f, deleteFeedback, w.OrganizationID, id); err != nil {
		return "", storage.Wrap(err, fmt.Sprintf("delete feedback %d", id))
	}
	if f.BuildID != 0 {
		_, err := tx.ExecContext(ctx, `update builds set feedbacks = feedbacks - 1 where id = $1 and feedbacks > 0`, f.BuildID)
		if err != nil {
			return "", storage.Wrap(err, "count feedback")
		}
	}
	return f.ScreenshotKey, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.FeedbackDeleted,
		Actor:   w.Actor,
		Subject: fmt.Sprintf("feedback %d", id), Detail: map[string]any{"id": id, "project_id": f.ProjectID, "build_id": f.BuildID,
			"email": f.Email}})
}

// UnnamedScreenshots returns those of the keys of objects that no feedback names.
func UnnamedScreenshots(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, `select k from unnest($1::text[]) k
		where not exists (select from feedbacks f where f.screenshot_key = k and f.screenshot_key <> '')`, pq.Array(keys))
	return unnamed, storage.Wrap(err, "screenshots that nothing names")
}
