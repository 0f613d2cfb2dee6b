package crash

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// A crash finds its build where its crash project belongs to an app: by the
// attribute build_id, else by version and version code, else by version; of
// several builds the newest. Builds that are marked deleted are not found, and
// the row of a build is locked from the look-up to the commit, so that a build
// that is being deleted gets no crash that its removal does not see. Builds are locked
// after projects and before groups.

// BuildRef is what a report says of the build that it came from.
type BuildRef struct {
	ID          string
	Version     string
	VersionCode string
}

const selectApps = `
select id, project_id from crash_projects where id = any($1) and project_id is not null`

// The sub-selects read the primary key, builds_version and builds_newest.
const selectBuildsOf = `
select w.n, coalesce(
	(select b.id from builds b where b.id = w.build and b.project_id = w.app and b.deleted_at is null),
	(select b.id from builds b where w.version <> '' and w.code <> '' and b.project_id = w.app
		and b.version = w.version and b.version_code = w.code and b.deleted_at is null order by b.id desc limit 1),
	(select b.id from builds b where w.version <> '' and b.project_id = w.app
		and b.version = w.version and b.deleted_at is null order by b.id desc limit 1), 0) as build
from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) as w(n, app, build, version, code)`

const lockBuilds = `
select id from builds where id = any($1) and deleted_at is null order by id for no key update`

const updateCrashCounts = `
update builds b set crashes = b.crashes + w.n
from unnest($1::bigint[], $2::bigint[]) as w(id, n) where b.id = w.id`

type appRef struct {
	app int64
	ref BuildRef
}

// findBuilds finds and locks the build of each crash.
func findBuilds(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	refs, err := appRefs(ctx, tx, crashes)
	if err != nil || len(refs) == 0 {
		return err
	}
	found, err := resolveBuilds(ctx, tx, refs)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(found))
	for _, id := range found {
		ids = append(ids, id)
	}
	var locked []int64
	if err := tx.SelectContext(ctx, &locked, lockBuilds, pq.Array(ids)); err != nil {
		return storage.Wrap(err, "lock builds of crashes")
	}
	for i, ref := range refs {
		if id := found[ref]; slices.Contains(locked, id) {
			crashes[i].build = id
		}
	}
	return nil
}

// countBuilds counts the crashes for their builds, which Hold has locked.
func countBuilds(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	counts := map[int64]int64{}
	for i := range crashes {
		if c := &crashes[i]; c.build != 0 {
			counts[c.build] += int64(c.Duplicates)
		}
	}
	return addCrashes(ctx, tx, counts, 1)
}

// appRefs gives, by the number of the crash, what to look for.
func appRefs(ctx context.Context, tx *storage.Tx, crashes []Crash) (map[int]appRef, error) {
	var projects []int64
	for i := range crashes {
		if c := &crashes[i]; c.Build != (BuildRef{}) && !slices.Contains(projects, c.ProjectID) {
			projects = append(projects, c.ProjectID)
		}
	}
	if len(projects) == 0 {
		return nil, nil
	}
	var apps []struct {
		ID        int64 `db:"id"`
		ProjectID int64 `db:"project_id"`
	}
	if err := tx.SelectContext(ctx, &apps, selectApps, pq.Array(projects)); err != nil {
		return nil, storage.Wrap(err, "apps of crash projects")
	}
	refs := map[int]appRef{}
	for i := range crashes {
		for _, a := range apps {
			if a.ID == crashes[i].ProjectID && crashes[i].Build != (BuildRef{}) {
				refs[i] = appRef{a.ProjectID, crashes[i].Build}
			}
		}
	}
	return refs, nil
}

// resolveBuilds asks once for each distinct reference.
func resolveBuilds(ctx context.Context, tx *storage.Tx, refs map[int]appRef) (map[appRef]int64, error) {
	var distinct []appRef
	seen := map[appRef]bool{}
	for _, r := range refs {
		if !seen[r] {
			seen[r] = true
			distinct = append(distinct, r)
		}
	}
	n := len(distinct)
	numbers, apps, ids := make([]int64, n), make([]int64, n), make([]int64, n)
	versions, codes := make([]string, n), make([]string, n)
	for i, r := range distinct {
		numbers[i], apps[i], versions[i], codes[i] = int64(i), r.app, r.ref.Version, r.ref.VersionCode
		ids[i], _ = strconv.ParseInt(r.ref.ID, 10, 64) // no number: no build has it
	}
	var rows []struct {
		N     int   `db:"n"`
		Build int64 `db:"build"`
	}
	err := tx.SelectContext(ctx, &rows, selectBuildsOf, pq.Array(numbers), pq.Array(apps), pq.Array(ids), pq.Array(versions), pq.Array(codes))
	if err != nil {
		return nil, storage.Wrap(err, "builds of crashes")
	}
	found := make(map[appRef]int64, len(rows))
	for _, row := range rows {
		if row.Build != 0 {
			found[distinct[row.N]] = row.Build
		}
	}
	return found, nil
}

// addCrashes changes the counts of builds, whose rows are locked.
func addCrashes(ctx context.Context, tx *storage.Tx, counts map[int64]int64, sign int64) error {
	if len(counts) == 0 {
		return nil
	}
	var ids, numbers []int64
	for id, n := range counts {
		ids, numbers = append(ids, id), append(numbers, sign*n)
	}
	_, err := tx.ExecContext(ctx, updateCrashCounts, pq.Array(ids), pq.Array(numbers))
	return storage.Wrap(err, "count crashes of builds")
}

// Those that are marked deleted as well: their rows are changed too.
const lockBuildsOf = `
select id from builds where id in (select build_id from crashes where id = any($1::uuid[]) and build_id is not null)
order by id for no key update`

// lockBuildsOfCrashes locks the builds of crashes that are about to be deleted.
func lockBuildsOfCrashes(ctx context.Context, tx *storage.Tx, crashes any) error {
	var locked []int64
	return storage.Wrap(tx.SelectContext(ctx, &locked, lockBuildsOf, crashes), "lock builds of crashes")
}

// uncountBuilds takes deleted crashes out of the counts of their builds.
func uncountBuilds(ctx context.Context, tx *storage.Tx, gone []goneCrash) error {
	counts := map[int64]int64{}
	for _, c := range gone {
		if c.BuildID != nil {
			counts[*c.BuildID] += int64(c.Duplicates)
		}
	}
	return addCrashes(ctx, tx, counts, -1)
}

const selectOfBuild = `
select id from crashes where organization_id = $1 and build_id = $2 order by id limit $3`

// OfBuild gives up to limit crashes of a build, ordered by id.
func (s *Store) OfBuild(ctx context.Context, organization, build int64, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := s.db.SelectContext(ctx, &ids, selectOfBuild, organization, build, limit)
	return ids, storage.Wrap(err, "crashes of a build")
}
