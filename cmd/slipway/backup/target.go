package backup

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/managed"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// dataFolder names the installation of slipway up, where no database is set.
type dataFolder struct {
	DataDir string `default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of slipway up, whose installation is meant when SLIPWAY_DATABASE_URL is not set."`
}

// target is the installation that a backup or restore works on.
type target struct {
	set *setting.Settings
	// folder is that of slipway up, locked; nil when it runs, and for an installation
	// that is given by URLs.
	folder *localservice.Folder
	// dir is the data folder of slipway up; "" for an installation by URLs.
	dir string
}

// open sets the addresses of the installation: those of the settings, else those of a
// slipway up that runs, else it starts the managed database. close stops that.
func (d *dataFolder) open(ctx context.Context, set *setting.Settings) (*target, error) {
	if set.DatabaseURL != "" {
		if set.ObjectsURL == "" {
			return nil, errors.New("SLIPWAY_OBJECTS_URL is not set")
		}
		return &target{set: set}, nil
	}
	folder, err := localservice.Open(d.DataDir)
	var locked *localservice.LockedError
	if errors.As(err, &locked) {
		return &target{set: set, dir: locked.Dir}, managed.ReadEnvironment(locked.Dir, set)
	}
	if err != nil {
		return nil, err
	}
	t := &target{set: set, folder: folder, dir: folder.Dir()}
	ctx, cancel := context.WithTimeout(ctx, managed.StartTimeout)
	defer cancel()
	if _, err := managed.StartPostgres(ctx, folder, set); err != nil {
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
