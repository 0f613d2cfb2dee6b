package storage_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage"
)

// landedFile has each schema that ever landed: the steps as they were then, and a few rows
// of each table. Schemas resemble each other, so they are compressed as one.
const landedFile = "testdata/landed.tar.zst"

// landed is a schema as a commit left it.
type landed struct {
	commit string
	steps  fstest.MapFS
	rows   []tableRows // tables with foreign keys after those that they name
}

type tableRows struct {
	Table string            `json:"table"`
	Rows  []json.RawMessage `json:"rows"`
}

const rowsFile = "rows.json"

// readLanded returns the schemas, the oldest first.
func readLanded(t *testing.T) []*landed {
	t.Helper()
	raw, err := os.ReadFile(landedFile)
	if errors.Is(err, fs.ErrNotExist) && *update {
		return nil
	}
	require.NoError(t, err)
	unpacked, err := zstd.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	defer unpacked.Close()
	var list []*landed
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		commit, name := path.Split(header.Name)
		commit = strings.TrimSuffix(commit, "/")
		if len(list) == 0 || list[len(list)-1].commit != commit {
			list = append(list, &landed{commit: commit, steps: fstest.MapFS{}})
		}
		last := list[len(list)-1]
		if name == rowsFile {
			require.NoError(t, json.Unmarshal(content, &last.rows))
		} else {
			last.steps[name] = &fstest.MapFile{Data: content}
		}
	}
}

// apply applies the steps of the schema.
func (l *landed) apply(ctx context.Context, t *testing.T, db *storage.DB) {
	t.Helper()
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, l.steps)
	require.NoError(t, err)
	_, err = p.Up(ctx)
	require.NoError(t, err)
}

// restore makes the schema with its rows.
func (l *landed) restore(ctx context.Context, t *testing.T, db *storage.DB) {
	t.Helper()
	l.apply(ctx, t, db)
	for _, of := range l.rows {
		for _, row := range of.Rows {
			_, err := db.ExecContext(ctx, insertRow(ctx, t, db, of.Table)+` on conflict do nothing`, string(row))
			require.NoError(t, err, "%s: %s", of.Table, row)
		}
	}
	var sequences []struct{ Name, Table, Column string }
	require.NoError(t, db.SelectContext(ctx, &sequences,
		`select pg_get_serial_sequence(table_name, column_name) as name, table_name as table, column_name as column
		from information_schema.columns where table_schema = 'public' and is_identity = 'YES'`))
	for _, s := range sequences {
		_, err := db.ExecContext(ctx, fmt.Sprintf(`select setval('%s', (select coalesce(max(%s), 0) + 1 from %s))`, s.Name, s.Column, s.Table))
		require.NoError(t, err)
	}
}

// insertRow returns the statement that inserts a row from its JSON.
func insertRow(ctx context.Context, t *testing.T, db storage.Querier, table string) string {
	t.Helper()
	var columns []string
	require.NoError(t, db.SelectContext(ctx, &columns, `select quote_ident(attname) from pg_attribute
		where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`, table))
	list := strings.Join(columns, ", ")
	return fmt.Sprintf(`insert into %s (%s) overriding system value select %s from jsonb_populate_record(null::%s, $1::jsonb)`,
		table, list, list, table)
}

// rowsOf returns all rows of the tables, each column as the text of its JSON.
func rowsOf(ctx context.Context, t *testing.T, db *storage.DB) map[string][]map[string]string {
	t.Helper()
	var tables []string
	require.NoError(t, db.SelectContext(ctx, &tables, `select table_name from information_schema.tables
		where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'goose_db_version'`))
	all := map[string][]map[string]string{}
	for _, table := range tables {
		var rows []string
		require.NoError(t, db.SelectContext(ctx, &rows, `select to_jsonb(t) from `+table+` t`))
		all[table] = nil
		for _, row := range rows {
			var columns map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(row), &columns))
			texts := map[string]string{}
			for name, value := range columns {
				texts[name] = strings.Trim(string(value), `"`)
			}
			all[table] = append(all[table], texts)
		}
	}
	return all
}

