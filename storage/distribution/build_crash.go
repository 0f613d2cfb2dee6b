package distribution

import (
	"context"
	"slices"
	"strconv"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ReportedBuild is what a crash report contains of the build of an app that it came
// from. Any of the texts may be empty.
type ReportedBuild struct {
	ProjectID   int64
	ID          string
	Version     string
	VersionCode string
}

// selectReportedBuilds has sub-selects that read the primary key, builds_version and
// builds_newest.
const selectReportedBuilds = `
select w.n, coalesce(
	(select b.id from builds b where b.id = w.build and b.project_id = w.app and b.deleted_at is null),
	(select b.id from builds b where w.version <> '' and w.code <> '' and b.project_id = w.app
		and b.version = w.version and b.version_code = w.code and b.deleted_at is null order by b.id desc limit 1),
	(select b.id from builds b where w.version <> '' and b.project_id = w.app
		and b.version = w.version and b.deleted_at is null order by b.id desc limit 1), 0) as build
from unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) as w(n, app, build, version, code)`

const lockReportedBuilds = `
select id from builds where id = any($1) and deleted_at is null order by id for no key update`

// LockReportedBuilds finds the builds that crashes came from and locks their rows
// until the transaction ends: a build that is being deleted gets no crash that its
// removal does not see. A build is found by its id, else by version and version
// code, else by version; of several the newest. Those that are marked deleted are
// not found. What is not found is missing in the map.
func LockReportedBuilds(ctx context.Context, tx *storage.Tx, reported []ReportedBuild) (map[ReportedBuild]int64, error) {
	found, err := FindReportedBuilds(ctx, tx, reported)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	ids := make([]int64, 0, len(found))
	for _, id := range found {
		ids = append(ids, id)
	}
	var locked []int64
	if err := tx.SelectContext(ctx, &locked, lockReportedBuilds, pq.Array(ids)); err != nil {
		return nil, storage.Wrap(err, "lock builds of crashes")
	}
	for r, id := range found {
		if !slices.Contains(locked, id) {
			delete(found, r)
		}
	}
	return found, nil
}

// FindReportedBuild finds the build that a crash came from, as LockReportedBuilds does; 0
// when there is none.
func FindReportedBuild(ctx context.Context, q storage.Querier, reported ReportedBuild) (int64, error) {
	found, err := FindReportedBuilds(ctx, q, []ReportedBuild{reported})
	return found[reported], err
}

// FindReportedBuilds finds the builds that crashes came from, as LockReportedBuilds does, in
// one statement that looks for each distinct one once.
func FindReportedBuilds(ctx context.Context, tx storage.Querier, reported []ReportedBuild) (map[ReportedBuild]int64, error) {
	if len(reported) == 0 {
		return nil, nil
	}
	var distinct []ReportedBuild
	seen := map[ReportedBuild]bool{}
	for _, r := range reported {
		if !seen[r] {
			seen[r] = true
			distinct = append(distinct, r)
		}
	}
	n := len(distinct)
	numbers, apps, ids := make([]int64, n), make([]int64, n), make([]int64, n)
	versions, codes := make([]string, n), make([]string, n)
	for i, r := range distinct {
		numbers[i], apps[i], versions[i], codes[i] = int64(i), r.ProjectID, r.Version, r.VersionCode
		ids[i], _ = strconv.ParseInt(r.ID, 10, 64) // no number: no build has it
	}
	var rows []struct {
		N     int   `db:"n"`
		Build int64 `db:"build"`
	}
	err := tx.SelectContext(ctx, &rows, selectReportedBuilds, pq.Array(numbers), pq.Array(apps), pq.Array(ids),
		pq.Array(versions), pq.Array(codes))
	if err != nil {
		return nil, storage.Wrap(err, "builds of crashes")
	}
	found := make(map[ReportedBuild]int64, len(rows))
	for _, row := range rows {
		if row.Build != 0 {
			found[distinct[row.N]] = row.Build
		}
	}
	return found, nil
}

// LockBuilds locks the rows of builds, those that are marked deleted as well, in
// the order of their ids until the transaction ends.
func LockBuilds(ctx context.Context, tx *storage.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `select id from builds where id = any($1) order by id for no key update`, pq.Array(ids))
	return storage.Wrap(err, "lock builds")
}

const addCrashes = `
update builds b set crashes = b.crashes + w.n
from unnest($1::bigint[], $2::bigint[]) as w(id, n) where b.id = w.id
returning b.id, exists (select from gates g where g.build_id = b.id) as gated`

// AddCrashes changes the crash counts of builds, whose rows the transaction has
// locked. The map has what is added, below zero for crashes that are removed. It returns
// those of the builds that have a gate.
func AddCrashes(ctx context.Context, tx *storage.Tx, counts map[int64]int64) (gated map[int64]bool, err error) {
	if len(counts) == 0 {
		return nil, nil
	}
	var ids, numbers []int64
	for id, n := range counts {
		ids, numbers = append(ids, id), append(numbers, n)
	}
	var rows []struct {
		ID    int64 `db:"id"`
		Gated bool  `db:"gated"`
	}
	if err := tx.SelectContext(ctx, &rows, addCrashes, pq.Array(ids), pq.Array(numbers)); err != nil {
		return nil, storage.Wrap(err, "count crashes of builds")
	}
	gated = map[int64]bool{}
	for _, row := range rows {
		if row.Gated {
			gated[row.ID] = true
		}
	}
	return gated, nil
}
