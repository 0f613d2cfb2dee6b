package quarantine_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/quarantine"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func day(n int) time.Time { return time.Now().AddDate(0, 0, n) }

func put(w *fixture.Tests, by account.Writer, id, reason string, until time.Time) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error { return quarantine.Put(ctx, tx, by, id, reason, until) })
}

func end(w *fixture.Tests, by account.Writer, id string) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error { return quarantine.End(ctx, tx, by, id) })
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	by := w.Org.Member.Writer
	c := w.NewCase(by, "log in")
	read := func() *authoring.Quarantine {
		got, err := authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, c.ID)
		require.NoError(t, err)
		return got.Quarantine
	}
	require.Nil(t, read())
	require.ErrorIs(t, end(w, by, c.ID), storage.ErrConflict)
	require.NoError(t, put(w, by, c.ID, " late map ", day(1)))
	first := read()
	require.Equal(t, "late map", first.Reason)
	require.WithinDuration(t, day(1), first.Until, time.Minute)
	require.NoError(t, put(w, by, c.ID, "later map", day(2)))
	require.Equal(t, "later map", read().Reason)
	require.True(t, first.Since.Equal(read().Since), "it goes on")
	list, total, err := authoring.Cases(fixture.Context(t), w.DB, authoring.CaseFilter{OrganizationID: w.Org.ID,
		Quarantined: true, Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, "later map", list[0].Quarantine.Reason)

	w.Exec(`update test_quarantines set until = now() - interval '1 second', created_at = now() - interval '1 day'`)
	require.Nil(t, read(), "it ends by itself")
	_, total, err = authoring.Cases(fixture.Context(t), w.DB, authoring.CaseFilter{OrganizationID: w.Org.ID, Quarantined: true,
		Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Zero(t, total)
	require.NoError(t, put(w, by, c.ID, "again", day(1)))
	require.WithinDuration(t, time.Now(), read().Since, time.Minute, "another one begins anew")
	require.NoError(t, end(w, by, c.ID))
	require.Nil(t, read())
	require.Equal(t, 3, w.Audited(account.TestCaseQuarantined))
	require.Equal(t, 1, w.Audited(account.TestCaseQuarantineEnded))
}

func TestQuarantineIsRefused(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	by := w.Org.Member.Writer
	c := w.NewCase(by, "log in")
	for name, tt := range map[string]struct {
		reason string
		until  time.Time
		field  string
	}{
		"no reason":   {" ", day(1), "reason"},
		"long reason": {strings.Repeat("é", 501), day(1), "reason"},
		"past":        {"x", day(-1), "until"},
		"too long":    {"x", day(91), "until"},
	} {
		var wrong *storage.InvalidError
		require.ErrorAs(t, put(w, by, c.ID, tt.reason, tt.until), &wrong, name)
		require.Equal(t, tt.field, wrong.Field, name)
	}
	require.NoError(t, put(w, by, c.ID, strings.Repeat("é", 500), day(89)))
	require.ErrorIs(t, put(w, by, "0123456789abcdef01234567", "x", day(1)), storage.ErrNotFound)
	require.ErrorIs(t, put(w, w.Rival.Member.Writer, c.ID, "x", day(1)), storage.ErrNotFound)
	require.ErrorIs(t, end(w, w.Rival.Member.Writer, c.ID), storage.ErrNotFound)
}

func TestPropose(t *testing.T) {
	t.Parallel()
	type past struct {
		state, build, revision string
		flaky, days            int
	}
	pass, fail, flaky := past{state: "PASSED"}, past{state: "FAILED"}, past{state: "PASSED", flaky: 1}
	on := func(p past, build, revision string) past { p.build, p.revision = build, revision; return p }
	old := func(p past) past { p.days = 8; return p }
	for name, tt := range map[string]struct {
		runs []past
		want bool
	}{
		"none":        {nil, false},
		"fails":       {[]past{fail, fail, fail, fail}, false},
		"twice":       {[]past{pass, fail, pass, fail}, false},
		"three times": {[]past{pass, fail, pass, fail, fail, pass}, true},
		"once on three builds": {[]past{on(pass, "1", ""), on(fail, "1", ""), on(pass, "2", ""), on(fail, "2", ""),
			on(pass, "3", ""), on(fail, "3", "")}, true},
		"other builds failed": {[]past{on(pass, "1", ""), on(fail, "2", ""), on(pass, "1", ""), on(fail, "2", ""),
			on(pass, "1", ""), on(fail, "2", "")}, false},
		"was mended": {[]past{on(fail, "", "a"), on(fail, "", "a"), on(fail, "", "a"), on(pass, "", "b"),
			on(pass, "", "b"), on(pass, "", "b")}, false},
		"flaky runs have done both": {[]past{flaky, flaky, flaky}, true},
		"errors are no failures":    {[]past{pass, {state: "ERROR"}, pass, {state: "ERROR"}, pass, {state: "ERROR"}}, false},
		"long ago":                  {[]past{old(pass), old(fail), old(pass), old(fail), pass, fail}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.NewTests(t)
			c := w.NewCase(w.Org.Member.Writer, "log in")
			for _, p := range tt.runs {
				w.Exec(`insert into test_runs (id, organization_id, team_id, user_uuid, case_id, case_name, revision_id, build_name, state,
					flaky, created_at)
					values ($1, $2, $3, $1, $4, 'log in', $5, $6, $7, $8, now() - make_interval(days => $9))`,
					uuid.New(), w.Org.ID, w.Org.Team.ID, c.ID, p.revision, p.build, p.state, p.flaky, p.days)
			}
			got, err := quarantine.Propose(fixture.Context(t), w.DB, w.Org.ID, c.ID)
			require.NoError(t, err)
			require.Equal(t, tt.want, got != nil)
			if got != nil {
				require.Contains(t, got.Reason, "3 times")
				require.WithinDuration(t, time.Now(), got.Since, time.Minute)
			}
			other, err := quarantine.Propose(fixture.Context(t), w.DB, w.Rival.ID, c.ID)
			require.NoError(t, err)
			require.Nil(t, other)
		})
	}
}
