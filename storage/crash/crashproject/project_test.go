package crashproject_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// remember inserts what is remembered of reports of the project; those that a purge removed
// are in both tables.
func (r *room) remember(ctx context.Context, purged bool, n int) {
	r.T.Helper()
	query := `insert into crash_uuids (crash_project_id, uuid, digest, crash_id)
		select $1, gen_random_uuid(), '\x00', gen_random_uuid() from generate_series(1, $2::int) returning crash_id, crash_project_id, uuid`
	if purged {
		query = `with u as (` + query + `) insert into crash_purged (crash_id, crash_project_id, uuid) select * from u`
	}
	_, err := r.DB.ExecContext(ctx, query, r.Project, n)
	require.NoError(r.T, err)
}

func (r *room) deleteProject(ctx context.Context) error {
	return r.DB.InTx(ctx, func(tx *storage.Tx) error {
		_, err := crashproject.Delete(ctx, tx, account.CLI(), r.Org.ID, r.Project)
		return err
	})
}

// A report does not wait for the lock of its project: one that is accepted while the project
// is deleted keeps it.
func TestDeleteProjectSeesAReport(t *testing.T) {
	t.Parallel()
	r, ctx := open(t), t.Context()
	r.remember(ctx, true, 2)
	ended := make(chan error, 1)
	require.NoError(t, r.DB.InTx(ctx, func(tx *storage.Tx) error {
		// The deletion has looked for reports when it waits for this row.
		if _, err := tx.ExecContext(ctx, `select from crash_uuids where crash_project_id = $1 for update`, r.Project); err != nil {
			return err
		}
		go func() { ended <- r.deleteProject(ctx) }()
		require.Eventually(t, func() bool {
			var waits bool
			err := r.DB.GetContext(ctx, &waits,
				`select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`)
			return err == nil && waits
		}, time.Minute, 20*time.Millisecond)
		r.remember(ctx, false, 1)
		return nil
	}))
	require.ErrorIs(t, <-ended, crashproject.ErrHasReports)
	var n int
	require.NoError(t, r.DB.GetContext(ctx, &n, `select count(*) from crash_uuids where crash_project_id = $1`, r.Project))
	require.Equal(t, 3, n, "nothing is forgotten")
}

// What keeps a project is said one by one: too many reports to forget, a token for reports.
func TestDeleteProjectSaysWhatKeepsIt(t *testing.T) {
	t.Parallel()
	r, ctx := open(t), t.Context()
	token := func(scope string) {
		digest := uuid.New()
		_, err := r.DB.ExecContext(ctx, `insert into crash_tokens (crash_project_id, name, digest, hint, scopes)
			values ($1, 'x', sha256($2), 'hint', array[$3])`, r.Project, digest[:], scope)
		require.NoError(t, err)
	}
	r.remember(ctx, true, 20_001)
	require.ErrorIs(t, r.deleteProject(ctx), crashproject.ErrManyPurged)
	_, err := r.DB.ExecContext(ctx, `delete from crash_uuids where crash_id in (select crash_id from crash_uuids limit 20000)`)
	require.NoError(t, err)
	token(crashproject.ScopeErrorPost)
	require.ErrorIs(t, r.deleteProject(ctx), crashproject.ErrTokenInForce)
	_, err = r.DB.ExecContext(ctx, `update crash_tokens set revoked_at = now() where crash_project_id = $1`, r.Project)
	require.NoError(t, err)
	token(crashproject.ScopeSymbolPost)
	require.NoError(t, r.deleteProject(ctx), "nothing comes by a token for symbols")
}
