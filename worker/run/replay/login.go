package replay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/browsing"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// signedInLook is how long the first page may take to show that a test is not signed in,
// unless the condition says so itself: all tests of the suite wait so long.
const signedInLook = 250 * time.Millisecond

// stateTimeout bounds the reading and giving of a state.
const stateTimeout = 30 * time.Second

// loginStep is what a step has to do with the login of its suite.
type loginStep struct{ *session.Execution }

// loginConnection returns the connection that a login needs with the current window.
func (x loginStep) loginConnection(ctx context.Context) (*webdriver.BiDi, string, error) {
	if x.Lease.Mobile || x.Driver == nil || x.Driver.Capabilities["webSocketUrl"] == nil {
		return nil, "", failure.Newf(run.CodeLogin, "the login of a suite needs WebDriver BiDi, which this browser does not offer")
	}
	conn, err := x.Driver.BiDi(ctx)
	if err != nil {
		return nil, "", err
	}
	window, err := x.CurrentWindow(ctx)
	return conn, window, err
}

// beginLogin gives the test what the login of its suite has left, or refuses at once one that
// is to leave something and cannot.
func (p preparation) beginLogin(ctx context.Context) error {
	if p.Login == nil || !p.Login.Leaves && p.Login.State == nil {
		return nil
	}
	conn, window, err := loginStep(p).loginConnection(ctx)
	if err != nil {
		return err
	}
	if p.Login.Leaves {
		p.Shown, err = login.Watch(ctx, conn)
		return err
	}
	p.Secrets.AddAll(p.Login.State.Secrets())
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	if err := p.Login.State.Restore(ctx, conn, window); err != nil {
		return loginStep(p).loginFailure(err, "the browser does not take what the login has left")
	}
	return nil
}

// loginFailure judges the error of a command.
func (x loginStep) loginFailure(err error, what string) error {
	var reported *webdriver.Error
	switch {
	case errors.As(err, &reported) && !failure.Lost(err):
		return failure.Newf(run.CodeLogin, "%s: %s", what, x.Quote(reported.Message, 300))
	case failure.Lost(err), errors.Is(err, context.Canceled):
		return err
	}
	return failure.Newf(run.CodeLogin, "%s: %s", what, x.Quote(err.Error(), 300))
}

// leaveLogin reads what a login leaves, once its steps have passed and before its tear-down.
func (t *testExecution) leaveLogin(ctx context.Context, goesOn bool) {
	if t.Login == nil || !t.Login.Leaves || t.result.Status != playback.Passed {
		return
	}
	t.screenshotter.Wait(ctx)
	t.Tracer.Wait(ctx)
	x := t.newPreparation().Execution
	if err := t.readLogin(ctx, x, goesOn); err != nil {
		t.fail(t.FailureOf(ctx, err))
	}
}

func (t *testExecution) readLogin(ctx context.Context, x *session.Execution, goesOn bool) error {
	conn, window, err := loginStep{x}.loginConnection(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	left, moved, err := login.Capture(ctx, conn, window, t.Shown.List())
	if err != nil {
		return loginStep{x}.loginFailure(err, "what the login leaves cannot be read")
	}
	secrets := left.Secrets()
	t.Secrets.AddAll(secrets)
	for _, secret := range secrets {
		t.Trace.Hide(secret)
	}
	t.result.Left = left
	if moved && goesOn {
		return browsing.Navigator{Execution: x}.Open(ctx, t.Href)
	}
	return nil
}

// lookSignedIn looks once, before the step that is the first on a page, whether the page says
// that the test is not signed in.
func (t *testExecution) lookSignedIn(ctx context.Context, i int) *failure.Failure {
	if t.Login == nil || t.Login.When == nil || t.looked || t.Href == "" {
		return nil
	}
	t.looked, t.lookedAt = true, i
	wait := signedInLook
	if ms := t.Login.When.TimeoutMS; ms > 0 {
		wait = time.Duration(ms) * time.Millisecond
	}
	return t.signedOut(ctx, i, wait)
}

// lookAfter looks once more when the first step on a page has failed: some pages find out late
// that nobody is signed in. Nothing was done on the page by then.
func (t *testExecution) lookAfter(ctx context.Context, i int, failed *failure.Failure) *failure.Failure {
	if failed == nil || !t.looked || t.lookedAt != i || failed.Broken || t.Login.When == nil {
		return failed
	}
	if out := t.signedOut(ctx, i, 0); out != nil {
		return out
	}
	return failed
}

// signedOut returns the failure of a test whose page shows that it is not signed in. A page
// that cannot be looked at is left to the steps.
func (t *testExecution) signedOut(ctx context.Context, i int, wait time.Duration) *failure.Failure {
	x := t.newStep(i)
	x.Timeout, x.Deadline = wait, time.Now().Add(wait)
	when := t.Login.When
	not, err := condition{x}.holds(ctx, when, step.Tool{Type: step.Assert, Args: step.Args{Selector: when.Selector, Matcher: when.Matcher}})
	if not != nil || err != nil {
		return nil
	}
	t.result.SignedOut = true
	t.screenshotter.CaptureFailure(ctx, x)
	return failure.Newf(run.CodeLogin, "the page %q shows that the test is not signed in: %s",
		x.Quote(step.ShownURL(t.Href), assertion.MaxShown), loginStep{x}.holding(when))
}

// holding is a condition that holds, for people.
func (x loginStep) holding(when *step.Condition) string {
	subject := "it"
	if when.Selector != nil {
		subject = x.ShowSelector(page.SelectorOf(when.Selector))
	}
	r, err := assertion.NewRule(step.Args{Selector: when.Selector, Matcher: when.Matcher, Not: when.Not}, x.Quote)
	if err != nil {
		return "the condition of the login holds"
	}
	is := r.Expected()
	if state, ok := strings.CutPrefix(is, "not to be "); ok {
		is = "is not " + state
	} else if state, ok := strings.CutPrefix(is, "to be "); ok {
		is = "is " + state
	}
	return subject + " " + is
}
