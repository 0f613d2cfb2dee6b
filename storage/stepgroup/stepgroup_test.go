package stepgroup_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// room is the fixture with what these tests do to it.
type room struct{ *fixture.Tests }

func open(t *testing.T) *room { return &room{fixture.NewTests(t)} }

func opens(id, address string) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}}
}

func runs(id string, group uuid.UUID, with step.Values) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: group.String(), With: with}}}
}

func (r *room) try(by account.Writer, n stepgroup.NewGroup) (g *stepgroup.Group, err error) {
	n.TeamID = r.Org.Team.ID
	err = r.Do(func(ctx context.Context, tx *storage.Tx) error {
		g, err = stepgroup.Create(ctx, tx, by, n)
		return err
	})
	return g, err
}

func (r *room) group(name string, steps ...step.Step) *stepgroup.Group {
	r.T.Helper()
	g, err := r.try(r.Org.Member.Writer, stepgroup.NewGroup{Name: name, Steps: steps})
	require.NoError(r.T, err)
	return g
}

func (r *room) update(by account.Writer, id uuid.UUID, c stepgroup.Change) (g *stepgroup.Group, err error) {
	err = r.Do(func(ctx context.Context, tx *storage.Tx) error {
		g, err = stepgroup.Update(ctx, tx, by, id, c)
		return err
	})
	return g, err
}

func (r *room) delete(by account.Writer, id uuid.UUID) error {
	return r.Do(func(ctx context.Context, tx *storage.Tx) error { return stepgroup.Delete(ctx, tx, by, id) })
}

func (r *room) users(id uuid.UUID) stepgroup.Users {
	r.T.Helper()
	u, err := stepgroup.UsersOf(r.T.Context(), r.DB, id)
	require.NoError(r.T, err)
	return u
}

func newCase(name string, steps ...step.Step) authoring.NewCase {
	n := fixture.LoginCase(name, 1)
	n.Revision.Steps = steps
	return n
}

