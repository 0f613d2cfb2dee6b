package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// startBrowser starts the private chromedriver where no hub is set; nil where the
// machine has none: builds and crashes need no browser.
func startBrowser(ctx context.Context, folder *localservice.Folder, s *settings, log *slog.Logger) (*localservice.Server, error) {
	if s.WebDriverURL != "" {
		return nil, nil
	}
	driver, err := folder.Chromedriver(ctx, localservice.ChromedriverConfig{})
	var missing *localservice.MissingError
	if errors.As(err, &missing) {
		log.Warn("tests cannot run in a browser here", "missing", missing.Program, "install", missing.Install)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.chromedriver = driver.URL()
	return driver, nil
}

// restartPause is the wait before a chromedriver that ended is started again, so
// that one that cannot run does not keep the machine busy.
const restartPause = 2 * time.Second

// keepBrowser starts the chromedriver again when it ends: tests fail meanwhile,
// and nothing else does. Its address stays the same, for the folder keeps port and
// path.
func keepBrowser(ctx context.Context, folder *localservice.Folder, driver *localservice.Server, log *slog.Logger) {
	address := driver.URL()
	for {
		select {
		case <-ctx.Done():
			return
		case <-driver.Done():
			log.Error("chromedriver ended by itself", "error", driver.Err())
		}
		for driver = nil; driver == nil; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(restartPause):
			}
			next, err := folder.Chromedriver(ctx, localservice.ChromedriverConfig{})
			switch {
			case err != nil:
				log.Error("chromedriver does not start", "error", err)
			case next.URL() != address:
				// Another program has its port: that may be over soon.
				log.Error("chromedriver got another address")
				_ = next.Stop(ctx)
			default:
				driver = next
			}
		}
		log.Info("chromedriver runs again")
	}
}
