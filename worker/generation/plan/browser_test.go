package plan

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// drivers is the chromedriver that tests with a real browser share: it starts with the
// first of them.
var drivers struct {
	start sync.Once
	cmd   *exec.Cmd
	pool  *browser.Pool
	err   error
}

// places bounds the tests with browsers that run side by side.
var places = make(chan struct{}, 2)

func TestMain(m *testing.M) {
	code := m.Run()
	if drivers.pool != nil {
		drivers.pool.Close()
	}
	if drivers.cmd != nil {
		_ = syscall.Kill(-drivers.cmd.Process.Pid, syscall.SIGKILL)
		_ = drivers.cmd.Wait()
	}
	os.Exit(code)
}

func startDriver() error {
	path, err := exec.LookPath("chromedriver")
	if err != nil {
		return fmt.Errorf("these tests need chromedriver: apt-get install chromium chromium-driver: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(path, fmt.Sprintf("--port=%d", port), "--silent")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	drivers.cmd = cmd
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	client, err := webdriver.New(webdriver.Config{URL: url})
	if err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); ; {
		if s, err := client.Status(context.Background()); err == nil && s.Ready {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("chromedriver does not start")
		}
		<-time.After(20 * time.Millisecond)
	}
	drivers.pool, err = browser.New(browser.Config{Local: url, Warm: cap(places), Arguments: []string{"--no-sandbox", "--disable-dev-shm-usage"}})
	return err
}

// lease takes a browser for a test.
func lease(t testing.TB) *browser.Lease {
	t.Helper()
	drivers.start.Do(func() { drivers.err = startDriver() })
	require.NoError(t, drivers.err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := drivers.pool.Acquire(ctx, browser.Request{Target: step.Target{Capabilities: step.Capabilities{"browserName": "chrome"}}})
	require.NoError(t, err)
	return l
}

// site serves pages by path; "/" is any other.
func site(t testing.TB, pages map[string]string) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, body := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><html lang=en><title>Page</title><script>say = (text) => document.title = text</script>"+body)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// written is what Run did on a page, whose session is still open.
type written struct {
	*Outcome
	err  error
	live *replay.Live
	t    testing.TB
	url  string
}

// write runs a planner on a page in a browser.
func write(t testing.TB, url string, cfg Config) *written {
	t.Helper()
	places <- struct{}{}
	t.Cleanup(func() { <-places })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	at := lease(t)
	live, err := replay.Open(ctx, replay.Config{Lease: at, TestURL: url, StepTimeout: 5 * time.Second})
	t.Cleanup(func() { at.Release(context.Background(), live.Close()) })
	require.NoError(t, err)
	cfg.Page = live
	w := &written{live: live, t: t, url: url}
	w.Outcome, w.err = Run(ctx, cfg)
	return w
}

// said returns the title of the page at the end, where pages of tests say what happened.
func (w *written) said() string {
	w.t.Helper()
	s, err := w.live.Snapshot(context.Background())
	require.NoError(w.t, err)
	return s.Title
}

// tools returns the tools of the steps.
func (w *written) tools() (list []string) {
	for _, s := range w.Steps {
		list = append(list, step.Inner(&s.Tool).Type)
	}
	return list
}
