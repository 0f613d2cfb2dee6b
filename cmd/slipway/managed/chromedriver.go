package managed

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// StartChromedriver starts the managed chromedriver where no hub is set. It returns
// nil where the machine has none: builds and crashes need no browser.
func StartChromedriver(ctx context.Context, folder *localservice.Folder, s *setting.Settings,
	log *slog.Logger) (*localservice.Server, error) {
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
	s.Chromedriver = driver.URL()
	return driver, nil
}

// restartPause is the wait before each restart of chromedriver, so that one that
// ends at once does not keep the machine busy.
const restartPause = 2 * time.Second

// KeepChromedriver restarts chromedriver whenever it ends; meanwhile tests fail, and
// nothing else does. Its address stays the same: the folder keeps port and path.
func KeepChromedriver(ctx context.Context, folder *localservice.Folder, driver *localservice.Server, log *slog.Logger) {
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
				// Another program has its port, perhaps briefly.
				log.Error("chromedriver got another address")
				_ = next.Stop(ctx)
			default:
				driver = next
			}
		}
		log.Info("chromedriver runs again")
	}
}
