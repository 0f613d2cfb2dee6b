package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"

	. "github.com/slipway-qa/slipway/storage/gate"
)

// Members change the channel of a build. That does not let out what a gate holds: another policy
// does, or an override.
func TestChannelsDoNotRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holding := func(channels ...string) Policy {
		p := tooLarge()
		p.HoldNotifications, p.Channels = true, channels
		return p
	}
	w.policy(holding("beta", "rc"))
	in := func(channel string) func(*distribution.Upload) {
		return func(u *distribution.Upload) { u.Metadata = map[string]string{"channel": channel} }
	}
	move := func(build int64, channel string) {
		w.Exec(`update builds set metadata = jsonb_build_object('channel', $2::text) where id = $1`, build, channel)
	}
	refused := func(build int64) {
		t.Helper()
		var held *HeldError
		require.ErrorAs(t, CheckNotify(fixture.Context(t), w.DB, w.Org.ID, build), &held)
	}
	asked, quiet, older, free := w.build("1.1", in("beta")), w.build("1.2", in("beta")), w.build("1.3", in("beta")), w.build("1.4", in("mine"))
	require.True(t, w.begin(asked, true).Held)
	require.False(t, w.begin(free, true).Gated)
	w.Exec(`delete from gates where build_id = $1`, older) // as if it were older than its policy
	move(asked, "mine")
	move(older, "mine")
	w.evaluate()
	move(quiet, "mine")
	for _, c := range w.evaluate() {
		require.False(t, c.Released)
	}
	for _, build := range []int64{asked, quiet, older} {
		refused(build)
		g := w.gate(build)
		require.Equal(t, Fail, g.State, "it is evaluated as before")
		require.Empty(t, g.Reason)
		require.Equal(t, build == asked, g.Held)
	}
	require.NoError(t, CheckNotify(fixture.Context(t), w.DB, w.Org.ID, free), "it never had a gate")
	require.Equal(t, ReasonNotCovered, w.gate(free).Reason)

	// The last channel that was covered counts.
	move(quiet, "rc")
	w.evaluate()
	move(quiet, "mine")
	p := holding("rc")
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return SavePolicy(ctx, tx, w.admin, w.project, &p) })
	var released []int64
	for _, c := range w.evaluate() {
		if c.Released {
			released = append(released, c.BuildID)
		}
	}
	require.Equal(t, []int64{asked}, released, "no policy holds builds of beta any more")
	refused(quiet)
	require.NoError(t, CheckNotify(fixture.Context(t), w.DB, w.Org.ID, older))
}

// Who waits for a gate that nothing decides any more hears so, once.
func TestStuck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	stuck := func() (list []Change) {
		w.Exec(`insert into gate_due (build_id, organization_id, due_at) select build_id, organization_id, now() from gates`)
		for _, c := range w.evaluate() {
			if c.Stuck {
				list = append(list, c)
			}
		}
		return list
	}
	for name, c := range map[string]struct {
		condition Condition
		happens   func(build int64)
		reason    string
	}{
		"suites": {Condition{Name: "Smoke", Type: Suites, SuiteIDs: ids(suite.ID)}, func(build int64) {
			w.Must(func(ctx context.Context, tx *storage.Tx) error { return NoteStartFailed(ctx, tx, w.Org.ID, build) })
		}, "Smoke: the suite " + suite.ID.String() + " did not start: the task gate:start of the build failed"},
		"time": {Condition{Name: "Crashes", Type: CrashGroups}, func(build int64) { w.age(build, 25*time.Hour) },
			"Crashes: nobody used this build"},
	} {
		p := conditions(c.condition)
		p.HoldNotifications, p.RunSuites = true, []SuiteToRun{{SuiteID: suite.ID}}
		w.policy(p)
		w.serial++
		b, quiet := w.build("2."+name), w.build("3."+name)
		require.True(t, w.begin(b, true).Held)
		require.Empty(t, stuck(), "%s: something is under way", name)
		c.happens(b)
		c.happens(quiet)
		list := stuck()
		require.Len(t, list, 1, name)
		require.Equal(t, []State{Unknown, Unknown}, []State{list[0].From, list[0].To})
		require.Equal(t, b, list[0].BuildID)
		require.Equal(t, w.Org.Member.ID, list[0].Held.UserID)
		require.Contains(t, list[0].Reason, c.reason)
		require.Empty(t, stuck(), "%s: it was said", name)
		require.True(t, w.gate(b).Held)
		w.Exec(`update gates set held_at = null`)
	}
}
