package usage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
)

// allDays is the day of the row that counts sessions and users of all days together.
const allDays = "-infinity"

// dayKey is a version of a crash project on a day, or on allDays.
type dayKey struct {
	project int64
	version string
	day     string
}

// dayRow is a row of crash_version_days, or its key.
type dayRow struct {
	ProjectID    int64  `db:"crash_project_id"`
	Version      string `db:"version"`
	Day          string `db:"day"`
	Users        []byte `db:"user_sample"`
	CrashedUsers []byte `db:"crashed_user_sample"`
}

func (r *dayRow) key() dayKey { return dayKey{r.ProjectID, r.Version, r.Day} }

// dayTally is what one transaction adds to one version and day.
type dayTally struct {
	crashes, sessions, crashedSessions int64
	users, crashedUsers                distinct.Sample
	unknownUsers                       int64 // crashed ones
}

// dayTallies are the tallies of a transaction.
type dayTallies map[dayKey]*dayTally

// day returns the tally of a day.
func (s dayTallies) day(key dayKey) *dayTally {
	t := s[key]
	if t == nil {
		t = &dayTally{}
		s[key] = t
	}
	return t
}

// add changes the tally of a day and that of all days.
func (s dayTallies) add(key dayKey, change func(*dayTally)) {
	change(s.day(key))
	key.day = allDays
	change(s.day(key))
}

// lockDays locks in the order of bytes, whatever the collation of the database.
const lockDays = `
select d.crash_project_id, d.version, d.day::text as day, d.user_sample, d.crashed_user_sample
from unnest($1::bigint[], $2::text[], $3::date[]) as n(crash_project_id, version, day)
join crash_version_days d using (crash_project_id, version, day)
order by d.crash_project_id, d.version collate "C", d.day for update of d`

// insertDays leaves out a version beyond the bound of its project: it has no days.
const insertDays = `
insert into crash_version_days (crash_project_id, version, day)
select n.crash_project_id, n.version, n.day
from unnest($1::bigint[], $2::text[], $3::date[]) as n(crash_project_id, version, day)
join crash_versions v using (crash_project_id, version)
order by n.crash_project_id, n.version collate "C", n.day on conflict do nothing`

// addToDays counts, and makes the gates of builds of the versions due where numbers of
// sessions matter to them, and those of the builds that are compared with them. Of builds with
// one version two are enough: sessions of a version that has several are those of none
// (builds_newest).
const addToDays = `
with counted as (
update crash_version_days d set crashes = d.crashes + n.crashes, sessions = d.sessions + n.sessions,
	crashed_sessions = d.crashed_sessions + n.crashed_sessions,
	users = d.users + n.users, crashed_users = d.crashed_users + n.crashed_users,
	user_sample = case when n.user_sample = '' then d.user_sample else n.user_sample::bytea end,
	crashed_user_sample = case when n.crashed_user_sample = '' then d.crashed_user_sample else n.crashed_user_sample::bytea end
from unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
	$9::text[], $10::text[]) as n(crash_project_id, version, day, crashes, sessions, crashed_sessions, users,
	crashed_users, user_sample, crashed_user_sample)
where d.crash_project_id = n.crash_project_id and d.version = n.version and d.day = n.day
returning d.crash_project_id, d.version, d.day
)
insert into gate_due (build_id, organization_id, due_at)
select d.build_id, d.organization_id, now()
from counted c join crash_projects p on p.id = c.crash_project_id
cross join lateral (
	select id from builds where project_id = p.project_id and version = c.version and deleted_at is null order by project_id desc,
		version desc, id desc limit 2
) b
cross join lateral (select * from gates where build_id = b.id union all select * from gates where before_id = b.id) d
where c.day = '-infinity' and d.sessions and d.watched_until > now()`

// lockedDays locks and returns the rows of days that are there; the arguments are those
// of dayColumns.
func lockedDays(ctx context.Context, tx *storage.Tx, projects, versions, days any) ([]dayRow, error) {
	var rows []dayRow
	err := tx.SelectContext(ctx, &rows, lockDays, projects, versions, days)
	return rows, storage.Wrap(err, "lock days of versions")
}