func TestGroupsAreKept(t *testing.T) {
	t.Parallel()
	r := open(t)
	text := "ann"
	g, err := r.try(r.Org.Member.Writer, stepgroup.NewGroup{Name: " Log in ", Description: "as anybody",
		Parameters: []group.Parameter{{Name: "user", Default: &text}},
		Steps:      []step.Step{opens("s1", "/{{param:user}}")}})
	require.NoError(t, err)
	require.Equal(t, "Log in", g.Name)
	require.Equal(t, 1, g.Revision.Number)
	require.Equal(t, "ann", *g.Revision.Parameters[0].Default)

	same, err := r.update(r.Org.Member.Writer, g.ID, stepgroup.Change{Steps: &g.Revision.Steps})
	require.NoError(t, err)
	require.Equal(t, g, same, "a change of nothing changes nothing")
	steps := []step.Step{opens("s1", "/other")}
	changed, err := r.update(r.Org.Member.Writer, g.ID, stepgroup.Change{Steps: &steps})
	require.NoError(t, err)
	require.Equal(t, 2, changed.Revision.Number)
	require.Equal(t, g.ID, changed.ID)
	revisions, total, err := stepgroup.Revisions(t.Context(), r.DB, g.ID, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, g.Revision, revisions[1])

	name := "100% _"
	_, err = r.update(r.Org.Member.Writer, g.ID, stepgroup.Change{Name: &name})
	require.NoError(t, err)
	r.group("another")
	for search, count := range map[string]int{"": 2, "0% _": 1, "%": 1, "ANO": 1, "none": 0} {
		list, total, err := stepgroup.List(t.Context(), r.DB, stepgroup.Filter{OrganizationID: r.Org.ID, Search: search,
			Page: storage.FirstPage()})
		require.NoError(t, err)
		require.Len(t, list, count, search)
		require.Equal(t, count, total, search)
	}
	_, err = stepgroup.ByID(t.Context(), r.DB, r.Rival.ID, g.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = r.update(r.Org.Neighbor.Writer, g.ID, stepgroup.Change{Name: &name})
	require.ErrorIs(t, err, stepgroup.ErrForbidden)
	require.ErrorIs(t, r.delete(r.Rival.Owner.Writer, g.ID), storage.ErrNotFound)
	require.NoError(t, r.delete(r.Org.Member.Writer, g.ID))
	require.ErrorIs(t, r.delete(r.Org.Member.Writer, g.ID), storage.ErrNotFound)
	gone, err := stepgroup.Name(t.Context(), r.DB, r.Org.ID, g.ID.String())
	require.NoError(t, err)
	require.Equal(t, "100% _", gone)
}

func TestGroupsAreChecked(t *testing.T) {
	t.Parallel()
	r := open(t)
	inner := r.group("inner", opens("s1", "/"))
	for text, n := range map[string]stepgroup.NewGroup{
		"name: must have 1 to 255 characters":                                            {Name: " "},
		"parameters[0].name: must be 1 to 64 lower-case letters, digits and underscores": {Name: "g", Parameters: []group.Parameter{{Name: "A"}}},
		"parameters[1].name: is the name of another parameter too": {Name: "g",
			Parameters: []group.Parameter{{Name: "a"}, {Name: "a"}}},
		"steps[0].tool: names {{param:b}}, which is no parameter of the step group": {Name: "g", Parameters: []group.Parameter{{Name: "a"}},
			Steps: []step.Step{opens("s1", "/{{param:b}}")}},
		"steps[0].tool.args.groupId: is the id of no step group of the organization: " + fixture.NoUUID.String(): {Name: "g",
			Steps: []step.Step{runs("s1", fixture.NoUUID, nil)}},
		`steps[0].tool.args.with.x: is no parameter of the step group "inner", which has none`: {Name: "g",
			Steps: []step.Step{runs("s1", inner.ID, step.Values{"x": "1"})}},
	} {
		_, err := r.try(r.Org.Member.Writer, n)
		require.EqualError(t, err, text)
	}
	_, err := r.TryCase(r.Rival.Member.Writer, newCase("foreign", runs("s1", inner.ID, nil)))
	require.ErrorContains(t, err, "is the id of no step group of the organization")
	n := newCase("ends", opens("s1", "/"))
	n.Revision.SetUp = []step.Step{{ID: "s1", Tool: step.Tool{Type: step.Finish}}}
	_, err = r.TryCase(r.Org.Member.Writer, n)
	require.EqualError(t, err, "setUp[0].tool.type: must not be finish: the test goes on")
}

func TestCyclesAndDepth(t *testing.T) {
	t.Parallel()
	r := open(t)
	a := r.group("A", opens("s1", "/"))
	b := r.group("B", runs("s1", a.ID, nil))
	steps := []step.Step{runs("s1", b.ID, nil)}
	_, err := r.update(r.Org.Member.Writer, a.ID, stepgroup.Change{Steps: &steps})
	require.ErrorContains(t, err, "would run itself: A > B > A")
	steps = []step.Step{runs("s1", a.ID, nil)}
	_, err = r.update(r.Org.Member.Writer, a.ID, stepgroup.Change{Steps: &steps})
	require.EqualError(t, err, "steps[0].tool.args.groupId: is of a step group that would run itself: A > A")

	last := b
	for _, name := range []string{"C", "D", "E"} {
		last = r.group(name, runs("s1", last.ID, nil))
	}
	_, err = r.try(r.Org.Member.Writer, stepgroup.NewGroup{Name: "F", Steps: []step.Step{runs("s1", last.ID, nil)}})
	require.ErrorContains(t, err, "in more than 4 others: F > E > D > C > B > A")
	z := r.group("Z", opens("s1", "/"))
	steps = []step.Step{runs("s1", z.ID, nil)}
	_, err = r.update(r.Org.Member.Writer, a.ID, stepgroup.Change{Steps: &steps})
	require.EqualError(t, err, "steps: run step groups in step groups: with those that run this one they would be 6 deep, and 5 is the most")
}

// Of two writers who would make a cycle together one is refused.
func TestTwoWritersMakeNoCycle(t *testing.T) {
	t.Parallel()
	r := open(t)
	a, b := r.group("A", opens("s1", "/")), r.group("B", opens("s1", "/"))
	var wait sync.WaitGroup
	errs := make([]error, 2)
	for i, pair := range [][2]uuid.UUID{{a.ID, b.ID}, {b.ID, a.ID}} {
		wait.Go(func() {
			steps := []step.Step{runs("s1", pair[1], nil)}
			_, errs[i] = r.update(r.Org.Member.Writer, pair[0], stepgroup.Change{Steps: &steps})
		})
	}
	wait.Wait()
	require.True(t, (errs[0] == nil) != (errs[1] == nil), "%v, %v", errs[0], errs[1])
}

func TestUsers(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.group("used", opens("s1", "/"))
	around := r.group("around", runs("s1", g.ID, nil))
	c, err := r.TryCase(r.Org.Member.Writer, newCase("shop", runs("s1", g.ID, nil), runs("s2", g.ID, nil)))
	require.NoError(t, err)
	n := newCase("before", opens("s1", "/"))
	n.Revision.SetUp = []step.Step{runs("s1", g.ID, nil)}
	_, err = r.TryCase(r.Org.Member.Writer, n)
	require.NoError(t, err)
	s, err := r.TrySuite(r.Org.Member.Writer, authoring.NewSuite{Name: "all",
		Around: authoring.Around{TearDown: []step.Step{runs("s1", g.ID, nil)}}})
	require.NoError(t, err)

	u := r.users(g.ID)
	require.Equal(t, 4, u.Count())
	require.Equal(t, "before", u.Cases[0].Name)
	require.Equal(t, []stepgroup.User{{ID: around.ID.String(), Name: "around"}}, u.Groups)
	require.Equal(t, []stepgroup.User{{ID: s.ID.String(), Name: "all"}}, u.Suites)
	var used *stepgroup.InUseError
	require.ErrorAs(t, r.delete(r.Org.Member.Writer, g.ID), &used)
	require.Equal(t, u, used.Users)

	// What uses it no more is no user.
	steps := []step.Step{opens("s1", "/")}
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.UpdateCase(ctx, tx, r.Org.Member.Writer, c.ID, authoring.CaseChange{Steps: &steps})
		return err
	})
	none := []step.Step{}
	_, err = r.UpdateSuite(r.Org.Member.Writer, s.ID, authoring.SuiteChange{TearDown: &none})
	require.NoError(t, err)
	require.NoError(t, r.delete(r.Org.Member.Writer, around.ID))
	require.Equal(t, 1, func() int { u := r.users(g.ID); return u.Count() }())
}

