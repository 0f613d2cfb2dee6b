package reading

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/appversion"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
)

// Figures are the sessions and users of a version. Users are exact up to 1,023, then
// an estimate whose standard error is 3 %.
type Figures struct {
	Sessions        int64 `db:"sessions"`
	CrashedSessions int64 `db:"crashed_sessions"`
	Users           int64 `db:"users"`
	CrashedUsers    int64 `db:"crashed_users"`
}

// CrashFreeSessions is the part of the sessions that did not crash; nil when no
// session is known.
func (f Figures) CrashFreeSessions() *float64 { return crashFree(f.CrashedSessions, f.Sessions) }

// CrashFreeUsers is the part of the users that saw no crash; nil when no user is
// known.
func (f Figures) CrashFreeUsers() *float64 { return crashFree(f.CrashedUsers, f.Users) }

// crashFree is never below 0: crashes also come from those that send no metrics.
func crashFree(crashed, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	free := max(0, 1-float64(crashed)/float64(all))
	return &free
}

// VersionRow is a version of a crash project.
type VersionRow struct {
	Version   string    `db:"version"`
	FirstSeen time.Time `db:"first_seen"`
	LastSeen  time.Time `db:"last_seen"`
	Crashes   int64     `db:"crashes"`
	Figures
	Days []VersionDay // of a window only, oldest first
}

// VersionDay is a version on one day (UTC).
type VersionDay struct {
	Day     time.Time `db:"day"`
	Crashes int64     `db:"crashes"`
	Figures
}

// VersionFilter selects a page of the versions of a crash project, newest first. With
// From and To, days in UTC (To is the day after the last), it is those that
// have crashes, sessions or users on these days, with their counts of these days;
// else all, with their counts of all days.
type VersionFilter struct {
	ProjectID int64
	From, To  time.Time
	Limit     int
	Offset    int
}

const (
	allVersions = `
select v.version, v.first_seen, v.last_seen, v.crashes, coalesce(d.sessions, 0) as sessions,
	coalesce(d.crashed_sessions, 0) as crashed_sessions, coalesce(d.users, 0) as users,
	coalesce(d.crashed_users, 0) as crashed_users
from crash_versions v
left join crash_version_days d on d.crash_project_id = v.crash_project_id and d.version = v.version and d.day = '-infinity'
where v.crash_project_id = $1`
	versionsOfDays = `
select v.version, v.first_seen, v.last_seen, d.crashes, d.sessions, d.crashed_sessions
from (
	select version, sum(crashes)::bigint as crashes, sum(sessions)::bigint as sessions,
		sum(crashed_sessions)::bigint as crashed_sessions
	from crash_version_days where crash_project_id = $1 and day >= $2::date and day < $3::date group by version
	having sum(crashes) > 0 or sum(sessions) > 0 or sum(users) > 0 or sum(crashed_users) > 0
) d join crash_versions v on v.crash_project_id = $1 and v.version = d.version`
)

// Versions lists the versions of a crash project, and returns the number of all that
// the filter selects.
func Versions(ctx context.Context, q storage.Querier, f VersionFilter) ([]VersionRow, int, error) {
	rows := []VersionRow{} // at most as many as a crash project keeps
	var err error
	windowed := !f.From.IsZero() || !f.To.IsZero()
	if windowed {
		err = q.SelectContext(ctx, &rows, versionsOfDays, f.ProjectID, array.Day(f.From), array.Day(f.To))
	} else {
		err = q.SelectContext(ctx, &rows, allVersions, f.ProjectID)
	}
	if err != nil {
		return nil, 0, storage.Wrap(err, "versions of a crash project")
	}
	sortVersions(rows)
	total := len(rows)
	start := min(f.Offset, total)
	rows = rows[start:min(start+f.Limit, total)]
	if windowed {
		err = readVersionDays(ctx, q, f, rows)
	}
	return rows, total, err
}

// sortVersions puts the newest version first; texts, which have no order in time, come
// after the numbers, last seen first.
func sortVersions(rows []VersionRow) {
	keys := make(map[string]appversion.Key, len(rows))
	for i := range rows {
		keys[rows[i].Version] = appversion.Parse(rows[i].Version)
	}
	slices.SortFunc(rows, func(a, b VersionRow) int {
		x, y := keys[a.Version], keys[b.Version]
		if !x.Numbered && !y.Numbered {
			return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.Version, b.Version))
		}
		return cmp.Or(y.Compare(x), cmp.Compare(a.Version, b.Version))
	})
}

// readVersionDays fills in the days, and the users of all of them together.
func readVersionDays(ctx context.Context, q storage.Querier, f VersionFilter, rows []VersionRow) error {
	versions, at := make([]string, len(rows)), make(map[string]*VersionRow, len(rows))
	for i := range rows {
		versions[i], at[rows[i].Version] = rows[i].Version, &rows[i]
	}
	var days []struct {
		Version string `db:"version"`
		VersionDay
		UserSample    []byte `db:"user_sample"`
		CrashedSample []byte `db:"crashed_user_sample"`
	}
	err := q.SelectContext(ctx, &days, `
		select version, day, crashes, sessions, crashed_sessions, users, crashed_users, user_sample, crashed_user_sample
		from crash_version_days where crash_project_id = $1 and version = any($2) and day >= $3::date and day < $4::date
		order by version, day`, f.ProjectID, pq.Array(versions), array.Day(f.From), array.Day(f.To))
	if err != nil {
		return storage.Wrap(err, "days of versions")
	}
	users, crashed := map[string]*distinct.Sample{}, map[string]*distinct.Sample{}
	for i := range days {
		d := &days[i]
		row := at[d.Version]
		row.Days = append(row.Days, d.VersionDay)
		if users[d.Version] == nil {
			users[d.Version], crashed[d.Version] = &distinct.Sample{}, &distinct.Sample{}
		}
		users[d.Version].Add(distinct.Parse(d.UserSample)...)
		sample := distinct.Parse(d.CrashedSample)
		crashed[d.Version].Add(sample...)
		row.CrashedUsers += d.CrashedUsers - sample.Count() // those without an id
	}
	for version, sample := range users {
		at[version].Users = sample.Count()
		at[version].CrashedUsers += crashed[version].Count()
	}
	return nil
}

// readFigures fills in the sessions and users of the versions of groups.
func readFigures(ctx context.Context, q storage.Querier, groups []Group) error {
	var projects []int64
	var versions []string
	for i := range groups {
		for _, v := range groups[i].Versions.Values {
			projects, versions = append(projects, groups[i].ProjectID), append(versions, v.Value)
		}
	}
	if len(versions) == 0 {
		return nil
	}
	var rows []struct {
		ProjectID int64  `db:"crash_project_id"`
		Version   string `db:"version"`
		Figures
	}
	err := q.SelectContext(ctx, &rows, `
		select d.crash_project_id, d.version, d.sessions, d.crashed_sessions, d.users, d.crashed_users
		from (select distinct * from unnest($1::bigint[], $2::text[]) as v(crash_project_id, version)) v
		join crash_version_days d using (crash_project_id, version) where d.day = '-infinity'`,
		pq.Array(projects), pq.Array(versions))
	if err != nil {
		return storage.Wrap(err, "sessions of versions")
	}
	type version struct {
		project int64
		text    string
	}
	figures := make(map[version]Figures, len(rows))
	for i := range rows {
		figures[version{rows[i].ProjectID, rows[i].Version}] = rows[i].Figures
	}
	for i := range groups {
		values := groups[i].Versions.Values
		for n := range values {
			values[n].Figures = figures[version{groups[i].ProjectID, values[n].Value}]
		}
	}
	return nil
}
