package crash_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// versions lists all versions of the room's project.
func (r *room) versions(f reading.VersionFilter) []reading.VersionRow {
	r.T.Helper()
	f.ProjectID, f.Limit = r.Project, 100
	rows, total, err := reading.Versions(r.T.Context(), r.DB, f)
	require.NoError(r.T, err)
	require.Len(r.T, rows, total)
	return rows
}

func (r *room) use(events ...usage.Event) {
	r.T.Helper()
	require.NoError(r.T, r.Store.RecordUsage(r.T.Context(), r.Project, events))
}

func launch(version, session, user string) usage.Event {
	return usage.Event{Version: version, At: time.Now(), Launch: true, Session: session, User: user}
}

// crashed is a crash of a session.
func crashed(version, session, user string) func(*crash.Crash) {
	return func(c *crash.Crash) {
		c.Version, c.Session, c.User, c.OccurredAt = version, session, user, time.Now()
	}
}

func TestCrashFreeSessionsAndUsers(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 10 {
		r.use(launch("1.0", fmt.Sprint("s", i), fmt.Sprint("u", i%5)))
	}
	r.use(launch("1.0", "s3", "u3"), launch("1.0", "s3", "u3")) // sent again
	r.Record(r.Made(crashed("1.0", "s1", "u1")), r.Made(crashed("1.0", "s1", "u1")), r.Made(crashed("1.0", "s6", "u1")))
	r.Record(r.Made(crashed("1.0", "s1", "u1")))
	r.Record(r.Made(func(c *crash.Crash) { crashed("1.0", "s2", "u2")(c); c.Notice = true }))
	r.Record(r.Made(crashed("2.0", "", "")))

	rows := r.versions(reading.VersionFilter{})
	require.Equal(t, "2.0", rows[0].Version)
	require.Equal(t, reading.Figures{CrashedSessions: 1, CrashedUsers: 1}, rows[0].Figures)
	require.Nil(t, rows[0].CrashFreeSessions(), "no session is known")
	require.Nil(t, rows[0].CrashFreeUsers())
	require.EqualValues(t, 1, rows[0].Crashes)
	require.Equal(t, reading.Figures{Sessions: 10, CrashedSessions: 2, Users: 5, CrashedUsers: 1}, rows[1].Figures)
	require.EqualValues(t, 5, rows[1].Crashes)
	require.InDelta(t, 0.8, *rows[1].CrashFreeSessions(), 1e-9)
	require.InDelta(t, 0.8, *rows[1].CrashFreeUsers(), 1e-9)
	require.Empty(t, rows[1].Days)

	groups, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 10})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	group, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, groups[0].ID)
	require.NoError(t, err)
	for _, g := range []*reading.Group{&groups[0], group} {
		require.Len(t, g.Versions.Values, 2)
		for _, v := range g.Versions.Values {
			require.Equal(t, map[string]reading.Figures{"1.0": rows[1].Figures, "2.0": rows[0].Figures}[v.Value], v.Figures)
		}
	}
}

// A crash may be processed before the start of its session is reported.
func TestCrashBeforeItsSession(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(crashed("1.0", "a", "")))
	require.Nil(t, r.versions(reading.VersionFilter{})[0].CrashFreeSessions())
	r.use(launch("1.0", "a", ""), launch("1.0", "b", ""))
	rows := r.versions(reading.VersionFilter{})
	require.EqualValues(t, 2, rows[0].Sessions)
	require.InDelta(t, 0.5, *rows[0].CrashFreeSessions(), 1e-9)
}

// Sessions without ids are counted; crashes that name none count one each.
func TestSessionsWithoutIDs(t *testing.T) {
	t.Parallel()
	r := open(t)
	for range 4 {
		r.use(launch("1.0", "", ""))
	}
	r.Record(r.Made(crashed("1.0", "", "")))
	require.InDelta(t, 0.75, *r.versions(reading.VersionFilter{})[0].CrashFreeSessions(), 1e-9)
	for range 9 {
		r.Record(r.Made(crashed("1.0", "", "")))
	}
	require.Zero(t, *r.versions(reading.VersionFilter{})[0].CrashFreeSessions(), "never below 0")
}

