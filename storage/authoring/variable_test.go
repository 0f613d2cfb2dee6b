package authoring_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
)

func (w *room) changeVariable(by account.Writer, id uuid.UUID, c authoring.VariableChange) (v *authoring.Variable, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		v, err = authoring.UpdateVariable(ctx, tx, by, fixture.SealKey, id, c)
		return err
	})
	return v, err
}

func (w *room) values(of *authoring.Case, references ...step.Reference) map[step.Reference]authoring.Value {
	w.T.Helper()
	values, err := authoring.Values(fixture.Context(w.T), w.DB, fixture.SealKey, scopeOf(of), references)
	require.NoError(w.T, err)
	return values
}

func scopeOf(c *authoring.Case) authoring.VariableScope {
	return authoring.VariableScope{OrganizationID: c.OrganizationID, TeamID: c.TeamID, SuiteID: c.SuiteID, CaseID: c.ID}
}

func TestCreateVariable(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, s := w.NewCase(w.Org.Member.Writer, "c"), w.NewSuite(w.Org.Member.Writer, "s")
	theirCase, theirSuite := w.NewCase(w.Org.Neighbor.Writer, "c"), w.NewSuite(w.Org.Neighbor.Writer, "s")
	rivalCase, rivalSuite := w.NewCase(w.Rival.Member.Writer, "c"), w.NewSuite(w.Rival.Member.Writer, "s")
	type place struct {
		by account.Writer
		n  authoring.NewVariable
	}
	for _, p := range []place{
		{w.Org.Owner.Writer, authoring.NewVariable{Scope: "org"}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "team", Team: &w.Org.Team.UUID}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "testSuite", Suite: &s.ID}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "testCase", Case: &c.ID}},
		{w.Org.Neighbor.Writer, authoring.NewVariable{Scope: "testCase", Case: &theirCase.ID}},
	} {
		p.n.Name, p.n.Value = "user", "Ann\n"
		v := w.Variable(p.by, p.n)
		require.Equal(t, authoring.Variable{ID: v.ID, Scope: p.n.Scope, TeamUUID: p.n.Team, SuiteID: p.n.Suite, CaseID: p.n.Case, Name: "user",
			Value: "Ann\n", Version: 1, CreatorUUID: p.by.UserUUID, ModifierUUID: p.by.UserUUID, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, *v)
		got, err := authoring.VariableByID(fixture.Context(t), w.DB, w.Org.ID, v.ID)
		require.NoError(t, err)
		require.Equal(t, v, got)
		_, err = authoring.VariableByID(fixture.Context(t), w.DB, w.Rival.ID, v.ID)
		require.ErrorIs(t, err, storage.ErrNotFound)
		_, err = w.TryVariable(p.by, p.n)
		require.ErrorIs(t, err, storage.ErrConflict, p.n.Scope)
		p.n.Name, p.n.IsSecret, p.n.Value = "password", true, "s3cret"
		v = w.Variable(p.by, p.n)
		require.True(t, v.IsSecret)
		require.Empty(t, v.Value)
	}
	require.Equal(t, 10, w.Audited(account.VariableCreated))
	require.Zero(t, w.Count(`select count(*) from test_variables where position('s3cret'::bytea in sealed) > 0 or value like '%s3cret%'`))
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text || subject like any('{%s3cret%,%Ann%}')`))

	for _, p := range []place{
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "org"}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "team", Team: &w.Org.Side.UUID}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "testSuite", Suite: &theirSuite.ID}},
		{w.Org.Member.Writer, authoring.NewVariable{Scope: "testCase", Case: &theirCase.ID}},
	} {
		p.n.Name = "x"
		_, err := w.TryVariable(p.by, p.n)
		require.ErrorIs(t, err, authoring.ErrForbidden, p.n.Scope)
	}
	for _, n := range []authoring.NewVariable{
		{Scope: "team", Team: &w.Rival.Team.UUID},
		{Scope: "testSuite", Suite: &rivalSuite.ID},
		{Scope: "testCase", Case: &rivalCase.ID},
		{Scope: "testCase", Case: fixture.Ptr("\x00")},
	} {
		n.Name = "x"
		_, err := w.TryVariable(w.Org.Owner.Writer, n)
		require.ErrorIs(t, err, storage.ErrNotFound, n.Scope)
	}
	for i, row := range []struct {
		field string
		n     authoring.NewVariable
	}{
		{"scope", authoring.NewVariable{Name: "x"}},
		{"scope", authoring.NewVariable{Name: "x", Scope: "global"}},
		{"teamId", authoring.NewVariable{Name: "x", Scope: "team"}},
		{"teamId", authoring.NewVariable{Name: "x", Scope: "org", Team: &w.Org.Team.UUID}},
		{"testSuiteId", authoring.NewVariable{Name: "x", Scope: "testSuite"}},
		{"testSuiteId", authoring.NewVariable{Name: "x", Scope: "team", Team: &w.Org.Team.UUID, Suite: &s.ID}},
		{"testCaseId", authoring.NewVariable{Name: "x", Scope: "testCase"}},
		{"testCaseId", authoring.NewVariable{Name: "x", Scope: "testSuite", Suite: &s.ID, Case: &c.ID}},
		{"name", authoring.NewVariable{Scope: "org"}},
		{"name", authoring.NewVariable{Scope: "org", Name: "Upper"}},
		{"name", authoring.NewVariable{Scope: "org", Name: "a\n"}},
		{"name", authoring.NewVariable{Scope: "org", Name: strings.Repeat("x", 65)}},
		{"value", authoring.NewVariable{Scope: "org", Name: "x", Value: strings.Repeat("x", 16<<10+1)}},
		{"value", authoring.NewVariable{Scope: "org", Name: "x", Value: "s3cret\xff"}},
		{"value", authoring.NewVariable{Scope: "org", Name: "x", Value: "s3cret\x00", IsSecret: true}},
	} {
		_, err := w.TryVariable(w.Org.Owner.Writer, row.n)
		require.Equal(t, row.field, fixture.InvalidField(t, err), i)
		require.NotContains(t, err.Error(), "s3cret")
	}
	w.Variable(w.Org.Owner.Writer, authoring.NewVariable{Scope: "org", Name: "long", Value: strings.Repeat("x", 16<<10), IsSecret: true})
}

func TestVariables(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, s := w.NewCase(w.Org.Member.Writer, "c"), w.NewSuite(w.Org.Member.Writer, "s")
	rivalAdmin := w.Rival.Member.Writer
	rivalAdmin.Admin = true
	w.Variable(w.Org.Owner.Writer, authoring.NewVariable{Scope: "org", Name: "b_org"})
	w.Variable(w.Org.Member.Writer, authoring.NewVariable{Scope: "team", Team: &w.Org.Team.UUID, Name: "a_team"})
	w.Variable(w.Org.Neighbor.Writer, authoring.NewVariable{Scope: "team", Team: &w.Org.Side.UUID, Name: "a_side"})
	w.Variable(w.Org.Member.Writer, authoring.NewVariable{Scope: "testSuite", Suite: &s.ID, Name: "suite", Value: "secret", IsSecret: true})
	w.Variable(w.Org.Member.Writer, authoring.NewVariable{Scope: "testCase", Case: &c.ID, Name: "kase"})
	w.Variable(rivalAdmin, authoring.NewVariable{Scope: "org", Name: "rival"})
	for _, row := range []struct {
		f    authoring.VariableFilter
		want []string
	}{
		{authoring.VariableFilter{}, []string{"a_side", "a_team", "b_org", "kase", "suite"}},
		{authoring.VariableFilter{Scope: "team"}, []string{"a_side", "a_team"}},
		{authoring.VariableFilter{Team: &w.Org.Team.UUID}, []string{"a_team"}},
		{authoring.VariableFilter{Team: &w.Rival.Team.UUID}, nil},
		{authoring.VariableFilter{Suite: &s.ID}, []string{"suite"}},
		{authoring.VariableFilter{Case: c.ID}, []string{"kase"}},
		{authoring.VariableFilter{Case: "\x00"}, nil},
		{authoring.VariableFilter{Search: "A_"}, []string{"a_side", "a_team"}},
		{authoring.VariableFilter{Search: "\xff"}, nil},
	} {
		row.f.OrganizationID = w.Org.ID
		var names []string
		for skip := 0; skip < 6; skip += 2 {
			row.f.Page = storage.Page{Offset: skip, Limit: 2}
			list, total, err := authoring.Variables(fixture.Context(t), w.DB, row.f)
			require.NoError(t, err)
			require.Equal(t, len(row.want), total)
			for _, v := range list {
				names = append(names, v.Name)
			}
		}
		require.ElementsMatch(t, row.want, names, "%+v", row.f)
		row.f.Page = storage.Page{}
		list, total, err := authoring.Variables(fixture.Context(t), w.DB, row.f)
		require.NoError(t, err)
		require.Empty(t, list)
		require.Equal(t, len(row.want), total)
	}
	_, _, err := authoring.Variables(fixture.Context(t), w.DB, authoring.VariableFilter{OrganizationID: w.Org.ID, Scope: "x"})
	require.Equal(t, "scope", fixture.InvalidField(t, err))
}

func TestUpdateVariable(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "c")
	n := authoring.NewVariable{Scope: "testCase", Case: &c.ID, Name: "a", Value: "one"}
	v := w.Variable(w.Org.Member.Writer, n)
	n.Name = "b"
	w.Variable(w.Org.Member.Writer, n)
	for _, row := range []struct {
		c      authoring.VariableChange
		want   authoring.Value
		name   string
		shown  string
		raised int
	}{
		{authoring.VariableChange{}, authoring.Value{"one", false}, "a", "one", 0},
		{authoring.VariableChange{Value: fixture.Ptr("two"), Version: 1}, authoring.Value{"two", false}, "a", "two", 1},
		{authoring.VariableChange{IsSecret: fixture.Ptr(true)}, authoring.Value{"two", true}, "a", "", 1},
		{authoring.VariableChange{Name: fixture.Ptr("z")}, authoring.Value{"two", true}, "z", "", 1},
		{authoring.VariableChange{Value: fixture.Ptr("three")}, authoring.Value{"three", true}, "z", "", 1},
		{authoring.VariableChange{IsSecret: fixture.Ptr(true)}, authoring.Value{"three", true}, "z", "", 0},
		{authoring.VariableChange{Value: fixture.Ptr("three")}, authoring.Value{"three", true},
			"z", "", 1}, // nobody may learn that it is the same
		{authoring.VariableChange{IsSecret: fixture.Ptr(false), Value: fixture.Ptr("four")}, authoring.Value{"four", false}, "z", "four", 1},
		{authoring.VariableChange{Name: fixture.Ptr("z"), IsSecret: fixture.Ptr(false), Value: fixture.Ptr("four")},
			authoring.Value{"four", false}, "z", "four", 0},
		{authoring.VariableChange{Scope: fixture.Ptr("testCase"), Case: &c.ID}, authoring.Value{"four", false}, "z", "four", 0},
		{authoring.VariableChange{IsSecret: fixture.Ptr(true), Value: fixture.Ptr("äöü")}, authoring.Value{"äöü", true}, "z", "", 1},
		{authoring.VariableChange{IsSecret: fixture.Ptr(false), Value: fixture.Ptr("five"), Name: fixture.Ptr("a")},
			authoring.Value{"five", false}, "a", "five", 1},
	} {
		before := v.Version
		var err error
		v, err = w.changeVariable(w.Org.Owner.Writer, v.ID, row.c)
		require.NoError(t, err)
		require.Equal(t, []any{row.name, row.shown, before + row.raised, row.want.Secret}, []any{v.Name, v.Value, v.Version, v.IsSecret})
		ref := step.Reference{Name: row.name}
		require.Equal(t, map[step.Reference]authoring.Value{ref: row.want}, w.values(c, ref))
	}
	require.Equal(t, w.Org.Owner.UUID, v.ModifierUUID)
	require.Equal(t, w.Org.Member.UUID, v.CreatorUUID)
	require.Equal(t, 8, w.Audited(account.VariableUpdated))

	_, err := w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{Value: fixture.Ptr("x"), Version: v.Version - 1})
	require.ErrorIs(t, err, storage.ErrStale)
	_, err = w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{Name: fixture.Ptr("b")})
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = w.changeVariable(w.Org.Neighbor.Writer, v.ID, authoring.VariableChange{Name: fixture.Ptr("q")})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = w.changeVariable(w.Rival.Member.Writer, v.ID, authoring.VariableChange{Name: fixture.Ptr("q")})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{Name: fixture.Ptr("Q")})
	require.Equal(t, "name", fixture.InvalidField(t, err))
	_, err = w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{Value: fixture.Ptr("\x00")})
	require.Equal(t, "value", fixture.InvalidField(t, err))
	for field, fixed := range map[string]authoring.VariableChange{"scope": {Scope: fixture.Ptr("org")}, "teamId": {Team: &w.Org.Team.UUID},
		"testSuiteId": {Suite: &fixture.NoUUID}, "testCaseId": {Case: fixture.Ptr(strings.Repeat("0", 24))}} {
		_, err = w.changeVariable(w.Org.Member.Writer, v.ID, fixed)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	_, err = w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{IsSecret: fixture.Ptr(true)})
	require.NoError(t, err)
	_, err = w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{IsSecret: fixture.Ptr(false)})
	require.Equal(t, "value", fixture.InvalidField(t, err), "a secret cannot be uncovered")

	// Of those who read the same version one wins.
	var all sync.WaitGroup
	errs := make(chan error, 6)
	for range cap(errs) {
		all.Go(func() {
			_, err := w.changeVariable(w.Org.Member.Writer, v.ID, authoring.VariableChange{Value: fixture.Ptr("xyz"), Version: v.Version + 1})
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
		return w.Do(func(ctx context.Context, tx *storage.Tx) error { return authoring.DeleteVariable(ctx, tx, by, id) })
	}
	require.ErrorIs(t, remove(w.Org.Neighbor.Writer, v.ID), authoring.ErrForbidden)
	require.ErrorIs(t, remove(w.Rival.Member.Writer, v.ID), storage.ErrNotFound)
	require.NoError(t, remove(w.Org.Member.Writer, v.ID))
	require.ErrorIs(t, remove(w.Org.Member.Writer, v.ID), storage.ErrNotFound)
	require.Equal(t, 1, w.Audited(account.VariableDeleted))
	org := w.Variable(w.Org.Owner.Writer, authoring.NewVariable{Scope: "org", Name: "o"})
	require.ErrorIs(t, remove(w.Org.Member.Writer, org.ID), authoring.ErrForbidden)
}

func TestValues(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, s := w.NewCase(w.Org.Member.Writer, "c"), w.NewSuite(w.Org.Member.Writer, "s")
	theirs, theirSuite := w.NewCase(w.Org.Neighbor.Writer, "c"), w.NewSuite(w.Org.Neighbor.Writer, "s")
	second := w.NewCase(w.Org.Member.Writer, "second")
	_, err := w.UpdateSuite(w.Org.Member.Writer, s.ID, authoring.SuiteChange{Add: []string{c.ID}})
	require.NoError(t, err)
	c.SuiteID = &s.ID
	for _, n := range []authoring.NewVariable{
		{Scope: "org", Name: "x"}, {Scope: "org", Name: "only_org"},
		{Scope: "team", Team: &w.Org.Team.UUID, Name: "x"}, {Scope: "team", Team: &w.Org.Side.UUID, Name: "x"},
		{Scope: "testSuite", Suite: &s.ID, Name: "x"}, {Scope: "testSuite", Suite: &theirSuite.ID, Name: "x"},
		{Scope: "testCase", Case: &c.ID, Name: "x"}, {Scope: "testCase", Case: &theirs.ID, Name: "x"},
	} {
		n.Value, n.IsSecret = strings.TrimPrefix(n.Scope, "test"), n.Scope != "org"
		if n.Case != nil && *n.Case == theirs.ID || n.Suite != nil && *n.Suite == theirSuite.ID || n.Team != nil && *n.Team == w.Org.Side.UUID {
			n.Value = "theirs"
		}
		w.Variable(w.Org.Owner.Writer, n)
	}
	ref := func(scope, id, name string) step.Reference { return step.Reference{Scope: scope, ID: id, Name: name} }
	bare := ref("", "", "x")
	theirs.SuiteID = &theirSuite.ID
	rivals := w.NewCase(w.Rival.Member.Writer, "c")
	for i, row := range []struct {
		of   *authoring.Case
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
		want := map[step.Reference]authoring.Value{}
		if row.want != "" {
			want[row.ref] = authoring.Value{Text: row.want, Secret: row.want != "org"}
		}
		require.Equal(t, want, w.values(row.of, row.ref), i)
	}
	// The suite comes before the team, unless it is another team's.
	w.Exec(`delete from test_variables where case_id = $1`, c.ID)
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

	_, err = authoring.Values(fixture.Context(t), w.DB, seal.Ring{bytes.Repeat([]byte("l"), 32)}, scopeOf(c), []step.Reference{bare})
	require.ErrorIs(t, err, seal.ErrUnseal)
	_, err = authoring.Values(fixture.Context(t), w.DB, nil, scopeOf(c), []step.Reference{ref("org", "", "x")})
	require.NoError(t, err, "only secrets take the key")
}

// A secret that is too short to be masked is none.
func TestSecretsAreLongEnoughToBeMasked(t *testing.T) {
	t.Parallel()
	w := open(t)
	open := w.Variable(w.Org.Owner.Writer, authoring.NewVariable{Scope: "org", Name: "open", Value: "ab"})
	secret := w.Variable(w.Org.Owner.Writer, authoring.NewVariable{Scope: "org", Name: "secret", Value: "abc", IsSecret: true})
	for _, value := range []string{"", "ab", "éé"} {
		err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := authoring.CreateVariable(ctx, tx, w.Org.Owner.Writer, fixture.SealKey,
				authoring.NewVariable{Scope: "org", Name: "x", Value: value, IsSecret: true})
			return err
		})
		require.Equal(t, "value", fixture.InvalidField(t, err), value)
		_, err = w.changeVariable(w.Org.Owner.Writer, secret.ID, authoring.VariableChange{Value: &value})
		require.Equal(t, "value", fixture.InvalidField(t, err), value)
	}
	_, err := w.changeVariable(w.Org.Owner.Writer, open.ID, authoring.VariableChange{IsSecret: fixture.Ptr(true)})
	require.Equal(t, "value", fixture.InvalidField(t, err), "the value that it has")
	_, err = w.changeVariable(w.Org.Owner.Writer, open.ID, authoring.VariableChange{Value: fixture.Ptr("")})
	require.NoError(t, err, "what is no secret may be short")
}