// renames are the tables and columns of the early schemas that have another name since;
// a column is the one of its table then.
var renames = map[string]string{
	"authoring_keys": "idempotency_keys", "idempotency_keys.scope": "operation", "idempotency_keys.build_id": "result",
	"test_schedule_fires": "test_schedule_firings", "test_schedules.last_fire_id": "last_firing_id", "suite_runs.fire_id": "firing_id",
	"tester_group_members.group_id": "tester_group_id", "build_groups.group_id": "tester_group_id",
	"project_groups.group_id":     "tester_group_id",
	"crash_group_keys.project_id": "crash_project_id", "crash_groups.project_id": "crash_project_id",
	"crash_uuids.project_id": "crash_project_id", "crashes.project_id": "crash_project_id",
	"storage_connections.secret": "sealed", "suite_runs.status": "state", "test_jobs.status": "state", "test_runs.status": "state",
	"tasks.offered_at": "delivered_at",
}

// rewritten are the columns whose values steps change on purpose.
var rewritten = map[string]string{
	"test_cases.runnable": "step 12 takes it from cases without a target that has capabilities",
	"projects.platform":   "step 87 gives platforms one spelling, and forgets what is none",
}

// TestUpgrade upgrades some of the schemas that landed: the first, that of 2026-11-21, and
// the newest but one. TestUpgradeFromEvery upgrades all.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	all := readLanded(t)
	for _, l := range []*landed{all[0], all[2], all[len(all)-2]} {
		t.Run(l.commit, func(t *testing.T) {
			t.Parallel()
			upgradeFrom(t, l, false)
		})
	}
}

// upgradeFrom upgrades a schema, and compares what its tables had with what they have then.
// half: a program that did not know early schemas has tried before, and failed.
func upgradeFrom(t *testing.T, l *landed, half bool) {
	db := emptyDB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	l.restore(ctx, t, db)
	before := rowsOf(ctx, t, db)
	if half {
		p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files)
		require.NoError(t, err)
		_, err = p.Up(ctx)
		require.Error(t, err, "it knew only its own steps")
	}
	note, err := storage.CheckUpgrade(ctx, db)
	require.NoError(t, err)
	list, err := storage.Migrations(ctx, db)
	require.NoError(t, err)
	if _, early := l.steps["00010_task_keys.sql"]; early {
		require.Contains(t, note, "slipway migrate converts it")
		require.Equal(t, storage.MigrationApplied, list[0].State)
		require.Equal(t, "early/00001_accounts.sql", list[0].Name)
		require.Equal(t, storage.MigrationPending, list[1].State)
	}
	_, err = storage.Migrate(ctx, db)
	require.NoError(t, err)
	require.NoError(t, storage.CheckSchema(ctx, db))
	after := rowsOf(ctx, t, db)
	rows := 0
	for table, list := range before {
		for _, row := range list {
			rows++
			for _, column := range lost(t, table, row, after) {
				t.Error(column)
			}
		}
	}
	require.GreaterOrEqual(t, rows, len(l.rows), "a row of each table")

	fresh := emptyDB(t)
	_, err = storage.Migrate(ctx, fresh)
	require.NoError(t, err)
	require.Equal(t, catalog(ctx, t, fresh), catalog(ctx, t, db), "the schema is that of a new installation")
	again, err := storage.Migrate(ctx, db)
	require.NoError(t, err)
	require.Empty(t, again)
}