// A run keeps the revisions that the groups had when it was made, whatever becomes of them.
func TestRunsKeepTheirRevisions(t *testing.T) {
	t.Parallel()
	r := open(t)
	inner := r.group("inner", opens("s1", "/first"))
	outer := r.group("outer", runs("s1", inner.ID, nil))
	c, err := r.TryCase(r.Org.Member.Writer, newCase("shop", runs("s1", outer.ID, nil)))
	require.NoError(t, err)
	first, err := authoring.RevisionByID(t.Context(), r.DB, c.ID, "")
	require.NoError(t, err)
	began := r.NewRun(c, 1)

	plain := []step.Step{opens("s1", "/own")}
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.UpdateCase(ctx, tx, r.Org.Member.Writer, c.ID, authoring.CaseChange{Steps: &plain})
		return err
	})
	for i := range stepgroup.MaxRevisions + 3 {
		steps := []step.Step{opens("s1", fmt.Sprint("/", i))}
		_, err := r.update(r.Org.Member.Writer, inner.ID, stepgroup.Change{Steps: &steps})
		require.NoError(t, err)
	}
	require.NoError(t, r.delete(r.Org.Member.Writer, outer.ID))
	require.NoError(t, r.delete(r.Org.Member.Writer, inner.ID))

	work, _, err := r.Begin(began.Jobs[0].ID)
	require.NoError(t, err)
	require.Len(t, work.Groups, 2)
	require.Equal(t, "/first", work.Groups[inner.ID.String()].Steps[0].Tool.Args.URL)
	var plan group.Plan
	require.NoError(t, plan.Add(group.Part{Steps: work.Steps}, work.Groups))
	require.Len(t, plan.Steps, 3)

	// A later run of the old revision finds nothing.
	var later *run.Run
	r.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		later, err = run.Start(ctx, tx, r.Org.Member.Writer, run.NewRun{Case: c, Revision: first, Targets: fixture.Targets(1)})
		return err
	})
	work, _, err = r.Begin(later.Jobs[0].ID)
	require.NoError(t, err)
	require.Empty(t, work.Groups)
}

