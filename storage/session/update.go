package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Installed is the build that asks for a newer one.
type Installed struct {
	ProjectID   int64
	Version     string
	VersionCode string
	UDID        string // of an iOS device; "" is not known
}

type candidate struct {
	ID          int64  `db:"id"`
	Version     string `db:"version"`
	VersionCode string `db:"version_code"`
	Allowed     bool   `db:"allowed"`
	AutoUpdate  bool   `db:"auto_update"`
}

// candidates reads the newest enabled builds whose signature is not still being verified, by
// builds_state. A profile that names devices allows only these.
const candidates = `
select id, version, version_code, auto_update and kind in ('apk', 'ipa') as auto_update,
	$2 = '' or provisioning is null or jsonb_typeof(provisioning -> 'devices') is distinct from 'array'
		or jsonb_array_length(provisioning -> 'devices') = 0
		or exists (select from jsonb_array_elements_text(provisioning -> 'devices') d where lower(d) = lower($2)) as allowed
from builds where state = 'enabled' and verification <> 'pending' and project_id = $1 and deleted_at is null
order by id desc limit 500`

// NewerBuild returns the id of the build that an installed one should be updated to: the
// newest of those with auto_update that are newer than it and fit the device; 0 when there
// is none. Version codes that are numbers are compared as numbers; others by the order in
// which the builds were uploaded.
func NewerBuild(ctx context.Context, q storage.Querier, have Installed) (int64, error) {
	var list []candidate
	if err := q.SelectContext(ctx, &list, candidates, have.ProjectID, strings.TrimSpace(have.UDID)); err != nil {
		return 0, storage.Wrap(err, "look for a newer build")
	}
	own := ownBuild(list, have)
	var newer []candidate
	for _, c := range list {
		if c.AutoUpdate && c.Allowed && c.newer(have, own) {
			newer = append(newer, c)
		}
	}
	if len(newer) == 0 {
		return 0, nil
	}
	return slices.MaxFunc(newer, func(a, b candidate) int {
		order, _ := distribution.CompareCodes(a.VersionCode, b.VersionCode)
		return cmp.Or(order, cmp.Compare(a.ID, b.ID))
	}).ID, nil
}

// ownBuild finds the build that is installed; 0 when it is not among the list.
func ownBuild(list []candidate, have Installed) int64 {
	for _, c := range list {
		if c.VersionCode == have.VersionCode && (have.Version == "" || c.Version == have.Version) {
			return c.ID
		}
	}
	return 0
}

func (c candidate) newer(have Installed, own int64) bool {
	if order, ok := distribution.CompareCodes(c.VersionCode, have.VersionCode); ok {
		return order > 0
	}
	if c.VersionCode == have.VersionCode && c.Version == have.Version {
		return false
	}
	return c.ID > own
}
