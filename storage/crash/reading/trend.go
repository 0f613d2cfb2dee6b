package reading

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/array"
)

// TrendBy is what the occurrences of a group are counted by.
type TrendBy string

// The units.
const (
	ByHour    TrendBy = "hour"
	ByDay     TrendBy = "day"
	ByVersion TrendBy = "version"
)

// trendVersions is how many versions a trend shows, the most frequent ones.
const trendVersions = 20

// Trend is how often a group occurred in a window of whole hours or days.
type Trend struct {
	By       TrendBy
	From, To time.Time // From inclusive, To exclusive
	Count    int64
	// Points are those hours or days in which it occurred, oldest first; of ByHour and ByDay.
	Points []TrendPoint
	// Versions are the most frequent ones; of ByVersion. Others counts the rest, and reports
	// without a version.
	Versions []TrendVersion
	Others   int64
	// Sessions are those of all versions that are counted in the window, of the whole
	// application; of ByVersion.
	Sessions int64
}

// TrendPoint is the count of an hour or a day.
type TrendPoint struct {
	At    time.Time `db:"at"`
	Count int64     `db:"count"`
}

// TrendVersion is a version with the sessions that it had, of the whole application.
type TrendVersion struct {
	Version  string
	Count    int64
	Sessions int64
	Points   []TrendPoint // days
}

// span returns the window in whole units; an open one ends now and is as long as span says.
func (by TrendBy) span(w Window, now time.Time) (from, to time.Time, err error) {
	unit, most, usual := 24*time.Hour, windowDays, 14
	if by == ByHour {
		unit, most, usual = time.Hour, int(crash.HoursKept/time.Hour), 48
	}
	to = now
	if !w.To.IsZero() && w.To.Before(now) {
		to = w.To
	}
	if end := to.UTC().Truncate(unit); end.Equal(to) {
		to = end
	} else {
		to = end.Add(unit)
	}
	from = to.Add(-time.Duration(usual) * unit)
	if !w.From.IsZero() {
		from = w.From.UTC().Truncate(unit)
	}
	if to.Sub(from) > time.Duration(most)*unit {
		return from, to, storage.Invalid("from", "must be at most %d %ss before the end", most, by.unit())
	}
	return from, to, nil
}

func (by TrendBy) unit() string {
	if by == ByHour {
		return "hour"
	}
	return "day"
}

// TrendOf reads the trend of a group that is shown. *storage.InvalidError names a unit that
// does not exist, or a window that is too long for it. Of the hours before HoursKept none are
// known, of versions none before what crashes are kept.
func TrendOf(ctx context.Context, q storage.Querier, organization, group int64, by TrendBy, w Window, now time.Time) (*Trend, error) {
	if by != ByHour && by != ByDay && by != ByVersion {
		return nil, storage.Invalid("by", "must be hour, day or version")
	}
	t := &Trend{By: by, Points: []TrendPoint{}, Versions: []TrendVersion{}}
	var err error
	if t.From, t.To, err = by.span(w, now); err != nil {
		return nil, err
	}
	switch by {
	case ByHour:
		err = q.SelectContext(ctx, &t.Points, `select h.hour as at, sum(h.count)::bigint as count
			from crash_groups g join crash_group_hours h on h.group_id = g.id
			where g.organization_id = $1 and (g.id = $2 or g.root_id = $2) and h.hour >= $3 and h.hour < $4 group by 1 order by 1`,
			organization, group, t.From, t.To)
	case ByDay:
		err = q.SelectContext(ctx, &t.Points, `select d.day::timestamp at time zone 'UTC' as at, sum(d.count)::bigint as count
			from crash_groups g join crash_group_days d on d.group_id = g.id
			where g.organization_id = $1 and (g.id = $2 or g.root_id = $2) and d.day >= $3::date and d.day < $4::date group by 1 order by 1`,
			organization, group, array.Day(t.From), array.Day(t.To))
	case ByVersion:
		err = t.readVersions(ctx, q, organization, group)
	}
	if err != nil {
		return nil, storage.Wrap(err, "trend of a crash group")
	}
	for _, p := range t.Points {
		t.Count += p.Count
	}
	return t, nil
}

// readVersions reads the days of the versions, and their sessions.
func (t *Trend) readVersions(ctx context.Context, q storage.Querier, organization, group int64) error {
	var rows []struct {
		Version string    `db:"version"`
		Total   int64     `db:"total"`
		Place   int       `db:"place"`
		At      time.Time `db:"at"`
		Count   int64     `db:"count"`
	}
	from, to := array.Day(t.From), array.Day(t.To)
	err := q.SelectContext(ctx, &rows, `
		with days as materialized (
			select d.version, d.day, sum(d.count)::bigint as count
			from crash_groups g join crash_group_version_days d on d.group_id = g.id
			where g.organization_id = $1 and (g.id = $2 or g.root_id = $2) and d.day >= $3::date and d.day < $4::date group by 1, 2
		), versions as (
			select version, total, row_number() over (order by version = '', total desc, version) as place
			from (select version, sum(count)::bigint as total from days group by 1) s
		)
		select v.version, v.total, v.place, d.day::timestamp at time zone 'UTC' as at, d.count
		from versions v join days d using (version) order by v.place, d.day`, organization, group, from, to)
	if err != nil {
		return err
	}
	var names []string
	for _, r := range rows {
		t.Count += r.Count
		if r.Version == "" || r.Place > trendVersions {
			t.Others += r.Count
			continue
		}
		if len(t.Versions) < r.Place {
			t.Versions = append(t.Versions, TrendVersion{Version: r.Version, Count: r.Total})
			names = append(names, r.Version)
		}
		v := &t.Versions[r.Place-1]
		v.Points = append(v.Points, TrendPoint{r.At, r.Count})
	}
	var sessions []struct {
		Version  string `db:"version"`
		Sessions int64  `db:"sessions"`
	}
	err = q.SelectContext(ctx, &sessions, `select d.version, sum(d.sessions)::bigint as sessions
		from crash_groups g join crash_version_days d on d.crash_project_id = g.crash_project_id and d.version = any($2)
		where g.id = $1 and d.day >= $3::date and d.day < $4::date group by 1`, group, pq.Array(names), from, to)
	for _, s := range sessions {
		for i := range t.Versions {
			if t.Versions[i].Version == s.Version {
				t.Versions[i].Sessions = s.Sessions
			}
		}
		t.Sessions += s.Sessions
	}
	return err
}

// SessionShare is which share of the sessions ended by the group: of those of the versions
// whose sessions are known. A report counts as one session. nil: no session is known.
func (t *Trend) SessionShare() *float64 {
	var count int64
	for _, v := range t.Versions {
		if v.Sessions > 0 {
			count += v.Count
		}
	}
	return shareOf(count, t.Sessions)
}

// SessionShare is SessionShare of one version.
func (v *TrendVersion) SessionShare() *float64 { return shareOf(v.Count, v.Sessions) }

func shareOf(count, sessions int64) *float64 {
	if sessions == 0 {
		return nil
	}
	share := min(float64(count)/float64(sessions), 1)
	return &share
}
