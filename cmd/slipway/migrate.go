package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

type migrateCommand struct {
	Apply  migrateApply  `cmd:"" default:"1" help:"Apply the migrations that the database lacks: what slipway migrate does alone."`
	Status migrateStatus `cmd:"" help:"List the migrations: applied, pending, or unknown to this program. The exit code is 0 when all are applied, 3 when some are pending, 4 when the database has newer ones, 5 when this program cannot upgrade the schema."`
}

type migrateApply struct{}

// Run applies the migrations that the database lacks.
func (migrateApply) Run(ctx context.Context, s *settings) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway migrate needs SLIPWAY_DATABASE_URL")
	}
	applied, err := migrate(ctx, s)
	for _, name := range applied {
		fmt.Println("applied", name)
	}
	if err == nil && len(applied) == 0 {
		fmt.Fprintln(os.Stderr, "the database has the newest schema")
	}
	return err
}

// migrate applies the missing migrations and returns their names. It refuses a database
// with newer ones. Statements get twelve hours instead of the usual bound: a step on a
// large table is slow, and the operator can stop it.
func migrate(ctx context.Context, s *settings) ([]string, error) {
	db, err := storage.Open(storage.Config{URL: s.directURL(), MaxConns: 2,
		StatementTimeout: 12 * time.Hour, ApplicationName: "slipway-migrate"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := storage.CheckNewer(ctx, db); err != nil {
		return nil, err
	}
	return storage.Migrate(ctx, db)
}

// The exit codes of migrate status.
const (
	exitPending = 3
	exitNewer   = 4
	exitStuck   = 5
)

type migrateStatus struct {
	JSON bool `name:"json" help:"Write a JSON array."`
}

// Run lists the migrations.
func (c migrateStatus) Run(ctx context.Context, s *settings) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway migrate status needs SLIPWAY_DATABASE_URL")
	}
	db, err := storage.Open(storage.Config{URL: s.directURL(), MaxConns: 1, ApplicationName: "slipway-migrate"})
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := storage.Migrations(ctx, db)
	if err != nil {
		return err
	}
	if err := c.print(list); err != nil {
		return err
	}
	note, err := storage.CheckUpgrade(ctx, db)
	var stuck *storage.SchemaError
	if errors.As(err, &stuck) {
		return &exitError{code: exitStuck, text: stuck.Error()}
	}
	if err != nil {
		return err
	}
	if note != "" {
		fmt.Fprintln(os.Stderr, note)
	}
	counts := map[string]int{}
	for _, m := range list {
		counts[m.State]++
	}
	switch {
	case counts[storage.MigrationUnknown] > 0:
		return &exitError{code: exitNewer,
			text: fmt.Sprintf("%d migrations of the database are unknown to this program: it is older than the schema",
				counts[storage.MigrationUnknown])}
	case counts[storage.MigrationPending] > 0:
		return &exitError{code: exitPending, text: fmt.Sprintf("%d migrations are pending: run slipway migrate",
			counts[storage.MigrationPending])}
	}
	return nil
}

func (c migrateStatus) print(list []storage.Migration) error {
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	for _, m := range list {
		at, name := "-", m.Name
		if m.AppliedAt != nil {
			at = m.AppliedAt.Format(time.RFC3339)
		}
		if name == "" {
			name = fmt.Sprintf("%05d", m.Version)
		}
		fmt.Printf("%-8s %-20s %s\n", m.State, at, name)
	}
	return nil
}

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

// schemaPause is between two tries to read the schema of a database that is away.
const schemaPause = 5 * time.Second

// warnNewer logs once when the database has migrations that the program does not know. The
// tiers start all the same: during a rolling upgrade those of the version before run beside
// the newer schema, and may have to start again.
func warnNewer(ctx context.Context, db *storage.DB, log *slog.Logger) {
	for {
		query, cancel := context.WithTimeout(ctx, schemaPause)
		err := storage.CheckNewer(query, db)
		cancel()
		var newer *storage.NewerSchemaError
		if errors.As(err, &newer) {
			log.Warn("the program is older than the schema", "schema", newer.Newest, "program", newer.Known, "unknown_migrations", newer.Unknown)
		}
		if err == nil || newer != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(schemaPause):
		}
	}
}
