package widgettest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// browsers is how many sessions the tests share: they mostly wait for pages.
const browsers = 2

var sessions = make(chan *webdriver.Session, browsers)

// client talks to the chromedriver of the tests; nil until the first test needs it.
var client *webdriver.Client

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	flag.Parse()
	path, err := exec.LookPath("chromedriver")
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need chromedriver: apt-get install chromium chromium-driver")
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	driver := exec.Command(path, "--port="+port, "--silent")
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
	if client, err = webdriver.New(webdriver.Config{URL: "http://" + address}); err != nil {
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
	for range browsers {
		sessions <- nil // one is started when it is needed
	}
	code := m.Run()
	for range browsers {
		if s := <-sessions; s != nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			_ = s.Delete(ctx)
			cancel()
		}
	}
	return code
}

func newSession(ctx context.Context) (*webdriver.Session, error) {
	return client.NewSession(ctx, map[string]any{
		"browserName": "chrome", "pageLoadStrategy": "eager", "webSocketUrl": true,
		"unhandledPromptBehavior": map[string]any{"default": "ignore", "beforeUnload": "ignore"},
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu",
			"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
			"--no-first-run", "--disable-breakpad", "--mute-audio", "--window-size=1280,900"}},
	})
}

// trial is a test that is written on a page.
type trial struct {
	outcome *plan.Outcome
	err     error
	live    *replay.Live
	ctx     context.Context
}

// now is the clock of the tests.
var now = time.Date(2030, 1, 10, 12, 0, 0, 0, time.UTC)

// write writes a test for an intent on a page, and returns how that ended, with the
// session as it is then.
func write(t *testing.T, address, text string) *trial {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	s := <-sessions
	if s == nil {
		var err error
		s, err = newSession(ctx)
		require.NoError(t, err)
	}
	live, err := replay.Open(ctx, replay.Config{Lease: &browser.Lease{Session: s, Local: true}, TestURL: address, StepTimeout: 5 * time.Second})
	t.Cleanup(func() {
		if live.Close() {
			_ = s.Delete(context.Background())
			s = nil
		} else {
			for s.Dialog.Dismiss(context.Background()) == nil {
			}
		}
		sessions <- s
	})
	require.NoError(t, err)
	outcome, err := plan.Run(ctx, plan.Config{Page: live, Intent: text, Clauses: intent.Read(text, intent.Options{}).Clauses, MaxSteps: 60, Now: func() time.Time { return now }})
	return &trial{outcome, err, live, ctx}
}

// steps returns the steps of a test, for messages.
func (r *trial) steps() string {
	var b strings.Builder
	for _, s := range r.outcome.Steps {
		tool := step.Inner(&s.Tool)
		fmt.Fprintf(&b, "\n  %s", tool.Type)
		if sel := tool.Args.Selector; sel != nil {
			fmt.Fprintf(&b, " %s=%s %q", sel.Type, sel.Value, sel.Name)
		}
		for _, text := range []*string{tool.Args.Text, tool.Args.OptionValue} {
			if text != nil {
				fmt.Fprintf(&b, " %q", *text)
			}
		}
		if m := tool.Args.Matcher; m != nil {
			fmt.Fprintf(&b, " not=%v %v", tool.Args.Not, *m)
		}
		fmt.Fprintf(&b, " %s — %s", tool.Args.Key, tool.Args.Reasoning)
	}
	for _, why := range r.outcome.Reasoning {
		fmt.Fprintf(&b, "\n  # %s: %s", why.Title, why.Description)
	}
	var not *plan.NotUnderstoodError
	if errors.As(r.err, &not) {
		fmt.Fprintf(&b, "\n  ! %s %v", not.Reason, not.Candidates)
	}
	return b.String()
}

// shows fails unless an element of the page has a text.
func (r *trial) shows(t *testing.T, css, text string) {
	t.Helper()
	record, err := r.live.Do(r.ctx, step.Step{TimeoutMS: 2000, Tool: step.Tool{Type: step.Assert, Args: step.Args{
		Selector: &step.Selector{Type: step.CSS, Value: css},
		Matcher:  &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text}}}}})
	require.NoError(t, err)
	require.True(t, record.Result.Success, "%s%s", record.Result.Message, r.steps())
}
