// Package doctor is slipway doctor: it prints a line for each thing that slipway up needs, and
// how to install what this machine lacks.
//
// Where a URL is set its server is asked, else the program of a managed server is looked for. It
// ends with an error when something is missing or fails. What is old, or does not fit, is named too,
// and is no failure.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/exit"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Command is slipway doctor.
type Command struct{}

// Run prints a line for each thing that slipway up needs, and fails when one is
// missing: the server of a URL that is set, else the program of a managed server. It
// names what is old, which is no failure.
func (Command) Run(ctx context.Context, s *setting.Settings) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	// The Redis client logs while it cannot connect; the line of Redis has the
	// error.
	dispatch.LogTo(slog.New(slog.DiscardHandler))
	healthy := true
	report := func(what string, detail string, err error) {
		var missing *localservice.MissingError
		switch {
		case errors.As(err, &missing):
			healthy = false
			fmt.Printf("missing  %-12s install it with: %s\n", what, missing.Install)
		case err != nil:
			healthy = false
			fmt.Printf("failed   %-12s %v\n", what, err)
		default:
			fmt.Printf("ok       %-12s %s\n", what, detail)
		}
	}
	report("Settings", "are within their bounds", s.Bounds())
	if s.DatabaseURL != "" {
		report(localservice.PostgreSQL, "answers at SLIPWAY_DATABASE_URL", checkDatabase(ctx, s))
	} else {
		report(findProgram(localservice.PostgreSQL))
	}
	if s.RedisURL != "" {
		report(localservice.Redis, "answers at SLIPWAY_REDIS_URL", checkRedis(ctx, s))
	} else {
		report(findProgram(localservice.Redis))
	}
	if s.ObjectsURL != "" {
		report("Objects", "answers at SLIPWAY_OBJECTS_URL", checkObjects(ctx, s))
	} else {
		report("Objects", "a folder below the data folder", nil)
	}
	if s.WebDriverURL != "" {
		report("Browsers", "answer at SLIPWAY_WEBDRIVER_URL", checkHubs(ctx, s))
	} else {
		report(findProgram(localservice.Chromedriver))
	}
	old := ages(ctx, s, time.Now())
	for _, what := range slices.Sorted(maps.Keys(old)) {
		if old[what] != "" {
			fmt.Printf("old      %-12s %s\n", what, old[what])
		}
	}
	if !healthy {
		return &exit.Quiet{}
	}
	return nil
}

func findProgram(program string) (what, detail string, err error) {
	b, err := localservice.Find(program)
	return program, b.Path, err
}

func checkDatabase(ctx context.Context, s *setting.Settings) error {
	db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Check(ctx)
}

func checkRedis(ctx context.Context, s *setting.Settings) error {
	r, err := dispatch.OpenRedis(s.Redis())
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Check(ctx)
}

// checkObjects creates no bucket: a missing one is an error. It creates a folder,
// to try writing.
func checkObjects(ctx context.Context, s *setting.Settings) error {
	store, err := object.Open(ctx, s.Objects(false))
	if err != nil {
		return err
	}
	return store.Close()
}

// checkHubs requests the status of each hub.
func checkHubs(ctx context.Context, s *setting.Settings) error {
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
