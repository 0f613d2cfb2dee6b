package overview

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

const (
	// TopVersions is how many versions are counted by themselves: more colours nobody tells apart.
	TopVersions = 5
	// topProjects is how many crash projects have their newest version shown.
	topProjects = 6
)

// Version is a version of a crash project with its crashes in the days of the chart.
type Version struct {
	ProjectID   int64  `db:"crash_project_id"`
	ProjectName string `db:"project_name"`
	Version     string `db:"version"`
	Crashes     int64  `db:"crashes"`
}

// Day is a day with all crashes, and with those of each of the top versions, in their order.
type Day struct {
	Day      time.Time
	Crashes  int64
	Versions []int64
}

// Others are the crashes of other versions, and those that name none.
func (d Day) Others() int64 {
	n := d.Crashes
	for _, v := range d.Versions {
		n -= v
	}
	return n
}

// Newest is the newest version of a crash project that has crashes or sessions in these days.
type Newest struct {
	ProjectID   int64
	ProjectName string
	reading.VersionRow
}

// Crashes are the crashes of the last days.
type Crashes struct {
	Projects Count
	Versions []Version // the most crashes first
	Days     []Day     // all, oldest first
	Newest   []Newest  // of the projects with the most sessions and crashes, these first
}

// Total are the crashes of all days.
func (c *Crashes) Total() (n int64) {
	for _, d := range c.Days {
		n += d.Crashes
	}
	return n
}

// crashesByDay reads the days of each project as a range of crash_project_days_day: a trigger
// keeps them with the days of the groups, one row of a day that is over, some dozens of today.
const crashesByDay = `
select d.day, sum(d.count)::bigint as crashes
from crash_projects p join crash_project_days d on d.crash_project_id = p.id and d.day >= $2::date and d.day < $3::date
where p.organization_id = $1
group by d.day`

// topVersionsByDay reads the days of each project as a range of crash_version_days_day.
const topVersionsByDay = `
with seen as materialized (
	select d.crash_project_id, d.version, d.day, d.crashes
	from crash_projects p join crash_version_days d on d.crash_project_id = p.id and d.day >= $2::date and d.day < $3::date
	where p.organization_id = $1 and d.crashes > 0
), top as (
	select crash_project_id, version, sum(crashes)::bigint as crashes from seen group by 1, 2
	order by 3 desc, 2, 1 limit $4
)
select t.crash_project_id, p.name as project_name, t.version, t.crashes, s.day, s.crashes as of_day
from top t join crash_projects p on p.id = t.crash_project_id join seen s using (crash_project_id, version)
order by t.crashes desc, t.version, t.crash_project_id, s.day`

// busiestProjects are those with the most sessions and crashes.
const busiestProjects = `
select p.id as crash_project_id, p.name as project_name, sum(d.sessions + d.crashes)::bigint as crashes
from crash_projects p join crash_version_days d on d.crash_project_id = p.id and d.day >= $2::date and d.day < $3::date
where p.organization_id = $1
group by p.id having sum(d.sessions + d.crashes) > 0 order by 3 desc, p.id limit $4`

// ReadCrashes reads the crashes of the days of the chart.
func ReadCrashes(ctx context.Context, q storage.Querier, organization int64, t Times) (*Crashes, error) {
	var out Crashes
	var err error
	if out.Projects, err = number(ctx, q, "crash projects", "from crash_projects where organization_id = $1", organization); err != nil {
		return nil, err
	}
	if err := out.readDays(ctx, q, organization, t); err != nil {
		return nil, err
	}
	var projects []Version
	err = q.SelectContext(ctx, &projects, busiestProjects, organization, dateText(t.First), dateText(t.end()), topProjects)
	if err != nil {
		return nil, storage.Wrap(err, "busiest crash projects")
	}
	ids := make([]int64, len(projects))
	for i := range projects {
		ids[i] = projects[i].ProjectID
	}
	newest, err := reading.NewestVersions(ctx, q, ids, t.First, t.end())
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		if row, ok := newest[p.ProjectID]; ok {
			out.Newest = append(out.Newest, Newest{p.ProjectID, p.ProjectName, row})
		}
	}
	return &out, nil
}