// lost returns the columns, with what they had and what they have, in which the row after
// the upgrade differs that is most like this one; none when one is the same.
func lost(t *testing.T, table string, row map[string]string, after map[string][]map[string]string) []string {
	t.Helper()
	now := table
	if renamed := renames[table]; renamed != "" {
		now = renamed
	}
	require.NotEmpty(t, after[now], "table %s", now)
	var least []string
	for i, has := range after[now] {
		var differs []string
		for column, value := range row {
			name := column
			if _, same := has[column]; !same && renames[table+"."+column] != "" {
				name = renames[table+"."+column]
			}
			found, ok := has[name]
			if !ok {
				found = "(no such column)"
			}
			if _, ok := rewritten[now+"."+name]; found != value && !ok {
				differs = append(differs, fmt.Sprintf("%s.%s: %s is %s", table, column, value, found))
			}
		}
		if i == 0 || len(differs) < len(least) {
			least = differs
		}
	}
	slices.Sort(least)
	return least
}

// catalog lists columns, constraints and indexes.
func catalog(ctx context.Context, t *testing.T, db *storage.DB) []string {
	t.Helper()
	var lines []string
	require.NoError(t, db.SelectContext(ctx, &lines, `
		select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity)
		from information_schema.columns where table_schema = 'public'
		union all
		select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
		where connamespace = 'public'::regnamespace
		union all
		select indexdef from pg_indexes where schemaname = 'public'
		union all
		select concat_ws(' ', tgrelid::regclass, pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
		union all
		select concat_ws(' ', relname, reloptions) from pg_class where relnamespace = 'public'::regnamespace and reloptions is not null`))
	slices.Sort(lines)
	return lines
}

// TestUpgradeAfterHalfATry: a program that did not know the early schemas changed what it
// could of one before it failed. That is undone, and the schema upgraded.
func TestUpgradeAfterHalfATry(t *testing.T) {
	t.Parallel()
	for _, l := range readLanded(t)[:4] {
		t.Run(l.commit, func(t *testing.T) {
			t.Parallel()
			upgradeFrom(t, l, true)
		})
	}
}

// TestForeignSchemaIsNotTouched: a schema that lacks what its steps have made, or has what
// others will make, is refused before anything is changed, with what it lacks or has.
func TestForeignSchemaIsNotTouched(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		landed string // the commit; "": an empty database
		change string
		says   string
	}{
		{"03894a4", `alter table crashes drop column received_at`,
			"up to 00003 of before 2026-11-22 (commit 03894a4 of 2026-11-21), and it lacks crashes.received_at"},
		{"3f4fd9c", `drop table test_cases cascade`, "lacks test_cases."},
		{"9749485", `alter table test_schedule_fires drop column reason`, "up to 00008, and it lacks test_schedule_fires.reason"},
		{"3f4fd9c", `alter table crash_groups drop constraint crash_groups_pkey cascade`,
			"(commit 3f4fd9c of 2026-11-21), and it lacks the key crash_groups_pkey of crash_groups."},
		{"9749485", `alter table test_schedule_fires drop constraint test_schedule_fires_pkey cascade`,
			"lacks the key test_schedule_fires_pkey of test_schedule_fires."},
		{"4477e46", `alter table symbol_generations drop constraint symbol_generations_pkey`,
			"lacks the key symbol_generations_pkey of symbol_generations."},
		{"4477e46", `alter table builds drop column version`, "lacks builds.version"},
		{"", `create table test_cases (id int)`, "no record of migrations (goose_db_version), and has what they create: test_cases."},
		{"", `create table goose_db_version (id int generated by default as identity, version_id bigint not null, is_applied boolean not null,
			tstamp timestamp default now());
			insert into goose_db_version (version_id, is_applied) values (0, true); create view users as select 1 as one`, "create: users."},
		{"9a77069", `create table symbol_generations (foreign_to bigint)`, "up to 00098, and it has what later ones create: symbol_generations."},
		{"308e9de", `alter table tasks add column priority text`, "create: tasks.priority."},
		{"9749485", `create table of_others (); create table symbols ()`, "create: symbols."},
		{"9749485", `create table test_schedule_firings (id int)`, "create: test_schedule_firings."},
		{"3f4fd9c", `create table test_schedule_suites (id int)`, "create: test_schedule_suites."},
		{"3f4fd9c", `alter table suite_runs add column firing_id bigint`, "create: suite_runs.firing_id."},
		{"3f4fd9c", `create table symbols (id int)`, "(commit 3f4fd9c of 2026-11-21), and it has what later ones create: symbols."},
	} {
		t.Run(of.landed+" "+of.change, func(t *testing.T) {
			t.Parallel()
			all := readLanded(t)
			db := emptyDB(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			if of.landed != "" {
				at := slices.IndexFunc(all, func(l *landed) bool { return strings.HasPrefix(l.commit, of.landed) })
				require.GreaterOrEqual(t, at, 0)
				all[at].apply(ctx, t, db)
			}
			_, err := db.ExecContext(ctx, of.change)
			require.NoError(t, err)
			before := catalog(ctx, t, db)
			names, err := storage.Migrate(ctx, db)
			require.Empty(t, names)
			var stuck *storage.SchemaError
			require.ErrorAs(t, err, &stuck)
			require.ErrorContains(t, err, of.says)
			require.ErrorContains(t, err, "has changed nothing")
			require.Equal(t, before, catalog(ctx, t, db))
			_, err = storage.CheckUpgrade(ctx, db)
			require.ErrorAs(t, err, &stuck)
		})
	}
}

