package environment_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

func (w *room) create(by account.Writer, n New) (e *Environment, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		e, err = Create(ctx, tx, by, fixture.SealKey, n)
		return err
	})
	return e, err
}

func (w *room) update(by account.Writer, id uuid.UUID, c Change) (e *Environment, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		e, err = Update(ctx, tx, by, fixture.SealKey, id, c)
		return err
	})
	return e, err
}

func (w *room) delete(by account.Writer, id uuid.UUID) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error { return Delete(ctx, tx, by, id) })
}

func texts(pairs ...string) map[string]*string {
	of := map[string]*string{}
	for i := 0; i < len(pairs); i += 2 {
		of[pairs[i]] = &pairs[i+1]
	}
	return of
}

var staging = Change{TestURL: fixture.Ptr("https://staging.example.com"), Variables: texts("country", "de"),
	Secrets: texts("password", "hunter2!"), Headers: texts("X-Tenant", "{{country}}", "Authorization", "Bearer abc"),
	Targets: &[]capability.Target{{Capabilities: capability.Capabilities{"browserName": "firefox"}}}, Tunnel: fixture.Ptr("office")}

func TestCreate(t *testing.T) {
	t.Parallel()
	w := open(t)
	e, err := w.create(w.Org.Owner.Writer, New{Name: "staging", Change: staging})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"country": "de"}, e.Variables)
	require.Equal(t, []string{"password"}, e.SecretNames)
	require.Equal(t, map[string]string{"x-tenant": "{{country}}"}, e.Headers)
	require.Equal(t, []string{"authorization"}, e.SecretHeaders)
	require.Equal(t, 1, e.Version)
	require.Nil(t, e.TeamUUID)
	require.Equal(t, "firefox", e.Targets[0].Capabilities["browserName"])
	for _, secret := range []string{"hunter2", "Bearer abc"} {
		require.Zero(t, w.Count(`select count(*) from test_environments e where position($1 in e::text) > 0
			or position($1 in encode(e.sealed, 'escape')) > 0`, secret))
		require.Zero(t, w.Count(`select count(*) from audit_events a where position($1 in a::text) > 0`, secret))
	}
	v, err := e.Values(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, &Values{Name: "staging", TestURL: "https://staging.example.com", Variables: map[string]string{"country": "de"},
		Secrets: map[string]string{"password": "hunter2!"},
		Headers: []Header{{"authorization", "Bearer abc", true}, {"x-tenant", "{{country}}", false}}}, v)
	_, err = e.Values(seal.Ring{[]byte(strings.Repeat("n", 32))})
	require.ErrorIs(t, err, seal.ErrUnseal)
	require.Equal(t, 1, w.Audited(account.EnvironmentCreated))

	_, err = w.create(w.Org.Owner.Writer, New{Name: "staging"})
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = w.create(w.Org.Member.Writer, New{Name: "member"})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = w.create(w.Org.Member.Writer, New{Name: "neighbour", Team: fixture.Ptr(uuid.New())})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.create(w.Org.Neighbor.Writer, New{Name: "foreign", Team: &w.Org.Team.UUID})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = w.create(w.Rival.Owner.Writer, New{Name: "staging"})
	require.NoError(t, err, "another organization's")
	ours, err := w.create(w.Org.Member.Writer, New{Name: "ours", Team: &w.Org.Team.UUID})
	require.NoError(t, err)
	require.Equal(t, w.Org.Team.UUID, *ours.TeamUUID)
	require.Equal(t, ours.TeamID, func() int64 { v, err := ours.Values(nil); require.NoError(t, err); return v.Team }())

	ctx := fixture.Context(t)
	for name, want := range map[string][]string{"": {"ours", "staging"}, "STAG": {"staging"}, "x": {}} {
		list, total, err := List(ctx, w.DB, Filter{OrganizationID: w.Org.ID, Search: name, Page: storage.Page{Limit: 10}})
		require.NoError(t, err)
		require.Equal(t, len(want), total)
		names := []string{}
		for _, e := range list {
			names = append(names, e.Name)
		}
		require.Equal(t, want, names)
	}
	_, err = ByName(ctx, w.DB, w.Org.ID, "STAGING\x00")
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = ByID(ctx, w.DB, w.Rival.ID, e.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestRefusedMembers(t *testing.T) {
	t.Parallel()
	w := open(t)
	many := map[string]*string{}
	for i := range MaxVariables + 1 {
		many[fmt.Sprintf("v%d", i)] = fixture.Ptr("v")
	}
	headers := map[string]*string{}
	for i := range MaxHeaders + 1 {
		headers[fmt.Sprintf("x-%d", i)] = fixture.Ptr("v")
	}
	url := fixture.Ptr("https://staging.example.com")
	for field, c := range map[string]Change{
		"variables":              {Variables: many},
		"variables.country":      {Variables: texts("country", strings.Repeat("x", MaxValue+1))},
		"variables.twice":        {Variables: texts("twice", "abc"), Secrets: texts("twice", "abc")},
		"secrets.short":          {Secrets: texts("short", "ab")},
		"secrets":                {Secrets: texts("Bad Name", "abcd")},
		"headers":                {Headers: texts("x-a", "b")}, // without an address
		"headers.host":           {TestURL: url, Headers: texts("Host", "b")},
		"headers.sec-fetch-site": {TestURL: url, Headers: texts("sec-fetch-site", "b")},
		"headers.x-line":         {TestURL: url, Headers: texts("x-line", "a\r\nb: c")},
		"headers.x-space":        {TestURL: url, Headers: texts("x-space", " a")},
		"headers.x-empty":        {TestURL: url, Headers: texts("x-empty", "")},
		"headers.x-letters":      {TestURL: url, Headers: texts("x-letters", "ü")},
		"tunnel":                 {Tunnel: fixture.Ptr("a/b")},
		"testUrl":                {TestURL: fixture.Ptr("https://ann:secret@staging.example.com")},
		"targets":                {Targets: fixture.Ptr(make([]capability.Target, authoring.MaxTargets+1))},
	} {
		_, err := w.create(w.Org.Owner.Writer, New{Name: "staging", Change: c})
		require.Equal(t, field, fixture.InvalidField(t, err))
		require.NotContains(t, err.Error(), "abc")
	}
	for _, c := range []Change{{TestURL: url, Headers: headers}, {TestURL: url, Headers: texts("a b", "c")}} {
		_, err := w.create(w.Org.Owner.Writer, New{Name: "staging", Change: c})
		require.Equal(t, "headers", fixture.InvalidField(t, err))
	}
	for _, name := range []string{"", "Staging", "a b", strings.Repeat("a", 61), "ä"} {
		_, err := w.create(w.Org.Owner.Writer, New{Name: name})
		require.Equal(t, "name", fixture.InvalidField(t, err))
	}
	var wrong *step.InvalidError
	_, err := w.create(w.Org.Owner.Writer, New{Name: "staging", Change: Change{TestURL: fixture.Ptr("ftp://x")}})
	require.ErrorAs(t, err, &wrong)
	_, err = w.create(w.Org.Owner.Writer,
		New{Name: "staging", Change: Change{TestURL: fixture.Ptr("https://ann:{{password}}@staging.example.com")}})
	require.NoError(t, err)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := open(t)
	e, err := w.create(w.Org.Owner.Writer, New{Name: "staging", Change: staging})
	require.NoError(t, err)
	_, err = w.update(w.Org.Member.Writer, e.ID, Change{})
	require.ErrorIs(t, err, authoring.ErrForbidden)
	_, err = w.update(w.Org.Owner.Writer, e.ID, Change{Version: 7})
	require.ErrorIs(t, err, storage.ErrStale)
	same, err := w.update(w.Org.Owner.Writer, e.ID, Change{Variables: texts("country", "de"),
		Headers: texts("x-TENANT", "{{country}}"), Version: 1})
	require.NoError(t, err)
	require.Equal(t, 1, same.Version, "nothing changed")
	again, err := w.update(w.Org.Owner.Writer, e.ID, Change{Secrets: texts("password", "hunter2!")})
	require.NoError(t, err)
	require.Equal(t, 2, again.Version, "a secret always counts")
	changed, err := w.update(w.Org.Owner.Writer, e.ID, Change{Variables: map[string]*string{"country": nil, "city": fixture.Ptr("Bonn")},
		Secrets: texts("pin", "1234"), Headers: map[string]*string{"authorization": nil}, Targets: &[]capability.Target{},
		Tunnel: fixture.Ptr("")})
	require.NoError(t, err)
	v, err := changed.Values(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, &Values{Name: "staging", TestURL: "https://staging.example.com", Variables: map[string]string{"city": "Bonn"},
		Secrets: map[string]string{"password": "hunter2!", "pin": "1234"}, Headers: []Header{{"x-tenant", "{{country}}", false}}}, v)
	require.Empty(t, changed.Targets)
	require.Empty(t, changed.Tunnel)
	_, err = w.update(w.Org.Owner.Writer, e.ID, Change{TestURL: fixture.Ptr("")})
	require.Equal(t, "headers", fixture.InvalidField(t, err), "they would go nowhere")
	_, err = w.update(w.Org.Owner.Writer, e.ID, Change{Secrets: map[string]*string{"password": nil, "pin": nil},
		Headers: map[string]*string{"x-tenant": nil}})
	require.NoError(t, err)
	require.Equal(t, 1, w.Count(`select count(*) from test_environments where sealed is null`))

	require.ErrorIs(t, w.delete(w.Org.Member.Writer, e.ID), authoring.ErrForbidden)
	require.ErrorIs(t, w.delete(w.Rival.Owner.Writer, e.ID), storage.ErrNotFound)
	require.NoError(t, w.delete(w.Org.Owner.Writer, e.ID))
	require.Equal(t, 1, w.Audited(account.EnvironmentDeleted))
}

func TestMostEnvironments(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.Exec(`insert into test_environments (id, organization_id, name, creator_uuid, modifier_uuid)
		select gen_random_uuid(), $1, 'e' || n, gen_random_uuid(), gen_random_uuid() from generate_series(1, $2) n`, w.Org.ID, Most)
	_, err := w.create(w.Org.Owner.Writer, New{Name: "one-more"})
	require.ErrorIs(t, err, ErrFull)
}
