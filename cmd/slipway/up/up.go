// Package up is slipway up: everything in one process, with managed servers where no URL is
// set.
//
// It starts the servers, brings the database to the newest schema, creates the first organization
// and its keys (bootstrap.json), starts the three tiers, and says how to go on (started). At the
// end everything is stopped in reverse order. A server that ends by itself ends the command, but
// for chromedriver, which is started again.
//
// A start that was interrupted is completed by the next one: the file of the keys is written before
// the rows that are made of it.
package up

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/demo"
	"github.com/slipway-qa/slipway/cmd/slipway/managed"
	"github.com/slipway-qa/slipway/cmd/slipway/migrate"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/cmd/slipway/tier"
	"github.com/slipway-qa/slipway/storage"
)

// Command is slipway up.
type Command struct {
	DataDir string `default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for all data of slipway up."`
	Demo    bool   `help:"Fill the organization with example data; slipway demo --remove removes it."`
}

// Run starts managed servers where no URL is set, then the three tiers, and stops
// everything in reverse order.
func (c *Command) Run(ctx context.Context, set *setting.Settings, log *slog.Logger) (err error) {
	start := time.Now()
	if err := set.Bounds(); err != nil {
		return err
	}
	folder, err := localservice.Open(c.DataDir)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), managed.StartTimeout)
		defer cancel()
		err = errors.Join(err, folder.Close(ctx))
	}()
	if terminal.Is(os.Stdout) {
		fmt.Printf("\nStarting Slipway with its data in %s; the first start takes some seconds more.\n", folder.Dir())
	}
	starting, cancel := context.WithTimeout(ctx, managed.StartTimeout)
	defer cancel()
	servers, err := managed.Start(starting, folder, set)
	if err != nil {
		return err
	}
	driver, err := managed.StartChromedriver(starting, folder, set, log)
	if err != nil {
		return err
	}
	if driver != nil {
		defer tier.StartLoop(func(ctx context.Context) { managed.KeepChromedriver(ctx, folder, driver, log) })()
	}
	listener, err := net.Listen("tcp", set.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	if driver != nil {
		if text := noSandboxWarning(localservice.BrowserArguments(), set.PublicURL); text != "" {
			log.Warn(text)
		}
	}
	addresses := set.StartAddresses(listener.Addr(), log)
	if set.PublicURL == "" {
		set.PublicURL = "http://" + setting.Reachable(listener.Addr())
	}
	set.UploadJournal = filepath.Join(folder.Dir(), "uploads")
	if set.MailJournal == "" {
		set.MailJournal = filepath.Join(folder.Dir(), "mail-journal")
	}
	if err := managed.WriteEnvironment(folder.Dir(), set); err != nil {
		return err
	}
	s, err := tier.Open(set, log, "slipway-up")
	if err != nil {
		return err
	}
	defer s.Close()
	if err := prepareDatabase(ctx, set, log); err != nil || ctx.Err() != nil {
		return err
	}
	stopKeys, err := s.CheckKeys(ctx, "up")
	if err != nil {
		return err
	}
	defer stopKeys()
	// A database of somebody else may have taken long to come.
	booting, cancelBoot := context.WithTimeout(ctx, managed.StartTimeout)
	defer cancelBoot()
	boot, err := bootstrap(booting, s.DB, folder.Dir(), set)
	if err != nil {
		return err
	}
	stop, err := s.StartAll(listener)
	if err != nil {
		return err
	}
	defer s.StartWatching()()
	defer s.StopInTime(stop)
	shown := servers
	if driver != nil {
		shown = append(slices.Clone(servers), driver)
	}
	link, err := consoleLink(booting, s.DB, boot, listener.Addr())
	if err != nil {
		return err
	}
	welcome := started{boot: boot, dir: folder.Dir(), managed: shown, addresses: addresses, link: link, took: time.Since(start)}
	if err := welcome.print(terminal.Is(os.Stdout)); err != nil {
		return err
	}
	if c.Demo {
		defer tier.StartLoop(func(ctx context.Context) { demo.FillBeside(ctx, boot, os.Stdout, log) })()
	}

	select {
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "stopping: requests and tasks get time to end (ctrl-C again stops at once)")
		return nil
	case server := <-managed.AnyDone(servers):
		return fmt.Errorf("%s ended by itself: %w", server, server.Err())
	case err := <-s.Ended():
		return err
	}
}

// prepareDatabase brings the database to the newest schema. While it cannot be
// reached it waits, and says so once a minute: whoever starts both at once should not
// have to start one of them again. ctx ends the wait.
func prepareDatabase(ctx context.Context, set *setting.Settings, log *slog.Logger) error {
	for {
		_, err := migrate.Apply(ctx, set)
		if ctx.Err() != nil {
			return nil
		}
		if !storage.Unavailable(err) {
			return err
		}
		log.Warn("the start waits for the database", "error", err) // which dependencies counts
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}
