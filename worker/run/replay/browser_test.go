package replay_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// browsers is how many of them the tests share, with one chromedriver: they mostly wait for
// pages.
const browsers = 3

var (
	driver   *exec.Cmd
	client   *webdriver.Client
	sessions = make(chan *webdriver.Session, browsers)
)

// largest is the size of the longest command.
var largest atomic.Int64

// meter stores how long the longest command is, and lets tests intercept commands.
type meter struct{}

func (meter) RoundTrip(r *http.Request) (*http.Response, error) {
	for old := largest.Load(); r.ContentLength > old && !largest.CompareAndSwap(old, r.ContentLength); old = largest.Load() {
	}
	if id, command, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/session/"), "/"); ok {
		if found, ok := interceptors.Load(id); ok {
			return found.(interceptor)(command, func() (*http.Response, error) { return http.DefaultTransport.RoundTrip(r) })
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

// interceptor is between a session and its driver: it sees the path of a command,
// and what it returns is the response.
type interceptor func(command string, send func() (*http.Response, error)) (*http.Response, error)

// interceptors are those of the sessions, by their ids.
var interceptors sync.Map

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(browsers)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	path, err := exec.LookPath("chromedriver")
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need chromedriver: apt-get install chromium chromium-driver")
		return 1
	}
	port, err := servicetest.QuietPort()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	driver = exec.Command(path, fmt.Sprintf("--port=%d", port), "--silent")
	driver.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := driver.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	driver.WaitDelay = time.Second
	defer func() {
		_ = syscall.Kill(-driver.Process.Pid, syscall.SIGKILL)
		_ = driver.Wait()
	}()
	client, err = webdriver.New(webdriver.Config{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Transport: meter{}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if s, err := client.Status(context.Background()); err == nil && s.Ready {
			break
		}
		if time.Since(begin) > time.Minute {
			fmt.Fprintln(os.Stderr, "chromedriver does not start")
			return 1
		}
	}
	var starting sync.WaitGroup
	for range cap(sessions) {
		starting.Go(func() { sessions <- newSession() })
	}
	starting.Wait()
	code := m.Run()
	// The end of the driver's process group is that of its browsers as well, so a
	// session that does not end in time delays nothing.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for range cap(sessions) {
		select {
		case s := <-sessions:
			_ = s.Delete(ctx)
		case <-ctx.Done():
		}
	}
	return code
}

func newSession() *webdriver.Session {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s, err := client.NewSession(ctx, map[string]any{
		"browserName": "chrome", "pageLoadStrategy": "eager", "webSocketUrl": true,
		"unhandledPromptBehavior": map[string]any{"default": "ignore", "beforeUnload": "ignore"},
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu",
			"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--no-first-run", "--disable-breakpad", "--mute-audio", "--window-size=1280,900",
			"--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess"}},
	})
	if err != nil {
		panic(err)
	}
	events, err := s.BiDi(ctx)
	if err == nil {
		err = events.Subscribe(ctx, "log.entryAdded")
	}
	if err != nil {
		panic(err)
	}
	return s
}

// lease takes a session until release; a test must not take two.
func lease() *browser.Lease { return &browser.Lease{Session: <-sessions, Local: true} }

func release(l *browser.Lease, broken bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if broken || reset(ctx, l.Session) != nil {
		_ = l.Session.Delete(ctx)
		l.Session = newSession()
	}
	sessions <- l.Session
}

// reset makes a session as good as new, except for the page, which the next test
// replaces.
func reset(ctx context.Context, s *webdriver.Session) error {
	for s.Dialog.Dismiss(ctx) == nil {
	}
	all, err := s.Windows(ctx)
	if err != nil || len(all) == 0 {
		return fmt.Errorf("windows: %w", err)
	}
	connection, err := s.BiDi(ctx)
	if err != nil {
		return err
	}
	for _, extra := range all[1:] {
		if err := connection.CloseWindow(ctx, extra); err != nil {
			return err
		}
	}
	if err := s.SwitchWindow(ctx, all[0]); err != nil {
		return err
	}
	// A test may have set the size of what the window shows.
	if err := connection.Command(ctx, "browsingContext.setViewport", map[string]any{"context": all[0], "viewport": nil}, nil); err != nil {
		return err
	}
	return connection.Command(ctx, "storage.deleteCookies", nil, nil)
}

// site serves bodies of pages by their path, and what handlers add.
func site(t testing.TB, pages map[string]string, handlers ...func(*http.ServeMux)) string {
	mux := http.NewServeMux()
	for path, body := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html><title>"+strings.Trim(path, "/")+"</title><body style='margin:20px'>"+body)
		})
	}
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for _, add := range handlers {
		add(mux)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // pages that never respond
		server.Close()
	})
	return server.URL
}

// patient returns a configuration whose times, unless the test sets them, no machine is too
// busy for: what must happen does at once.
func patient(cfg replay.Config) replay.Config {
	cfg.StepTimeout = cmp.Or(cfg.StepTimeout, 40*time.Second)
	cfg.AssertTimeout = cmp.Or(cfg.AssertTimeout, 40*time.Second)
	cfg.PageTimeout = cmp.Or(cfg.PageTimeout, 4*time.Minute)
	cfg.Grace = cmp.Or(cfg.Grace, time.Minute)
	return cfg
}

// play executes steps on a page.
func play(t testing.TB, cfg replay.Config) replay.Result {
	t.Helper()
	for i := range cfg.Steps {
		if cfg.Places == nil { // else they are those of a plan
			cfg.Steps[i].ID = fmt.Sprintf("s%d", i+1)
		}
	}
	cfg = patient(cfg)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var result replay.Result
	if cfg.Lease == nil {
		cfg.Lease = lease()
		defer func() { release(cfg.Lease, result.Broken) }()
	}
	result = replay.Play(ctx, cfg)
	require.Len(t, result.Records, len(cfg.Steps))
	return result
}

// pass executes steps on a page with a body, and requires that they pass.
func pass(t testing.TB, body string, steps ...step.Step) replay.Result {
	t.Helper()
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": body}), Steps: steps})
	require.Equal(t, "PASSED", r.Status, "%s: %s", r.Code, r.Message)
	require.Empty(t, r.Code)
	return r
}

// fails executes steps of which the last one must fail, with a message that contains
// words. It fails for one and a half seconds, unless it has a time of its own.
func fails(t testing.TB, body, code, words string, steps ...step.Step) replay.Result {
	t.Helper()
	if last := &steps[len(steps)-1]; last.TimeoutMS == 0 {
		last.TimeoutMS = 1500
	}
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": body}), Steps: steps})
	require.Equal(t, code, r.Code, r.Message)
	require.Contains(t, r.Message, words)
	for i, record := range r.Records[:len(r.Records)-1] {
		require.Equal(t, playback.Passed, record.Status, "step %d: %s", i, record.Result.Message)
	}
	require.Equal(t, playback.Failed, r.Records[len(r.Records)-1].Status)
	return r
}
