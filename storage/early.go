package storage

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/slipway-qa/slipway/migrations"
)

// SchemaError means that the schema is none that this program can upgrade. Nothing was changed.
type SchemaError struct {
	Version int64    // the newest step that the database says it has; 0: it says of none
	Early   bool     // the step is one of before the baseline
	Lacks   []string // columns and keys that it should have then, as in migrations.Change
	// Extra are tables, "table", and columns that it should not have: a step that is not
	// applied yet would create them. Empty where Lacks is not.
	Extra []string
}

func (e *SchemaError) Error() string {
	const refused = "this program cannot upgrade the database's schema, and has changed nothing: "
	of := fmt.Sprintf("%05d", e.Version)
	if e.Early {
		of += " of before 2026-11-22"
		if commit := migrations.EarlyCommit(e.Version); commit != "" {
			of += " (commit " + commit + ")"
		}
	}
	switch {
	case e.Version == 0:
		return refused + "it has no record of migrations (goose_db_version), and has what they create: " + some(e.Extra) + ". " +
			"Use an empty database, or restore a backup of the whole one"
	case len(e.Lacks) == 0:
		return refused + "its migrations are applied up to " + of + ", and it has what later ones create: " + some(e.Extra) + ". " +
			"Rename or remove what is not of this program, or restore the backup that was made before it was changed"
	}
	return refused + "its migrations are applied up to " + of + ", and it lacks " + some(e.Lacks) + ". " +
		"Restore the backup that was made before it was changed, or upgrade it first by the version whose newest migration is " +
		of + ", the one that wrote it"
}

// some returns the first names of a list, and how many there are besides.
func some(names []string) string {
	const named = 3
	var list []string
	for _, name := range names[:min(named, len(names))] {
		if table, key, ok := strings.Cut(name, "."+migrations.Key); ok {
			name = "the key " + key + " of " + table
		}
		list = append(list, name)
	}
	text := strings.Join(list, ", ")
	if len(names) > named {
		text += fmt.Sprintf(" and %d more", len(names)-named)
	}
	return text
}

// origin is the line of steps that a schema comes from.
type origin int

const (
	ofBaseline origin = iota // the present steps
	ofFires                  // the baseline as it was first
	ofEarly                  // the steps before the baseline
)

// schemaState is what a database says of its schema, and what it has.
type schemaState struct {
	origin   origin
	versions []int64 // applied, sorted
	columns  map[string]bool
	// relations are the names that no table can get: of tables, views, indexes and sequences.
	relations map[string]bool
	// foreign are present steps, sorted, that were begun on an early schema, which took their
	// numbers for its own: what they made is empty, and is undone before the upgrade.
	foreign []int64
}

// selectColumns are those of tables and views: a step may add either. The primary keys and
// unique constraints of a table are among its columns, for later steps refer to them and drop
// them by name.
const selectColumns = `
select c.relname || '.' || a.attname
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relkind in ('r', 'p', 'v') and c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped
union all
select c.relname || '.` + migrations.Key + `' || k.conname
from pg_constraint k join pg_class c on c.oid = k.conrelid
where k.contype in ('p', 'u') and c.relnamespace = current_schema()::regnamespace`

const selectRelations = `select relname from pg_class where relnamespace = current_schema()::regnamespace`

// inspectSchema reads where a schema comes from. A *SchemaError when it is not what its
// steps have made, or has already what the others will make.
func inspectSchema(ctx context.Context, db *DB) (*schemaState, error) {
	applied, err := appliedVersions(ctx, db)
	if err != nil {
		return nil, err
	}
	s := &schemaState{versions: slices.Sorted(maps.Keys(applied))}
	if s.columns, err = selectNames(ctx, db, selectColumns); err != nil {
		return nil, err
	}
	if s.relations, err = selectNames(ctx, db, selectRelations); err != nil {
		return nil, err
	}
	present := migrations.Shape()
	switch {
	case len(applied) == 0:
		return s, s.refuse(nil, s.extra(present, nil, nil))
	case s.columns["crashes.project_id"]:
		s.origin = ofEarly
		return s, s.inspectEarly()
	case s.columns["test_schedule_fires.id"]:
		s.origin = ofFires
		columns := renamed(present.After(s.versions))
		return s, s.refuse(s.lacks(columns), s.extra(present, nil, columns))
	}
	newest, err := NewestMigration()
	if err != nil {
		return nil, err
	}
	if s.versions[len(s.versions)-1] > newest {
		return s, nil // nobody here knows what the later steps removed: CheckNewer says so
	}
	columns := present.After(s.versions)
	return s, s.refuse(s.lacks(columns), s.extra(present, s.versions, columns))
}

func selectNames(ctx context.Context, db *DB, query string) (map[string]bool, error) {
	var list []string
	if err := db.SelectContext(ctx, &list, query); err != nil {
		return nil, Wrap(err, "read the schema")
	}
	names := map[string]bool{}
	for _, name := range list {
		names[name] = true
	}
	return names, nil
}

// renamed returns the columns as the baseline had them first.
func renamed(columns []string) []string {
	names := strings.NewReplacer("test_schedule_firings.", "test_schedule_fires.", migrations.Key+"test_schedule_firings_",
		migrations.Key+"test_schedule_fires_",
		"test_schedules.last_firing_id", "test_schedules.last_fire_id", "suite_runs.firing_id", "suite_runs.fire_id")
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = names.Replace(column)
	}
	return list
}

func (s *schemaState) lacks(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(column string) bool { return s.columns[column] })
}

