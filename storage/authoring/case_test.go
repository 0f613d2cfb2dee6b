package authoring_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

func TestCreateCase(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	n := fixture.LoginCase("  Log in ", 2)
	n.Tags, n.SuiteID, n.Revision.Reasoning = []string{"a", " a", "", "b"}, &suite.ID, []authoring.Reason{{"why", "because"}}
	c, err := w.TryCase(w.Org.Member.Writer, n)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{24}$`, c.ID)
	require.Equal(t, "Log in", c.Name)
	require.Equal(t, []string{"a", "b"}, c.Tags)
	require.Equal(t, suite.ID, *c.SuiteID)
	require.Equal(t, w.Org.Team.UUID, c.TeamUUID)
	require.Equal(t, w.Org.ID, c.OrganizationID)
	require.Equal(t, []any{w.Org.Member.UUID, w.Org.Member.Name, w.Org.Member.UUID, w.Org.Member.Name},
		[]any{c.CreatorUUID, c.CreatorName, c.ModifierUUID, c.ModifierName})
	require.Equal(t, n.Settings, c.Settings)
	require.True(t, c.Runnable())
	require.Equal(t, 1, w.Count(`select count(*) from test_cases where runnable`))
	require.Equal(t, 1, w.Audited(account.TestCaseCreated))

	list, err := authoring.Revisions(fixture.Context(t), w.DB, c.ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Regexp(t, `^[0-9a-f]{24}$`, list[0].ID)
	require.Equal(t, 1, list[0].Number)
	require.Equal(t, n.Revision.Steps, list[0].Steps)
	require.Equal(t, n.Revision.Reasoning, list[0].Reasoning)
	for _, id := range []string{"", list[0].ID} {
		v, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, id)
		require.NoError(t, err)
		require.Equal(t, list[0], *v)
	}
	_, err = authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, c.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)

	// What is bare has empty lists, and names the user by the user name.
	plain, err := w.TryCase(w.Org.Neighbor.Writer, authoring.NewCase{Name: "plain"})
	require.NoError(t, err)
	require.Equal(t, w.Org.Neighbor.Name, plain.CreatorName)
	require.Equal(t, []string{}, plain.Tags)
	require.Equal(t, []capability.Target{}, plain.Settings.RunTargets)
	require.False(t, plain.Runnable())
	v, err := authoring.RevisionByID(fixture.Context(t), w.DB, plain.ID, "")
	require.NoError(t, err)
	require.Equal(t, []step.Step{}, v.Steps)
	require.Equal(t, []authoring.Reason{}, v.Reasoning)
	w.Exec(`delete from users where id = $1`, w.Org.Neighbor.ID)
	plain, err = authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, plain.ID)
	require.NoError(t, err)
	require.Empty(t, plain.CreatorName)
	require.Equal(t, w.Org.Neighbor.UUID, plain.CreatorUUID)
}

func TestCreateCaseRefuses(t *testing.T) {
	t.Parallel()
	w := open(t)
	many := func(n int) (tags []string) {
		for i := range n {
			tags = append(tags, fmt.Sprint(i))
		}
		return tags
	}
	text := func(s string) []step.Step {
		return []step.Step{{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &s}}}}
	}
	for field, change := range map[string][]func(*authoring.NewCase){
		"name": {func(n *authoring.NewCase) { n.Name = " \t" }, func(n *authoring.NewCase) { n.Name = strings.Repeat("ä", 256) },
			func(n *authoring.NewCase) { n.Name = "a\x00b" }, func(n *authoring.NewCase) { n.Name = "a\xffb" },
			func(n *authoring.NewCase) { n.Name = "a\nb" }},
		"tags": {func(n *authoring.NewCase) { n.Tags = many(21) }, func(n *authoring.NewCase) { n.Tags = []string{strings.Repeat("x", 61)} },
			func(n *authoring.NewCase) { n.Tags = []string{"\x01"} }},
		"teamId": {func(n *authoring.NewCase) { n.Team = &w.Rival.Team.UUID },
			func(n *authoring.NewCase) { n.Team = fixture.Ptr(fixture.NoUUID) }},
		"runSettings": {func(n *authoring.NewCase) { n.Settings.TestURL = "https://x/\x00" },
			func(n *authoring.NewCase) { n.Settings.TestURL = strings.Repeat("x", 300<<10) }},
		"runSettings.runTargets": {func(n *authoring.NewCase) { n.Settings.RunTargets = make([]capability.Target, 21) }},
		"steps": {func(n *authoring.NewCase) { n.Revision.Steps = text("\x00") },
			func(n *authoring.NewCase) { n.Revision.Steps = make([]step.Step, 1001) },
			func(n *authoring.NewCase) { n.Revision.Steps = text(strings.Repeat("x", 9<<20)) }},
		"intent": {func(n *authoring.NewCase) { n.Revision.Intent = "\xff" },
			func(n *authoring.NewCase) { n.Revision.Intent = strings.Repeat("x", 80_001) }},
		"description": {func(n *authoring.NewCase) { n.Revision.Description = "\x00" }},
	} {
		for i, fn := range change {
			n := fixture.LoginCase("name", 1)
			fn(&n)
			_, err := w.TryCase(w.Org.Member.Writer, n)
			require.Equal(t, field, fixture.InvalidField(t, err), "%s %d: %v", field, i, err)
		}
	}
	suite := w.NewSuite(w.Org.Neighbor.Writer, "theirs")
	rivals := w.NewSuite(w.Rival.Member.Writer, "rivals")
	for _, row := range []struct {
		by    account.Writer
		team  *uuid.UUID
		suite *uuid.UUID
		err   error
	}{
		{w.Org.Member.Writer, &w.Org.Side.UUID, nil, authoring.ErrForbidden},
		{w.Org.NewUser("teamless", account.Member).Writer, nil, nil, authoring.ErrForbidden}, // a member of no team
		{w.Org.Member.Writer, nil, fixture.Ptr(fixture.NoUUID), authoring.ErrSuiteNotFound},
		{w.Org.Member.Writer, nil, &rivals.ID, authoring.ErrSuiteNotFound},
		{w.Org.Member.Writer, nil, &suite.ID, authoring.ErrForbidden},
	} {
		n := fixture.LoginCase("name", 1)
		n.Team, n.SuiteID = row.team, row.suite
		_, err := w.TryCase(row.by, n)
		require.ErrorIs(t, err, row.err)
	}
	require.Zero(t, w.Count(`select count(*) from test_cases`))

	// The longest name, twenty tags, and what only looks like an escaped NUL.
	n := fixture.LoginCase(strings.Repeat("ä", 255), 20)
	n.Tags, n.Revision.Steps = append(many(20), "0"), text(`\u0000 \\u0000`)
	c, err := w.TryCase(w.Org.Member.Writer, n)
	require.NoError(t, err)
	require.Len(t, c.Tags, 20)
	v, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, n.Revision.Steps, v.Steps)

	// An admin without a team writes for the first one, and may choose any.
	c = w.NewCase(w.Org.Owner.Writer, "by boss")
	require.Equal(t, w.Org.Team.UUID, c.TeamUUID)
	n = fixture.LoginCase("for side", 1)
	n.Team = &w.Org.Side.UUID
	c, err = w.TryCase(w.Org.Owner.Writer, n)
	require.NoError(t, err)
	require.Equal(t, w.Org.Side.UUID, c.TeamUUID)
	w.Exec(`delete from teams where organization_id = $1`, w.Org.ID)
	_, err = w.TryCase(w.Org.Owner.Writer, fixture.LoginCase("nobody's", 1))
	require.Equal(t, "teamId", fixture.InvalidField(t, err))
}

func (w *room) names(f authoring.CaseFilter) (names []string, total int) {
	w.T.Helper()
	f.OrganizationID = w.Org.ID
	list, total, err := authoring.Cases(fixture.Context(w.T), w.DB, f)
	require.NoError(w.T, err)
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names, total
}

func TestCases(t *testing.T) {
	t.Parallel()
	w := open(t)
	all := []string{"100% off", `back\slash`, "under_score", "ÄRGER", "plain"}
	one, two := w.NewSuite(w.Org.Member.Writer, "one"), w.NewSuite(w.Org.Neighbor.Writer, "two")
	for i, name := range all {
		by := w.Org.Member.Writer
		if i == 3 {
			by = w.Org.Neighbor.Writer
		}
		c := w.NewCase(by, name)
		w.Exec(`update test_cases set created_at = $2 where id = $1`, c.ID, time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC))
	}
	w.Exec(`update test_cases set suite_id = $1 where name = 'plain'`, one.ID)
	w.Exec(`update test_cases set suite_id = $1 where name = 'ÄRGER'`, two.ID)
	w.NewCase(w.Rival.Member.Writer, "plain")
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	for _, row := range []struct {
		f    authoring.CaseFilter
		want []string
	}{
		{authoring.CaseFilter{}, []string{"plain", "ÄRGER", "under_score", `back\slash`, "100% off"}},
		{authoring.CaseFilter{Search: "PLAI"}, []string{"plain"}},
		{authoring.CaseFilter{Search: "ärg"}, []string{"ÄRGER"}},
		{authoring.CaseFilter{Search: "%"}, []string{"100% off"}},
		{authoring.CaseFilter{Search: "_"}, []string{"under_score"}},
		{authoring.CaseFilter{Search: `\`}, []string{`back\slash`}},
		{authoring.CaseFilter{Search: "l"}, []string{"plain", `back\slash`}},
		{authoring.CaseFilter{Search: "\x00"}, nil},
		{authoring.CaseFilter{Search: "\xff"}, nil},
		{authoring.CaseFilter{Search: strings.Repeat("plain", 60)}, nil},
		{authoring.CaseFilter{From: day(4)}, []string{"plain", "ÄRGER"}},
		{authoring.CaseFilter{From: day(2), To: day(4)}, []string{"under_score", `back\slash`}},
		{authoring.CaseFilter{User: &w.Org.Neighbor.UUID}, []string{"ÄRGER"}},
		{authoring.CaseFilter{User: fixture.Ptr(fixture.NoUUID)}, nil},
		{authoring.CaseFilter{Team: &w.Org.Side.UUID}, []string{"ÄRGER"}},
		{authoring.CaseFilter{Team: &w.Rival.Team.UUID}, nil},
		{authoring.CaseFilter{Suites: []uuid.UUID{one.ID}}, []string{"plain"}},
		{authoring.CaseFilter{Suites: []uuid.UUID{one.ID, two.ID, fixture.NoUUID}}, []string{"plain", "ÄRGER"}},
		{authoring.CaseFilter{Unassigned: true}, []string{"under_score", `back\slash`, "100% off"}},
		{authoring.CaseFilter{Suites: []uuid.UUID{two.ID}, Unassigned: true}, []string{"ÄRGER", "under_score", `back\slash`, "100% off"}},
		{authoring.CaseFilter{Search: "a", From: day(2), User: &w.Org.Member.UUID, Team: &w.Org.Team.UUID, Unassigned: true},
			[]string{`back\slash`}},
	} {
		row.f.Page = storage.Page{Limit: 100}
		got, total := w.names(row.f)
		require.Equal(t, row.want, got, "%+v", row.f)
		require.Equal(t, len(row.want), total)
		// Pages of two make the same list, each with the total.
		var paged []string
		for skip := 0; skip < len(row.want)+2; skip += 2 {
			row.f.Page = storage.Page{Offset: skip, Limit: 2}
			got, total := w.names(row.f)
			require.Equal(t, len(row.want), total)
			paged = append(paged, got...)
		}
		require.Equal(t, row.want, paged)
		row.f.Page = storage.Page{}
		got, total = w.names(row.f)
		require.Empty(t, got)
		require.Equal(t, len(row.want), total)
	}
	got, total := w.names(authoring.CaseFilter{Page: storage.Page{Offset: -3, Limit: 1 << 40}})
	require.Len(t, got, 5)
	require.Equal(t, 5, total)
}

func TestRenameAndDeleteCase(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, theirs := w.NewCase(w.Org.Member.Writer, "old"), w.NewCase(w.Rival.Member.Writer, "theirs")
	rename := func(by account.Writer, id, name string) (after *authoring.Case, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			after, err = authoring.RenameCase(ctx, tx, by, id, name)
			return err
		})
		return after, err
	}
	remove := func(by account.Writer, id string) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := run.DeleteCaseWithRuns(ctx, tx, by, id)
			return err
		})
	}
	after, err := rename(w.Org.Owner.Writer, c.ID, " new ")
	require.NoError(t, err)
	require.Equal(t, []any{"new", w.Org.Owner.Name, w.Org.Member.Name}, []any{after.Name, after.ModifierName, after.CreatorName})
	require.True(t, after.UpdatedAt.After(after.CreatedAt))
	require.Equal(t, 1, w.Audited(account.TestCaseRenamed))
	_, err = rename(w.Org.Member.Writer, c.ID, "")
	require.Equal(t, "name", fixture.InvalidField(t, err))

	w.Exec(`insert into test_variables (id, organization_id, scope, case_id, name, is_secret, value, creator_uuid, modifier_uuid)
		values ($1, $2, 'testCase', $3, 'x', false, '', $1, $1)`, uuid.New(), w.Org.ID, c.ID)
	for _, row := range []struct {
		by  account.Writer
		id  string
		err error
	}{
		{w.Org.Neighbor.Writer, c.ID, authoring.ErrForbidden},
		{w.Rival.Member.Writer, c.ID, storage.ErrNotFound},
		{w.Org.Owner.Writer, theirs.ID, storage.ErrNotFound},
		{w.Org.Member.Writer, "", storage.ErrNotFound},
		{w.Org.Member.Writer, "\x00", storage.ErrNotFound},
		{w.Org.Member.Writer, strings.Repeat("0", 24), storage.ErrNotFound},
	} {
		_, err := rename(row.by, row.id, "x")
		require.ErrorIs(t, err, row.err)
		require.ErrorIs(t, remove(row.by, row.id), row.err)
		if errors.Is(row.err, storage.ErrNotFound) {
			_, err = authoring.CaseByID(fixture.Context(t), w.DB, row.by.OrganizationID, row.id)
			require.ErrorIs(t, err, row.err)
		}
	}
	require.NoError(t, remove(w.Org.Member.Writer, c.ID))
	require.ErrorIs(t, remove(w.Org.Member.Writer, c.ID), storage.ErrNotFound)
	require.Equal(t, 1, w.Audited(account.TestCaseDeleted))
	require.Zero(t, w.Count(`select (select count(*) from test_variables) + (select count(*) from test_revisions where case_id = $1)`, c.ID))
	list, err := authoring.Revisions(fixture.Context(t), w.DB, c.ID)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestSetBuildName(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "a")
	set := func(name string) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error { return authoring.SetBuildName(ctx, tx, c.ID, name) })
	}
	require.NoError(t, set(`build "7"`))
	after, err := authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, c.ID)
	require.NoError(t, err)
	want := *c
	want.Settings.LastBuildName = `build "7"`
	require.Equal(t, want, *after, "nothing else is changed")
	version := func() int { return w.Count(`select xmin::text::int from test_cases where id = $1`, c.ID) }
	before := version()
	require.NoError(t, set(`build "7"`))
	require.Equal(t, before, version(), "the same name writes nothing")
	require.Equal(t, "buildName", fixture.InvalidField(t, set("\x00")))
	require.Equal(t, "buildName", fixture.InvalidField(t, set(strings.Repeat("x", 101))))
}

// Runs of what goes away end at once, and the caller learns whose tasks to cancel.
func TestDeletingCancelsOpenRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	start := func(c *authoring.Case) (jobs []uuid.UUID) {
		v, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
		require.NoError(t, err)
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			testRun, err := run.Start(ctx, tx, w.Org.Member.Writer, run.NewRun{Case: c, Revision: v, BuildName: "b", Targets: c.Settings.RunTargets})
			if err != nil {
				return err
			}
			for _, job := range testRun.Jobs {
				jobs = append(jobs, job.ID)
			}
			return nil
		})
		return jobs
	}
	open := func() int { return w.Count(`select count(*) from test_jobs where state <> 'CANCELLED'`) }
	alone, in, out := w.NewCase(w.Org.Member.Writer, "alone"), w.NewCase(w.Org.Member.Writer, "in"), w.NewCase(w.Org.Member.Writer, "out")
	kept, gone := w.NewSuite(w.Org.Member.Writer, "kept", out.ID), w.NewSuite(w.Org.Member.Writer, "gone", in.ID)
	jobs, others := start(alone), append(start(in), start(out)...)
	var got []uuid.UUID
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = run.DeleteCaseWithRuns(ctx, tx, w.Org.Member.Writer, alone.ID)
		return err
	})
	require.Equal(t, jobs, got)
	require.Equal(t, 2, open())

	var suiteRun *run.SuiteRun
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		suiteRun, err = run.StartSuite(ctx, tx, w.Org.Member.Writer, run.NewSuiteRun{SuiteID: gone.ID})
		return err
	})
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, gone.ID, true)
		return err
	})
	require.ElementsMatch(t, append(others[:1:1], suiteRun.ID), got)
	require.Equal(t, 1, open())
	// A run of a case goes on when only the suite goes.
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, kept.ID, false)
		return err
	})
	require.Empty(t, got)
	require.Equal(t, 1, open())
}
