package webdriver_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// driver is the chromedriver of all tests, in its own process group so that its
// browsers end with it.
type driver struct {
	once sync.Once
	err  error
	cmd  *exec.Cmd
	url  string
	log  bytes.Buffer
	// transport is that of all clients, so that its connections can be closed.
	transport *http.Transport
}

var chromedriver driver

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	code := m.Run()
	shared.close()
	chromedriver.stop()
	if code != 0 {
		return code, nil
	}
	return 0, goleak.Find()
}

// client returns a client of the driver, which starts with the first.
func (d *driver) client() (*webdriver.Client, error) {
	d.once.Do(func() { d.err = d.start() })
	if d.err != nil {
		return nil, d.err
	}
	return webdriver.New(webdriver.Config{URL: d.url, Transport: d.transport})
}

func (d *driver) start() error {
	program, err := exec.LookPath("chromedriver")
	if err != nil {
		return fmt.Errorf("the tests need chromedriver: apt-get install -y chromium chromium-driver")
	}
	port, err := servicetest.QuietPort()
	if err != nil {
		return err
	}
	d.transport = &http.Transport{}
	d.url = "http://127.0.0.1:" + strconv.Itoa(port)
	d.cmd = exec.Command(program, "--port="+strconv.Itoa(port))
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	d.cmd.WaitDelay = 5 * time.Second
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	client, err := webdriver.New(webdriver.Config{URL: d.url, Transport: d.transport})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	for {
		if status, err := client.Status(ctx); err == nil && status.Ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("chromedriver is not ready: %s", d.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (d *driver) stop() {
	if d.cmd == nil || d.cmd.Process == nil {
		return
	}
	_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL)
	_ = d.cmd.Wait()
	d.transport.CloseIdleConnections()
}

func capabilities(more map[string]any) map[string]any {
	caps := map[string]any{
		"browserName":             "chrome",
		"webSocketUrl":            true,
		"pageLoadStrategy":        "eager",
		"unhandledPromptBehavior": "ignore",
		"goog:loggingPrefs":       map[string]string{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900",
			"--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
		}},
	}
	for name, value := range more {
		caps[name] = value
	}
	return caps
}

// start starts a browser.
func start(ctx context.Context, more map[string]any) (*webdriver.Session, error) {
	client, err := chromedriver.client()
	if err != nil {
		return nil, err
	}
	return client.NewSession(ctx, capabilities(more))
}

func end(s *webdriver.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	_ = s.Delete(ctx)
}

// startNew starts a browser that ends with the test.
func startNew(t *testing.T) *webdriver.Session { return startWith(t, nil) }

func startWith(t *testing.T, more map[string]any) *webdriver.Session {
	t.Helper()
	s, err := start(within(t), more)
	require.NoError(t, err)
	t.Cleanup(func() { end(s) })
	return s
}

// shared is the browser of the tests that need no other; they do not run in
// parallel.
var shared browser

type browser struct {
	session *webdriver.Session
	first   string // its window when nobody uses it
}

func (b *browser) close() {
	if b.session != nil {
		end(b.session)
	}
}

// open returns the shared browser with a new window in a new user context.
func open(t *testing.T) *webdriver.Session {
	t.Helper()
	ctx := within(t)
	var err error
	if shared.session == nil {
		shared.session, err = start(ctx, nil)
		require.NoError(t, err)
		shared.first, err = shared.session.Window(ctx)
		require.NoError(t, err)
	}
	s := shared.session
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	id, err := b.CreateUserContext(ctx)
	require.NoError(t, err)
	handle, err := b.CreateWindow(ctx, "tab", id)
	require.NoError(t, err)
	require.NoError(t, s.SwitchWindow(ctx, handle))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
		defer cancel()
		require.NoError(t, b.RemoveUserContext(ctx, id))
		require.NoError(t, s.SwitchWindow(ctx, shared.first))
	})
	return s
}

// within returns a context for a test's commands.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
