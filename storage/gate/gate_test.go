package gate_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/install"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/storage/symbol"

	. "github.com/slipway-qa/slipway/storage/gate"
)

// world is an app with a crash project, and who may set its policy.
type world struct {
	*fixture.Tests
	admin   account.Writer
	project int64 // the app
	crashes int64 // its crash project
	serial  int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Tests: fixture.NewTests(t)}
	w.admin = w.Org.Owner.Writer
	first := w.App("com.example.shop")
	w.project = first.Project.ID
	w.crashes = w.Org.CrashProject("shop")
	w.Exec(`update crash_projects set project_id = $2 where id = $1`, w.crashes, w.project)
	return w
}

func (w *world) policy(p Policy) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return SavePolicy(ctx, tx, w.admin, w.project, &p) })
	w.evaluate()
}

// conditions is a policy of conditions.
func conditions(list ...Condition) Policy {
	for i := range list {
		if list[i].Name == "" {
			list[i].Name = fmt.Sprintf("%s %d", list[i].Type, i)
		}
	}
	return Policy{Conditions: list}
}

// build uploads a version of the app.
func (w *world) build(version string, change ...func(*distribution.Upload)) int64 {
	w.T.Helper()
	w.serial++
	u := w.NewUpload(fixture.APK("com.example.shop", version, strconv.Itoa(w.serial+1)))
	for _, c := range change {
		c(&u)
	}
	return w.Upload(u).Build.ID
}

// evaluate evaluates until nothing is due, and returns what changed.
func (w *world) evaluate() (changes []Change) {
	w.T.Helper()
	for range 40 {
		var round *Round
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			round, err = Evaluate(ctx, tx, 100)
			return err
		})
		changes = append(changes, round.Changes...)
		if round.Recounts {
			w.Must(func(ctx context.Context, tx *storage.Tx) error {
				_, err := Recount(ctx, tx)
				return err
			})
		} else if round.Claimed == 0 {
			return changes
		}
	}
	w.T.Fatal("gates are due without end")
	return nil
}

func (w *world) gate(build int64) *Gate {
	w.T.Helper()
	g, err := Of(fixture.Context(w.T), w.DB, w.Org.ID, build)
	require.NoError(w.T, err)
	return g
}

// want evaluates and compares the state.
func (w *world) want(build int64, state State, reason string) *Gate {
	w.T.Helper()
	w.evaluate()
	g := w.gate(build)
	require.Equal(w.T, state, g.State, "%+v", g.Conditions)
	var reasons []string
	for _, c := range g.Conditions {
		reasons = append(reasons, c.Reason)
	}
	require.Contains(w.T, strings.Join(reasons, "; "), reason)
	return g
}

// report is a crash of a build.
func (w *world) report(build int64, key string, change ...func(*crash.Crash)) crash.Crash {
	w.serial++
	now := time.Now().UTC().Truncate(time.Second)
	c := crash.Crash{ID: storage.NewID(), ProjectID: w.crashes, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: now, ReceivedAt: now,
		Duplicates: 1, Attributes: `{}`, Build: crash.BuildRef{ID: strconv.FormatInt(build, 10)},
		Group: &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: "title " + key}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func (w *world) crash(list ...crash.Crash) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if err := crash.Lock(ctx, tx, list); err != nil {
			return err
		}
		return crash.Record(ctx, tx, w.Org.ID, list)
	})
}

// age moves the upload of a build into the past, as if time had passed.
func (w *world) age(build int64, by time.Duration) {
	w.T.Helper()
	w.Exec(`update builds set created_at = created_at - $2::bigint * interval '1 second' where id = $1`, build, int64(by/time.Second))
	w.Exec(`update gate_due set due_at = due_at - $2::bigint * interval '1 second' where build_id = $1`, build, int64(by/time.Second))
}

func (w *world) due(build int64) bool {
	w.T.Helper()
	return w.Count(`select count(*) from gate_due where build_id = $1 and due_at <= now()`, build) > 0
}