// extra returns the tables and columns that are there although a step has yet to create
// them: none of the applied ones has, and they are none of those that the schema should
// have. A step that takes a column that it finds is no reason to refuse it.
func (s *schemaState) extra(shape migrations.Changes, applied []int64, columns []string) []string {
	of := map[string]bool{} // columns, and their tables
	for _, column := range columns {
		table, _, _ := strings.Cut(column, ".")
		of[table], of[column] = true, true
	}
	taken := migrations.Tolerated()
	found := map[string]bool{}
	for version, change := range shape {
		if slices.Contains(applied, version) {
			continue
		}
		for _, column := range change.Adds {
			table, _, _ := strings.Cut(column, ".")
			switch {
			case !of[table]:
				if s.relations[table] {
					found[table] = true
				}
			case s.columns[column] && !of[column] && !taken[column]:
				found[column] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func (s *schemaState) refuse(lacks, extra []string) error {
	if len(lacks) == 0 && len(extra) == 0 {
		return nil
	}
	e := &SchemaError{Early: s.origin == ofEarly, Lacks: lacks, Extra: extra}
	if len(lacks) > 0 {
		e.Extra = nil
	}
	if len(s.versions) > 0 {
		e.Version = s.versions[len(s.versions)-1]
	}
	return e
}

// inspectEarly looks for the present steps that were begun on an early schema: its newest
// ones, of a number that no early one has, or without the columns of the early one.
func (s *schemaState) inspectEarly() error {
	early, present := migrations.EarlyShape(), migrations.Shape()
	for n := len(s.versions); n > 0; n-- {
		columns := early.After(s.versions[:n])
		if s.versions[n-1] > migrations.EarlyNewest || len(s.lacks(columns)) > 0 {
			continue
		}
		begun := present.After(s.versions[n:])
		if len(s.lacks(begun)) > 0 {
			break
		}
		s.versions, s.foreign = s.versions[:n], s.versions[n:]
		columns = append(columns, begun...)
		extra := append(s.extra(early, s.versions, columns), s.extra(present, nil, columns)...)
		slices.Sort(extra)
		return s.refuse(nil, slices.Compact(extra))
	}
	lacks := s.lacks(early.After(s.versions))
	if len(lacks) == 0 {
		lacks = s.lacks(present.After(s.versions))
	}
	return s.refuse(lacks, nil)
}

// CheckUpgrade returns a *SchemaError when the program cannot upgrade the schema, and else
// what is to be said of it beside its steps; "" for most.
func CheckUpgrade(ctx context.Context, db *DB) (string, error) {
	s, err := inspectSchema(ctx, db)
	if err != nil || s.origin == ofBaseline {
		return "", err
	}
	return "The schema is one of before 2026-11-22, whose steps had these numbers and other names. slipway migrate converts it; stop all " +
		"processes first.", nil
}

// convert makes the baseline of an earlier schema, and returns what it did.
func (s *schemaState) convert(ctx context.Context, db *DB) ([]string, error) {
	var names []string
	conversions := []string{migrations.FromFires}
	if s.origin == ofEarly {
		if err := s.undoForeign(ctx, db); err != nil {
			return nil, err
		}
		p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.EarlySteps())
		if err != nil {
			return nil, fmt.Errorf("read early migrations: %w", err)
		}
		applied, err := applyAll(ctx, p)
		for _, name := range applied {
			names = append(names, "early/"+name)
		}
		if err != nil {
			return names, err
		}
		conversions = []string{migrations.FromEarly, migrations.FromFires}
	}
	err := db.InTx(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `set local lock_timeout = '3s'`); err != nil {
			return Wrap(err, "convert schema")
		}
		for _, name := range conversions {
			text, err := fs.ReadFile(migrations.EarlyConversions(), name)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return Wrap(err, "convert schema: "+name)
			}
			names = append(names, "early/convert/"+name)
		}
		if s.origin == ofFires {
			return nil
		}
		// The early steps are those of the baseline from now on.
		_, err := tx.ExecContext(ctx, `delete from goose_db_version where version_id > $1`, migrations.Baseline)
		return Wrap(err, "convert schema")
	})
	return names, err
}

// undoForeign removes what present steps made of an early schema before one of them failed.
// No program ran on it: a table that has rows is not what it seems, and ends the upgrade.
func (s *schemaState) undoForeign(ctx context.Context, db *DB) error {
	if len(s.foreign) == 0 {
		return nil
	}
	early := map[string]bool{}
	for _, column := range migrations.EarlyShape().After(s.versions) {
		table, _, _ := strings.Cut(column, ".")
		early[table] = true
	}
	return db.InTx(ctx, func(tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `set local lock_timeout = '3s'`); err != nil {
			return Wrap(err, "undo migrations")
		}
		gone := map[string]bool{}
		for _, name := range migrations.Shape().After(s.foreign) {
			table, column, _ := strings.Cut(name, ".")
			statement := "drop table " + table + " cascade"
			switch {
			case gone[table]:
				continue
			case early[table] && strings.HasPrefix(column, migrations.Key):
				statement = "alter table " + table + " drop constraint if exists " + strings.TrimPrefix(column, migrations.Key)
			case early[table]:
				statement = "alter table " + table + " drop column " + column
			default:
				gone[table] = true
				var rows bool
				if err := tx.GetContext(ctx, &rows, `select exists (select from `+table+`)`); err != nil {
					return Wrap(err, "undo migrations")
				}
				if rows {
					return &SchemaError{Version: s.foreign[len(s.foreign)-1], Early: true,
						Lacks: s.lacks(migrations.EarlyShape().After(append(s.versions, s.foreign...)))}
				}
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return Wrap(err, "undo migrations")
			}
		}
		_, err := tx.ExecContext(ctx, `delete from goose_db_version where version_id >= $1`, s.foreign[0])
		return Wrap(err, "undo migrations")
	})
}
