package authoring_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
)

func (w *world) tryVariable(by account.Writer, n NewVariable) (v *Variable, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		v, err = CreateVariable(ctx, tx, by, sealKey, n)
		return err
	})
	return v, err
}

func (w *world) variable(by account.Writer, n NewVariable) *Variable {
	w.t.Helper()
	v, err := w.tryVariable(by, n)
	require.NoError(w.t, err)
	return v
}

func (w *world) changeVariable(by account.Writer, id uuid.UUID, c VariableChange) (v *Variable, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		v, err = UpdateVariable(ctx, tx, by, sealKey, id, c)
		return err
	})
	return v, err
}

func (w *world) values(of *Case, references ...step.Reference) map[step.Reference]Value {
	w.t.Helper()
	values, err := Values(testContext(w.t), w.db, sealKey, workOf(of), references)
	require.NoError(w.t, err)
	return values
}

func workOf(c *Case) Work {
	return Work{Run: Run{OrganizationID: c.OrganizationID, CaseID: c.ID}, TeamID: c.TeamID, SuiteID: c.SuiteID}
}

func TestCreateVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, s := w.newCase(w.w, "c"), w.newSuite(w.w, "s")
	theirCase, theirSuite := w.newCase(w.sideW, "c"), w.newSuite(w.sideW, "s")
	rivalCase, rivalSuite := w.newCase(w.rival, "c"), w.newSuite(w.rival, "s")
	type place struct {
		by account.Writer
		n  NewVariable
	}
	for _, p := range []place{
		{w.admin, NewVariable{Scope: "org"}},
		{w.w, NewVariable{Scope: "team", Team: &w.team.UUID}},
		{w.w, NewVariable{Scope: "testSuite", Suite: &s.ID}},
		{w.w, NewVariable{Scope: "testCase", Case: &c.ID}},
		{w.sideW, NewVariable{Scope: "testCase", Case: &theirCase.ID}},
	} {
		p.n.Name, p.n.Value = "user", "Ann\n"
		v := w.variable(p.by, p.n)
		require.Equal(t, Variable{ID: v.ID, Scope: p.n.Scope, TeamUUID: p.n.Team, SuiteID: p.n.Suite, CaseID: p.n.Case, Name: "user",
			Value: "Ann\n", Version: 1, CreatorUUID: p.by.UserUUID, ModifierUUID: p.by.UserUUID, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, *v)
		got, err := VariableByID(testContext(t), w.db, w.org, v.ID)
		require.NoError(t, err)
		require.Equal(t, v, got)
		_, err = VariableByID(testContext(t), w.db, w.rivalOrg, v.ID)
		require.ErrorIs(t, err, storage.ErrNotFound)
		_, err = w.tryVariable(p.by, p.n)
		require.ErrorIs(t, err, storage.ErrConflict, p.n.Scope)
		p.n.Name, p.n.IsSecret, p.n.Value = "password", true, "s3cret"
		v = w.variable(p.by, p.n)
		require.True(t, v.IsSecret)
		require.Empty(t, v.Value)
	}
	require.Equal(t, 10, w.audited(account.VariableCreated))
	require.Zero(t, w.count(`select count(*) from test_variables where position('s3cret'::bytea in sealed) > 0 or value like '%s3cret%'`))
	require.Zero(t, w.count(`select count(*) from audit_events where detail::text || subject like any('{%s3cret%,%Ann%}')`))

	for _, p := range []place{
		{w.w, NewVariable{Scope: "org"}},
		{w.w, NewVariable{Scope: "team", Team: &w.side.UUID}},
		{w.w, NewVariable{Scope: "testSuite", Suite: &theirSuite.ID}},
		{w.w, NewVariable{Scope: "testCase", Case: &theirCase.ID}},
	} {
		p.n.Name = "x"
		_, err := w.tryVariable(p.by, p.n)
		require.ErrorIs(t, err, ErrForbidden, p.n.Scope)
	}
	for _, n := range []NewVariable{
		{Scope: "team", Team: &w.rivalTeam.UUID},
		{Scope: "testSuite", Suite: &rivalSuite.ID},
		{Scope: "testCase", Case: &rivalCase.ID},
		{Scope: "testCase", Case: ptr("\x00")},
	} {
		n.Name = "x"
		_, err := w.tryVariable(w.admin, n)
		require.ErrorIs(t, err, storage.ErrNotFound, n.Scope)
	}
	for i, row := range []struct {
		field string
		n     NewVariable
	}{
		{"scope", NewVariable{Name: "x"}},
		{"scope", NewVariable{Name: "x", Scope: "global"}},
		{"teamId", NewVariable{Name: "x", Scope: "team"}},
		{"teamId", NewVariable{Name: "x", Scope: "org", Team: &w.team.UUID}},
		{"testSuiteId", NewVariable{Name: "x", Scope: "testSuite"}},
		{"testSuiteId", NewVariable{Name: "x", Scope: "team", Team: &w.team.UUID, Suite: &s.ID}},
		{"testCaseId", NewVariable{Name: "x", Scope: "testCase"}},
		{"testCaseId", NewVariable{Name: "x", Scope: "testSuite", Suite: &s.ID, Case: &c.ID}},
		{"name", NewVariable{Scope: "org"}},
		{"name", NewVariable{Scope: "org", Name: "Upper"}},
		{"name", NewVariable{Scope: "org", Name: "a\n"}},
		{"name", NewVariable{Scope: "org", Name: strings.Repeat("x", 65)}},
		{"value", NewVariable{Scope: "org", Name: "x", Value: strings.Repeat("x", 16<<10+1)}},
		{"value", NewVariable{Scope: "org", Name: "x", Value: "s3cret\xff"}},
		{"value", NewVariable{Scope: "org", Name: "x", Value: "s3cret\x00", IsSecret: true}},
	} {
		_, err := w.tryVariable(w.admin, row.n)
		require.Equal(t, row.field, invalidField(t, err), i)
		require.NotContains(t, err.Error(), "s3cret")
	}
	w.variable(w.admin, NewVariable{Scope: "org", Name: "long", Value: strings.Repeat("x", 16<<10), IsSecret: true})
}

func TestVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, s := w.newCase(w.w, "c"), w.newSuite(w.w, "s")
	rivalAdmin := w.rival
	rivalAdmin.Admin = true
	w.variable(w.admin, NewVariable{Scope: "org", Name: "b_org"})
	w.variable(w.w, NewVariable{Scope: "team", Team: &w.team.UUID, Name: "a_team"})
	w.variable(w.sideW, NewVariable{Scope: "team", Team: &w.side.UUID, Name: "a_side"})
	w.variable(w.w, NewVariable{Scope: "testSuite", Suite: &s.ID, Name: "suite", Value: "secret", IsSecret: true})
	w.variable(w.w, NewVariable{Scope: "testCase", Case: &c.ID, Name: "kase"})
	w.variable(rivalAdmin, NewVariable{Scope: "org", Name: "rival"})
	for _, row := range []struct {
		f    VariableFilter
		want []string
	}{
		{VariableFilter{}, []string{"a_side", "a_team", "b_org", "kase", "suite"}},
		{VariableFilter{Scope: "team"}, []string{"a_side", "a_team"}},
		{VariableFilter{Team: &w.team.UUID}, []string{"a_team"}},
		{VariableFilter{Team: &w.rivalTeam.UUID}, nil},
		{VariableFilter{Suite: &s.ID}, []string{"suite"}},
		{VariableFilter{Case: c.ID}, []string{"kase"}},
		{VariableFilter{Case: "\x00"}, nil},
		{VariableFilter{Search: "A_"}, []string{"a_side", "a_team"}},
		{VariableFilter{Search: "\xff"}, nil},
	} {
		row.f.OrganizationID = w.org
		var names []string
		for skip := 0; skip < 6; skip += 2 {
			row.f.Page = storage.Page{Offset: skip, Limit: 2}
			list, total, err := Variables(testContext(t), w.db, row.f)
			require.NoError(t, err)
			require.Equal(t, len(row.want), total)
			for _, v := range list {
				names = append(names, v.Name)
			}
		}
		require.ElementsMatch(t, row.want, names, "%+v", row.f)
		row.f.Page = storage.Page{}
		list, total, err := Variables(testContext(t), w.db, row.f)
		require.NoError(t, err)
		require.Empty(t, list)
		require.Equal(t, len(row.want), total)
	}
	_, _, err := Variables(testContext(t), w.db, VariableFilter{OrganizationID: w.org, Scope: "x"})
	require.Equal(t, "scope", invalidField(t, err))
}

func TestUpdateVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "c")
	n := NewVariable{Scope: "testCase", Case: &c.ID, Name: "a", Value: "one"}
	v := w.variable(w.w, n)
	n.Name = "b"
	w.variable(w.w, n)
	for _, row := range []struct {
		c      VariableChange
		want   Value
		name   string
		shown  string
		raised int
	}{
		{VariableChange{}, Value{"one", false}, "a", "one", 0},
		{VariableChange{Value: ptr("two"), Version: 1}, Value{"two", false}, "a", "two", 1},
		{VariableChange{IsSecret: ptr(true)}, Value{"two", true}, "a", "", 1},
		{VariableChange{Name: ptr("z")}, Value{"two", true}, "z", "", 1},
		{VariableChange{Value: ptr("three")}, Value{"three", true}, "z", "", 1},
		{VariableChange{IsSecret: ptr(true)}, Value{"three", true}, "z", "", 0},
		{VariableChange{Value: ptr("three")}, Value{"three", true}, "z", "", 1}, // nobody may learn that it is the same
		{VariableChange{IsSecret: ptr(false), Value: ptr("four")}, Value{"four", false}, "z", "four", 1},
		{VariableChange{Name: ptr("z"), IsSecret: ptr(false), Value: ptr("four")}, Value{"four", false}, "z", "four", 0},
		{VariableChange{Scope: ptr("testCase"), Case: &c.ID}, Value{"four", false}, "z", "four", 0},
		{VariableChange{IsSecret: ptr(true), Value: ptr("äöü")}, Value{"äöü", true}, "z", "", 1},
		{VariableChange{IsSecret: ptr(false), Value: ptr("five"), Name: ptr("a")}, Value{"five", false}, "a", "five", 1},
	} {
		before := v.Version
		var err error
		v, err = w.changeVariable(w.admin, v.ID, row.c)
		require.NoError(t, err)
		require.Equal(t, []any{row.name, row.shown, before + row.raised, row.want.Secret}, []any{v.Name, v.Value, v.Version, v.IsSecret})
		ref := step.Reference{Name: row.name}
		require.Equal(t, map[step.Reference]Value{ref: row.want}, w.values(c, ref))
	}
	require.Equal(t, w.boss.UUID, v.ModifierUUID)
	require.Equal(t, w.dev.UUID, v.CreatorUUID)
	require.Equal(t, 8, w.audited(account.VariableUpdated))

	_, err := w.changeVariable(w.w, v.ID, VariableChange{Value: ptr("x"), Version: v.Version - 1})
	require.ErrorIs(t, err, storage.ErrStale)
	_, err = w.changeVariable(w.w, v.ID, VariableChange{Name: ptr("b")})
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = w.changeVariable(w.sideW, v.ID, VariableChange{Name: ptr("q")})
	require.ErrorIs(t, err, ErrForbidden)
	_, err = w.changeVariable(w.rival, v.ID, VariableChange{Name: ptr("q")})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.changeVariable(w.w, v.ID, VariableChange{Name: ptr("Q")})
	require.Equal(t, "name", invalidField(t, err))
	_, err = w.changeVariable(w.w, v.ID, VariableChange{Value: ptr("\x00")})
	require.Equal(t, "value", invalidField(t, err))
	for field, fixed := range map[string]VariableChange{"scope": {Scope: ptr("org")}, "teamId": {Team: &w.team.UUID},
		"testSuiteId": {Suite: &noUUID}, "testCaseId": {Case: ptr(strings.Repeat("0", 24))}} {
		_, err = w.changeVariable(w.w, v.ID, fixed)
		require.Equal(t, field, invalidField(t, err))
	}
	_, err = w.changeVariable(w.w, v.ID, VariableChange{IsSecret: ptr(true)})
	require.NoError(t, err)
	_, err = w.changeVariable(w.w, v.ID, VariableChange{IsSecret: ptr(false)})
	require.Equal(t, "value", invalidField(t, err), "a secret cannot be uncovered")

	// Of those who read the same version one wins.
	var all sync.WaitGroup
	errs := make(chan error, 6)
	for range cap(errs) {
		all.Go(func() {
			_, err := w.changeVariable(w.w, v.ID, VariableChange{Value: ptr("xyz"), Version: v.Version + 1})
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
			continue
		}
		require.ErrorIs(t, err, storage.ErrStale)
	}
	require.Equal(t, 1, won)

	remove := func(by account.Writer, id uuid.UUID) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error { return DeleteVariable(ctx, tx, by, id) })
	}
	require.ErrorIs(t, remove(w.sideW, v.ID), ErrForbidden)
	require.ErrorIs(t, remove(w.rival, v.ID), storage.ErrNotFound)
	require.NoError(t, remove(w.w, v.ID))
	require.ErrorIs(t, remove(w.w, v.ID), storage.ErrNotFound)
	require.Equal(t, 1, w.audited(account.VariableDeleted))
	org := w.variable(w.admin, NewVariable{Scope: "org", Name: "o"})
	require.ErrorIs(t, remove(w.w, org.ID), ErrForbidden)
}

func TestValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, s := w.newCase(w.w, "c"), w.newSuite(w.w, "s")
	theirs, theirSuite := w.newCase(w.sideW, "c"), w.newSuite(w.sideW, "s")
	second := w.newCase(w.w, "second")
	_, err := w.update(w.w, s.ID, SuiteChange{Add: []string{c.ID}})
	require.NoError(t, err)
	c.SuiteID = &s.ID
	for _, n := range []NewVariable{
		{Scope: "org", Name: "x"}, {Scope: "org", Name: "only_org"},
		{Scope: "team", Team: &w.team.UUID, Name: "x"}, {Scope: "team", Team: &w.side.UUID, Name: "x"},
		{Scope: "testSuite", Suite: &s.ID, Name: "x"}, {Scope: "testSuite", Suite: &theirSuite.ID, Name: "x"},
		{Scope: "testCase", Case: &c.ID, Name: "x"}, {Scope: "testCase", Case: &theirs.ID, Name: "x"},
	} {
		n.Value, n.IsSecret = strings.TrimPrefix(n.Scope, "test"), n.Scope != "org"
		if n.Case != nil && *n.Case == theirs.ID || n.Suite != nil && *n.Suite == theirSuite.ID || n.Team != nil && *n.Team == w.side.UUID {
			n.Value = "theirs"
		}
		w.variable(w.admin, n)
	}
	ref := func(scope, id, name string) step.Reference { return step.Reference{Scope: scope, ID: id, Name: name} }
	bare := ref("", "", "x")
	theirs.SuiteID = &theirSuite.ID
	rivals := w.newCase(w.rival, "c")
	for i, row := range []struct {
		of   *Case
		ref  step.Reference
		want string // "": no value
	}{
		{c, bare, "Case"},
		{second, bare, "team"},
		{theirs, bare, "theirs"},
		{rivals, bare, ""},
		{c, ref("", "", "only_org"), "org"},
		{c, ref("", "", "none"), ""},
		{c, ref("", "", "BAD\x00"), ""},
		{c, ref("org", "", "x"), "org"},
		{rivals, ref("org", "", "x"), ""},
		{c, ref("team", "", "x"), "team"},
		{theirs, ref("team", "", "x"), "theirs"},
		{second, ref("testSuite", s.ID.String(), "x"), "Suite"},
		{second, ref("testSuite", strings.ReplaceAll(s.ID.String(), "-", ""), "x"), "Suite"},
		{second, ref("testCase", c.ID, "x"), "Case"},
		{second, ref("testCase", strings.ToUpper(c.ID), "x"), "Case"},
		{c, ref("testSuite", theirSuite.ID.String(), "x"), ""},
		{c, ref("testCase", theirs.ID, "x"), ""},
		{rivals, ref("testCase", c.ID, "x"), ""},
		{c, ref("testCase", "\x00", "x"), ""},
		{c, ref("testSuite", "x", "x"), ""},
		{c, ref("nonsense", "", "x"), ""},
	} {
		want := map[step.Reference]Value{}
		if row.want != "" {
			want[row.ref] = Value{Text: row.want, Secret: row.want != "org"}
		}
		require.Equal(t, want, w.values(row.of, row.ref), i)
	}
	// The suite comes before the team, unless it is another team's.
	w.exec(`delete from test_variables where case_id = $1`, c.ID)
	require.Equal(t, "Suite", w.values(c, bare)[bare].Text)
	moved := *c
	moved.SuiteID = &theirSuite.ID
	require.Equal(t, "team", w.values(&moved, bare)[bare].Text)
	// All at once, each its own.
	many := w.values(c, bare, ref("org", "", "x"), ref("team", "", "x"), ref("", "", "none"))
	require.Len(t, many, 3)
	require.Empty(t, w.values(c))

	references := []step.Reference{}
	for i := range 1000 {
		references = append(references, ref("", "", "none"+strings.Repeat("x", i%50)))
	}
	require.Empty(t, w.values(c, append(references, bare)...), "the thousand and first has no value")

	_, err = Values(testContext(t), w.db, bytes.Repeat([]byte("l"), 32), workOf(c), []step.Reference{bare})
	require.ErrorIs(t, err, seal.ErrUnseal)
	_, err = Values(testContext(t), w.db, nil, workOf(c), []step.Reference{ref("org", "", "x")})
	require.NoError(t, err, "only secrets take the key")
}

// A secret that is too short to be masked is none.
func TestSecretsAreLongEnoughToBeMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := w.variable(w.admin, NewVariable{Scope: "org", Name: "open", Value: "ab"})
	secret := w.variable(w.admin, NewVariable{Scope: "org", Name: "secret", Value: "abc", IsSecret: true})
	for _, value := range []string{"", "ab", "éé"} {
		err := w.do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := CreateVariable(ctx, tx, w.admin, sealKey, NewVariable{Scope: "org", Name: "x", Value: value, IsSecret: true})
			return err
		})
		require.Equal(t, "value", invalidField(t, err), value)
		_, err = w.changeVariable(w.admin, secret.ID, VariableChange{Value: &value})
		require.Equal(t, "value", invalidField(t, err), value)
	}
	_, err := w.changeVariable(w.admin, open.ID, VariableChange{IsSecret: ptr(true)})
	require.Equal(t, "value", invalidField(t, err), "the value that it has")
	_, err = w.changeVariable(w.admin, open.ID, VariableChange{Value: ptr("")})
	require.NoError(t, err, "what is no secret may be short")
}