func TestVersionsOfDays(t *testing.T) {
	t.Parallel()
	r := open(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	at := func(days int, version, session, user string) usage.Event {
		u := launch(version, session, user)
		u.At = today.AddDate(0, 0, -days).Add(time.Minute)
		return u
	}
	r.use(at(0, "1.1", "a", "u"), at(1, "1.1", "b", "u"), at(1, "1.1", "c", "v"), at(3, "1.0", "d", "u"), at(400, "0.9", "e", "u"))
	r.Record(r.Made(func(c *crash.Crash) { crashed("1.1", "b", "u")(c); c.OccurredAt = today.AddDate(0, 0, -1) }))
	require.Equal(t, []string{"1.1", "1.0", "0.9"}, names(r.versions(reading.VersionFilter{})))

	rows := r.versions(reading.VersionFilter{From: today.AddDate(0, 0, -1), To: today.AddDate(0, 0, 1)})
	require.Equal(t, []string{"1.1"}, names(rows))
	require.Equal(t, reading.Figures{Sessions: 3, CrashedSessions: 1, Users: 2, CrashedUsers: 1}, rows[0].Figures, "a user of two days is one")
	require.Len(t, rows[0].Days, 2)
	require.Equal(t, today.AddDate(0, 0, -1), rows[0].Days[0].Day.UTC())
	require.Equal(t, reading.Figures{Sessions: 2, CrashedSessions: 1, Users: 2, CrashedUsers: 1}, rows[0].Days[0].Figures)
	require.EqualValues(t, 1, rows[0].Days[0].Crashes)
	require.Equal(t, reading.Figures{Sessions: 1, Users: 1}, rows[0].Days[1].Figures)

	// What is older than seven days counts on the first of these.
	rows = r.versions(reading.VersionFilter{From: today.AddDate(0, 0, -8), To: today.AddDate(0, 0, -5)})
	require.Equal(t, []string{"0.9"}, names(rows))
}

func names(rows []reading.VersionRow) (names []string) {
	for _, row := range rows {
		names = append(names, row.Version)
	}
	return names
}

// Versions beyond the bound of a project are not counted, and nothing fails.
func TestVersionsAreBounded(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.use(launch("1.0", "a", "u"))
	_, err := r.DB.ExecContext(t.Context(), `insert into crash_versions (crash_project_id, version, first_seen, last_seen)
		select $1, 'v' || n, now(), now() from generate_series(1, 5000) n`, r.Project)
	require.NoError(t, err)
	r.use(launch("2.0", "b", "u"), launch("1.0", "c", "u"))
	r.Record(r.Made(crashed("2.0", "b", "u")))
	var days []string
	require.NoError(t, r.DB.SelectContext(t.Context(), &days, `select distinct version from crash_version_days order by 1`))
	require.Equal(t, []string{"1.0"}, days)
}

// Sessions and crashes of the same versions come from many sides at once: nothing is
// lost, and nothing waits for ever.
func TestUsageAtOnce(t *testing.T) {
	t.Parallel()
	r := open(t)
	const each = 20
	var all sync.WaitGroup
	errs := make(chan error, 100)
	for n := range 4 {
		all.Go(func() {
			for i := range each {
				id := fmt.Sprint(n, ".", i)
				errs <- r.Store.RecordUsage(t.Context(), r.Project, []usage.Event{launch("2.0", "x"+id, id), launch("1.0", id, id)})
			}
		})
	}
	for n := range 2 {
		all.Go(func() {
			for i := range each / 2 {
				id := fmt.Sprint(n, ".", i)
				var crashes []crash.Crash
				for _, version := range []string{"2.0", "1.0"} {
					crashes = append(crashes, r.Made(crashed(version, map[string]string{"2.0": "x"}[version]+id, id)))
				}
				errs <- r.DB.InTx(t.Context(), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, r.Org.ID, crashes)
				})
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	for _, row := range r.versions(reading.VersionFilter{}) {
		require.Equal(t, reading.Figures{Sessions: 4 * each, CrashedSessions: each, Users: 4 * each, CrashedUsers: each}, row.Figures)
	}
}

func TestExpireUsage(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.use(launch("1.0", "a", "u"), launch("1.0", "b", "u"))
	later := time.Now().AddDate(0, 0, 2)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		for _, want := range []int64{1, 1, 0} {
			n, err := usage.ExpireSessions(ctx, tx, later, 1)
			require.NoError(t, err)
			require.Equal(t, want, n)
		}
		n, err := usage.ExpireDays(ctx, tx, time.Now().AddDate(0, 0, -1), 10)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = usage.ExpireDays(ctx, tx, later, 10)
		require.EqualValues(t, 1, n)
		return err
	})
	require.EqualValues(t, 2, r.versions(reading.VersionFilter{})[0].Sessions, "the sums stay")

	// Of many versions those that were not seen for long make room.
	_, err := r.DB.ExecContext(t.Context(), `insert into crash_versions (crash_project_id, version, first_seen, last_seen)
		select $1, 'v' || n, now(), now() - n * interval '1 hour' from generate_series(1, 1000) n`, r.Project)
	require.NoError(t, err)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		n, err := usage.ExpireVersions(ctx, tx, time.Now().Add(-990*time.Hour-time.Minute), 100)
		require.EqualValues(t, 10, n)
		return err
	})
	var left []string
	require.NoError(t, r.DB.SelectContext(t.Context(), &left,
		`select version from crash_versions where version in ('v990', 'v991', '1.0') order by 1`))
	require.Equal(t, []string{"1.0", "v990"}, left)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		n, err := usage.ExpireVersions(ctx, tx, time.Now(), 100)
		require.Zero(t, n, "few are left")
		return err
	})
}
