package maintenance_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/maintenance"
)

// Each organization keeps its events as long as it says, and what the installation says
// holds for the others.
func TestAuditRetention(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	exec := func(query string, args ...any) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}
	organizations := map[string]int64{}
	for slug, days := range map[string]any{"silent": nil, "forever": 0, "short": 10, "long": 100} {
		var id int64
		require.NoError(t, db.GetContext(t.Context(), &id,
			`insert into organizations (uuid, slug, name, audit_days) values ($1, $2, 'x', $3) returning id`,
			uuid.New(), slug, days))
		organizations[slug] = id
		require.NoError(t, exec(`insert into audit_events (organization_id, at, type, action, actor)
			select $1, now() - make_interval(days => n, hours => 1), 1905, 'security.changed', 'somebody' from generate_series(0, 199) n`, id))
	}
	require.NoError(t, exec(`insert into audit_events (at, type, action, actor)
		select now() - make_interval(days => n, hours => 1), 1900, 'operator.created', 'somebody' from generate_series(0, 199) n`))
	left := func(slug string) (n int) {
		t.Helper()
		require.NoError(t, db.GetContext(t.Context(), &n,
			`select count(*) from audit_events where type <> $1 and organization_id is not distinct from $2`,
			account.AuditExpired, of(organizations[slug])))
		return n
	}
	run := func(days int) map[string]int64 {
		t.Helper()
		h, err := maintenance.NewAuditRetention(db, days)
		require.NoError(t, err)
		h.SetStep(37)
		out := map[string]int64{}
		round(t, db, tasks.AuditRetention, h, &out)
		return out
	}
	require.Len(t, run(0), 2, "the two that say a number")
	for slug, want := range map[string]int{"silent": 200, "forever": 200, "short": 10, "long": 100, "": 200} {
		require.Equal(t, want, left(slug), "%q", slug)
	}
	require.Len(t, run(50), 2)
	for slug, want := range map[string]int{"silent": 50, "forever": 200, "short": 10, "long": 100, "": 50} {
		require.Equal(t, want, left(slug), "%q", slug)
	}
	require.Empty(t, run(50), "nothing is left to do")
	var told int
	require.NoError(t, db.GetContext(t.Context(), &told,
		`select sum((detail->>'deleted')::int) from audit_events where type = $1 and organization_id = $2`,
		account.AuditExpired, organizations["short"]))
	require.Equal(t, 190, told)
	_, err := maintenance.NewAuditRetention(db, -1)
	require.Error(t, err)
}

func of(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// Nobody else deletes or changes an event, and retention none that is younger.
func TestAuditStaysAppendOnly(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	_, err := db.ExecContext(t.Context(), `insert into organizations (uuid, slug, name, audit_days) values (gen_random_uuid(), 'o', 'o', 10)`)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `insert into audit_events (organization_id, at, type, action, actor)
		select id, now() - make_interval(days => n), 1905, 'security.changed', 'somebody' from organizations, unnest(array[5, 50]) n`)
	require.NoError(t, err)
	for _, statement := range []string{
		`delete from audit_events`,
		`update audit_events set actor = 'nobody'`,
		`truncate audit_events`,
		`do $$ begin perform set_config('slipway.audit_retention', 'on', true); delete from audit_events; end $$`,
		`do $$ begin perform set_config('slipway.audit_retention', 'on', true); update audit_events set actor = 'nobody'; end $$`,
		`do $$ begin perform set_config('slipway.audit_retention', 'on', true); delete from audit_events where at > now() - interval '10 ` +
			`days'; end $$`,
		`do $$ begin perform set_config('slipway.audit_days', '1', true), set_config('slipway.audit_retention', 'on', true);
			delete from audit_events where at > now() - interval '10 days'; end $$`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
	var n int
	require.NoError(t, db.GetContext(t.Context(), &n, `select count(*) from audit_events where actor = 'somebody'`))
	require.Equal(t, 2, n)
}
