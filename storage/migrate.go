package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"
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
	var names []string
	for try := 1; ; try++ {
		results, err := p.Up(ctx)
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			results = partial.Applied
		}
		for _, r := range results {
			names = append(names, r.Source.Path)
		}
		if err == nil {
			return names, nil
		}
		if !isLockTimeout(err) || try == lockTries {
			return names, fmt.Errorf("migrate: %w", err)
		}
		select {
		case <-ctx.Done():
			return names, fmt.Errorf("migrate: %w", err)
		case <-time.After(lockPause):
		}
	}
}

// A step that changes a table in use waits a few seconds for its lock, since
// everybody else waits behind it, and makes room in between.
const (
	lockTries = 20
	lockPause = 2 * time.Second
)

// isLockTimeout reports whether a step did not get its lock (SQLSTATE 55P03), or
// was chosen to end a deadlock (40P01).
func isLockTimeout(err error) bool {
	var pe *pq.Error
	return errors.As(err, &pe) && (pe.Code == "55P03" || pe.Code == "40P01")
}

// CheckSchema returns an error when the database lacks a step that this binary
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
