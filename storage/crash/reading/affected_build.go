package reading

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// AffectedBuild is a build from which reports came.
type AffectedBuild struct {
	ID          int64     `json:"id"`
	Version     string    `json:"version"`
	VersionCode string    `json:"version_code"`
	CreatedAt   time.Time `json:"created_at"`
}

// affectedBuilds are the builds of a group g that is shown, with its parts: an array of the one
// uploaded first and the one uploaded last, null where there is none or it is gone.
const affectedBuilds = `(
	with reach as (
		select min(r.first_build_id) as first, max(r.last_build_id) as last
		from (` + crash.MembersOfGroup + `) m join crash_group_reach r on r.group_id = m.id
	), build as (
		select b.id, json_build_object('id', b.id, 'version', b.version, 'version_code', b.version_code, 'created_at', b.created_at) as view
		from reach join builds b on b.id in (reach.first, reach.last) where b.organization_id = g.organization_id and b.deleted_at is null
	)
	select json_build_array((select view from build where id = reach.first), (select view from build where id = reach.last)) from reach)`

// affectedBuildsOf reads what affectedBuilds selects.
func affectedBuildsOf(text []byte) (first, last *AffectedBuild, err error) {
	var both [2]*AffectedBuild
	err = json.Unmarshal(text, &both)
	return both[0], both[1], storage.Wrap(err, "builds of a crash group")
}

const firstBuild = `
select coalesce((select min(r.first_build_id) from (` + crash.MembersOfGroup + `) m join crash_group_reach r on r.group_id = m.id), 0)
from crash_groups g where g.organization_id = $1 and g.id = $2`

// FirstBuild is the build that was uploaded first of those from which reports of a group that is
// shown came, with its parts; 0: none is known. It may be gone.
func FirstBuild(ctx context.Context, q storage.Querier, organization, group int64) (build int64, err error) {
	err = q.GetContext(ctx, &build, firstBuild, organization, group)
	return build, storage.Wrap(err, fmt.Sprintf("crash group %d", group))
}