// A build without a policy is unknown, and nothing is written for it.
func TestNoPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.build("1.1")
	w.crash(w.report(b, "a"))
	g, err := Ask(fixture.Context(t), w.DB, w.Org.ID, b)
	require.NoError(t, err)
	require.Equal(t, Unknown, g.State)
	require.Equal(t, ReasonNoPolicy, g.Reason)
	for _, table := range []string{"gates", "gate_due", "gate_crashes", "gate_crash_users", "gate_needs", "gate_changes"} {
		require.Zero(t, w.Count(`select count(*) from `+table), table)
	}
	_, err = Ask(fixture.Context(t), w.DB, w.Rival.ID, b)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// A crash of the build is counted when it comes, and fails the gate; the window that closes
// without one passes it, when somebody used the build.
func TestCrashGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := int64(1), int64(2)
	w.policy(conditions(Condition{Type: CrashGroups, MaxReports: &one, Hours: &two}))
	b := w.build("1.1")
	w.want(b, Unknown, "the time ends")
	w.crash(w.report(b, "a"))
	require.True(t, w.due(b), "the crash is a fact")
	w.want(b, Unknown, "the time ends")
	w.crash(w.report(b, "a"), w.report(b, "b"))
	g := w.want(b, Fail, `"title a" has 2 reports`)
	require.Equal(t, OfCrashGroup, g.Conditions[0].Evidence[0].Kind)
	require.Len(t, g.Conditions[0].Evidence, 1)

	// What people ignore does not count.
	group := w.ID(`select id from crash_groups where title = 'title a'`)
	w.Exec(`update crash_groups set state = 'ignored' where id = $1`, group)
	require.True(t, w.due(b))
	w.want(b, Unknown, "the time ends")
	require.False(t, w.due(b))

	w.age(b, 3*time.Hour)
	require.True(t, w.due(b), "the window that closes is a fact")
	w.want(b, Pass, "")
	w.crash(w.report(b, "b"), w.report(b, "b"))
	w.want(b, Pass, "")
	require.Equal(t, 3, w.Count(`select sum(reports) from gate_crashes where build_id = $1`, b), "only those inside of the window are counted")
}

// A build that nobody used never passes.
func TestUnusedBuildDoesNotPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups}))
	b := w.build("1.1")
	w.evaluate()
	w.age(b, 25*time.Hour)
	w.want(b, Unknown, "nobody used")
}

// A group that was there before is not new, whatever the clock of a device says; one that came
// back in this version is a regression.
func TestKindsOfGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.build("1.0.1")
	w.crash(w.report(old, "known", func(c *crash.Crash) { c.Version = "1.0.1" }),
		w.report(old, "fixed", func(c *crash.Crash) { c.Version = "1.0.1" }))
	w.Exec(`update crash_groups set first_seen = now() - interval '9 days', last_seen = now() - interval '9 days'`)
	w.Exec(`update crash_groups set state = 'resolved', resolved_at = now() - interval '8 days' where title = 'title fixed'`)
	w.policy(conditions(Condition{Name: "new", Type: CrashGroups, Kinds: []string{NewGroups}},
		Condition{Name: "back", Type: CrashGroups, Kinds: []string{RegressedGroups}}))
	b := w.build("1.1")
	of := func(c *crash.Crash) { c.Version = "1.1" }
	w.crash(w.report(b, "known", of))
	g := w.want(b, Unknown, "the time ends")
	require.Equal(t, []string{"0 groups", "0 groups"}, []string{g.Conditions[0].Measured, g.Conditions[1].Measured})
	w.crash(w.report(b, "fixed", of))
	g = w.want(b, Fail, "title fixed")
	require.Equal(t, []State{Unknown, Fail}, []State{g.Conditions[0].State, g.Conditions[1].State})
	// The device's clock is a year behind.
	w.crash(w.report(b, "fresh", of, func(c *crash.Crash) { c.OccurredAt = c.ReceivedAt.AddDate(0, -11, 0) }))
	g = w.want(b, Fail, "title fresh")
	require.Equal(t, Fail, g.Conditions[0].State)
}

