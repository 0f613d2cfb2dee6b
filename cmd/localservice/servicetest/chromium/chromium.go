// Package chromium starts a headless browser for tests of pages.
//
// The browser is the one of the machine, with a profile that the test's end removes. It
// asks nobody for updates and speaks plain HTTP to pages of tests. What a test does in it
// goes over the protocol of its developer tools (chromedp); the browser ends with the test,
// also when that fails.
package chromium

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Start starts a browser with an empty profile and returns the context of its first tab,
// which ends with the test or after so long. A test without a browser on the machine fails,
// with the line that installs one.
func Start(t testing.TB, limit time.Duration, flags ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("no browser for the tests of pages; install one: apt-get install -y chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(options, flags...)...)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(tab); cancel() })
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return tab
}
