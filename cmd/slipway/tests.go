package main

import (
	"context"
	"fmt"
	"time"

	runstore "github.com/slipway-qa/slipway/storage/run"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api"
	apiauthoring "github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
	workrun "github.com/slipway-qa/slipway/worker/run"
	"github.com/slipway-qa/slipway/worker/schedule"
)

// addTests adds the room of cases, suites, schedules and runs, and returns what ends
// the watcher of runs.
func (p *parts) addTests(rooms *api.Rooms, fast *dispatch.Fast) (stop func(), err error) {
	watcher := wait.NewWatcher(wait.Config{Log: p.log,
		Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
			return runstore.EndedRuns(ctx, p.db, ids)
		}})
	rooms.Tests, err = apiauthoring.New(apiauthoring.Config{DB: p.db, Objects: p.objects, Watcher: watcher, Fast: fast, Guard: p.guard,
		SigningKey: []byte(p.s.SigningKey), PublicURL: p.s.PublicURL, Vendor: p.s.Vendor, CheckURL: p.pages.Check, Log: p.log})
	if err != nil {
		return nil, err
	}
	return loop(watcher.Run), nil
}

// addTestWork adds the handlers of runs and schedules, and gives what ends the
// browsers.
func (p *parts) addTestWork(handlers map[string]worker.Handler, pools []worker.Pool) (stop func(), err error) {
	browsers, trouble, stop, err := p.startBrowsers(runSlots(pools))
	if err != nil {
		return nil, err
	}
	maintenance, err := workrun.NewMaintenance(p.db, p.objects, days(p.s.RunDays), p.log)
	if err != nil {
		stop()
		return nil, err
	}
	handlers[tasks.TestJob.Name] = &workrun.Job{DB: p.db, Objects: p.objects, Browsers: browsers, Key: []byte(p.s.SigningKey),
		CheckURL: p.pages.Check, Trouble: trouble, Timeout: p.s.RunTimeout, Screenshots: p.s.RunScreenshots, Log: p.log}
	handlers[tasks.SuiteRun.Name] = &workrun.Suite{DB: p.db, Vendor: p.s.Vendor, Log: p.log}
	handlers[tasks.RunMaintenance.Name] = maintenance
	handlers[tasks.ScheduleTick.Name] = &schedule.Tick{DB: p.db, Observer: p.metrics.Observer(), Log: p.log}
	return stop, nil
}

// runSlots counts the slots that serve the queue of runs: as many browsers are
// kept warm.
func runSlots(pools []worker.Pool) int {
	n := 0
	for _, pool := range pools {
		if pool.Queues[tasks.Run] > 0 {
			n += pool.Slots
		}
	}
	return n
}

// startBrowsers makes the pool of browsers, with the proxy that those of the own
// chromedriver go through. trouble tells what that proxy refused.
func (p *parts) startBrowsers(slots int) (pool *browser.Pool, trouble func(string, time.Time) (string, bool), stop func(), err error) {
	hubs, err := browser.ParseHubs(string(p.s.WebDriverURL))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("SLIPWAY_WEBDRIVER_URL: %w", err)
	}
	proxy, err := egress.Start(p.pages.Guard, p.log)
	if err != nil {
		return nil, nil, nil, err
	}
	pool, err = browser.New(browser.Config{Hubs: hubs, Local: p.s.chromedriver, Arguments: localservice.BrowserArguments(), Warm: slots, Proxy: proxy.Addr().String(),
		Guard: p.pages.Guard, Log: p.log, Observer: p.metrics.Observer()})
	if err != nil {
		proxy.Close()
		return nil, nil, nil, err
	}
	stopWarm := func() {}
	if slots > 0 {
		stopWarm = loop(pool.Run)
	}
	return pool, proxy.Trouble, func() {
		stopWarm()
		pool.Close()
		proxy.Close()
	}, nil
}

// unnamedRunFiles is for the sweep.
func (p *parts) unnamedRunFiles(ctx context.Context, keys []string) ([]string, error) {
	return runstore.UnnamedObjects(ctx, p.db, keys)
}

// newPages makes the rule of what tests may open.
func (s *settings) newPages() (outbound.Pages, error) {
	guard, err := outbound.New(outbound.Config{AllowPrivate: s.allowPrivate(), AllowMetadata: s.AllowMetadataAddresses})
	if err != nil {
		return outbound.Pages{}, fmt.Errorf("SLIPWAY_ALLOW_METADATA_ADDRESSES: %w", err)
	}
	return outbound.Pages{Guard: guard, AllowFiles: s.AllowFileURLs}, nil
}
