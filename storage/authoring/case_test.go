package authoring_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

func TestCreateCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.w, "smoke")
	n := loginCase("  Log in ", 2)
	n.Tags, n.SuiteID, n.Revision.Reasoning = []string{"a", " a", "", "b"}, &suite.ID, []Reason{{"why", "because"}}
	c, err := w.tryCase(w.w, n)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{24}$`, c.ID)
	require.Equal(t, "Log in", c.Name)
	require.Equal(t, []string{"a", "b"}, c.Tags)
	require.Equal(t, suite.ID, *c.SuiteID)
	require.Equal(t, w.team.UUID, c.TeamUUID)
	require.Equal(t, w.org, c.OrganizationID)
	require.Equal(t, []any{w.dev.UUID, "Dev Eloper", w.dev.UUID, "Dev Eloper"},
		[]any{c.CreatorUUID, c.CreatorName, c.ModifierUUID, c.ModifierName})
	require.Equal(t, n.Settings, c.Settings)
	require.True(t, c.Runnable())
	require.Equal(t, 1, w.count(`select count(*) from test_cases where runnable`))
	require.Equal(t, 1, w.audited(account.TestCaseCreated))

	list, err := Revisions(testContext(t), w.db, c.ID)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Regexp(t, `^[0-9a-f]{24}$`, list[0].ID)
	require.Equal(t, 1, list[0].Number)
	require.Equal(t, n.Revision.Steps, list[0].Steps)
	require.Equal(t, n.Revision.Reasoning, list[0].Reasoning)
	for _, id := range []string{"", list[0].ID} {
		v, err := RevisionByID(testContext(t), w.db, c.ID, id)
		require.NoError(t, err)
		require.Equal(t, list[0], *v)
	}
	_, err = RevisionByID(testContext(t), w.db, c.ID, c.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)

	// What is bare has empty lists, and names the user by the user name.
	plain, err := w.tryCase(w.sideW, NewCase{Name: "plain"})
	require.NoError(t, err)
	require.Equal(t, "other", plain.CreatorName)
	require.Equal(t, []string{}, plain.Tags)
	require.Equal(t, []step.Target{}, plain.Settings.RunTargets)
	require.False(t, plain.Runnable())
	v, err := RevisionByID(testContext(t), w.db, plain.ID, "")
	require.NoError(t, err)
	require.Equal(t, []step.Step{}, v.Steps)
	require.Equal(t, []Reason{}, v.Reasoning)
	w.exec(`delete from users where id = $1`, w.other.ID)
	plain, err = CaseByID(testContext(t), w.db, w.org, plain.ID)
	require.NoError(t, err)
	require.Empty(t, plain.CreatorName)
	require.Equal(t, w.other.UUID, plain.CreatorUUID)
}

func TestCreateCaseRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := func(n int) (tags []string) {
		for i := range n {
			tags = append(tags, fmt.Sprint(i))
		}
		return tags
	}
	text := func(s string) []step.Step {
		return []step.Step{{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &s}}}}
	}
	for field, change := range map[string][]func(*NewCase){
		"name": {func(n *NewCase) { n.Name = " \t" }, func(n *NewCase) { n.Name = strings.Repeat("ä", 256) },
			func(n *NewCase) { n.Name = "a\x00b" }, func(n *NewCase) { n.Name = "a\xffb" }, func(n *NewCase) { n.Name = "a\nb" }},
		"tags": {func(n *NewCase) { n.Tags = many(21) }, func(n *NewCase) { n.Tags = []string{strings.Repeat("x", 61)} },
			func(n *NewCase) { n.Tags = []string{"\x01"} }},
		"teamId": {func(n *NewCase) { n.Team = &w.rivalTeam.UUID }, func(n *NewCase) { n.Team = ptr(noUUID) }},
		"runSettings": {func(n *NewCase) { n.Settings.TestURL = "https://x/\x00" },
			func(n *NewCase) { n.Settings.TestURL = strings.Repeat("x", 300<<10) }},
		"runSettings.runTargets": {func(n *NewCase) { n.Settings.RunTargets = make([]step.Target, 21) }},
		"steps": {func(n *NewCase) { n.Revision.Steps = text("\x00") }, func(n *NewCase) { n.Revision.Steps = make([]step.Step, 1001) },
			func(n *NewCase) { n.Revision.Steps = text(strings.Repeat("x", 9<<20)) }},
		"intent":      {func(n *NewCase) { n.Revision.Intent = "\xff" }, func(n *NewCase) { n.Revision.Intent = strings.Repeat("x", 80_001) }},
		"description": {func(n *NewCase) { n.Revision.Description = "\x00" }},
	} {
		for i, fn := range change {
			n := loginCase("name", 1)
			fn(&n)
			_, err := w.tryCase(w.w, n)
			require.Equal(t, field, invalidField(t, err), "%s %d: %v", field, i, err)
		}
	}
	suite := w.newSuite(w.sideW, "theirs")
	rivals := w.newSuite(w.rival, "rivals")
	for _, row := range []struct {
		by    account.Writer
		team  *uuid.UUID
		suite *uuid.UUID
		err   error
	}{
		{w.w, &w.side.UUID, nil, ErrForbidden},
		{writerOf(w.dev, w.org), nil, nil, ErrForbidden}, // a member of no team
		{w.w, nil, ptr(noUUID), ErrSuiteNotFound},
		{w.w, nil, &rivals.ID, ErrSuiteNotFound},
		{w.w, nil, &suite.ID, ErrForbidden},
	} {
		n := loginCase("name", 1)
		n.Team, n.SuiteID = row.team, row.suite
		_, err := w.tryCase(row.by, n)
		require.ErrorIs(t, err, row.err)
	}
	require.Zero(t, w.count(`select count(*) from test_cases`))

	// The longest name, twenty tags, and what only looks like an escaped NUL.
	n := loginCase(strings.Repeat("ä", 255), 20)
	n.Tags, n.Revision.Steps = append(many(20), "0"), text(`\u0000 \\u0000`)
	c, err := w.tryCase(w.w, n)
	require.NoError(t, err)
	require.Len(t, c.Tags, 20)
	v, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, n.Revision.Steps, v.Steps)

	// An admin without a team writes for the first one, and may choose any.
	c = w.newCase(w.admin, "by boss")
	require.Equal(t, w.team.UUID, c.TeamUUID)
	n = loginCase("for side", 1)
	n.Team = &w.side.UUID
	c, err = w.tryCase(w.admin, n)
	require.NoError(t, err)
	require.Equal(t, w.side.UUID, c.TeamUUID)
	w.exec(`delete from teams where organization_id = $1`, w.org)
	_, err = w.tryCase(w.admin, loginCase("nobody's", 1))
	require.Equal(t, "teamId", invalidField(t, err))
}

func (w *world) names(f CaseFilter) (names []string, total int) {
	w.t.Helper()
	f.OrganizationID = w.org
	list, total, err := Cases(testContext(w.t), w.db, f)
	require.NoError(w.t, err)
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names, total
}

func TestCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := []string{"100% off", `back\slash`, "under_score", "ÄRGER", "plain"}
	one, two := w.newSuite(w.w, "one"), w.newSuite(w.sideW, "two")
	for i, name := range all {
		by := w.w
		if i == 3 {
			by = w.sideW
		}
		c := w.newCase(by, name)
		w.exec(`update test_cases set created_at = $2 where id = $1`, c.ID, time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC))
	}
	w.exec(`update test_cases set suite_id = $1 where name = 'plain'`, one.ID)
	w.exec(`update test_cases set suite_id = $1 where name = 'ÄRGER'`, two.ID)
	w.newCase(w.rival, "plain")
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	for _, row := range []struct {
		f    CaseFilter
		want []string
	}{
		{CaseFilter{}, []string{"plain", "ÄRGER", "under_score", `back\slash`, "100% off"}},
		{CaseFilter{Search: "PLAI"}, []string{"plain"}},
		{CaseFilter{Search: "ärg"}, []string{"ÄRGER"}},
		{CaseFilter{Search: "%"}, []string{"100% off"}},
		{CaseFilter{Search: "_"}, []string{"under_score"}},
		{CaseFilter{Search: `\`}, []string{`back\slash`}},
		{CaseFilter{Search: "l"}, []string{"plain", `back\slash`}},
		{CaseFilter{Search: "\x00"}, nil},
		{CaseFilter{Search: "\xff"}, nil},
		{CaseFilter{Search: strings.Repeat("plain", 60)}, nil},
		{CaseFilter{From: day(4)}, []string{"plain", "ÄRGER"}},
		{CaseFilter{From: day(2), To: day(4)}, []string{"under_score", `back\slash`}},
		{CaseFilter{User: &w.other.UUID}, []string{"ÄRGER"}},
		{CaseFilter{User: ptr(noUUID)}, nil},
		{CaseFilter{Team: &w.side.UUID}, []string{"ÄRGER"}},
		{CaseFilter{Team: &w.rivalTeam.UUID}, nil},
		{CaseFilter{Suites: []uuid.UUID{one.ID}}, []string{"plain"}},
		{CaseFilter{Suites: []uuid.UUID{one.ID, two.ID, noUUID}}, []string{"plain", "ÄRGER"}},
		{CaseFilter{Unassigned: true}, []string{"under_score", `back\slash`, "100% off"}},
		{CaseFilter{Suites: []uuid.UUID{two.ID}, Unassigned: true}, []string{"ÄRGER", "under_score", `back\slash`, "100% off"}},
		{CaseFilter{Search: "a", From: day(2), User: &w.dev.UUID, Team: &w.team.UUID, Unassigned: true}, []string{`back\slash`}},
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
	got, total := w.names(CaseFilter{Page: storage.Page{Offset: -3, Limit: 1 << 40}})
	require.Len(t, got, 5)
	require.Equal(t, 5, total)
}

func TestRenameAndDeleteCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, theirs := w.newCase(w.w, "old"), w.newCase(w.rival, "theirs")
	rename := func(by account.Writer, id, name string) (after *Case, err error) {
		err = w.do(func(ctx context.Context, tx *storage.Tx) error {
			after, err = RenameCase(ctx, tx, by, id, name)
			return err
		})
		return after, err
	}
	remove := func(by account.Writer, id string) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := DeleteCase(ctx, tx, by, id)
			return err
		})
	}
	after, err := rename(w.admin, c.ID, " new ")
	require.NoError(t, err)
	require.Equal(t, []any{"new", "Boss", "Dev Eloper"}, []any{after.Name, after.ModifierName, after.CreatorName})
	require.True(t, after.UpdatedAt.After(after.CreatedAt))
	require.Equal(t, 1, w.audited(account.TestCaseRenamed))
	_, err = rename(w.w, c.ID, "")
	require.Equal(t, "name", invalidField(t, err))

	w.exec(`insert into test_variables (id, organization_id, scope, case_id, name, is_secret, value, creator_uuid, modifier_uuid)
		values ($1, $2, 'testCase', $3, 'x', false, '', $1, $1)`, uuid.New(), w.org, c.ID)
	for _, row := range []struct {
		by  account.Writer
		id  string
		err error
	}{
		{w.sideW, c.ID, ErrForbidden},
		{w.rival, c.ID, storage.ErrNotFound},
		{w.admin, theirs.ID, storage.ErrNotFound},
		{w.w, "", storage.ErrNotFound},
		{w.w, "\x00", storage.ErrNotFound},
		{w.w, strings.Repeat("0", 24), storage.ErrNotFound},
	} {
		_, err := rename(row.by, row.id, "x")
		require.ErrorIs(t, err, row.err)
		require.ErrorIs(t, remove(row.by, row.id), row.err)
		if row.err == storage.ErrNotFound {
			_, err = CaseByID(testContext(t), w.db, row.by.OrganizationID, row.id)
			require.ErrorIs(t, err, row.err)
		}
	}
	require.NoError(t, remove(w.w, c.ID))
	require.ErrorIs(t, remove(w.w, c.ID), storage.ErrNotFound)
	require.Equal(t, 1, w.audited(account.TestCaseDeleted))
	require.Zero(t, w.count(`select (select count(*) from test_variables) + (select count(*) from test_revisions where case_id = $1)`, c.ID))
	list, err := Revisions(testContext(t), w.db, c.ID)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestSetBuildName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "a")
	set := func(name string) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error { return SetBuildName(ctx, tx, c.ID, name) })
	}
	require.NoError(t, set(`build "7"`))
	after, err := CaseByID(testContext(t), w.db, w.org, c.ID)
	require.NoError(t, err)
	want := *c
	want.Settings.LastBuildName = `build "7"`
	require.Equal(t, want, *after, "nothing else is changed")
	version := func() int { return w.count(`select xmin::text::int from test_cases where id = $1`, c.ID) }
	before := version()
	require.NoError(t, set(`build "7"`))
	require.Equal(t, before, version(), "the same name writes nothing")
	require.Equal(t, "buildName", invalidField(t, set("\x00")))
	require.Equal(t, "buildName", invalidField(t, set(strings.Repeat("x", 101))))
}

// Runs of what goes away end at once, and the caller learns whose tasks to cancel.
func TestDeletingCancelsOpenRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := func(c *Case) (jobs []uuid.UUID) {
		v, err := RevisionByID(testContext(t), w.db, c.ID, "")
		require.NoError(t, err)
		w.must(func(ctx context.Context, tx *storage.Tx) error {
			run, err := StartRun(ctx, tx, w.w, NewRun{Case: c, Revision: v, BuildName: "b", Targets: c.Settings.RunTargets})
			if err != nil {
				return err
			}
			for _, job := range run.Jobs {
				jobs = append(jobs, job.ID)
			}
			return nil
		})
		return jobs
	}
	open := func() int { return w.count(`select count(*) from test_jobs where status <> 'CANCELLED'`) }
	alone, in, out := w.newCase(w.w, "alone"), w.newCase(w.w, "in"), w.newCase(w.w, "out")
	kept, gone := w.newSuite(w.w, "kept", out.ID), w.newSuite(w.w, "gone", in.ID)
	jobs, others := start(alone), append(start(in), start(out)...)
	var got []uuid.UUID
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = DeleteCase(ctx, tx, w.w, alone.ID)
		return err
	})
	require.Equal(t, jobs, got)
	require.Equal(t, 2, open())

	var suiteRun *SuiteRun
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		suiteRun, err = StartSuiteRun(ctx, tx, w.w, NewSuiteRun{SuiteID: gone.ID})
		return err
	})
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = DeleteSuite(ctx, tx, w.w, gone.ID, true)
		return err
	})
	require.ElementsMatch(t, append(others[:1:1], suiteRun.ID), got)
	require.Equal(t, 1, open())
	// A run of a case goes on when only the suite goes.
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		got, err = DeleteSuite(ctx, tx, w.w, kept.ID, false)
		return err
	})
	require.Empty(t, got)
	require.Equal(t, 1, open())
}
