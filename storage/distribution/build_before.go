package distribution

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
)

// channelKey is the key of a build's metadata that names its channel.
const channelKey = "channel"

// Channel is the channel of a build; "" is one, too.
func (b *Build) Channel() string { return b.Metadata[channelKey] }

// The index builds_project has the builds of an app that are older, newest first; of the
// first searchDepth of them the kind and the channel are looked at.
const olderBuild = `
select id from (
	select id, kind, metadata from builds
	where (project_id, id) >= ($2::bigint, 0) and (project_id, id) < ($2, $3::bigint) and organization_id = $1
		and state <> 'invalid' and deleted_at is null` + newestFirst + ` limit $6
) older
where kind = $4 and coalesce(metadata ->> '` + channelKey + `', '') = $5
order by id desc limit 1`

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