// TestUpgradeGoesOn: an upgrade that was cut off between two steps is one that can go on,
// wherever that was.
func TestUpgradeGoesOn(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]fs.FS{"early": migrations.EarlySteps(), "present": migrations.Files} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := emptyDB(t)
			p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, steps)
			require.NoError(t, err)
			for _, step := range p.ListSources() {
				_, err := p.ApplyVersion(t.Context(), step.Version, true)
				require.NoError(t, err)
				if name == "early" && step.Version < 3 {
					continue // no commit had these steps alone
				}
				_, err = storage.CheckUpgrade(t.Context(), db)
				require.NoError(t, err, step.Path)
			}
		})
	}
	for _, commit := range []string{"3f4fd9c", "9749485"} {
		t.Run("converted "+commit, func(t *testing.T) {
			t.Parallel()
			all, db := readLanded(t), emptyDB(t)
			at := slices.IndexFunc(all, func(l *landed) bool { return strings.HasPrefix(l.commit, commit) })
			all[at].apply(t.Context(), t, db)
			// What fails a step without being seen before: the name of an index.
			_, err := db.ExecContext(t.Context(), `create index symbols_list on test_cases (id)`)
			require.NoError(t, err)
			_, err = storage.Migrate(t.Context(), db)
			require.ErrorContains(t, err, "symbols_list")
			note, err := storage.CheckUpgrade(t.Context(), db)
			require.NoError(t, err)
			require.Empty(t, note, "it is converted")
			_, err = db.ExecContext(t.Context(), `drop index symbols_list`)
			require.NoError(t, err)
			_, err = storage.Migrate(t.Context(), db)
			require.NoError(t, err)
			require.NoError(t, storage.CheckSchema(t.Context(), db))
		})
	}
}

// TestLateSteps: steps that land with lower numbers than the newest are applied all the same.
func TestLateSteps(t *testing.T) {
	t.Parallel()
	db := emptyDB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	_, err := storage.Migrate(ctx, db)
	require.NoError(t, err)
	whole := catalog(ctx, t, db)
	// As if these two had landed later than all others.
	_, err = db.ExecContext(ctx, `delete from goose_db_version where version_id in (9, 98);
		alter table organizations drop column healing`)
	require.NoError(t, err)
	for _, column := range migrations.Shape()[98].Adds {
		table, name, _ := strings.Cut(column, ".")
		_, err := db.ExecContext(ctx, `alter table `+table+` drop column `+name)
		require.NoError(t, err)
	}
	require.ErrorContains(t, storage.CheckSchema(ctx, db), "lacks migrations")
	names, err := storage.Migrate(ctx, db)
	require.NoError(t, err)
	require.Len(t, names, 2)
	require.NoError(t, storage.CheckSchema(ctx, db))
	require.ElementsMatch(t, whole, catalog(ctx, t, db))
}