// Users are those of the reports, each once.
func TestCrashUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	most := int64(1)
	w.policy(conditions(Condition{Type: CrashGroups, MaxUsers: &most}))
	b := w.build("1.1")
	by := func(user string) func(*crash.Crash) {
		return func(c *crash.Crash) { c.Attributes = `{"guid": "` + user + `"}` }
	}
	w.crash(w.report(b, "a", by("ann")), w.report(b, "a", by("ann")))
	w.crash(w.report(b, "a", by("ann")))
	w.want(b, Unknown, "the time ends")
	w.crash(w.report(b, "a", by("bob")))
	w.want(b, Fail, "4 reports of 2 users")
}

// Crashes that are deleted are not counted any more, nor those that move to another group.
func TestCrashesThatGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups}))
	b := w.build("1.1")
	w.crash(w.report(b, "a"), w.report(b, "a"))
	w.want(b, Fail, "2 reports")
	w.crash(w.report(b, "b"))
	w.want(b, Fail, "1 report")
	key := w.ID(`select k.id from crash_group_keys k join crash_groups g on g.id = k.group_id where g.title = 'title b'`)
	w.Exec(`update crashes set key_id = $1 where id = (select id from crashes where build_id = $2 and key_id <> $1 limit 1)`, key, b)
	require.Equal(t, 1, w.Count(`select reports from gate_crashes where key_id <> $1`, key))
	require.Equal(t, 2, w.Count(`select reports from gate_crashes where key_id = $1`, key))
	w.Exec(`delete from crashes where build_id = $1`, b)
	require.True(t, w.due(b))
	w.want(b, Unknown, "the time ends")
}

// A policy that comes later counts what there is, by its own windows; so does one that changes.
func TestPolicyThatComesLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.build("1.1")
	w.crash(w.report(b, "a"), w.report(b, "a"), w.report(b, "b"))
	one, two, hours := int64(1), int64(2), int64(48)
	w.policy(conditions(Condition{Type: CrashGroups, MaxReports: &one}))
	w.want(b, Fail, "title a")
	changes := w.Count(`select count(*) from gate_changes where build_id = $1`, b)
	w.policy(conditions(Condition{Type: CrashGroups, MaxReports: &two, Hours: &hours}))
	w.want(b, Unknown, "the time ends")
	require.Equal(t, 3, w.Count(`select sum(reports) from gate_crashes where build_id = $1 and hours = 48`, b))
	require.Zero(t, w.Count(`select count(*) from gate_crashes where hours = 24`))
	require.Equal(t, changes+1, w.Count(`select count(*) from gate_changes where build_id = $1`, b))
	require.Equal(t, 1, w.Count(`select count(*) from gate_changes where build_id = $1 and cause = 'policy'`, b))
	w.crash(w.report(b, "a"))
	w.want(b, Fail, "3 reports")

	// Without a policy nothing is left to say.
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return DeletePolicy(ctx, tx, w.admin, w.project) })
	w.evaluate()
	g := w.gate(b)
	require.Equal(t, Unknown, g.State)
	require.Equal(t, ReasonNoPolicy, g.Reason)
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error { return DeletePolicy(ctx, tx, w.admin, w.project) }),
		storage.ErrNotFound)
}

// Only the newest builds are looked at when a policy comes; older ones when somebody asks.
func TestOlderBuildsWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var builds []int64
	for i := range 22 {
		builds = append(builds, w.build(fmt.Sprintf("2.%d", i)))
	}
	w.policy(conditions(Condition{Type: Size, MaxBytes: fixture.Ptr(int64(1))}))
	require.Equal(t, 20, w.Count(`select count(*) from gates`))
	require.Equal(t, ReasonNotYet, w.gate(builds[0]).Reason)
	g, err := Ask(fixture.Context(t), w.DB, w.Org.ID, builds[0])
	require.NoError(t, err)
	require.True(t, g.Due)
	require.False(t, g.Decided())
	w.want(builds[0], Fail, "too large")
}

