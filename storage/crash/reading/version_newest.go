package reading

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
)

const versionsOfProjects = `
select v.crash_project_id, v.version, v.first_seen, v.last_seen, d.crashes, d.sessions, d.crashed_sessions
from (
	select crash_project_id, version, sum(crashes)::bigint as crashes, sum(sessions)::bigint as sessions,
		sum(crashed_sessions)::bigint as crashed_sessions
	from crash_version_days where crash_project_id = any($1) and day >= $2::date and day < $3::date group by 1, 2
	having sum(crashes) > 0 or sum(sessions) > 0 or sum(users) > 0 or sum(crashed_users) > 0
) d join crash_versions v using (crash_project_id, version)`

const daysOfVersions = `
select d.crash_project_id, d.crashed_users, d.user_sample, d.crashed_user_sample
from unnest($1::bigint[], $2::text[]) as n(crash_project_id, version)
join crash_version_days d using (crash_project_id, version) where d.day >= $3::date and d.day < $4::date`

// NewestVersions returns the newest version of each crash project that has crashes, sessions
// or users on some days, as Versions has it first, with its figures of these days together;
// the last day is the one before to. Each project has a bounded number of versions.
func NewestVersions(ctx context.Context, q storage.Querier, projects []int64, from, to time.Time) (map[int64]VersionRow, error) {
	newest := make(map[int64]VersionRow, len(projects))
	if len(projects) == 0 {
		return newest, nil
	}
	var rows []struct {
		ProjectID int64 `db:"crash_project_id"`
		VersionRow
	}
	if err := q.SelectContext(ctx, &rows, versionsOfProjects, pq.Array(projects), array.Day(from), array.Day(to)); err != nil {
		return nil, storage.Wrap(err, "versions of crash projects")
	}
	byProject := map[int64][]VersionRow{}
	for i := range rows {
		byProject[rows[i].ProjectID] = append(byProject[rows[i].ProjectID], rows[i].VersionRow)
	}
	var ids []int64
	var versions []string
	for project, list := range byProject {
		sortVersions(list)
		newest[project] = list[0]
		ids, versions = append(ids, project), append(versions, list[0].Version)
	}
	var days []struct {
		ProjectID     int64  `db:"crash_project_id"`
		CrashedUsers  int64  `db:"crashed_users"`
		UserSample    []byte `db:"user_sample"`
		CrashedSample []byte `db:"crashed_user_sample"`
	}
	if err := q.SelectContext(ctx, &days, daysOfVersions, pq.Array(ids), pq.Array(versions), array.Day(from),
		array.Day(to)); err != nil {
		return nil, storage.Wrap(err, "users of versions")
	}
	users, crashed := map[int64]*distinct.Sample{}, map[int64]*distinct.Sample{}
	for i := range days {
		d := &days[i]
		if users[d.ProjectID] == nil {
			users[d.ProjectID], crashed[d.ProjectID] = &distinct.Sample{}, &distinct.Sample{}
		}
		users[d.ProjectID].Add(distinct.Parse(d.UserSample)...)
		sample := distinct.Parse(d.CrashedSample)
		crashed[d.ProjectID].Add(sample...)
		row := newest[d.ProjectID]
		row.CrashedUsers += d.CrashedUsers - sample.Count() // those without an id
		newest[d.ProjectID] = row
	}
	for project, sample := range users {
		row := newest[project]
		row.Users = sample.Count()
		row.CrashedUsers += crashed[project].Count()
		newest[project] = row
	}
	return newest, nil
}
