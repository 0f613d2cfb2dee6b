package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

type migrateCommand struct{}

// Run applies the migrations that the database lacks.
func (migrateCommand) Run(ctx context.Context, s *settings) error {
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

// migrate applies the missing migrations and returns their names. Statements get
// twelve hours instead of the usual bound: a step on a large table is slow, and the
// operator can stop it.
func migrate(ctx context.Context, s *settings) ([]string, error) {
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 2,
		StatementTimeout: 12 * time.Hour, ApplicationName: "slipway-migrate"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return storage.Migrate(ctx, db)
}