// write adds the tallies to the rows of their days.
func (s dayTallies) write(ctx context.Context, tx *storage.Tx) error {
	if len(s) == 0 {
		return nil
	}
	keys := s.keys()
	projects, versions, days := dayColumns(keys)
	rows, err := lockedDays(ctx, tx, projects, versions, days)
	if err != nil {
		return err
	}
	if len(rows) < len(keys) {
		if _, err := tx.ExecContext(ctx, insertDays, projects, versions, days); err != nil {
			return storage.Wrap(err, "create days of versions")
		}
		if rows, err = lockedDays(ctx, tx, projects, versions, days); err != nil {
			return err
		}
	}
	keys = keys[:0]
	var crashes, sessions, crashedSessions, users, crashedUsers []int64
	var userSamples, crashedSamples []string
	for i := range rows {
		t := s[rows[i].key()]
		keys = append(keys, rows[i].key())
		crashes, sessions = append(crashes, t.crashes), append(sessions, t.sessions)
		crashedSessions = append(crashedSessions, t.crashedSessions)
		more, sample := mergeSample(rows[i].Users, t.users)
		users, userSamples = append(users, more), append(userSamples, sample)
		more, sample = mergeSample(rows[i].CrashedUsers, t.crashedUsers)
		crashedUsers, crashedSamples = append(crashedUsers, more+t.unknownUsers), append(crashedSamples, sample)
	}
	projects, versions, days = dayColumns(keys)
	_, err = tx.ExecContext(ctx, addToDays, projects, versions, days, pq.Array(crashes), pq.Array(sessions),
		pq.Array(crashedSessions), pq.Array(users), pq.Array(crashedUsers), pq.Array(userSamples), pq.Array(crashedSamples))
	return storage.Wrap(err, "count days of versions")
}

// mergeSample adds ids to a stored sample: it returns by how much their number
// grows, and the new sample as text of a bytea, "" when it stays as it is.
func mergeSample(stored []byte, more distinct.Sample) (int64, string) {
	if len(more) == 0 {
		return 0, ""
	}
	sample := distinct.Parse(stored)
	before := sample.Count()
	if !sample.Add(more...) {
		return 0, ""
	}
	return sample.Count() - before, array.Bytea(sample.Bytes())
}

// keys are the days in the order in which everybody locks them.
func (s dayTallies) keys() []dayKey {
	keys := make([]dayKey, 0, len(s))
	for k := range s {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.project, b.project), strings.Compare(a.version, b.version), strings.Compare(a.day, b.day))
	})
	return keys
}

func dayColumns(keys []dayKey) (projects, versions, days any) {
	p, v, d := make([]int64, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		p[i], v[i], d[i] = k.project, k.version, k.day
	}
	return pq.Array(p), pq.Array(v), pq.Array(d)
}

// UncountDays subtracts deleted crashes from the days of their versions. The
// sessions and users that they ended stay counted: numbers name nobody.
func UncountDays(ctx context.Context, tx *storage.Tx, gone []Crash) error {
	sums := dayTallies{}
	for i := range gone {
		if g := &gone[i]; g.Version != "" {
			sums.day(dayKey{g.ProjectID, g.Version, array.Day(g.OccurredAt)}).crashes += int64(g.Duplicates)
		}
	}
	if len(sums) == 0 {
		return nil
	}
	keys := sums.keys()
	projects, versions, days := dayColumns(keys)
	if _, err := lockedDays(ctx, tx, projects, versions, days); err != nil {
		return err
	}
	counts := make([]int64, len(keys))
	for i, k := range keys {
		counts[i] = sums[k].crashes
	}
	_, err := tx.ExecContext(ctx, `
		update crash_version_days d set crashes = greatest(d.crashes - n.crashes, 0)
		from unnest($1::bigint[], $2::text[], $3::date[], $4::bigint[]) as n(crash_project_id, version, day, crashes)
		where d.crash_project_id = n.crash_project_id and d.version = n.version and d.day = n.day`,
		projects, versions, days, pq.Array(counts))
	return storage.Wrap(err, "uncount days of versions")
}

// ExpireDays deletes up to limit days of versions before a time, and returns
// their number. The counts of all days stay.
func ExpireDays(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (int64, error) {
	// No index serves it: the table has one row for each version and day.
	res, err := tx.ExecContext(ctx, `
		delete from crash_version_days where (crash_project_id, version, day) in (
			select crash_project_id, version, day from crash_version_days
			where day < $1::date and day > '-infinity' limit $2)`, array.Day(before), limit)
	if err != nil {
		return 0, storage.Wrap(err, "delete old days of versions")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "delete old days of versions")
}

// manyVersions is how many versions of a project are kept however old they are, since
// regressions are told by the newest; the bound of a project is MaxVersions.
const manyVersions = 1000

// ExpireVersions forgets up to limit versions that were not seen since a time, of
// projects with many, and returns their number: so there is room for new ones.
func ExpireVersions(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (int64, error) {
	var n int64
	err := tx.GetContext(ctx, &n, `
		with old as (
			select crash_project_id, version from crash_versions where last_seen < $1 and crash_project_id in (
				select crash_project_id from crash_versions group by 1 having count(*) > $2)
			order by crash_project_id, version collate "C" limit $3 for update
		), gone as (
			delete from crash_versions v using old o
			where v.crash_project_id = o.crash_project_id and v.version = o.version
			returning v.crash_project_id, v.version
		), days as (
			delete from crash_version_days d using gone g
			where d.crash_project_id = g.crash_project_id and d.version = g.version
		)
		select count(*) from gone`, before, manyVersions, limit)
	return n, storage.Wrap(err, "forget old versions")
}
