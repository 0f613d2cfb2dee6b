package crash

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// A crash finds its build where its crash project belongs to an app. The row of the
// build is locked from the look-up to the commit, after the projects and before the
// groups.

// BuildRef is what a report contains of the build that it came from.
type BuildRef struct {
	ID          string
	Version     string
	VersionCode string
}

const selectApps = `
select id, project_id from crash_projects where id = any($1) and project_id is not null`

// lockReportedBuilds finds and locks the build of each crash.
func lockReportedBuilds(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	reported, err := reportedBuilds(ctx, tx, crashes)
	if err != nil || len(reported) == 0 {
		return err
	}
	list := make([]distribution.ReportedBuild, 0, len(reported))
	for _, r := range reported {
		list = append(list, r)
	}
	found, err := distribution.LockReportedBuilds(ctx, tx, list)
	if err != nil {
		return err
	}
	for i, r := range reported {
		crashes[i].build = found[r]
	}
	return nil
}

// reportedBuilds returns what to look for, by the index of the crash.
func reportedBuilds(ctx context.Context, tx *storage.Tx, crashes []Crash) (map[int]distribution.ReportedBuild, error) {
	var projects []int64
	for i := range crashes {
		if c := &crashes[i]; c.Build != (BuildRef{}) && !slices.Contains(projects, c.ProjectID) {
			projects = append(projects, c.ProjectID)
		}
	}
	if len(projects) == 0 {
		return nil, nil
	}
	apps, err := appsOf(ctx, tx, projects)
	if err != nil {
		return nil, err
	}
	reported := map[int]distribution.ReportedBuild{}
	for i := range crashes {
		n := NamedBuild{ProjectID: crashes[i].ProjectID, BuildRef: crashes[i].Build}
		if n.BuildRef != (BuildRef{}) && apps[n.ProjectID] != 0 {
			reported[i] = n.reported(apps)
		}
	}
	return reported, nil
}

// NamedBuild is a build as a report of a crash project names it.
type NamedBuild struct {
	ProjectID int64
	BuildRef
}

// FindBuilds finds the builds that reports name, in two statements; those that are not there,
// or whose crash project belongs to no app, are missing in the map.
func FindBuilds(ctx context.Context, q storage.Querier, named []NamedBuild) (map[NamedBuild]int64, error) {
	var projects []int64
	for _, n := range named {
		if !slices.Contains(projects, n.ProjectID) {
			projects = append(projects, n.ProjectID)
		}
	}
	apps, err := appsOf(ctx, q, projects)
	if err != nil || len(apps) == 0 {
		return nil, err
	}
	var reported []distribution.ReportedBuild
	for _, n := range named {
		if r := n.reported(apps); r.ProjectID != 0 {
			reported = append(reported, r)
		}
	}
	builds, err := distribution.FindReportedBuilds(ctx, q, reported)
	if err != nil {
		return nil, err
	}
	found := make(map[NamedBuild]int64, len(builds))
	for _, n := range named {
		if id := builds[n.reported(apps)]; id != 0 {
			found[n] = id
		}
	}
	return found, nil
}

// reported is the build among those of the app of its project.
func (n *NamedBuild) reported(apps map[int64]int64) distribution.ReportedBuild {
	return distribution.ReportedBuild{ProjectID: apps[n.ProjectID], ID: n.ID, Version: n.Version, VersionCode: n.VersionCode}
}

// appsOf returns the apps of crash projects by the project; those of none are left out.
func appsOf(ctx context.Context, q storage.Querier, projects []int64) (map[int64]int64, error) {
	var rows []struct {
		ID        int64 `db:"id"`
		ProjectID int64 `db:"project_id"`
	}
	if err := q.SelectContext(ctx, &rows, selectApps, pq.Array(projects)); err != nil {
		return nil, storage.Wrap(err, "apps of crash projects")
	}
	apps := make(map[int64]int64, len(rows))
	for _, r := range rows {
		apps[r.ID] = r.ProjectID
	}
	return apps, nil
}

