package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// dataFolder names the installation of slipway up, where no database is set.
type dataFolder struct {
	DataDir string `default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of slipway up, whose installation is meant when SLIPWAY_DATABASE_URL is not set."`
}

// target is the installation that a backup or restore works on.
type target struct {
	set *settings
	// folder is that of slipway up, locked; nil when it runs, and for an installation
	// that is given by URLs.
	folder *localservice.Folder
	// dir is the data folder of slipway up; "" for an installation by URLs.
	dir string
}

// open sets the addresses of the installation: those of the settings, else those of a
// slipway up that runs, else it starts the managed database. close stops that.
func (d *dataFolder) open(ctx context.Context, set *settings) (*target, error) {
	if set.DatabaseURL != "" {
		if set.ObjectsURL == "" {
			return nil, errors.New("SLIPWAY_OBJECTS_URL is not set")
		}
		return &target{set: set}, nil
	}
	folder, err := localservice.Open(d.DataDir)
	var locked *localservice.LockedError
	if errors.As(err, &locked) {
		return &target{set: set, dir: locked.Dir}, readEnvironment(locked.Dir, set)
	}
	if err != nil {
		return nil, err
	}
	t := &target{set: set, folder: folder, dir: folder.Dir()}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := startPostgres(ctx, folder, set); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// close stops the managed database.
func (t *target) close() {
	if t.folder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = t.folder.Close(ctx)
}

// readEnvironment reads the addresses that slipway up wrote (writeEnvironment), where the
// settings have none.
func readEnvironment(dir string, set *settings) error {
	raw, err := os.ReadFile(filepath.Join(dir, "environment"))
	if err != nil {
		return fmt.Errorf("slipway up is not ready yet: %w", err)
	}
	fields := map[string]*secret{"SLIPWAY_DATABASE_URL": &set.DatabaseURL, "SLIPWAY_OBJECTS_URL": &set.ObjectsURL,
		"SLIPWAY_SIGNING_KEY": &set.SigningKey, "SLIPWAY_SIGNING_KEYS_OLD": &set.SigningKeysOld}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if field := fields[name]; field != nil && *field == "" {
			*field = secret(shellUnquote(value))
		}
	}
	return nil
}

// shellUnquote reads what shellQuote wrote.
func shellUnquote(word string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(word, "'"), "'"), `'\''`, "'")
}
