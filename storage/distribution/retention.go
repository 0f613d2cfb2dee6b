package distribution

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// beyondRetention finds builds to delete. The channel of a build is its metadata's member
// channel, "" without one. Besides the newest build of an app and channel, the newest enabled
// one stays: a newest build that is disabled or invalid must not leave testers without any.
// Organizations take turns, each with its oldest builds first. $1 is now, $2 an app or 0 for
// all of them.
const beyondRetention = `
with bounded as (
	select p.id, nullif(coalesce(p.retention_builds, o.retention_builds), 0) as kept,
		$1::timestamptz - make_interval(days => nullif(coalesce(p.retention_days, o.retention_days), 0)) as oldest
	from projects p join organizations o on o.id = p.organization_id
	where p.deleted_at is null and ($2::bigint = 0 or p.id = $2)
		and (coalesce(p.retention_builds, o.retention_builds) > 0 or coalesce(p.retention_days, o.retention_days) > 0)
), ranked as (
	select b.id, b.organization_id, b.project_id, b.keep, b.state, b.created_at, r.kept, r.oldest,
		row_number() over (partition by b.project_id, coalesce(b.metadata->>'channel', '') order by b.id desc) as place,
		row_number() over (partition by b.project_id, coalesce(b.metadata->>'channel', ''), b.state order by b.id desc) as of_state
	from bounded r join builds b on b.project_id = r.id and b.deleted_at is null
), beyond as (
	select id, organization_id, project_id, row_number() over (partition by organization_id order by id) as turn
	from ranked
	where not keep and place > 1 and not (state = 'enabled' and of_state = 1) and (place > kept or created_at < oldest)
)`

const beyondInTurns = beyondRetention + `
select id, organization_id, project_id from beyond order by turn, organization_id limit $3`

// BeyondRetention is a build that its organization's or app's retention deletes.
type BeyondRetention struct {
	ID             int64 `db:"id"`
	OrganizationID int64 `db:"organization_id"`
	ProjectID      int64 `db:"project_id"`
}

// BuildsBeyondRetention are at most limit builds that retention deletes at a time,
// organizations in turns.
func BuildsBeyondRetention(ctx context.Context, q storage.Querier, now time.Time, limit int) ([]BeyondRetention, error) {
	var list []BeyondRetention
	err := q.SelectContext(ctx, &list, beyondInTurns, now, 0, limit)
	return list, storage.Wrap(err, "builds beyond their retention")
}

const countBeyond = beyondRetention + `
select count(*) from beyond`

const beyondPage = beyondRetention + `
select ` + BuildColumns + `
from builds b` + BuildTables + `
where b.organization_id = $3 and b.id in (select id from beyond order by id limit $4 offset $5)
order by b.id`

// RetentionPreview is the page of an app's builds that retention would delete at a time,
// oldest first, with the number of all of them.
func RetentionPreview(ctx context.Context, q storage.Querier, organizationID, projectID int64, now time.Time,
	p storage.Page) ([]Build, int, error) {
	if _, err := ProjectByID(ctx, q, organizationID, projectID); err != nil {
		return nil, 0, err
	}
	var total int
	if err := q.GetContext(ctx, &total, countBeyond, now, projectID); err != nil {
		return nil, 0, storage.Wrap(err, "count builds beyond their retention")
	}
	list, err := ReadBuilds(ctx, q, beyondPage, now, projectID, organizationID, p.RowLimit(), p.RowOffset())
	return list, total, err
}

const stillBeyond = beyondRetention + `
select id from beyond where id <= $3 order by id limit $4`

// RetireBuilds marks builds of an app deleted, as DeleteBuild does, in the name of
// retention, and returns their ids: the oldest beyond the retention, up to the build
// last and at most limit. The app's lock comes first: what a request kept, added or
// deleted since the builds were found is seen. The caller inserts a task build:delete for each.
func RetireBuilds(ctx context.Context, tx *storage.Tx, organizationID, projectID, last int64, now time.Time, limit int) ([]int64, error) {
	w := account.Writer{OrganizationID: organizationID, AllTeams: true, Actor: account.Actor{Name: account.ActorRetention}}
	_, err := lockProject(ctx, tx, w, projectID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil // the app was deleted
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, stillBeyond, now, projectID, last, limit); err != nil {
		return nil, storage.Wrap(err, "builds beyond their retention")
	}
	return deleteBuilds(ctx, tx, w, projectID, ids, "retention")
}
