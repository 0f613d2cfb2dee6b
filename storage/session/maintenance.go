package session

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// endSilent skips sessions that others hold: they are found by the next call.
const endSilent = `
with rows as (
	select id from app_sessions where ended_at is null and received_at < $1 and last_at < $1
	order by received_at limit $2 for no key update skip locked
)
update app_sessions s set ended_by = 'silence', ended_at = now(), duration_ms = ` + silentDuration + `
from rows where s.id = rows.id`

// EndSilent ends up to limit sessions of which nothing has come since a time, with their
// last event as the end, and returns their number.
func EndSilent(ctx context.Context, q storage.Querier, since time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, endSilent, since, limit))
}

// remove deletes sessions with their events, and takes them out of their feedback. The
// sessions are locked first, as by who adds events.
func remove(ctx context.Context, tx *storage.Tx, selected string, args ...any) (int64, error) {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, selected, args...); err != nil {
		return 0, storage.Wrap(err, "lock sessions to be removed")
	}
	if len(ids) == 0 {
		return 0, nil
	}
	for _, statement := range []string{
		`delete from app_session_batches where session_id = any($1)`,
		`update feedbacks set session_id = null where session_id = any($1)`,
		`delete from app_sessions where id = any($1)`,
	} {
		if _, err := tx.ExecContext(ctx, statement, pq.Array(ids)); err != nil {
			return 0, storage.Wrap(err, "remove sessions")
		}
	}
	return int64(len(ids)), nil
}

const expired = `
select id from app_sessions where received_at < $1 order by received_at limit $2 for update skip locked`

// Expire removes up to limit sessions that arrived before a time, with their events, and
// returns their number. The counts of builds stay.
func Expire(ctx context.Context, db *storage.DB, before time.Time, limit int) (n int64, err error) {
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		n, err = remove(ctx, tx, expired, before, limit)
		return err
	})
	return n, err
}

// The app or organization that has more than its bound, with what is too much.
const (
	overProject = `
select project_id as id, sum(event_bytes) - $1::bigint as over from app_sessions where event_bytes > 0
group by project_id having sum(event_bytes) > $1 order by project_id`
	overOrganization = `
select organization_id as id, sum(event_bytes) - $1::bigint as over from app_sessions where event_bytes > 0
group by organization_id having sum(event_bytes) > $1 order by organization_id`
)

// Of the oldest sessions with events as many as hold what is too much, at most a step.
const (
	trimProject      = trimOf + `project_id = $1` + trimEnd
	trimOrganization = trimOf + `organization_id = $1` + trimEnd

	trimOf  = `with oldest as materialized (select id, event_bytes from app_sessions where event_bytes > 0 and `
	trimEnd = ` order by id limit $3), summed as (
	select id, sum(event_bytes) over (order by id) - event_bytes as before from oldest
), locked as materialized (
	select s.id from app_sessions s where s.id = any(array(select id from summed where before < $2)) order by s.id for no key update
), gone as (
	delete from app_session_batches b using locked l where b.session_id = l.id
), freed as (
	select s.id, s.event_bytes as bytes from app_sessions s join locked l on l.id = s.id
), updated as (
	update app_sessions s set event_bytes = 0, trimmed = true from locked l where s.id = l.id
)
select coalesce(sum(bytes), 0)::bigint from freed`
)

// trimStep sessions lose their events in one statement.
const trimStep = 500

// Trim removes the oldest events of apps that have more than project bytes of them, and of
// organizations with more than organization bytes; 0 is no bound. The sessions stay, and
// say that they were trimmed. It returns the number of bytes.
func Trim(ctx context.Context, q storage.Querier, project, organization int64) (int64, error) {
	var sum int64
	for _, bound := range []struct {
		most       int64
		over, trim string
	}{{project, overProject, trimProject}, {organization, overOrganization, trimOrganization}} {
		if bound.most <= 0 {
			continue
		}
		var over []struct {
			ID   int64 `db:"id"`
			Over int64 `db:"over"`
		}
		if err := q.SelectContext(ctx, &over, bound.over, bound.most); err != nil {
			return sum, storage.Wrap(err, "bytes of events")
		}
		for _, o := range over {
			for o.Over > 0 {
				var freed int64
				if err := q.GetContext(ctx, &freed, bound.trim, o.ID, o.Over, trimStep); err != nil {
					return sum, storage.Wrap(err, "trim events")
				}
				if freed == 0 {
					break
				}
				o.Over -= freed
				sum += freed
			}
		}
	}
	return sum, nil
}

const (
	// Of builds each is read by itself, so that a step reads no more rows than it takes.
	sessionsOfBuilds = `
select id from app_sessions where id = any(array(
	select s.id from unnest($1::bigint[]) as b(id) cross join lateral (
		select id from app_sessions where build_id = b.id limit $2) s limit $2)) order by id for update`
	sessionsOfProject = `select id from app_sessions where project_id = any($1) order by id limit $2 for update`

	deleteFeedbackOfBuilds = `
delete from feedbacks where id = any(array(
	select f.id from unnest($1::bigint[]) as b(id) cross join lateral (
		select id from feedbacks where build_id = b.id order by id limit $2) f limit $2)) returning screenshot_key`
	deleteFeedbackOfProject = `
delete from feedbacks where id = any(array(select id from feedbacks where project_id = any($1) order by id limit $2))
returning screenshot_key`
)

// RemoveOfBuilds removes up to limit sessions and as much feedback of builds; it returns
// their number, and the keys of the screenshots, which the caller deletes after the
// commit. The builds are marked deleted, so that no more come.
func RemoveOfBuilds(ctx context.Context, tx *storage.Tx, builds []int64, limit int) (int64, []string, error) {
	return removeOf(ctx, tx, sessionsOfBuilds, deleteFeedbackOfBuilds, builds, limit)
}

// RemoveOfProject does so for what belongs to an app and none of its builds.
func RemoveOfProject(ctx context.Context, tx *storage.Tx, projectID int64, limit int) (int64, []string, error) {
	return removeOf(ctx, tx, sessionsOfProject, deleteFeedbackOfProject, []int64{projectID}, limit)
}

func removeOf(ctx context.Context, tx *storage.Tx, sessions, feedbacks string, of []int64, limit int) (int64, []string, error) {
	n, err := remove(ctx, tx, sessions, pq.Array(of), limit)
	if err != nil {
		return 0, nil, err
	}
	var screenshots []string
	if err := tx.SelectContext(ctx, &screenshots, feedbacks, pq.Array(of), limit); err != nil {
		return 0, nil, storage.Wrap(err, "remove feedback")
	}
	keys := []string{}
	for _, key := range screenshots {
		if key != "" {
			keys = append(keys, key)
		}
	}
	return n + int64(len(screenshots)), keys, nil
}
