package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/session"

	. "github.com/slipway-qa/slipway/storage/gate"
)

// Sessions of a version are those of nobody when two builds have it.
func TestBuildsOfOneVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashFree, MinPercent: fixture.Ptr(90.0), MinSessions: fixture.Ptr(int64(10))},
		Condition{Type: CrashGroups}))
	first := w.build("5.0")
	w.use("5.0", 10)
	require.Equal(t, Pass, w.want(first, Unknown, "the time ends").Conditions[0].State)
	second := w.build("5.0")
	require.True(t, w.due(first))
	for _, b := range []int64{first, second} {
		w.want(b, Unknown, "0 sessions of 10 are known: another build of the app has this version")
	}
	w.age(second, 48*time.Hour)
	w.want(second, Unknown, "nobody used this build")
}

// use is sessions of a version.
func (w *world) use(version string, sessions int) {
	w.T.Helper()
	store, err := crash.New(w.DB)
	require.NoError(w.T, err)
	var events []usage.Event
	for range sessions {
		events = append(events, usage.Event{Version: version, At: time.Now(), Launch: true, Session: uuid.NewString()})
	}
	require.NoError(w.T, store.RecordUsage(fixture.Context(w.T), w.crashes, events))
}

// A build that is first used after its hours passes then.
func TestFirstUseAfterTheHours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups}))
	b := w.build("1.1")
	w.evaluate()
	w.age(b, 48*time.Hour)
	w.want(b, Unknown, "nobody used")
	w.use("1.1", 1)
	require.True(t, w.due(b))
	w.want(b, Pass, "")
}

// Sessions of the build before are facts of the one that is compared with it, whether it has a gate
// or not; and so is one of them that crashes.
func TestSessionsOfTheBuildBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.build("1.0")
	w.policy(conditions(Condition{Type: CrashFree, MaxDropPoints: fixture.Ptr(1.0), MinSessions: fixture.Ptr(int64(2))}))
	b := w.build("1.1")
	w.evaluate()
	w.Exec(`delete from gates where build_id = $1`, before)
	w.use("1.0", 1)
	require.True(t, w.due(b))
	w.evaluate()
	clients := w.start(before, 2)
	require.True(t, w.due(b))
	w.evaluate()
	w.end(clients[0], true)
	require.True(t, w.due(b))
	require.Equal(t, 1, w.Count(`select crashed_sessions from builds where id = $1`, before))
	w.end(clients[0], true)
	require.Equal(t, 1, w.Count(`select crashed_sessions from builds where id = $1`, before))
}

// Builds of one version do not all become due with each of its sessions.
func TestSessionsOfManyBuildsOfOneVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashFree, MinPercent: fixture.Ptr(90.0)}))
	for range 6 {
		w.build("1.0")
	}
	w.evaluate()
	w.use("1.0", 3)
	require.Equal(t, 2, w.Count(`select count(*) from gate_due`))
}

// The step that brings the number of crashed sessions counts those that there are, a build at a time.
func TestCrashedSessionsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	step, err := migrations.Files.ReadFile("00138_gates_concurrently.sql")
	require.NoError(t, err)
	_, block, _ := strings.Cut(string(step), "-- +goose StatementBegin")
	block, _, there := strings.Cut(block, "-- +goose StatementEnd")
	require.True(t, there)
	var builds []int64
	for i := range 2 {
		b := w.build("5." + strings.Repeat("1", i+1))
		clients := w.start(b, 3)
		for _, c := range clients[:i+1] {
			w.end(c, true)
		}
		builds = append(builds, b)
	}
	w.Exec(`update builds set crashed_sessions = 0`)
	w.Exec(block)
	for i, b := range builds {
		require.Equal(t, i+1, w.Count(`select crashed_sessions from builds where id = $1`, b))
	}
}

// start is so many recorded sessions of a build.
func (w *world) start(build int64, n int) (clients []uuid.UUID) {
	w.T.Helper()
	store, err := session.New(w.DB, session.Bounds{Events: 10, Bytes: 1000})
	require.NoError(w.T, err)
	var starts []session.Start
	for range n {
		starts = append(starts, session.Start{OrganizationID: w.Org.ID, ProjectID: w.project, ClientID: uuid.New(),
			BuildID: build, StartedAt: time.Now()})
		clients = append(clients, starts[len(starts)-1].ClientID)
	}
	_, err = store.Start(fixture.Context(w.T), starts)
	require.NoError(w.T, err)
	return clients
}

func (w *world) end(client uuid.UUID, crashed bool) {
	w.T.Helper()
	_, err := session.EndSession(fixture.Context(w.T), w.DB, session.End{ProjectID: w.project, ClientID: client, Crashed: crashed})
	require.NoError(w.T, err)
}
