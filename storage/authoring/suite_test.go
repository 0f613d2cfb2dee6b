package authoring_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
)

// in returns the names of a suite's cases, in order.
func (w *room) in(suite uuid.UUID) (names []string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &names,
		`select name from test_cases where suite_id = $1 order by name`, suite))
	return names
}

func TestCreateSuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	a, b := w.NewCase(w.Org.Member.Writer, "a"), w.NewCase(w.Org.Member.Writer, "b")
	theirs, rivals := w.NewCase(w.Org.Neighbor.Writer, "theirs"), w.NewCase(w.Rival.Member.Writer, "rivals")
	s, err := w.TrySuite(w.Org.Member.Writer, authoring.NewSuite{Name: " smoke ", Tags: []string{"x", "x"}, Cases: []string{a.ID, b.ID, a.ID}})
	require.NoError(t, err)
	require.Equal(t, "smoke", s.Name)
	require.Equal(t, []string{"x"}, s.Tags)
	require.Equal(t, []int{2, 0}, []int{s.CaseCount, s.RunCount})
	require.Equal(t, []any{w.Org.Team.UUID, w.Org.Member.UUID, w.Org.Member.Name, w.Org.Member.Name},
		[]any{s.TeamUUID, s.CreatorUUID, s.CreatorName, s.ModifierName})
	require.EqualValues(t, 7, s.ID.Version())
	got, err := authoring.SuiteByID(fixture.Context(t), w.DB, w.Org.ID, s.ID)
	require.NoError(t, err)
	require.Equal(t, s, got)
	_, err = authoring.SuiteByID(fixture.Context(t), w.DB, w.Rival.ID, s.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Equal(t, 1, w.Audited(account.TestSuiteCreated))

	// A case is in one suite: it leaves the former one.
	other := w.NewSuite(w.Org.Member.Writer, "other", b.ID)
	require.Equal(t, []string{"b"}, w.in(other.ID))
	require.Equal(t, []string{"a"}, w.in(s.ID))

	var missing *authoring.MissingError
	_, err = w.TrySuite(w.Org.Member.Writer, authoring.NewSuite{Name: "x", Cases: []string{rivals.ID, a.ID, "nonsense\x00", rivals.ID}})
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{rivals.ID, "nonsense\x00"}, missing.IDs)
	_, err = w.TrySuite(w.Org.Member.Writer, authoring.NewSuite{Name: "x", Cases: []string{theirs.ID}})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	for field, n := range map[string]authoring.NewSuite{
		"name":      {Name: "\u00a0"},
		"tags":      {Name: "x", Tags: []string{"\xff"}},
		"testCases": {Name: "x", Cases: make([]string, authoring.MaxSuiteCases+1)},
		"teamId":    {Name: "x", Team: &w.Rival.Team.UUID},
	} {
		_, err := w.TrySuite(w.Org.Member.Writer, n)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	require.Equal(t, 2, w.Count(`select count(*) from test_suites`))
}

func TestUpdateSuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		ids = append(ids, w.NewCase(w.Org.Member.Writer, name).ID)
	}
	theirs := w.NewCase(w.Org.Neighbor.Writer, "theirs").ID
	s := w.NewSuite(w.Org.Member.Writer, "s", ids[0])
	for _, row := range []struct {
		c    authoring.SuiteChange
		want []string
	}{
		{authoring.SuiteChange{}, []string{"a"}},
		{authoring.SuiteChange{Add: []string{ids[1], ids[0], ids[1]}}, []string{"a", "b"}},
		{authoring.SuiteChange{Add: []string{ids[2]}, Remove: []string{ids[0]}}, []string{"b", "c"}},
		{authoring.SuiteChange{Remove: []string{ids[0]}}, []string{"b", "c"}}, // is not in it
		{authoring.SuiteChange{Cases: &[]string{ids[0], ids[1]}}, []string{"a", "b"}},
		{authoring.SuiteChange{Cases: &[]string{}}, nil},
		{authoring.SuiteChange{Cases: &ids}, []string{"a", "b", "c"}},
	} {
		after, err := w.UpdateSuite(w.Org.Member.Writer, s.ID, row.c)
		require.NoError(t, err)
		require.Equal(t, row.want, w.in(s.ID))
		require.Equal(t, len(row.want), after.CaseCount)
		require.Equal(t, "s", after.Name)
	}
	require.Equal(t, 5, w.Audited(account.TestSuiteUpdated), "two changed nothing")
	before, err := authoring.SuiteByID(fixture.Context(t), w.DB, w.Org.ID, s.ID)
	require.NoError(t, err)
	for _, nothing := range []authoring.SuiteChange{{}, {Name: fixture.Ptr(" s "), Tags: &[]string{}, Cases: &ids}} {
		same, err := w.UpdateSuite(w.Org.Owner.Writer, s.ID, nothing)
		require.NoError(t, err)
		require.Equal(t, before, same, "neither the time nor the modifier")
	}
	after, err := w.UpdateSuite(w.Org.Owner.Writer, s.ID, authoring.SuiteChange{Name: fixture.Ptr(" new "), Tags: &[]string{"t"},
		Add: []string{theirs}})
	require.NoError(t, err)
	require.Equal(t, []any{"new", []string{"t"}, 4, w.Org.Owner.Name, w.Org.Member.Name},
		[]any{after.Name, after.Tags, after.CaseCount, after.ModifierName, after.CreatorName})
	require.True(t, after.UpdatedAt.After(s.UpdatedAt))
	untouched, err := authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, theirs)
	require.NoError(t, err)
	require.Equal(t, w.Org.Neighbor.UUID, untouched.ModifierUUID)

	// A case of another team may stay, and leave, but not come.
	after, err = w.UpdateSuite(w.Org.Member.Writer, s.ID, authoring.SuiteChange{Cases: &[]string{ids[0], theirs}})
	require.NoError(t, err)
	require.Equal(t, 2, after.CaseCount)
	_, err = w.UpdateSuite(w.Org.Member.Writer, s.ID, authoring.SuiteChange{Remove: []string{theirs}})
	require.NoError(t, err)
	_, err = w.UpdateSuite(w.Org.Member.Writer, s.ID, authoring.SuiteChange{Add: []string{theirs}})
	require.ErrorIs(t, err, authoring.ErrForbidden)

	_, err = w.UpdateSuite(w.Org.Neighbor.Writer, s.ID, authoring.SuiteChange{Name: fixture.Ptr("x")})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = w.UpdateSuite(w.Rival.Member.Writer, s.ID, authoring.SuiteChange{Name: fixture.Ptr("x")})
	require.ErrorIs(t, err, storage.ErrNotFound)
	var missing *authoring.MissingError
	for _, c := range []authoring.SuiteChange{{Cases: &[]string{"x"}}, {Add: []string{"x"}}, {Remove: []string{"x"}}} {
		_, err = w.UpdateSuite(w.Org.Member.Writer, s.ID, c)
		require.ErrorAs(t, err, &missing)
	}
	long := make([]string, authoring.MaxSuiteCases+1)
	for i, row := range []struct {
		field string
		c     authoring.SuiteChange
	}{
		{"name", authoring.SuiteChange{Name: fixture.Ptr("")}},
		{"tags", authoring.SuiteChange{Tags: &[]string{strings.Repeat("x", 61)}}},
		{"testCaseIds", authoring.SuiteChange{Cases: &ids, Add: ids}},
		{"testCaseIds", authoring.SuiteChange{Cases: &ids, Remove: ids}},
		{"testCaseIds", authoring.SuiteChange{Cases: &long}},
		{"addTestCases", authoring.SuiteChange{Add: long}},
		{"removeTestCases", authoring.SuiteChange{Remove: long}},
		{"removeTestCases", authoring.SuiteChange{Add: ids, Remove: ids[:1]}},
	} {
		_, err = w.UpdateSuite(w.Org.Member.Writer, s.ID, row.c)
		require.Equal(t, row.field, fixture.InvalidField(t, err), i)
	}
}

func TestDeleteSuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	a, b, theirs := w.NewCase(w.Org.Member.Writer, "a"), w.NewCase(w.Org.Member.Writer, "b"), w.NewCase(w.Org.Neighbor.Writer, "theirs")
	s := w.NewSuite(w.Org.Member.Writer, "s", a.ID, b.ID)
	require.ErrorIs(t, w.DeleteSuite(w.Org.Neighbor.Writer, s.ID, false), authoring.ErrForbidden)
	require.ErrorIs(t, w.DeleteSuite(w.Rival.Member.Writer, s.ID, false), storage.ErrNotFound)
	require.NoError(t, w.DeleteSuite(w.Org.Member.Writer, s.ID, false))
	require.ErrorIs(t, w.DeleteSuite(w.Org.Member.Writer, s.ID, false), storage.ErrNotFound)
	require.Equal(t, 3, w.Count(`select count(*) from test_cases where suite_id is null`))

	s = w.NewSuite(w.Org.Owner.Writer, "s", a.ID, theirs.ID)
	require.ErrorIs(t, w.DeleteSuite(w.Org.Member.Writer, s.ID, true), authoring.ErrForbidden, "a case is another team's")
	require.NoError(t, w.DeleteSuite(w.Org.Owner.Writer, s.ID, true))
	require.Equal(t, 1, w.Count(`select count(*) from test_cases`))
	_, err := authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, b.ID)
	require.NoError(t, err)
	require.Equal(t, 2, w.Audited(account.TestSuiteDeleted))
}

func TestSuites(t *testing.T) {
	t.Parallel()
	w := open(t)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	var ids []uuid.UUID
	for i, name := range []string{"Smoke", "nightly", "50%"} {
		by := w.Org.Member.Writer
		if i == 2 {
			by = w.Org.Neighbor.Writer
		}
		ids = append(ids, w.NewSuite(by, name).ID)
		w.Exec(`update test_suites set created_at = $2 where id = $1`, ids[i], day(1+i))
	}
	w.NewSuite(w.Rival.Member.Writer, "Smoke")
	_, err := w.UpdateSuite(w.Org.Member.Writer, ids[0], authoring.SuiteChange{Add: []string{w.NewCase(w.Org.Member.Writer, "a").ID,
		w.NewCase(w.Org.Member.Writer, "b").ID}})
	require.NoError(t, err)
	for _, row := range []struct {
		f    authoring.SuiteFilter
		want []string
	}{
		{authoring.SuiteFilter{}, []string{"50%", "nightly", "Smoke"}},
		{authoring.SuiteFilter{Search: "SMOK"}, []string{"Smoke"}},
		{authoring.SuiteFilter{Search: "%"}, []string{"50%"}},
		{authoring.SuiteFilter{IDs: ids[:2]}, []string{"nightly", "Smoke"}},
		{authoring.SuiteFilter{IDs: []uuid.UUID{}}, nil},
		{authoring.SuiteFilter{From: day(2)}, []string{"50%", "nightly"}},
		{authoring.SuiteFilter{To: day(2)}, []string{"Smoke"}},
		{authoring.SuiteFilter{User: &w.Org.Neighbor.UUID}, []string{"50%"}},
		{authoring.SuiteFilter{Team: &w.Org.Team.UUID}, []string{"nightly", "Smoke"}},
	} {
		row.f.OrganizationID, row.f.Page = w.Org.ID, storage.Page{Limit: 20}
		list, total, err := authoring.Suites(fixture.Context(t), w.DB, row.f)
		require.NoError(t, err)
		var names []string
		for _, s := range list {
			names = append(names, s.Name)
			require.Equal(t, map[string]int{"Smoke": 2}[s.Name], s.CaseCount)
		}
		require.Equal(t, row.want, names, "%+v", row.f)
		require.Equal(t, len(row.want), total)
		for _, p := range []storage.Page{{}, {Offset: 10, Limit: 10}} {
			row.f.Page = p
			list, total, err = authoring.Suites(fixture.Context(t), w.DB, row.f)
			require.NoError(t, err)
			require.Empty(t, list)
			require.Equal(t, len(row.want), total)
		}
	}
}

