package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
	"github.com/slipway-qa/slipway/storage"
)

type upCommand struct {
	DataDir string `default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for all data of slipway up."`
	Demo    bool   `help:"Fill the organization with example data; slipway demo --remove removes it."`
}

// startTimeout bounds the start of a process; the first start creates a database.
const startTimeout = 2 * time.Minute

// Run starts managed servers where no URL is set, then the three tiers, and stops
// everything in reverse order.
func (c *upCommand) Run(ctx context.Context, set *settings, log *slog.Logger) (err error) {
	start := time.Now()
	if err := set.bounds(); err != nil {
		return err
	}
	folder, err := localservice.Open(c.DataDir)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		err = errors.Join(err, folder.Close(ctx))
	}()
	if terminal.Is(os.Stdout) {
		fmt.Printf("\nStarting Slipway with its data in %s; the first start takes some seconds more.\n", folder.Dir())
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	managed, err := startManaged(starting, folder, set)
	if err != nil {
		return err
	}
	driver, err := startChromedriver(starting, folder, set, log)
	if err != nil {
		return err
	}
	if driver != nil {
		defer startLoop(func(ctx context.Context) { keepChromedriver(ctx, folder, driver, log) })()
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
	addresses := set.startAddresses(listener.Addr(), log)
	if set.PublicURL == "" {
		set.PublicURL = "http://" + reachable(listener.Addr())
	}
	set.uploadJournal = filepath.Join(folder.Dir(), "uploads")
	if set.MailJournal == "" {
		set.MailJournal = filepath.Join(folder.Dir(), "mail-journal")
	}
	if err := writeEnvironment(folder.Dir(), set); err != nil {
		return err
	}
	s, err := openServices(set, log, "slipway-up")
	if err != nil {
		return err
	}
	defer s.close()
	if err := prepareDatabase(ctx, s); err != nil || ctx.Err() != nil {
		return err
	}
	stopKeys, err := keyCheck{s.probe, s.keys, s.failed}.start(ctx, "up")
	if err != nil {
		return err
	}
	defer stopKeys()
	// A database of somebody else may have taken long to come.
	booting, cancelBoot := context.WithTimeout(ctx, startTimeout)
	defer cancelBoot()
	boot, err := bootstrap(booting, s.db, folder.Dir(), set)
	if err != nil {
		return err
	}
	stop, err := s.startAll(listener)
	if err != nil {
		return err
	}
	defer startLoop(s.dependencies.Run)()
	defer s.stopInTime(stop)
	shown := managed
	if driver != nil {
		shown = append(slices.Clone(managed), driver)
	}
	link, err := consoleLink(booting, s.db, boot, listener.Addr())
	if err != nil {
		return err
	}
	welcome := started{boot: boot, dir: folder.Dir(), managed: shown, addresses: addresses, link: link, took: time.Since(start)}
	if err := welcome.print(terminal.Is(os.Stdout)); err != nil {
		return err
	}
	if c.Demo {
		defer startLoop(func(ctx context.Context) { fillDemo(ctx, boot, os.Stdout, log) })()
	}

	select {
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "stopping: requests and tasks get time to end (ctrl-C again stops at once)")
		return nil
	case server := <-anyDone(managed):
		return fmt.Errorf("%s ended by itself: %w", server, server.Err())
	case err := <-s.failed:
		return err
	}
}

// prepareDatabase brings the database to the newest schema. While it cannot be
// reached it waits, and says so once a minute: whoever starts both at once should not
// have to start one of them again. ctx ends the wait.
func prepareDatabase(ctx context.Context, s *services) error {
	for {
		_, err := migrate(ctx, s.settings)
		if ctx.Err() != nil {
			return nil
		}
		if !storage.Unavailable(err) {
			return err
		}
		s.log.Warn("the start waits for the database", "error", err) // which dependencies counts
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// reachable returns an address that can be called for one to listen at.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
