package storage

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/slipway-qa/slipway/migrations"
)

// Migrate brings the database to the newest step and returns the names of the
// steps that it applied. Several processes may call it at once: a session lock
// in the database lets one of them work while the others wait.
func Migrate(ctx context.Context, db *DB) ([]string, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files,
		goose.WithSessionLocker(locker))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	results, err := p.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Source.Path)
	}
	return names, nil
}

// CheckSchema answers an error when the database lacks a step that this binary
// needs; the tiers call it at start and in readiness.
func CheckSchema(ctx context.Context, db *DB) error {
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	pending, err := p.HasPending(ctx)
	if err != nil {
		return Wrap(err, "read the schema's version")
	}
	if pending {
		return fmt.Errorf("the database lacks migrations: run `slipway migrate`")
	}
	return nil
}
