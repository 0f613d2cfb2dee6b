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

// SchemaError: the schema is none that this program can upgrade. Nothing was changed.
type SchemaError struct {
	Version int64    // the newest step that the database says it has
	Lacks   []string // columns that it should have then, "table.column"
}

func (e *SchemaError) Error() string {
	const named = 3
	list := strings.Join(e.Lacks[:min(named, len(e.Lacks))], ", ")
	if len(e.Lacks) > named {
		list += fmt.Sprintf(" and %d more", len(e.Lacks)-named)
	}
	return fmt.Sprintf("this program cannot upgrade the database's schema, and has changed nothing: its migrations are applied up to %05d, and it lacks %s. "+
		"Restore the backup that was made before it was changed, or upgrade it first by the version whose newest migration is %05d, the one that wrote it", e.Version, list, e.Version)
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
	// foreign are present steps, sorted, that were begun on an early schema, which took their
	// numbers for its own: what they made is empty, and is undone before the upgrade.
	foreign []int64
}

// Of tables and views: a step may add either.
const selectColumns = `
select c.relname || '.' || a.attname
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relkind in ('r', 'p', 'v') and c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped`

// inspectSchema reads where a schema comes from. A *SchemaError when it is not what its
// steps have made.
func inspectSchema(ctx context.Context, db *DB) (*schemaState, error) {
	applied, err := appliedVersions(ctx, db)
	if err != nil {
		return nil, err
	}
	s := &schemaState{versions: slices.Sorted(maps.Keys(applied)), columns: map[string]bool{}}
	if len(applied) == 0 {
		return s, nil
	}
	var columns []string
	if err := db.SelectContext(ctx, &columns, selectColumns); err != nil {
		return nil, Wrap(err, "read the schema")
	}
	for _, column := range columns {
		s.columns[column] = true
	}
	switch {
	case s.columns["crashes.project_id"]:
		s.origin = ofEarly
		return s, s.findForeign()
	case s.columns["test_schedule_fires.id"]:
		s.origin = ofFires
		return s, s.refuse(s.lacks(renamed(migrations.Shape().After(s.versions))))
	}
	newest, err := NewestMigration()
	if err != nil {
		return nil, err
	}
	if s.versions[len(s.versions)-1] > newest {
		return s, nil // nobody here knows what the later steps removed: CheckNewer says so
	}
	return s, s.refuse(s.lacks(migrations.Shape().After(s.versions)))
}

// renamed returns the columns as the baseline had them first.
func renamed(columns []string) []string {
	names := strings.NewReplacer("test_schedule_firings.", "test_schedule_fires.",
		"test_schedules.last_firing_id", "test_schedules.last_fire_id", "suite_runs.firing_id", "suite_runs.fire_id")
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = names.Replace(column)
	}
	return list
}

func (s *schemaState) lacks(columns []string) []string {
	return slices.DeleteFunc(columns, func(column string) bool { return s.columns[column] })
}

func (s *schemaState) refuse(lacks []string) error {
	if len(lacks) == 0 {
		return nil
	}
	return &SchemaError{Version: s.versions[len(s.versions)-1], Lacks: lacks}
}

// findForeign looks for the present steps that were begun on an early schema: its newest
// ones, of a number that no early one has, or without the columns of the early one.
func (s *schemaState) findForeign() error {
	early, present := migrations.EarlyShape(), migrations.Shape()
	for n := len(s.versions); n > 0; n-- {
		if s.versions[n-1] > migrations.EarlyNewest || len(s.lacks(early.After(s.versions[:n]))) > 0 {
			continue
		}
		if len(s.lacks(present.After(s.versions[n:]))) > 0 {
			break
		}
		s.versions, s.foreign = s.versions[:n], s.versions[n:]
		return nil
	}
	lacks := s.lacks(early.After(s.versions))
	if len(lacks) == 0 {
		lacks = s.lacks(present.After(s.versions))
	}
	return s.refuse(lacks)
}

// CheckUpgrade returns a *SchemaError when the program cannot upgrade the schema, and else
// what is to be said of it beside its steps; "" for most.
func CheckUpgrade(ctx context.Context, db *DB) (string, error) {
	s, err := inspectSchema(ctx, db)
	if err != nil || s.origin == ofBaseline {
		return "", err
	}
	return "The schema is one of before 2026-11-22, whose steps had these numbers and other names. slipway migrate converts it; stop all processes first.", nil
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
			case early[table]:
				statement = "alter table " + table + " drop column " + column
			default:
				gone[table] = true
				var rows bool
				if err := tx.GetContext(ctx, &rows, `select exists (select from `+table+`)`); err != nil {
					return Wrap(err, "undo migrations")
				}
				if rows {
					return &SchemaError{Version: s.foreign[len(s.foreign)-1], Lacks: s.lacks(migrations.EarlyShape().After(append(s.versions, s.foreign...)))}
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