// Builds of other channels have no gate, until they are moved to one that has.
func TestChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := conditions(Condition{Type: Size, MaxBytes: fixture.Ptr(int64(1))})
	p.Channels = []string{"beta"}
	w.policy(p)
	in := func(channel string) func(*distribution.Upload) {
		return func(u *distribution.Upload) { u.Metadata = map[string]string{"channel": channel} }
	}
	beta, prod, none := w.build("1.1", in("beta")), w.build("1.1", in("prod")), w.build("1.1")
	w.want(beta, Fail, "too large")
	for _, b := range []int64{prod, none} {
		require.Equal(t, ReasonNotCovered, w.gate(b).Reason)
		require.Zero(t, w.Count(`select count(*) from gates where build_id = $1`, b))
	}
	w.Exec(`update builds set metadata = '{"channel": "beta"}' where id = $1`, prod)
	w.want(prod, Fail, "too large")
	w.Exec(`update builds set metadata = '{"channel": "alpha"}' where id = $1`, prod)
	w.evaluate()
	require.Equal(t, Unknown, w.gate(prod).State)
	require.Equal(t, ReasonNotCovered, w.gate(prod).Reason)
}

// The build before is the newest older one of the channel; one that goes is not compared with.
func TestBuildBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sized := func(n int64, signer string) func(*distribution.Upload) {
		return func(u *distribution.Upload) { u.File.Size, u.Package.Signer.SHA256 = n, signer }
	}
	first := w.build("1.1", sized(1000, "ab"))
	second := w.build("1.2", sized(2000, "cd"))
	w.policy(conditions(Condition{Type: Size, MaxGrowthPercent: fixture.Ptr(10.0)}, Condition{Type: Signature, SameSigner: fixture.Ptr(true)}))
	third := w.build("1.3", sized(1050, "ab"))
	w.evaluate()
	g := w.gate(third)
	require.Equal(t, []State{Pass, Unknown}, []State{g.Conditions[0].State, g.Conditions[1].State}, "the signature is not verified yet")
	w.Exec(`update builds set verification = 'verified' where id = $1`, third)
	w.want(third, Fail, "not that of the build before")
	w.Exec(`update builds set deleted_at = now() where id = $1`, second)
	require.True(t, w.due(third))
	w.want(third, Pass, "")
	w.Exec(`update builds set state = 'invalid' where id <= $1`, first)
	w.want(third, Unknown, "build before")
}

// Sessions count as they are counted, of the crash project or of the build itself.
func TestCrashFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashFree, MinPercent: fixture.Ptr(90.0), MinSessions: fixture.Ptr(int64(10))}))
	b := w.build("1.1")
	w.want(b, Unknown, "0 sessions of 10")
	store, err := crash.New(w.DB)
	require.NoError(t, err)
	var events []usage.Event
	for i := range 10 {
		events = append(events, usage.Event{Version: "1.1", At: time.Now(), Launch: true, Session: fmt.Sprint(i)})
	}
	require.NoError(t, store.RecordUsage(fixture.Context(t), w.crashes, events))
	require.True(t, w.due(b))
	w.want(b, Pass, "")
	of := func(session string) func(*crash.Crash) {
		return func(c *crash.Crash) { c.Version, c.Session = "1.1", session }
	}
	w.crash(w.report(b, "a", of("1")), w.report(b, "a", of("1")))
	w.want(b, Pass, "")
	w.crash(w.report(b, "a", of("2")))
	g := w.want(b, Fail, "20 % of the sessions crashed")
	require.Equal(t, "80 % of 10 sessions", g.Conditions[0].Measured)

	other := w.build("1.2")
	sessions, err := session.New(w.DB, session.Bounds{Events: 10, Bytes: 1000})
	require.NoError(t, err)
	var starts []session.Start
	for range 20 {
		starts = append(starts, session.Start{OrganizationID: w.Org.ID, ProjectID: w.project, ClientID: uuid.New(),
			BuildID: other, StartedAt: time.Now()})
	}
	w.evaluate()
	_, err = sessions.Start(fixture.Context(t), starts)
	require.NoError(t, err)
	require.True(t, w.due(other))
	w.want(other, Pass, "")
	for _, s := range starts[:3] {
		_, err = session.EndSession(fixture.Context(t), w.DB, session.End{ProjectID: w.project, ClientID: s.ClientID, Crashed: true})
		require.NoError(t, err)
	}
	w.want(other, Fail, "15 % of the sessions crashed")
}