// Changes that move the same cases at once neither wait for each other in a
// circle nor lose a case: each is in the suite that took it last.
func TestConcurrentMoves(t *testing.T) {
	t.Parallel()
	w := open(t)
	const cases, writers, rounds = 12, 8, 12
	ids := make([]string, cases)
	for i := range ids {
		ids[i] = w.NewCase(w.Org.Member.Writer, fmt.Sprintf("case %02d", i)).ID
	}
	suites := []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "one").ID, w.NewSuite(w.Org.Member.Writer, "two").ID,
		w.NewSuite(w.Org.Member.Writer, "three").ID}
	errs := make(chan error, writers*rounds)
	var all sync.WaitGroup
	for n := range writers {
		random := rand.New(rand.NewPCG(uint64(n), 7))
		some := func() []string {
			list := append([]string{}, ids...)
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return list[:3+random.IntN(cases-3)]
		}
		all.Go(func() {
			for round := range rounds {
				target := suites[random.IntN(len(suites))]
				errs <- w.Do(func(ctx context.Context, tx *storage.Tx) error {
					list := some()
					switch round % 4 {
					case 0:
						_, err := authoring.CreateSuite(ctx, tx, w.Org.Member.Writer, authoring.NewSuite{Name: "new", Cases: list})
						return err
					case 1:
						_, err := authoring.UpdateSuite(ctx, tx, w.Org.Member.Writer, target, authoring.SuiteChange{Cases: &list})
						return err
					case 2:
						s, err := authoring.CreateSuite(ctx, tx, w.Org.Member.Writer, authoring.NewSuite{Name: "short-lived", Cases: list})
						if err != nil {
							return err
						}
						_, err = run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, s.ID, false)
						return err
					default:
						half := len(list) / 2
						_, err := authoring.UpdateSuite(ctx, tx, w.Org.Member.Writer, target, authoring.SuiteChange{Add: list[:half], Remove: list[half:]})
						return err
					}
				})
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, cases, w.Count(`select count(*) from test_cases`))
	list, total, err := authoring.Suites(fixture.Context(t), w.DB, authoring.SuiteFilter{OrganizationID: w.Org.ID,
		Page: storage.Page{Limit: 1000}})
	require.NoError(t, err)
	require.Len(t, list, total)
	sum := 0
	for _, s := range list {
		sum += s.CaseCount
		require.Len(t, w.in(s.ID), s.CaseCount)
	}
	require.Equal(t, w.Count(`select count(*) from test_cases where suite_id is not null`), sum)
}

// A suite that goes away while a case is made for it takes no case with it, and
// the case is in the suite or refused.
func TestCaseForASuiteThatGoes(t *testing.T) {
	t.Parallel()
	w := open(t)
	s := w.NewSuite(w.Org.Member.Writer, "s")
	deleted, refused := make(chan error, 1), make(chan error, 1)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, s.ID, true); err != nil {
			return err
		}
		go func() {
			n := fixture.LoginCase("late", 1)
			n.SuiteID = &s.ID
			_, err := w.TryCase(w.Org.Member.Writer, n)
			refused <- err
		}()
		require.Eventually(t, func() bool {
			return w.Count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
		}, time.Minute, 5*time.Millisecond)
		return nil
	})
	require.ErrorIs(t, <-refused, authoring.ErrSuiteNotFound)

	s = w.NewSuite(w.Org.Member.Writer, "s")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		n := fixture.LoginCase("in time", 1)
		n.SuiteID = &s.ID
		if _, err := authoring.CreateCase(ctx, tx, w.Org.Member.Writer, n); err != nil {
			return err
		}
		go func() { deleted <- w.DeleteSuite(w.Org.Member.Writer, s.ID, false) }()
		require.Eventually(t, func() bool {
			return w.Count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
		}, time.Minute, 5*time.Millisecond)
		return nil
	})
	require.NoError(t, <-deleted)
	require.Equal(t, 1, w.Count(`select count(*) from test_cases where suite_id is null`))
}
