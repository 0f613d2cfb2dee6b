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

// migrateAnew empties a database and takes it up to a step.
func migrateAnew(ctx context.Context, t *testing.T, db *storage.DB, step int64) {
	t.Helper()
	_, err := db.ExecContext(ctx, `drop schema public cascade; create schema public`)
	require.NoError(t, err)
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files)
	require.NoError(t, err)
	_, err = p.UpTo(ctx, step)
	require.NoError(t, err)
}

// TestMigrateWaitsForATableInUse: a step that does not get its lock lets others
// through and is tried again, and what came before it stays.
func TestMigrateWaitsForATableInUse(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	migrateAnew(ctx, t, db, 1)

	writer, err := db.BeginTxx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = writer.Rollback() }()
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
		}, time.Minute, 20*time.Millisecond)
	}
	require.NoError(t, writer.Rollback())
	got := <-done
	require.NoError(t, got.err)
	require.NotEmpty(t, got.names)
	require.Equal(t, "00002_tasks.sql", got.names[0])
	require.NoError(t, storage.CheckSchema(ctx, db))
}

// The versions that groups have seen are those of their projects after the upgrade, and
// what was counted by then stays.
func TestMigrateFillsCrashVersions(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	migrateAnew(ctx, t, db, 35)
	_, err := db.ExecContext(ctx, `
		insert into organizations (uuid, slug, name) values (gen_random_uuid(), 'one', 'one');
		insert into crash_projects (organization_id, name) select id, 'p' from organizations;
		insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count,
			first_seen, last_seen)
			select organization_id, id, decode(repeat(n::text, 64), 'hex'), 1, '', '', '', 0, now(), now()
			from crash_projects, generate_series(1, 2) n;
		insert into crash_group_values (group_id, kind, value, count, first_seen, last_seen)
			select id, kind, value, 2, timestamptz '2026-01-01' + (id - (select min(id) from crash_groups)) * interval '1 day', '2026-02-01'
			from crash_groups, (values ('version', '1.0'), ('version', '2.0'), ('host', 'h')) v(kind, value);
		insert into crash_versions (crash_project_id, version, first_seen, last_seen, crashes)
			select id, '2.0', '2026-03-01', '2026-03-02', 7 from crash_projects`)
	require.NoError(t, err)
	_, err = storage.Migrate(ctx, db)
	require.NoError(t, err)
	var got []string
	require.NoError(t, db.SelectContext(ctx, &got, `select concat_ws(' ', version, first_seen::date, last_seen::date, crashes)
		from crash_versions order by version`))
	require.Equal(t, []string{"1.0 2026-01-01 2026-02-01 4", "2.0 2026-03-01 2026-03-02 7"}, got)
}

// A schema that a newer program has migrated may lack columns which this one knows: its
// later steps removed them. It is newer, and not damaged.
func TestNewerSchemaThatLacksColumns(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	newest, err := storage.NewestMigration()
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `insert into goose_db_version (version_id, is_applied) values ($1, true)`, newest+1)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `alter table symbol_generations drop column generation cascade`)
	require.NoError(t, err)
	_, err = storage.CheckUpgrade(t.Context(), db)
	require.NoError(t, err)
	var newer *storage.NewerSchemaError
	require.ErrorAs(t, storage.CheckNewer(t.Context(), db), &newer)
	_, err = db.ExecContext(t.Context(), `delete from goose_db_version where version_id = $1`, newest+1)
	require.NoError(t, err)
	_, err = storage.CheckUpgrade(t.Context(), db)
	require.Error(t, err, "without the later step the column is lost")
}
