// Package chromedriver starts a plain chromedriver for the tests of a package, and
// sessions of Chromium on it: what a hub by address is to a worker.
//
// The driver starts with the first session and ends, with all browsers, after the tests
// (Main). A session ends with its test. What does not start fails the test that asked
// for it, with the line that installs it.
package chromedriver

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// within bounds what a test asks of a browser on a busy machine.
const within = 4 * time.Minute

// Driver is the chromedriver of a package's tests. It starts with the first session.
type Driver struct {
	start  sync.Once
	url    string
	err    error
	dir    string
	folder *localservice.Folder
}

// Main runs the tests of a package and ends their chromedriver with its browsers.
func (d *Driver) Main(m *testing.M) {
	code := m.Run()
	if d.folder != nil {
		if err := d.folder.Close(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir)
	}
	os.Exit(code)
}

func (d *Driver) open() {
	if d.dir, d.err = os.MkdirTemp("", "chromedriver-"); d.err != nil {
		return
	}
	if d.folder, d.err = localservice.Open(d.dir); d.err != nil {
		return
	}
	server, err := d.folder.Chromedriver(context.Background(), localservice.ChromedriverConfig{})
	if d.err = err; err == nil {
		d.url = server.URL()
	}
}

// URL returns the address of the chromedriver.
func (d *Driver) URL(t testing.TB) string {
	t.Helper()
	d.start.Do(d.open)
	if d.err != nil {
		t.Fatal(d.err)
	}
	return d.url
}

// Session starts a browser that ends with the test; more are capabilities over those of a
// plain session with BiDi.
func (d *Driver) Session(t testing.TB, more map[string]any) *webdriver.Session {
	t.Helper()
	client, err := webdriver.New(webdriver.Config{URL: d.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	args := append(localservice.BrowserArguments(), "--headless=new", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-first-run", "--mute-audio")
	wanted := map[string]any{"browserName": "chrome", "webSocketUrl": true, "pageLoadStrategy": "eager", "unhandledPromptBehavior": "ignore",
		"goog:chromeOptions": map[string]any{"args": args}}
	for name, value := range more {
		wanted[name] = value
	}
	s, err := client.NewSession(Context(t), wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		_ = s.Delete(ctx)
	})
	return s
}

// Context returns a context for what a test asks of a browser.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// Kill ends the browser of a session by force.
func Kill(t testing.TB, s *webdriver.Session) {
	t.Helper()
	pid, _ := s.Capabilities["goog:processID"].(float64)
	if pid <= 1 {
		t.Fatal("the driver does not say which process its browser is")
	}
	if err := syscall.Kill(int(pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