// Testers and what they say are facts when they come.
func TestTesters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: Testers, MinTesters: fixture.Ptr(int64(2))}))
	b := w.build("1.1")
	w.want(b, Unknown, "0 of 2 testers")
	installed := func(user int64, channel install.Channel) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return install.Record(ctx, tx, []install.Seen{{OrganizationID: w.Org.ID, BuildID: b, UserID: user, Channel: channel}})
		})
	}
	installed(w.Org.Owner.ID, "page")
	installed(w.Org.Member.ID, "api")
	w.want(b, Unknown, "1 of 2 testers")
	installed(w.Org.Member.ID, "session")
	w.want(b, Pass, "")
	var id int64
	say := func(blocker bool) {
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			id, err = session.AddFeedback(ctx, tx, session.NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.project,
				BuildID: b, Text: "it burns", Blocker: blocker})
			return err
		})
	}
	say(false)
	require.False(t, w.due(b))
	say(true)
	w.want(b, Fail, "it burns")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := session.DeleteFeedback(ctx, tx, w.admin, id, ErrNoAccess)
		return err
	})
	w.want(b, Pass, "")
}

// Symbols that come, and needs that are served, are facts.
func TestSymbols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: Symbols}))
	b := w.build("1.1")
	w.want(b, Unknown, "nothing says")
	w.crash(w.report(b, "a"))
	w.want(b, Pass, "")
	lacking := w.report(b, "a", func(c *crash.Crash) {
		c.Symbols = &crash.Symbolication{State: crash.SymbolsMissing, Missing: 1, Needs: []need.Need{{Kind: "native", Name: "libapp.so",
			LookedFor: []symbol.Identifier{{Type: "debug_id", Value: "AB"}}}}}
	})
	w.crash(lacking)
	w.want(b, Fail, "libapp.so")
	w.Exec(`delete from crash_needs`)
	w.Exec(`update crash_symbolications set need_set_id = null`)
	w.Exec(`delete from symbol_needs`)
	w.want(b, Pass, "")

	images := w.build("1.2", func(u *distribution.Upload) { u.Package.Images = []artifact.Image{{UUID: "AA"}, {UUID: "BB"}} })
	w.want(images, Fail, "2 images")
	file := w.ID(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, 'sym', 1, '', '')
		returning id`, w.Org.ID)
	symbol := w.ID(`insert into symbols (organization_id, file_id, name, sha256, source, format, state)
		values ($1, $2, 's', '', 'api', 'dsym', 'indexed') returning id`, w.Org.ID, file)
	w.Exec(`insert into symbol_images (organization_id, image_uuid, symbol_id) values ($1, 'AA', $2), ($1, 'BB', $2)`, w.Org.ID, symbol)
	w.want(images, Pass, "")
	w.Exec(`delete from symbols where id = $1`, symbol)
	w.want(images, Fail, "2 images")
}

func ids(list ...uuid.UUID) []uuid.UUID { return list }
