package distribution

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ChannelKey is the key of a build's metadata that names its channel.
const ChannelKey = "channel"

// Channel is the channel of a build; "" is one, too.
func (b *Build) Channel() string { return b.Metadata[ChannelKey] }

// olderBuild reads the index builds_project, which has the builds of an app that are older,
// newest first; of the first searchDepth of them the kind and the channel are looked at.
const olderBuild = `
select id from (
	select id, kind, metadata from builds
	where (project_id, id) >= ($2::bigint, 0) and (project_id, id) < ($2, $3::bigint) and organization_id = $1
		and state <> 'invalid' and deleted_at is null` + NewestFirst + ` limit $6
) older
where kind = $4 and coalesce(metadata ->> '` + ChannelKey + `', '') = $5
order by id desc limit 1`

// olderBuilds is the same for several builds, in the order of the index up to the end, so that
// the search ends at the first one that fits. $2 is the one that is known, 0 for none: it
// stands as long as it is there, since those that come later are newer.
const olderBuilds = `
select w.id, coalesce(
	(select o.id from builds o where o.id = w.known and o.state <> 'invalid' and o.deleted_at is null and o.kind = b.kind
		and coalesce(o.metadata ->> '` + ChannelKey + `', '') = coalesce(b.metadata ->> '` + ChannelKey + `', '')),
	(select o.id from (
		select project_id, id, kind, metadata from builds
		where (project_id, id) >= (b.project_id, 0) and (project_id, id) < (b.project_id, b.id) and organization_id = b.organization_id
			and state <> 'invalid' and deleted_at is null` + NewestFirst + ` limit $3
	) o where o.kind = b.kind and coalesce(o.metadata ->> '` + ChannelKey + `', '') = coalesce(b.metadata ->> '` + ChannelKey + `', '')
	order by o.project_id desc, o.id desc limit 1)) as before
from unnest($1::bigint[], $2::bigint[]) as w(id, known) join builds b on b.id = w.id`

// BuildsBefore finds the builds before those that are the keys, as BuildBefore does, in one
// statement. The values are what was found for them last, 0 for nothing. Those without one
// are missing in the map.
func BuildsBefore(ctx context.Context, q storage.Querier, known map[int64]int64) (map[int64]int64, error) {
	var ids, found []int64
	for id, before := range known {
		ids, found = append(ids, id), append(found, before)
	}
	var rows []struct {
		ID     int64  `db:"id"`
		Before *int64 `db:"before"`
	}
	if err := q.SelectContext(ctx, &rows, olderBuilds, pq.Array(ids), pq.Array(found), searchDepth); err != nil {
		return nil, storage.Wrap(err, "look for builds before")
	}
	before := make(map[int64]int64, len(rows))
	for _, row := range rows {
		if row.Before != nil {
			before[row.ID] = *row.Before
		}
	}
	return before, nil
}

// BuildBefore returns the build before one: the newest older one of its app, kind and
// channel. storage.ErrNotFound is none, among the searchDepth builds before it.
func BuildBefore(ctx context.Context, q storage.Querier, b *Build) (*Build, error) {
	var id int64
	err := q.GetContext(ctx, &id, olderBuild, b.OrganizationID, b.ProjectID, b.ID, b.Kind, b.Channel(), searchDepth)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("build before %d: %w", b.ID, storage.ErrNotFound)
	}
	if err != nil {
		return nil, storage.Wrap(err, "look for the build before")
	}
	return BuildByID(ctx, q, b.OrganizationID, b.ProjectID, id)
}
