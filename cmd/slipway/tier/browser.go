package tier

import (
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
)

// startBrowsers starts the pool of browsers, and the proxy through which browsers
// of the managed chromedriver connect. trouble returns what the proxy refused.
func (s *Services) startBrowsers(warm int) (pool *browser.Pool, trouble func(string, time.Time) (string, bool), stop func(), err error) {
	hubs, err := browser.ParseHubs(string(s.Settings.WebDriverURL))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("SLIPWAY_WEBDRIVER_URL: %w", err)
	}
	if err := browser.ParseUnsafe(s.Settings.UnsafeCapabilities, hubs); err != nil {
		return nil, nil, nil, fmt.Errorf("SLIPWAY_WEBDRIVER_UNSAFE_CAPABILITIES: %w", err)
	}
	proxy, err := egress.Start(s.pages.Guard, s.Log)
	if err != nil {
		return nil, nil, nil, err
	}
	pool, err = browser.New(browser.Config{Hubs: hubs, Local: s.Settings.Chromedriver, Arguments: localservice.BrowserArguments(),
		Warm: warm, Proxy: proxy.Addr().String(), Vendor: s.Settings.Vendor,
		Limits: browser.Limits{Memory: s.Settings.BrowserMemoryBytes, Processes: s.Settings.BrowserProcesses},
		Guard:  s.pages.Guard, Log: s.Log, Observer: s.metrics.Observer()})
	if err != nil {
		proxy.Close()
		return nil, nil, nil, err
	}
	stopWarm := func() {}
	if warm > 0 {
		stopWarm = StartLoop(pool.Run)
	}
	return pool, proxy.Trouble, func() {
		stopWarm()
		pool.Close()
		proxy.Close()
	}, nil
}

// newPages returns the rule for addresses that tests may open.
func newPages(s *setting.Settings) (outbound.Pages, error) {
	guard, err := outbound.New(outbound.Config{AllowPrivate: s.AllowPrivate(), AllowMetadata: s.AllowMetadataAddresses})
	if err != nil {
		return outbound.Pages{}, fmt.Errorf("SLIPWAY_ALLOW_METADATA_ADDRESSES: %w", err)
	}
	return outbound.Pages{Guard: guard, AllowFiles: s.AllowFileURLs}, nil
}

// unsafeCapabilities reports whether a hub takes any capability. The api does not know
// which hub will serve a target, so that it leaves the check to the worker then.
func unsafeCapabilities(s *setting.Settings) bool {
	return s.UnsafeCapabilities != "" && s.UnsafeCapabilities != "false"
}
