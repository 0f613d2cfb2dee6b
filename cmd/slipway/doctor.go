package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

type doctorCommand struct{}

// Run prints one line for each thing that slipway up needs and fails when one is
// missing: the server behind a URL that is set, else the program that runs a
// private one.
func (doctorCommand) Run(ctx context.Context, s *settings) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	// The Redis client writes lines of its own while it cannot connect; what is
	// wrong stands in the line of Redis.
	dispatch.LogTo(slog.New(slog.DiscardHandler))
	healthy := true
	say := func(what string, detail string, err error) {
		if err == nil {
			fmt.Printf("ok       %-12s %s\n", what, detail)
			return
		}
		healthy = false
		var missing *localservice.MissingError
		if errors.As(err, &missing) {
			fmt.Printf("missing  %-12s install it with: %s\n", what, missing.Install)
			return
		}
		fmt.Printf("failed   %-12s %v\n", what, err)
	}
	say("Settings", "are within their bounds", s.bounds())
	if s.DatabaseURL != "" {
		say(localservice.PostgreSQL, "answers at SLIPWAY_DATABASE_URL", checkDatabase(ctx, s))
	} else {
		say(findProgram(localservice.PostgreSQL))
	}
	if s.RedisURL != "" {
		say(localservice.Redis, "answers at SLIPWAY_REDIS_URL", checkRedis(ctx, s))
	} else {
		say(findProgram(localservice.Redis))
	}
	if s.ObjectsURL != "" {
		say("Objects", "answers at SLIPWAY_OBJECTS_URL", checkObjects(ctx, s))
	} else {
		say("Objects", "a folder below the data folder", nil)
	}
	if s.WebDriverURL != "" {
		say("Browsers", "answer at SLIPWAY_WEBDRIVER_URL", checkHubs(ctx, s))
	} else {
		say(findProgram(localservice.Chromedriver))
	}
	if !healthy {
		return &quietError{}
	}
	return nil
}

func findProgram(program string) (what, detail string, err error) {
	b, err := localservice.Find(program)
	return program, b.Path, err
}

func checkDatabase(ctx context.Context, s *settings) error {
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Check(ctx)
}

func checkRedis(ctx context.Context, s *settings) error {
	r, err := dispatch.OpenRedis(string(s.RedisURL))
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Check(ctx)
}

// checkObjects makes no bucket: one that is missing is a finding. A folder is
// tried by writing, and made for that.
func checkObjects(ctx context.Context, s *settings) error {
	store, err := openObjects(ctx, s, false)
	if err != nil {
		return err
	}
	return errors.Join(store.Check(ctx), store.Close())
}

// checkHubs asks each hub whether it can make sessions.
func checkHubs(ctx context.Context, s *settings) error {
	hubs, err := browser.ParseHubs(string(s.WebDriverURL))
	if err != nil {
		return err
	}
	for _, hub := range hubs {
		client, err := webdriver.New(webdriver.Config{URL: hub.URL})
		if err != nil {
			return err
		}
		if _, err := client.Status(ctx); err != nil {
			return fmt.Errorf("%s: %w", client.Redacted, err)
		}
	}
	return nil
}

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

// migrate applies what the database lacks, on connections without the usual bound
// of a statement: a step on a large table takes its time, and the operator can
// stop it.
func migrate(ctx context.Context, s *settings) ([]string, error) {
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 2,
		StatementTimeout: 12 * time.Hour, ApplicationName: "slipway-migrate"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return storage.Migrate(ctx, db)
}
