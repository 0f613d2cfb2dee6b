// Package migrate is slipway migrate: it brings the database to the newest schema, or lists
// the migrations.
//
// Apply is what slipway up and a restore call too. It refuses a database that has newer migrations
// than this program knows. The exit code of the list says what a script wants to know: 3 when some
// are pending, 4 when the database has newer ones, 5 when this program cannot upgrade the schema.
package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway/exit"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
)

// Command is slipway migrate.
type Command struct {
	Apply  applyCommand  `cmd:"" default:"1" help:"Apply the migrations that the database lacks: what slipway migrate does alone."`
	Status statusCommand `cmd:"" help:"List the migrations: applied, pending, or unknown to this program. The exit code is 0 when all are applied, 3 when some are pending, 4 when the database has newer ones, 5 when this program cannot upgrade the schema."`
}

type applyCommand struct{}

// Run applies the migrations that the database lacks.
func (applyCommand) Run(ctx context.Context, s *setting.Settings) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway migrate needs SLIPWAY_DATABASE_URL")
	}
	applied, err := Apply(ctx, s)
	for _, name := range applied {
		fmt.Println("applied", name)
	}
	if err == nil && len(applied) == 0 {
		fmt.Fprintln(os.Stderr, "the database has the newest schema")
	}
	return err
}

// Apply applies the missing migrations and returns their names. It refuses a database
// with newer ones. Statements get twelve hours instead of the usual bound: a step on a
// large table is slow, and the operator can stop it.
func Apply(ctx context.Context, s *setting.Settings) ([]string, error) {
	db, err := storage.Open(storage.Config{URL: s.DirectURL(), MaxConns: 2,
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

type statusCommand struct {
	JSON bool `name:"json" help:"Write a JSON array."`
}

// Run lists the migrations.
func (c statusCommand) Run(ctx context.Context, s *setting.Settings) error {
	if s.DatabaseURL == "" {
		return errors.New("slipway migrate status needs SLIPWAY_DATABASE_URL")
	}
	db, err := storage.Open(storage.Config{URL: s.DirectURL(), MaxConns: 1, ApplicationName: "slipway-migrate"})
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
		return &exit.Error{Code: exitStuck, Text: stuck.Error()}
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
		return &exit.Error{Code: exitNewer,
			Text: fmt.Sprintf("%d migrations of the database are unknown to this program: it is older than the schema",
				counts[storage.MigrationUnknown])}
	case counts[storage.MigrationPending] > 0:
		return &exit.Error{Code: exitPending, Text: fmt.Sprintf("%d migrations are pending: run slipway migrate",
			counts[storage.MigrationPending])}
	}
	return nil
}

func (c statusCommand) print(list []storage.Migration) error {
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
