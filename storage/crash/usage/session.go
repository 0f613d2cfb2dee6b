package usage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
	"github.com/slipway-qa/slipway/storage/crash/span"
)

// Event is what one event of a client's session metrics says.
type Event struct {
	// Version is not empty; it, Session and User are as ShortText returns them.
	Version string
	At      time.Time
	// Launch says that the application was started, which is a session. Session is
	// its id, "" when it has none.
	Launch  bool
	Session string
	User    string // id of the user, "" when nobody says
}

// maxShortText bounds versions and ids, in bytes; the worker cuts those of crashes
// there.
const maxShortText = 255

// ShortText returns a version or an id as it is stored of crashes: valid UTF-8
// without NUL, bounded.
func ShortText(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxShortText)], "")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// SessionsKnown is how long the id of a session is known, from its first report on.
const SessionsKnown = 7 * 24 * time.Hour

// eventReach is how far back an event counts on its own day; an older one counts on
// the first day of that time. Clients keep what they could not send for some days.
const eventReach = SessionsKnown

// Record counts the events of one crash project; it is durable when it returns
// nil. A session whose id was counted in the last seven days is not counted again, so
// that the same events may come twice.
func Record(ctx context.Context, db *storage.DB, project int64, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	now := time.Now()
	versions := map[Version]*tally{}
	sums := dayTallies{}
	var starts []sessionMark
	for i := range events {
		e := &events[i]
		at := e.At
		if oldest := now.Add(-eventReach); at.Before(oldest) {
			at = oldest
		}
		if newest := now.Add(time.Hour); at.After(newest) {
			at = newest
		}
		key := dayKey{project, e.Version, array.Day(at)}
		v := versions[Version{project, e.Version}]
		if v == nil {
			v = &tally{seen: span.At(at)}
			versions[Version{project, e.Version}] = v
		}
		v.seen = v.seen.With(at)
		if e.User != "" {
			sums.add(key, func(t *dayTally) { t.users.Add(distinct.Hash(e.User)) })
		}
		switch {
		case !e.Launch:
		case e.Session == "":
			sums.add(key, func(t *dayTally) { t.sessions++ })
		default:
			starts = append(starts, sessionMark{sessionKey{project, sessionID(e.Session)}, key})
		}
	}
	return db.InTx(ctx, func(tx *storage.Tx) error {
		if err := addVersions(ctx, tx, versions); err != nil {
			return err
		}
		started, err := startSessions(ctx, tx, starts)
		if err != nil {
			return err
		}
		for key, n := range started {
			sums.add(key, func(t *dayTally) { t.sessions += n })
		}
		return sums.write(ctx, tx)
	})
}

// CountSessions counts the crashes by version and day, and the sessions and users that they
// ended. A crash that names no session is one of its own; so is its user. It comes after
// everything else that is locked.
func CountSessions(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	sums := dayTallies{}
	var marks []sessionMark
	for i := range crashes {
		c := &crashes[i]
		if c.Version == "" {
			continue
		}
		key := dayKey{c.ProjectID, c.Version, array.Day(c.OccurredAt)}
		sums.day(key).crashes += int64(c.Duplicates)
		if !c.Ended {
			continue
		}
		if c.Session == "" {
			sums.add(key, func(t *dayTally) { t.crashedSessions++ })
		} else {
			marks = append(marks, sessionMark{sessionKey{c.ProjectID, sessionID(c.Session)}, key})
		}
		sums.add(key, func(t *dayTally) {
			if user := cmp.Or(c.User, c.Session); user == "" {
				t.unknownUsers++
			} else {
				t.crashedUsers.Add(distinct.Hash(user))
			}
		})
	}
	crashed, err := crashSessions(ctx, tx, marks)
	if err != nil {
		return err
	}
	for key, n := range crashed {
		sums.add(key, func(t *dayTally) { t.crashedSessions += n })
	}
	return sums.write(ctx, tx)
}

// sessionKey is a session of a crash project.
type sessionKey struct {
	project int64
	id      uuid.UUID
}

// sessionMark says that a session was started, or crashed, in a version on a day.
type sessionMark struct {
	session sessionKey
	day     dayKey
}

