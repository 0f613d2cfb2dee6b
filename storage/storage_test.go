package storage_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func TestOpenRefusesWhatIsNoURLAndHidesThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "mysql://x", "host=localhost", "postgres://u:sesame@h:notaport/d"} {
		_, err := storage.Open(storage.Config{URL: url})
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "sesame")
	}
}

func TestCheckSaysUnavailable(t *testing.T) {
	t.Parallel()
	db, err := storage.Open(storage.Config{URL: "postgres://u:p@127.0.0.1:1/d"})
	require.NoError(t, err)
	require.ErrorIs(t, db.Check(context.Background()), storage.ErrUnavailable)
}

func TestMigrateIsIdempotentAndSchemaIsChecked(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	applied, err := storage.Migrate(context.Background(), db)
	require.NoError(t, err)
	require.Empty(t, applied, "the template was migrated")
	require.NoError(t, storage.CheckSchema(context.Background(), db))
	_, err = db.Exec(`delete from goose_db_version where version_id > 0`)
	require.NoError(t, err)
	require.ErrorContains(t, storage.CheckSchema(context.Background(), db), "slipway migrate")
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), context.Background()
	insert := func(q storage.Querier, slug string) error {
		_, err := q.ExecContext(ctx, `insert into organizations (uuid, slug, name) values ($1, $2, $2)`, uuid.New(), slug)
		return storage.Wrap(err, "insert")
	}
	slugs := func() (all []string) {
		require.NoError(t, db.Select(&all, `select slug from organizations order by slug`))
		return all
	}
	boom := errors.New("boom")
	require.ErrorIs(t, db.InTx(ctx, func(tx *storage.Tx) error {
		require.NoError(t, insert(tx, "gone"))
		return boom
	}), boom)
	require.Panics(t, func() {
		_ = db.InTx(ctx, func(tx *storage.Tx) error {
			require.NoError(t, insert(tx, "gone"))
			panic("p")
		})
	})
	require.Empty(t, slugs())

	require.NoError(t, db.InTx(ctx, func(tx *storage.Tx) error {
		require.NoError(t, insert(tx, "a"))
		err := tx.Savepoint(ctx, func() error {
			require.NoError(t, insert(tx, "b"))
			return insert(tx, "a")
		})
		require.ErrorIs(t, err, storage.ErrConflict)
		require.True(t, storage.IsData(err))
		return tx.Savepoint(ctx, func() error { return insert(tx, "c") })
	}))
	require.Equal(t, []string{"a", "c"}, slugs())
}

func TestCommitOnALostConnectionIsUnknown(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), context.Background()
	err := db.InTx(ctx, func(tx *storage.Tx) error {
		var pid int
		require.NoError(t, tx.Get(&pid, `select pg_backend_pid()`))
		_, err := db.Exec(`select pg_terminate_backend($1)`, pid)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			var n int
			return db.Get(&n, `select count(*) from pg_stat_activity where pid = $1`, pid) == nil && n == 0
		}, time.Minute, 10*time.Millisecond)
		return nil
	})
	var unknown *storage.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, storage.ErrUnavailable)
}

func TestAfterCommit(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), context.Background()
	_, err := db.Exec(`create table marks (n int)`)
	require.NoError(t, err)
	called := 0
	insert := func(tx *storage.Tx) error {
		tx.AfterCommit(func() {
			var n int
			require.NoError(t, db.Get(&n, `select count(*) from marks`))
			require.Equal(t, 1, n, "others see what was committed")
			called++
		})
		_, err := tx.Exec(`insert into marks values (1)`)
		return err
	}
	require.NoError(t, db.InTx(ctx, insert))
	require.Equal(t, 1, called)
	refused := errors.New("refused")
	require.ErrorIs(t, db.InTx(ctx, func(tx *storage.Tx) error { return errors.Join(insert(tx), refused) }), refused)
	require.Equal(t, 1, called, "a transaction that was rolled back calls nothing")
}

func TestAuditIsAppendOnly(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	_, err := db.Exec(`insert into audit_events (type, action, actor) values (1, 'a', 'b')`)
	require.NoError(t, err)
	_, err = db.Exec(`update audit_events set actor = 'c'`)
	require.ErrorContains(t, err, "append-only")
	_, err = db.Exec(`delete from audit_events`)
	require.ErrorContains(t, err, "append-only")
}

func TestSingleStatementIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), context.Background()
	_, err := db.Exec(`create table marks (n int)`)
	require.NoError(t, err)
	var read []int
	require.NoError(t, db.SelectSingleStatement(ctx, &read, `insert into marks values ($1) returning n`, 1))
	require.Equal(t, []int{1}, read)

	// The server goes away while the statement runs.
	gone := make(chan error, 1)
	go func() {
		var none []int
		gone <- db.SelectSingleStatement(ctx, &none, `insert into marks select $1 from pg_sleep(30)`, 2)
	}()
	require.Eventually(t, func() bool {
		var ended bool
		err := db.Get(&ended, `select pg_terminate_backend(pid) from pg_stat_activity
			where query like 'insert into marks select%' and state = 'active' and datname = current_database()`)
		return err == nil && ended
	}, time.Minute, 10*time.Millisecond)
	err = <-gone
	var unknown *storage.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, storage.ErrUnavailable)
	var n int
	require.NoError(t, db.Get(&n, `select count(*) from marks`))
	require.Equal(t, 1, n)

	// A statement that the server refuses is known not to have happened.
	err = db.SelectSingleStatement(ctx, &read, `insert into marks values (1 / $1::int)`, 0)
	require.Error(t, err)
	require.False(t, errors.As(err, &unknown))

	away, err := storage.Open(storage.Config{URL: "postgres://u:p@127.0.0.1:1/d"})
	require.NoError(t, err)
	err = away.SelectSingleStatement(ctx, &read, `select 1`)
	require.ErrorIs(t, err, storage.ErrUnavailable)
	require.False(t, errors.As(err, &unknown), "what was not sent did not happen")
}
