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

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
)

func (w *world) update(by account.Writer, id uuid.UUID, c SuiteChange) (s *Suite, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		s, err = UpdateSuite(ctx, tx, by, id, c)
		return err
	})
	return s, err
}

func (w *world) deleteSuite(by account.Writer, id uuid.UUID, cases bool) error {
	return w.do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := DeleteSuite(ctx, tx, by, id, cases)
		return err
	})
}

// in gives the names of a suite's cases, in order.
func (w *world) in(suite uuid.UUID) (names []string) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(testContext(w.t), &names, `select name from test_cases where suite_id = $1 order by name`, suite))
	return names
}

func TestCreateSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.newCase(w.w, "a"), w.newCase(w.w, "b")
	theirs, rivals := w.newCase(w.sideW, "theirs"), w.newCase(w.rival, "rivals")
	s, err := w.trySuite(w.w, NewSuite{Name: " smoke ", Tags: []string{"x", "x"}, Cases: []string{a.ID, b.ID, a.ID}})
	require.NoError(t, err)
	require.Equal(t, "smoke", s.Name)
	require.Equal(t, []string{"x"}, s.Tags)
	require.Equal(t, []int{2, 0}, []int{s.CaseCount, s.RunCount})
	require.Equal(t, []any{w.team.UUID, w.dev.UUID, "Dev Eloper", "Dev Eloper"},
		[]any{s.TeamUUID, s.CreatorUUID, s.CreatorName, s.ModifierName})
	require.EqualValues(t, 7, s.ID.Version())
	got, err := SuiteByID(testContext(t), w.db, w.org, s.ID)
	require.NoError(t, err)
	require.Equal(t, s, got)
	_, err = SuiteByID(testContext(t), w.db, w.rivalOrg, s.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Equal(t, 1, w.audited(account.TestSuiteCreated))

	// A case is in one suite: it leaves the former one.
	other := w.newSuite(w.w, "other", b.ID)
	require.Equal(t, []string{"b"}, w.in(other.ID))
	require.Equal(t, []string{"a"}, w.in(s.ID))

	var missing *MissingError
	_, err = w.trySuite(w.w, NewSuite{Name: "x", Cases: []string{rivals.ID, a.ID, "nonsense\x00", rivals.ID}})
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{rivals.ID, "nonsense\x00"}, missing.IDs)
	_, err = w.trySuite(w.w, NewSuite{Name: "x", Cases: []string{theirs.ID}})
	require.ErrorIs(t, err, ErrForbidden)
	for field, n := range map[string]NewSuite{
		"name":      {Name: "\u00a0"},
		"tags":      {Name: "x", Tags: []string{"\xff"}},
		"testCases": {Name: "x", Cases: make([]string, MaxSuiteCases+1)},
		"teamId":    {Name: "x", Team: &w.rivalTeam.UUID},
	} {
		_, err := w.trySuite(w.w, n)
		require.Equal(t, field, invalidField(t, err))
	}
	require.Equal(t, 2, w.count(`select count(*) from test_suites`))
}

func TestUpdateSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for _, name := range []string{"a", "b", "c"} {
		ids = append(ids, w.newCase(w.w, name).ID)
	}
	theirs := w.newCase(w.sideW, "theirs").ID
	s := w.newSuite(w.w, "s", ids[0])
	for _, row := range []struct {
		c    SuiteChange
		want []string
	}{
		{SuiteChange{}, []string{"a"}},
		{SuiteChange{Add: []string{ids[1], ids[0], ids[1]}}, []string{"a", "b"}},
		{SuiteChange{Add: []string{ids[2]}, Remove: []string{ids[0]}}, []string{"b", "c"}},
		{SuiteChange{Remove: []string{ids[0]}}, []string{"b", "c"}}, // is not in it
		{SuiteChange{Cases: &[]string{ids[0], ids[1]}}, []string{"a", "b"}},
		{SuiteChange{Cases: &[]string{}}, nil},
		{SuiteChange{Cases: &ids}, []string{"a", "b", "c"}},
	} {
		after, err := w.update(w.w, s.ID, row.c)
		require.NoError(t, err)
		require.Equal(t, row.want, w.in(s.ID))
		require.Equal(t, len(row.want), after.CaseCount)
		require.Equal(t, "s", after.Name)
	}
	require.Equal(t, 5, w.audited(account.TestSuiteUpdated), "two changed nothing")
	before, err := SuiteByID(testContext(t), w.db, w.org, s.ID)
	require.NoError(t, err)
	for _, nothing := range []SuiteChange{{}, {Name: ptr(" s "), Tags: &[]string{}, Cases: &ids}} {
		same, err := w.update(w.admin, s.ID, nothing)
		require.NoError(t, err)
		require.Equal(t, before, same, "neither the time nor the modifier")
	}
	after, err := w.update(w.admin, s.ID, SuiteChange{Name: ptr(" new "), Tags: &[]string{"t"}, Add: []string{theirs}})
	require.NoError(t, err)
	require.Equal(t, []any{"new", []string{"t"}, 4, "Boss", "Dev Eloper"},
		[]any{after.Name, after.Tags, after.CaseCount, after.ModifierName, after.CreatorName})
	require.True(t, after.UpdatedAt.After(s.UpdatedAt))
	untouched, err := CaseByID(testContext(t), w.db, w.org, theirs)
	require.NoError(t, err)
	require.Equal(t, w.other.UUID, untouched.ModifierUUID)

	// A case of another team may stay, and leave, but not come.
	after, err = w.update(w.w, s.ID, SuiteChange{Cases: &[]string{ids[0], theirs}})
	require.NoError(t, err)
	require.Equal(t, 2, after.CaseCount)
	_, err = w.update(w.w, s.ID, SuiteChange{Remove: []string{theirs}})
	require.NoError(t, err)
	_, err = w.update(w.w, s.ID, SuiteChange{Add: []string{theirs}})
	require.ErrorIs(t, err, ErrForbidden)

	_, err = w.update(w.sideW, s.ID, SuiteChange{Name: ptr("x")})
	require.ErrorIs(t, err, ErrForbidden)
	_, err = w.update(w.rival, s.ID, SuiteChange{Name: ptr("x")})
	require.ErrorIs(t, err, storage.ErrNotFound)
	var missing *MissingError
	for _, c := range []SuiteChange{{Cases: &[]string{"x"}}, {Add: []string{"x"}}, {Remove: []string{"x"}}} {
		_, err = w.update(w.w, s.ID, c)
		require.ErrorAs(t, err, &missing)
	}
	long := make([]string, MaxSuiteCases+1)
	for i, row := range []struct {
		field string
		c     SuiteChange
	}{
		{"name", SuiteChange{Name: ptr("")}},
		{"tags", SuiteChange{Tags: &[]string{strings.Repeat("x", 61)}}},
		{"testCaseIds", SuiteChange{Cases: &ids, Add: ids}},
		{"testCaseIds", SuiteChange{Cases: &ids, Remove: ids}},
		{"testCaseIds", SuiteChange{Cases: &long}},
		{"addTestCases", SuiteChange{Add: long}},
		{"removeTestCases", SuiteChange{Remove: long}},
		{"removeTestCases", SuiteChange{Add: ids, Remove: ids[:1]}},
	} {
		_, err = w.update(w.w, s.ID, row.c)
		require.Equal(t, row.field, invalidField(t, err), i)
	}
}

func TestDeleteSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, theirs := w.newCase(w.w, "a"), w.newCase(w.w, "b"), w.newCase(w.sideW, "theirs")
	s := w.newSuite(w.w, "s", a.ID, b.ID)
	require.ErrorIs(t, w.deleteSuite(w.sideW, s.ID, false), ErrForbidden)
	require.ErrorIs(t, w.deleteSuite(w.rival, s.ID, false), storage.ErrNotFound)
	require.NoError(t, w.deleteSuite(w.w, s.ID, false))
	require.ErrorIs(t, w.deleteSuite(w.w, s.ID, false), storage.ErrNotFound)
	require.Equal(t, 3, w.count(`select count(*) from test_cases where suite_id is null`))

	s = w.newSuite(w.admin, "s", a.ID, theirs.ID)
	require.ErrorIs(t, w.deleteSuite(w.w, s.ID, true), ErrForbidden, "a case is another team's")
	require.NoError(t, w.deleteSuite(w.admin, s.ID, true))
	require.Equal(t, 1, w.count(`select count(*) from test_cases`))
	_, err := CaseByID(testContext(t), w.db, w.org, b.ID)
	require.NoError(t, err)
	require.Equal(t, 2, w.audited(account.TestSuiteDeleted))
}