// What a run heals in a group is accepted into the group, for all who use it.
func TestHealingsOfGroups(t *testing.T) {
	t.Parallel()
	r := open(t)
	clicks := func(css string) step.Step {
		return step.Step{ID: "s1", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: css}}}}
	}
	inner := r.group("inner", clicks("#old"))
	outer := r.group("outer", runs("in", inner.ID, nil))
	c, err := r.TryCase(r.Org.Member.Writer, newCase("shop", runs("s1", outer.ID, nil)))
	require.NoError(t, err)
	before, err := authoring.RevisionByID(t.Context(), r.DB, c.ID, "")
	require.NoError(t, err)
	testRun := r.NewRun(c, 1)
	_, _, err = r.Begin(testRun.Jobs[0].ID)
	require.NoError(t, err)
	healed := &playback.Healed{From: *clicks("#old").Tool.Args.Selector, To: *clicks("#new").Tool.Args.Selector, Score: 1}
	did, err := r.End(testRun.Jobs[0].ID, run.JobEnd{Status: run.Passed,
		Records: []playback.Record{{StepID: "s1/in/s1", Tool: clicks("#old").Tool, Status: playback.Passed, Healed: healed,
			Group: &step.InGroup{ID: inner.ID.String(), Name: "inner", RevisionID: inner.Revision.ID.String(), StepID: "s1", Depth: 2}}},
		Fingerprints: map[string]step.Fingerprint{"s1/in/s1": {Tag: "button"}}})
	require.NoError(t, err)
	require.True(t, did)
	learnt, err := stepgroup.ByID(t.Context(), r.DB, r.Org.ID, inner.ID)
	require.NoError(t, err)
	require.Equal(t, "button", learnt.Revision.Steps[0].Tool.Args.Selector.Fingerprint.Tag)

	list, total, err := authoring.Healings(t.Context(), r.DB, authoring.HealingFilter{CaseID: c.ID, Page: storage.FirstPage()})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	accept := func(by account.Writer) (h *authoring.Healing, err error) {
		err = r.Do(func(ctx context.Context, tx *storage.Tx) error {
			h, err = authoring.AcceptHealing(ctx, tx, by, c.ID, list[0].ID)
			return err
		})
		return h, err
	}
	h, err := accept(r.Org.Member.Writer)
	require.NoError(t, err)
	require.Equal(t, authoring.HealingAccepted, h.State)
	after, err := stepgroup.ByID(t.Context(), r.DB, r.Org.ID, inner.ID)
	require.NoError(t, err)
	require.Equal(t, 2, after.Revision.Number)
	require.Equal(t, "#new", after.Revision.Steps[0].Tool.Args.Selector.Value)
	same, err := authoring.RevisionByID(t.Context(), r.DB, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, before.ID, same.ID, "the case has no other revision of it")
}
