package session

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
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

// The newest enabled builds, by builds_state. A profile that names devices allows only
// these.
const candidates = `
select id, version, version_code, auto_update and kind in ('apk', 'ipa') as auto_update,
	$2 = '' or provisioning is null or jsonb_typeof(provisioning -> 'devices') is distinct from 'array'
		or jsonb_array_length(provisioning -> 'devices') = 0
		or exists (select from jsonb_array_elements_text(provisioning -> 'devices') d where lower(d) = lower($2)) as allowed
from builds where state = 'enabled' and project_id = $1 and deleted_at is null
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
		order, _ := compareCodes(a.VersionCode, b.VersionCode)
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
	if order, ok := compareCodes(c.VersionCode, have.VersionCode); ok {
		return order > 0
	}
	if c.VersionCode == have.VersionCode && c.Version == have.Version {
		return false
	}
	return c.ID > own
}

// maxCode bounds codes that are compared as numbers: Android's have 19 digits.
const maxCode = 40

// compareCodes compares version codes as numbers, part by part ("12", "1.2.10"); false when
// one is something else.
func compareCodes(a, b string) (int, bool) {
	left, okA := codeParts(a)
	right, okB := codeParts(b)
	if !okA || !okB {
		return 0, false
	}
	for i := range max(len(left), len(right)) {
		var x, y big.Int
		if i < len(left) {
			x.SetString(left[i], 10)
		}
		if i < len(right) {
			y.SetString(right[i], 10)
		}
		if order := x.Cmp(&y); order != 0 {
			return order, true
		}
	}
	return 0, true
}

func codeParts(code string) ([]string, bool) {
	if code == "" || len(code) > maxCode {
		return nil, false
	}
	parts := strings.Split(code, ".")
	for _, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return nil, false
		}
	}
	return parts, true
}