// sessionID is what is kept of the id of a session.
func sessionID(text string) uuid.UUID {
	sum := sha256.Sum256([]byte(text))
	return uuid.UUID(sum[:16])
}

// The sessions that were not started, or not crashed, before, with the version and
// the day under which they are counted.
const (
	startSession = `
insert into crash_sessions as s (crash_project_id, id, version, day, started, crashed)
select *, true, false from unnest($1::bigint[], $2::uuid[], $3::text[], $4::date[])
on conflict (crash_project_id, id) do update set started = true where not s.started
returning crash_project_id, version, day::text as day`
	crashSession = `
insert into crash_sessions as s (crash_project_id, id, version, day, started, crashed)
select *, false, true from unnest($1::bigint[], $2::uuid[], $3::text[], $4::date[])
on conflict (crash_project_id, id) do update set crashed = true where not s.crashed
returning crash_project_id, version, day::text as day`
)

// maxDaySessions is how many sessions of a version and day are known by their ids.
// Those beyond are counted each time that they are reported.
const maxDaySessions = 1_000_000

// startSessions returns the numbers of sessions that start.
func startSessions(ctx context.Context, tx *storage.Tx, marks []sessionMark) (map[dayKey]int64, error) {
	if len(marks) == 0 {
		return nil, nil
	}
	projects, _, versions, days := markColumns(marks)
	var full []dayRow
	err := tx.SelectContext(ctx, &full, `
		select distinct d.crash_project_id, d.version, d.day::text as day
		from unnest($1::bigint[], $2::text[], $3::date[]) as m(crash_project_id, version, day)
		join crash_version_days d using (crash_project_id, version, day) where d.sessions >= $4`,
		projects, versions, days, maxDaySessions)
	if err != nil {
		return nil, storage.Wrap(err, "find days with many sessions")
	}
	counts := map[dayKey]int64{}
	for _, row := range full {
		marks = slices.DeleteFunc(marks, func(m sessionMark) bool {
			if m.day == row.key() {
				counts[row.key()]++
				return true
			}
			return false
		})
	}
	return counts, markSessions(ctx, tx, startSession, marks, counts)
}

// crashSessions returns the numbers of sessions that crash for the first time.
func crashSessions(ctx context.Context, tx *storage.Tx, marks []sessionMark) (map[dayKey]int64, error) {
	counts := map[dayKey]int64{}
	return counts, markSessions(ctx, tx, crashSession, marks, counts)
}

// markSessions adds what is new to the counts.
func markSessions(ctx context.Context, tx *storage.Tx, query string, marks []sessionMark, counts map[dayKey]int64) error {
	if len(marks) == 0 {
		return nil
	}
	// Everybody takes the rows in one order, and each once.
	slices.SortStableFunc(marks, func(a, b sessionMark) int {
		return cmp.Or(cmp.Compare(a.session.project, b.session.project), bytes.Compare(a.session.id[:], b.session.id[:]))
	})
	marks = slices.CompactFunc(marks, func(a, b sessionMark) bool { return a.session == b.session })
	projects, ids, versions, days := markColumns(marks)
	var rows []dayRow
	if err := tx.SelectContext(ctx, &rows, query, projects, ids, versions, days); err != nil {
		return storage.Wrap(err, "count sessions")
	}
	for _, row := range rows {
		counts[row.key()]++
	}
	return nil
}

func markColumns(marks []sessionMark) (projects, ids, versions, days any) {
	p, i := make([]int64, len(marks)), make([]string, len(marks))
	v, d := make([]string, len(marks)), make([]string, len(marks))
	for n, m := range marks {
		p[n], i[n], v[n], d[n] = m.session.project, m.session.id.String(), m.day.version, m.day.day
	}
	return pq.Array(p), pq.Array(i), pq.Array(v), pq.Array(d)
}

// ExpireSessions forgets up to limit sessions that were reported first before a time,
// and returns their number; the counts stay.
func ExpireSessions(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (int64, error) {
	res, err := tx.ExecContext(ctx, `
		delete from crash_sessions where (crash_project_id, id) in (
			select crash_project_id, id from crash_sessions where created_at < $1 order by created_at limit $2)`, before, limit)
	if err != nil {
		return 0, storage.Wrap(err, "forget old sessions")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "forget old sessions")
}