func TestSuites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	var ids []uuid.UUID
	for i, name := range []string{"Smoke", "nightly", "50%"} {
		by := w.w
		if i == 2 {
			by = w.sideW
		}
		ids = append(ids, w.newSuite(by, name).ID)
		w.exec(`update test_suites set created_at = $2 where id = $1`, ids[i], day(1+i))
	}
	w.newSuite(w.rival, "Smoke")
	_, err := w.update(w.w, ids[0], SuiteChange{Add: []string{w.newCase(w.w, "a").ID, w.newCase(w.w, "b").ID}})
	require.NoError(t, err)
	for _, row := range []struct {
		f    SuiteFilter
		want []string
	}{
		{SuiteFilter{}, []string{"50%", "nightly", "Smoke"}},
		{SuiteFilter{Search: "SMOK"}, []string{"Smoke"}},
		{SuiteFilter{Search: "%"}, []string{"50%"}},
		{SuiteFilter{IDs: ids[:2]}, []string{"nightly", "Smoke"}},
		{SuiteFilter{IDs: []uuid.UUID{}}, nil},
		{SuiteFilter{From: day(2)}, []string{"50%", "nightly"}},
		{SuiteFilter{To: day(2)}, []string{"Smoke"}},
		{SuiteFilter{User: &w.other.UUID}, []string{"50%"}},
		{SuiteFilter{Team: &w.team.UUID}, []string{"nightly", "Smoke"}},
	} {
		row.f.OrganizationID, row.f.Page = w.org, storage.Page{Limit: 20}
		list, total, err := Suites(testContext(t), w.db, row.f)
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
			list, total, err = Suites(testContext(t), w.db, row.f)
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
	w := newWorld(t)
	const cases, writers, rounds = 12, 8, 12
	ids := make([]string, cases)
	for i := range ids {
		ids[i] = w.newCase(w.w, fmt.Sprintf("case %02d", i)).ID
	}
	suites := []uuid.UUID{w.newSuite(w.w, "one").ID, w.newSuite(w.w, "two").ID, w.newSuite(w.w, "three").ID}
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
				errs <- w.do(func(ctx context.Context, tx *storage.Tx) error {
					list := some()
					switch round % 4 {
					case 0:
						_, err := CreateSuite(ctx, tx, w.w, NewSuite{Name: "new", Cases: list})
						return err
					case 1:
						_, err := UpdateSuite(ctx, tx, w.w, target, SuiteChange{Cases: &list})
						return err
					case 2:
						s, err := CreateSuite(ctx, tx, w.w, NewSuite{Name: "short-lived", Cases: list})
						if err != nil {
							return err
						}
						_, err = DeleteSuite(ctx, tx, w.w, s.ID, false)
						return err
					default:
						half := len(list) / 2
						_, err := UpdateSuite(ctx, tx, w.w, target, SuiteChange{Add: list[:half], Remove: list[half:]})
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
	require.Equal(t, cases, w.count(`select count(*) from test_cases`))
	list, total, err := Suites(testContext(t), w.db, SuiteFilter{OrganizationID: w.org, Page: storage.Page{Limit: 1000}})
	require.NoError(t, err)
	require.Len(t, list, total)
	sum := 0
	for _, s := range list {
		sum += s.CaseCount
		require.Len(t, w.in(s.ID), s.CaseCount)
	}
	require.Equal(t, w.count(`select count(*) from test_cases where suite_id is not null`), sum)
}

// A suite that goes away while a case is made for it takes no case with it, and
// the case is in the suite or refused.
func TestCaseForASuiteThatGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.newSuite(w.w, "s")
	deleted, refused := make(chan error, 1), make(chan error, 1)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := DeleteSuite(ctx, tx, w.w, s.ID, true); err != nil {
			return err
		}
		go func() {
			n := loginCase("late", 1)
			n.SuiteID = &s.ID
			_, err := w.tryCase(w.w, n)
			refused <- err
		}()
		require.Eventually(t, func() bool {
			return w.count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
		}, 10*time.Second, 5*time.Millisecond)
		return nil
	})
	require.ErrorIs(t, <-refused, ErrSuiteNotFound)

	s = w.newSuite(w.w, "s")
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		n := loginCase("in time", 1)
		n.SuiteID = &s.ID
		if _, err := CreateCase(ctx, tx, w.w, n); err != nil {
			return err
		}
		go func() { deleted <- w.deleteSuite(w.w, s.ID, false) }()
		require.Eventually(t, func() bool {
			return w.count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
		}, 10*time.Second, 5*time.Millisecond)
		return nil
	})
	require.NoError(t, <-deleted)
	require.Equal(t, 1, w.count(`select count(*) from test_cases where suite_id is null`))
}