// readDays fills in the days and the top versions. A report that is stored and not read has a
// version and no group: it counts among those of its day, too.
func (c *Crashes) readDays(ctx context.Context, q storage.Querier, organization int64, t Times) error {
	var all []struct {
		Day     time.Time `db:"day"`
		Crashes int64     `db:"crashes"`
	}
	first, end := dateText(t.First), dateText(t.end())
	if err := q.SelectContext(ctx, &all, crashesByDay, organization, first, end); err != nil {
		return storage.Wrap(err, "crashes by day")
	}
	var top []struct {
		Version
		Day   time.Time `db:"day"`
		OfDay int64     `db:"of_day"`
	}
	if err := q.SelectContext(ctx, &top, topVersionsByDay, organization, first, end, TopVersions); err != nil {
		return storage.Wrap(err, "crashes by version")
	}
	at := map[string]int{}
	for i := range ChartDays {
		day := t.First.AddDate(0, 0, i)
		at[dateText(day)] = i
		c.Days = append(c.Days, Day{Day: day, Versions: make([]int64, 0, TopVersions)})
	}
	for _, d := range all {
		c.Days[at[dateText(d.Day)]].Crashes = d.Crashes
	}
	for i := range top {
		row := &top[i]
		if n := len(c.Versions); n == 0 || c.Versions[n-1] != row.Version {
			c.Versions = append(c.Versions, row.Version)
			for i := range c.Days {
				c.Days[i].Versions = append(c.Days[i].Versions, 0)
			}
		}
		c.Days[at[dateText(row.Day)]].Versions[len(c.Versions)-1] = row.OfDay
	}
	for i := range c.Days {
		c.Days[i].Crashes -= min(c.Days[i].Others(), 0)
	}
	return nil
}

// Group is a crash group that is new or came back.
type Group struct {
	ID          int64      `db:"id"`
	Title       string     `db:"title"`
	State       string     `db:"state"`
	Crashes     int64      `db:"count"`
	FirstSeen   time.Time  `db:"first_seen"`
	LastSeen    time.Time  `db:"last_seen"`
	ReopenedAt  *time.Time `db:"reopened_at"`
	ProjectID   int64      `db:"crash_project_id"`
	ProjectName string     `db:"project_name"`
}

// Groups are the newest of some groups, and the number of all.
type Groups struct {
	Count  Count
	Groups []Group
}

// topGroups is how many groups are named.
const topGroups = 5

// Which groups are new, and which came back.
const (
	newGroups       = `first_seen`
	regressedGroups = `reopened_at`
)

// NewGroups reads the groups that were first seen since yesterday.
func NewGroups(ctx context.Context, q storage.Querier, organization int64, t Times) (*Groups, error) {
	return groupsSince(ctx, q, newGroups, organization, t)
}

// RegressedGroups reads the groups that came back since yesterday after they were resolved.
func RegressedGroups(ctx context.Context, q storage.Querier, organization int64, t Times) (*Groups, error) {
	return groupsSince(ctx, q, regressedGroups, organization, t)
}

func groupsSince(ctx context.Context, q storage.Querier, column string, organization int64, t Times) (*Groups, error) {
	var found []struct {
		Group
		All int `db:"n"`
	}
	err := q.SelectContext(ctx, &found, `
		with since as materialized (
			select id from crash_groups where organization_id = $1 and `+column+` >= $2 and root_id is null
			order by `+column+` desc, id desc limit $3
		)
		select (select count(*) from since) as n, g.id, g.title, `+crash.ShownState+` as state, g.count, g.first_seen, g.last_seen,
			g.reopened_at, g.crash_project_id, p.name as project_name
		from (select id from since limit $4) s join crash_groups g on g.id = s.id and g.organization_id = $1
		join crash_projects p on p.id = g.crash_project_id order by g.`+column+` desc, g.id desc`,
		organization, t.Since, Reach+1, topGroups)
	out := &Groups{Count: counted(0), Groups: []Group{}}
	for i := range found {
		out.Count, out.Groups = counted(found[i].All), append(out.Groups, found[i].Group)
	}
	return out, storage.Wrap(err, "crash groups since a day")
}
