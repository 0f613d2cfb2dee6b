package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// realBrowsers is a pool over a chromedriver of the test's own.
func realBrowsers(t *testing.T) (*browser.Pool, *egress.Proxy) {
	t.Helper()
	folder, err := localservice.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close(context.Background()) })
	driver, err := folder.Chromedriver(t.Context(), localservice.ChromedriverConfig{})
	require.NoError(t, err)
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	proxy, err := egress.Start(guard, nil)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	pool, err := browser.New(browser.Config{Local: driver.URL(), Proxy: proxy.Addr().String(), Guard: guard, Warm: 1,
		Arguments: localservice.BrowserArguments()})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, proxy
}

// A test with a secret variable passes in a browser, and fails when the page is
// another one.
func TestJobInABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	w.handler.Trouble, w.handler.Screenshots = proxy.Trouble, true
	heading := "Hello"
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<!doctype html><title>Shop</title><label>Password <input id=user></label>
			<button id=go onclick="document.body.append(Object.assign(document.createElement('h1'), {textContent: '%s'}))">Log in</button>`, heading)
	}))
	t.Cleanup(site.Close)
	w.variable("password", secret, true)
	text := "{{password}}"
	find := func(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }
	steps := []step.Step{
		{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text, Selector: find("#user")}}},
		{ID: "s2", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: find("#go")}}},
		{ID: "s3", TimeoutMS: 10_000, Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: find("h1"),
			Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "Hello"}}}}},
	}
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "log in",
			Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: steps}})
		return err
	})

	run := w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Passed, got.Status, "%s: %s", got.ErrorCode, got.Error)
	require.Len(t, got.Records, 3)
	require.NotEmpty(t, got.Files)
	require.Len(t, w.stored(), len(got.Files))
	revision, err := authoring.RevisionByID(t.Context(), w.db, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, "button", revision.Steps[1].Tool.Args.Selector.Fingerprint.Role)

	heading = "Goodbye"
	run = w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got = w.read(run).Jobs[0]
	require.Equal(t, store.Failed, got.Status)
	require.Equal(t, store.CodeAssertionFailed, got.ErrorCode)
	require.Contains(t, got.Error, "Goodbye")
	require.NotContains(t, w.everywhere(run), secret)

	w.handler.Trouble = nil
	site.Close()
	run = w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got = w.read(run).Jobs[0]
	require.Equal(t, store.CodeUnreachable, got.ErrorCode)
}

// A chromedriver that dies is noticed within two seconds, whatever the test is doing.
func TestDriverThatDies(t *testing.T) {
	t.Parallel()
	find := func(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }
	long, text := 60_000, "x"
	for name, tool := range map[string]step.Tool{
		"pause":  {Type: step.Pause, Args: step.Args{Time: &long}},
		"click":  {Type: step.Click, Args: step.Args{Selector: find("#never")}},
		"fill":   {Type: step.InputText, Args: step.Args{Selector: find("#never"), Text: &text}},
		"assert": {Type: step.Assert, Args: step.Args{Selector: find("#never"), Matcher: &step.Matcher{Name: step.Visible}}},
		"open":   {Type: step.GoToURL, Args: step.Args{URL: "/hang"}},
		"dialog": {Type: step.HandleDialog, Args: step.Args{Action: "accept"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := localservice.Open(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { _ = folder.Close(context.Background()) })
			driver, err := folder.Chromedriver(t.Context(), localservice.ChromedriverConfig{})
			require.NoError(t, err)
			pool, err := browser.New(browser.Config{Local: driver.URL(), Warm: 1, Arguments: localservice.BrowserArguments()})
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			lease, err := pool.Acquire(t.Context(),
				browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
			require.NoError(t, err)
			site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/hang" {
					<-r.Context().Done()
				}
				rw.Header().Set("Content-Type", "text/html")
				fmt.Fprint(rw, `<!doctype html><title>Shop</title>`)
			}))
			t.Cleanup(site.Close)
			t.Cleanup(site.CloseClientConnections)
			died := make(chan time.Time, 1)
			kill := sync.OnceFunc(func() {
				died <- time.Now()
				_ = syscall.Kill(driver.PID(), syscall.SIGKILL)
			})
			first := 1
			r := replay.Play(t.Context(), replay.Config{Lease: lease, TestURL: site.URL, StepTimeout: time.Minute, AssertTimeout: time.Minute,
				Steps:    []step.Step{{ID: "s1", Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: &first}}}, {ID: "s2", Tool: tool}},
				Progress: func([]playback.Record) { go kill() }})
			require.Equal(t, store.CodeBrowserLost, r.Code, r.Message)
			require.Less(t, time.Since(<-died), 30*time.Second, "long before the time of the step is over")
			lease.Release(context.Background(), true)
		})
	}
}

// losing takes the first browser that it lends away once a page has been opened.
type losing struct {
	Browsers
	opened chan struct{}
	lent   int
}

func (l *losing) Acquire(ctx context.Context, r browser.Request) (*browser.Lease, error) {
	lease, err := l.Browsers.Acquire(ctx, r)
	if l.lent++; err == nil && l.lent == 1 {
		go func() {
			<-l.opened
			_ = lease.Session.Delete(context.WithoutCancel(ctx))
		}()
	}
	return lease, err
}

// A browser that is lost while nothing is done with it is noticed, and the job passes in
// another one.
func TestJobOutlivesItsBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	browsers := &losing{Browsers: pool, opened: make(chan struct{}, 2)}
	w.handler.Browsers, w.handler.release, w.handler.Play = browsers, nil, nil
	w.handler.Trouble = proxy.Trouble
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, `<!doctype html><title>Shop</title><h1>Hello</h1>`)
		if r.URL.Path == "/" {
			browsers.opened <- struct{}{}
		}
	}))
	t.Cleanup(site.Close)
	pause := 3000
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "wait",
			Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: []step.Step{{ID: "s1", Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: &pause}}}}}})
		return err
	})
	run := w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Passed, got.Status, "%s: %s", got.ErrorCode, got.Error)
	require.Equal(t, 2, browsers.lent)
	require.Contains(t, got.Records[0].Result.Message, "played again")
}
