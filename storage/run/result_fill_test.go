package run_test

import (
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/migrations"
	. "github.com/slipway-qa/slipway/storage/run"
)

// A run that ends in a transaction which began before its case had a row for the result, and
// commits later, is in the result that the migration fills in.
func TestResultsOfRunsThatEndDuringTheirMigration(t *testing.T) {
	t.Parallel()
	const fill = 122
	w := open(t)
	ctx := fixture.Context(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	r := w.NewRun(c, 1)
	w.Exec(`delete from test_case_results where case_id = $1`, c.ID)
	w.Exec(`delete from goose_db_version where version_id = $1`, fill)
	writer, err := w.DB.BeginTxx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = writer.Rollback() }()
	_, err = writer.ExecContext(ctx, `update test_runs set state = 'PASSED' where id = $1`, r.ID)
	require.NoError(t, err)

	p, err := goose.NewProvider(goose.DialectPostgres, w.DB.DB.DB, migrations.Files)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := p.ApplyVersion(ctx, fill, true)
		done <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := w.DB.GetContext(ctx, &waiting, `select exists (select from test_case_results where case_id = $1) and exists (
			select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%')`,
			c.ID)
		return err == nil && waiting
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, writer.Commit())
	require.NoError(t, <-done)
	var state Status
	require.NoError(t, w.DB.GetContext(ctx, &state, `select state from test_case_results where case_id = $1`, c.ID))
	require.Equal(t, Passed, state)
}