// countBuilds counts the crashes for their builds, which Lock has locked, and returns those
// of the builds that have a gate.
func countBuilds(ctx context.Context, tx *storage.Tx, crashes []Crash) (gated map[int64]bool, err error) {
	counts := map[int64]int64{}
	for i := range crashes {
		if c := &crashes[i]; c.build != 0 {
			counts[c.build] += int64(c.Duplicates)
		}
	}
	return distribution.AddCrashes(ctx, tx, counts)
}

// countGated counts crashes for the gates of their builds, and says that these are due: one
// statement, and none where no build has a gate. It comes last: the crashes have their keys, and
// it is known which symbols they lack.
func countGated(ctx context.Context, tx *storage.Tx, gated map[int64]bool, crashes []Crash) error {
	if len(gated) == 0 {
		return nil
	}
	var ids []uuid.UUID
	for i := range crashes {
		if gated[crashes[i].build] {
			ids = append(ids, crashes[i].ID)
		}
	}
	_, err := tx.ExecContext(ctx, `select gate_count_crashes($1::uuid[])`, storage.UUIDs(ids))
	return storage.Wrap(err, "count crashes for gates")
}

const needOfGates = `
with needed as (
	insert into gate_needs (build_id, need_id)
	select distinct c.build_id, l.need_id from crashes c join gates g on g.build_id = c.build_id join crash_lacks l on l.crash_id = c.id
	where c.id = any($1::uuid[]) order by 1, 2
	on conflict do nothing
	returning build_id
)
insert into gate_due (build_id, organization_id, due_at)
select distinct g.build_id, g.organization_id, now() from needed n join gates g using (build_id)`

// needGated remembers for the gates of builds which symbols crashes lack that were read again.
func needGated(ctx context.Context, tx *storage.Tx, known []knownCrash, unread []Crash) error {
	var ids []uuid.UUID
	for i := range known {
		if c := &known[i]; c.row.BuildID != nil && c.Symbols != nil && len(c.Symbols.Needs) > 0 {
			ids = append(ids, c.ID)
		}
	}
	for i := range unread {
		if c := &unread[i]; c.Symbols != nil && len(c.Symbols.Needs) > 0 {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, needOfGates, storage.UUIDs(ids))
	return storage.Wrap(err, "symbols that builds with a gate lack")
}

// lockGatedBuilds locks the builds of crashes that have a gate, before groups, as who records crashes of them
// does: so no crash changes its key while the crashes of a build are counted anew.
func lockGatedBuilds(ctx context.Context, tx *storage.Tx, crashes []string) error {
	_, err := tx.ExecContext(ctx, `select b.id from builds b where b.id in (select c.build_id from crashes c where c.id = any($1::uuid[]))
		and exists (select from gates g where g.build_id = b.id) order by b.id for no key update`, pq.Array(crashes))
	return storage.Wrap(err, "lock builds with a gate")
}

// lockBuildsOfCrashes locks the builds of crashes that are about to be deleted.
func lockBuildsOfCrashes(ctx context.Context, tx *storage.Tx, crashes any) error {
	var builds []int64
	err := tx.SelectContext(ctx, &builds, `select distinct build_id from crashes
		where id = any($1::uuid[]) and build_id is not null`, crashes)
	if err != nil {
		return storage.Wrap(err, "builds of crashes")
	}
	return distribution.LockBuilds(ctx, tx, builds)
}

// uncountBuilds subtracts deleted crashes from the counts of their builds.
func uncountBuilds(ctx context.Context, tx *storage.Tx, deleted []deletedCrash) error {
	counts := map[int64]int64{}
	for _, c := range deleted {
		if c.BuildID != nil {
			counts[*c.BuildID] -= int64(c.Duplicates)
		}
	}
	_, err := distribution.AddCrashes(ctx, tx, counts)
	return err
}

// OfBuilds returns up to limit crashes of builds, ordered by id: those of the first builds,
// so that a step reads no more than it returns.
func OfBuilds(ctx context.Context, q storage.Querier, organization int64, builds []int64, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, `select id from (
			select c.id from unnest($2::bigint[]) as b(id) cross join lateral (
				select id from crashes where organization_id = $1 and build_id = b.id limit $3) c limit $3) first
		order by id`, organization, pq.Array(builds), limit)
	return ids, storage.Wrap(err, "crashes of builds")
}
