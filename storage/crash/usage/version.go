// Package usage counts how the versions of crash projects are used: their crashes, sessions and
// users, on each day and in all.
//
// Sessions and users come from the metrics of clients (Record) and from crashes, which end a
// session (CountSessions). A session whose id is known is counted once, for as long as its id is
// kept; users are estimated from samples (package distinct), so that no id of a user is kept. A crash
// that is deleted is subtracted from the crashes of its version and day; sessions and users stay.
//
// Clients name their versions: a project remembers MaxVersions, and what comes beyond is counted in its
// groups only. Everybody locks rows in the order of project, version (bytes) and day, after the
// groups.
package usage

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/span"
)

// MaxVersions bounds the versions that a crash project remembers: what a client calls a
// version may be the number of a build, of which there are thousands.
const MaxVersions = 5000

// Version is a version of a crash project.
type Version struct {
	Project int64
	Name    string
}

// Crash is what is counted of a crash.
type Crash struct {
	ProjectID int64
	// Version is "" when the report names none: then nothing is counted.
	Version    string
	OccurredAt time.Time
	Duplicates int
	// Session and User are the ids that the report names, "" when it names none.
	Session, User string
	// Ended says that the crash ended its session, which hangs, handled errors and what ran out
	// of memory do not.
	Ended bool
}

// tally is what a transaction adds to a version.
type tally struct {
	count int64
	seen  span.Span
}

// CountVersions adds the crashes to the versions of their projects. All who write
// versions do it in one order, after the groups.
func CountVersions(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	tallies := map[Version]*tally{}
	for i := range crashes {
		c := &crashes[i]
		if c.Version == "" {
			continue
		}
		v := tallies[Version{c.ProjectID, c.Version}]
		if v == nil {
			v = &tally{seen: span.At(c.OccurredAt)}
			tallies[Version{c.ProjectID, c.Version}] = v
		}
		v.count += int64(c.Duplicates)
		v.seen = v.seen.With(c.OccurredAt)
	}
	return addVersions(ctx, tx, tallies)
}

// addToVersions takes versions in the order of bytes, whatever the collation of the database.
const addToVersions = `
with new as (
	select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
		as n(crash_project_id, version, count, first, last)
), held as (
	select p.id as crash_project_id, (select count(*) from crash_versions v where v.crash_project_id = p.id) as n
	from (select distinct crash_project_id as id from new) p
)
insert into crash_versions as v (crash_project_id, version, first_seen, last_seen, crashes)
select n.crash_project_id, n.version, n.first, n.last, n.count
from new n join held h using (crash_project_id)
left join crash_versions had using (crash_project_id, version)
where had.version is not null or h.n < $6
order by n.crash_project_id, n.version collate "C"
on conflict (crash_project_id, version) do update set crashes = v.crashes + excluded.crashes,
	first_seen = least(v.first_seen, excluded.first_seen),
	last_seen = greatest(v.last_seen, excluded.last_seen)`

func addVersions(ctx context.Context, tx *storage.Tx, tallies map[Version]*tally) error {
	if len(tallies) == 0 {
		return nil
	}
	var projects, counts []int64
	var versions, first, last []string
	for k, v := range tallies {
		projects, versions, counts = append(projects, k.Project), append(versions, k.Name), append(counts, v.count)
		first, last = append(first, array.Time(v.seen.First)), append(last, array.Time(v.seen.Last))
	}
	_, err := tx.ExecContext(ctx, addToVersions, pq.Array(projects), pq.Array(versions), pq.Array(counts),
		pq.Array(first), pq.Array(last), MaxVersions)
	return storage.Wrap(err, "count versions of crash projects")
}

// UncountVersions subtracts deleted crashes from the versions of their projects; a
// version that was seen stays known.
func UncountVersions(ctx context.Context, tx *storage.Tx, gone []Crash) error {
	counts := map[Version]int64{}
	for i := range gone {
		if g := &gone[i]; g.Version != "" {
			counts[Version{g.ProjectID, g.Version}] += int64(g.Duplicates)
		}
	}
	if len(counts) == 0 {
		return nil
	}
	order := make([]Version, 0, len(counts))
	for k := range counts {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b Version) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), bytes.Compare([]byte(a.Name), []byte(b.Name)))
	})
	var projects, crashes []int64
	var versions []string
	for _, k := range order {
		projects, versions, crashes = append(projects, k.Project), append(versions, k.Name), append(crashes, counts[k])
	}
	// The insert of known rows takes the locks in the order of the arrays, which an
	// update would not.
	_, err := tx.ExecContext(ctx, `
		insert into crash_versions as v (crash_project_id, version, first_seen, last_seen, crashes)
		select had.crash_project_id, had.version, had.first_seen, had.last_seen, -n.count
		from unnest($1::bigint[], $2::text[], $3::bigint[]) with ordinality as n(crash_project_id, version, count, place)
		join crash_versions had using (crash_project_id, version) order by n.place
		on conflict (crash_project_id, version) do update set crashes = greatest(v.crashes + excluded.crashes, 0)`,
		pq.Array(projects), pq.Array(versions), pq.Array(crashes))
	return storage.Wrap(err, "uncount versions of crash projects")
}

// FirstSeen reads when versions were first seen; those that are not known are left out.
func FirstSeen(ctx context.Context, tx *storage.Tx, want []Version) (map[Version]time.Time, error) {
	projects, names := make([]int64, len(want)), make([]string, len(want))
	for i, v := range want {
		projects[i], names[i] = v.Project, v.Name
	}
	var found []struct {
		Project int64     `db:"crash_project_id"`
		Version string    `db:"version"`
		At      time.Time `db:"first_seen"`
	}
	err := tx.SelectContext(ctx, &found, `select v.crash_project_id, v.version, v.first_seen
		from unnest($1::bigint[], $2::text[]) as want(crash_project_id, version)
		join crash_versions v using (crash_project_id, version)`, pq.Array(projects), pq.Array(names))
	seen := make(map[Version]time.Time, len(found))
	for _, f := range found {
		seen[Version{f.Project, f.Version}] = f.At
	}
	return seen, storage.Wrap(err, "first sights of versions")
}
