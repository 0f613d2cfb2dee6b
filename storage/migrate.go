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

// Migrate brings the database to the newest step and returns the names of what it applied.
// Several processes may call it at once: a session lock in the database lets one of them
// work while the others wait. Steps with lower numbers that landed later are applied where
// the database lacks them. A schema of before the baseline is converted first; one that
// cannot be upgraded is a *SchemaError, and is not touched.
func Migrate(ctx context.Context, db *DB) (names []string, err error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	conn, err := db.DB.DB.Conn(ctx)
	if err != nil {
		return nil, Wrap(err, "migration lock")
	}
	defer conn.Close()
	if err := locker.SessionLock(ctx, conn); err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	defer func() { _ = locker.SessionUnlock(context.WithoutCancel(ctx), conn) }()

	for try := 1; ; try++ {
		done, err := upgrade(ctx, db)
		names = append(names, done...)
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

// upgrade does what is left to do, and returns the names of what it applied.
func upgrade(ctx context.Context, db *DB) ([]string, error) {
	state, err := inspectSchema(ctx, db)
	if err != nil {
		return nil, err
	}
	var names []string
	if state.origin != ofBaseline {
		if names, err = state.convert(ctx, db); err != nil {
			return names, err
		}
	}
	p, err := steps(db)
	if err != nil {
		return names, err
	}
	applied, err := applyAll(ctx, p)
	return append(names, applied...), err
}

// steps are the steps of the program, in the order of their numbers, and also those of a
// lower number than the newest that the database has.
func steps(db *DB) (*goose.Provider, error) {
	p, err := goose.NewProvider(goose.DialectPostgres, db.DB.DB, migrations.Files, goose.WithAllowOutofOrder(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// applyAll applies the steps that the database lacks, and returns their names, also of
// those before one that failed.
func applyAll(ctx context.Context, p *goose.Provider) ([]string, error) {
	results, err := p.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Source.Path)
	}
	return names, err
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
	p, err := steps(db)
	if err != nil {
		return err
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
