package storage_test

import (
	"context"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage"
)

// TestMigrateWaitsForATableInUse: a step that does not get its lock lets others
// through and is tried again, and what came before it stays.
func TestMigrateWaitsForATableInUse(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := db.ExecContext(ctx, `drop schema public cascade; create schema public`)
	require.NoError(t, err)
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files)
	require.NoError(t, err)
	_, err = p.UpTo(ctx, 1)
	require.NoError(t, err)

	writer, err := db.BeginTxx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = writer.Rollback() }()
	_, err = writer.ExecContext(ctx, `set local idle_in_transaction_session_timeout = 0`)
	require.NoError(t, err)
	// A foreign key to organizations waits for those who write them.
	_, err = writer.ExecContext(ctx, `update organizations set name = name`)
	require.NoError(t, err)

	type outcome struct {
		names []string
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		names, err := storage.Migrate(ctx, db)
		done <- outcome{names, err}
	}()
	// The lock is asked for, given up, and asked for again.
	for _, waiting := range []bool{true, false, true} {
		require.Eventually(t, func() bool {
			var held int
			err := db.GetContext(ctx, &held, `select count(*) from pg_locks where not granted and relation = 'organizations'::regclass
				and database = (select oid from pg_database where datname = current_database())`)
			return err == nil && (held > 0) == waiting
		}, 30*time.Second, 20*time.Millisecond)
	}
	require.NoError(t, writer.Rollback())
	got := <-done
	require.NoError(t, got.err)
	require.NotEmpty(t, got.names)
	require.Equal(t, "00002_tasks.sql", got.names[0])
	require.NoError(t, storage.CheckSchema(ctx, db))
}
