package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"

	"github.com/slipway-qa/slipway/migrations"
)

// The states of a migration.
const (
	MigrationApplied = "applied"
	MigrationPending = "pending"
	// MigrationUnknown: the database has it, and this program does not know it, since a
	// newer one applied it.
	MigrationUnknown = "unknown"
)

// Migration is one step of the schema.
type Migration struct {
	Version   int64      `json:"version"`
	Name      string     `json:"name"` // its file; "" when the program does not know it
	State     string     `json:"state"`
	AppliedAt *time.Time `json:"applied_at"` // nil while it is pending
}

// NewerSchemaError means that the database has migrations that this program does not know.
type NewerSchemaError struct {
	Newest  int64 // the newest of the database
	Known   int64 // the newest of the program
	Unknown int   // how many
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the database has %d migrations that this program does not know: its schema is %05d, the program's %05d. "+
		"Run a program of the version that migrated it, or a newer one", e.Unknown, e.Newest, e.Known)
}

// Migrations returns the steps of the schema by version: those of the program, and those
// that only the database has. Before the first migration all are pending. Those of a schema
// of before the baseline are its own: they are named early/, and all of the program pending.
func Migrations(ctx context.Context, db *DB) ([]Migration, error) {
	p, err := steps(db)
	if err != nil {
		return nil, err
	}
	applied, err := appliedVersions(ctx, db)
	if err != nil {
		return nil, err
	}
	list, err := takeEarly(ctx, db, applied)
	if err != nil {
		return nil, err
	}
	for _, s := range p.ListSources() {
		m := Migration{Version: s.Version, Name: path.Base(s.Path), State: MigrationPending}
		if at, ok := applied[s.Version]; ok {
			m.State, m.AppliedAt = MigrationApplied, &at
			delete(applied, s.Version)
		}
		list = append(list, m)
	}
	for version, at := range applied {
		list = append(list, Migration{Version: version, State: MigrationUnknown, AppliedAt: &at})
	}
	slices.SortStableFunc(list, func(a, b Migration) int { return int(a.Version - b.Version) })
	return list, nil
}

// takeEarly takes those of the applied that are early ones, and returns them.
func takeEarly(ctx context.Context, db *DB, applied map[int64]time.Time) ([]Migration, error) {
	state, err := inspectSchema(ctx, db)
	var stuck *SchemaError
	if err != nil && !errors.As(err, &stuck) {
		return nil, err
	}
	if state.origin != ofEarly {
		return nil, nil
	}
	files, err := fs.Glob(migrations.EarlySteps(), "*.sql")
	if err != nil {
		return nil, fmt.Errorf("read early migrations: %w", err)
	}
	var list []Migration
	for _, name := range files {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("read early migrations: %w", err)
		}
		at, ok := applied[version]
		if ok && slices.Contains(state.versions, version) {
			list = append(list, Migration{Version: version, Name: "early/" + name, State: MigrationApplied, AppliedAt: &at})
			delete(applied, version)
		}
	}
	return list, nil
}

// selectVersions reads Goose's own table: version 0 is the table itself.
const selectVersions = `select version_id, max(tstamp) as at from goose_db_version where is_applied and version_id > 0 group by version_id`

func appliedVersions(ctx context.Context, db *DB) (map[int64]time.Time, error) {
	var rows []struct {
		Version int64        `db:"version_id"`
		At      sql.NullTime `db:"at"`
	}
	err := db.SelectContext(ctx, &rows, selectVersions)
	var missing *pq.Error
	if errors.As(err, &missing) && missing.Code == "42P01" { // undefined_table
		return map[int64]time.Time{}, nil
	}
	if err != nil {
		return nil, Wrap(err, "read the schema's version")
	}
	applied := map[int64]time.Time{}
	for _, r := range rows {
		applied[r.Version] = r.At.Time.UTC()
	}
	return applied, nil
}

// NewestMigration returns the version of the newest migration of the program.
func NewestMigration() (int64, error) {
	list, err := migrations.Files.ReadDir(".")
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	newest := int64(0)
	for _, file := range list {
		version, err := goose.NumericComponent(file.Name())
		if err == nil {
			newest = max(newest, version)
		}
	}
	return newest, nil
}

// CheckNewer returns a *NewerSchemaError when the database has migrations that the program
// does not know.
func CheckNewer(ctx context.Context, db *DB) error {
	list, err := Migrations(ctx, db)
	if err != nil {
		return err
	}
	e := &NewerSchemaError{}
	for _, m := range list {
		switch {
		case m.State != MigrationUnknown:
			e.Known = max(e.Known, m.Version)
		default:
			e.Newest = max(e.Newest, m.Version)
			e.Unknown++
		}
	}
	if e.Unknown > 0 {
		return e
	}
	return nil
}
