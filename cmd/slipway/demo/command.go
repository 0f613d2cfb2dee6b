package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/account"
)

// Command fills an organization with example data, or removes it.
type Command struct {
	Remove bool   `help:"Remove the example data instead."`
	Data   string `name:"data-dir" default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder of slipway up, whose bootstrap.json has address and keys."`
	Seed   uint64 `default:"1" help:"Ids, times, devices and the numbers in messages follow from it."`
	Runs   int    `default:"4" help:"Runs of the example suite, each of four tests in a browser; 0: none."`

	Server    string         `env:"SLIPWAY_DEMO_SERVER" help:"Address of another installation, instead of that of the folder."`
	APIKey    setting.Secret `name:"api-key" env:"SLIPWAY_DEMO_API_KEY" help:"API key of an owner there."`
	User      string         `env:"SLIPWAY_DEMO_USER" help:"The owner's user name."`
	AccessKey setting.Secret `env:"SLIPWAY_DEMO_ACCESS_KEY" help:"The owner's access key."`
	UserID    string         `name:"user-id" env:"SLIPWAY_DEMO_USER_ID" help:"The owner's uuid, for a schedule."`
}

// Run fills or removes.
func (c *Command) Run(ctx context.Context, _ *setting.Settings, _ *slog.Logger) error {
	access, err := c.access()
	if err != nil {
		return err
	}
	if c.Remove {
		return Remove(ctx, access, os.Stdout)
	}
	fmt.Printf("Filling %s:\n", access.Server)
	return Fill(ctx, Config{Access: access, Seed: c.Seed, Runs: c.Runs, Out: os.Stdout})
}

// access returns the address and the keys: those that were given, or those of the folder.
func (c *Command) access() (Access, error) {
	if c.Server != "" {
		return Access{Server: c.Server, APIKey: string(c.APIKey), User: c.User, AccessKey: string(c.AccessKey), UserID: c.UserID}, nil
	}
	path := filepath.Join(c.Data, "bootstrap.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Access{}, fmt.Errorf("there is no %s: start `slipway up` first, or name a server (--server)", path)
	}
	if err != nil {
		return Access{}, fmt.Errorf("read the bootstrap file: %w", err)
	}
	var boot account.Bootstrap
	if err := json.Unmarshal(raw, &boot); err != nil {
		return Access{}, fmt.Errorf("%s: %w", path, err)
	}
	return AccessOf(&boot), nil
}

// AccessOf returns the address and the keys of the first organization of slipway up.
func AccessOf(boot *account.Bootstrap) Access {
	return Access{Server: boot.BaseURL, APIKey: boot.Owner.APIKey, User: boot.Owner.Username, AccessKey: boot.Owner.AccessKey,
		UserID: fmt.Sprint(boot.Owner.UUID)}
}

// FillBeside fills the organization of slipway up beside it. What fails is said, and ends
// nothing: the installation runs without the demo.
func FillBeside(ctx context.Context, boot *account.Bootstrap, out io.Writer, log *slog.Logger) {
	const seed, runs = 1, 4
	err := Fill(ctx, Config{Access: AccessOf(boot), Seed: seed, Runs: runs, Out: out})
	if err != nil && ctx.Err() == nil {
		log.Error("the demo could not be filled", "error", err)
	}
}
