package replay

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/login"
)

// Login is what a test has to do with the login of its suite.
type Login struct {
	// Leaves: the test is the login, and what it leaves is in the result.
	Leaves bool
	// State is given to the browser before its first page; nil: nothing is.
	State *login.State
	// When holds on the first page of a test that is not signed in; nil: nobody looks.
	When *step.Condition
}

// signedInLook is how long the first page may take to show that a test is not signed in,
// unless the condition says so itself: all tests of the suite wait so long.
const signedInLook = 250 * time.Millisecond

// stateTimeout bounds the reading and giving of a state.
const stateTimeout = 30 * time.Second

// loginConnection returns the connection that a login needs with the current window.
func (x *stepExecution) loginConnection(ctx context.Context) (*webdriver.BiDi, string, error) {
	if x.Lease.Mobile || x.driver == nil || x.driver.Capabilities["webSocketUrl"] == nil {
		return nil, "", failf(run.CodeLogin, "the login of a suite needs WebDriver BiDi, which this browser does not offer")
	}
	conn, err := x.driver.BiDi(ctx)
	if err != nil {
		return nil, "", err
	}
	window, err := x.currentWindow(ctx)
	return conn, window, err
}

// beginLogin gives the test what the login of its suite has left, or refuses at once one that
// is to leave something and cannot.
func (p preparation) beginLogin(ctx context.Context) error {
	if p.Login == nil || !p.Login.Leaves && p.Login.State == nil {
		return nil
	}
	conn, window, err := p.loginConnection(ctx)
	if err != nil {
		return err
	}
	if p.Login.Leaves {
		p.shown, err = login.Watch(ctx, conn)
		return err
	}
	p.secrets.addAll(p.Login.State.Secrets())
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	if err := p.Login.State.Restore(ctx, conn, window); err != nil {
		return p.loginFailure(err, "the browser does not take what the login has left")
	}
	return nil
}

// loginFailure judges the error of a command.
func (x *stepExecution) loginFailure(err error, what string) error {
	var reported *webdriver.Error
	switch {
	case errors.As(err, &reported) && !lost(err):
		return failf(run.CodeLogin, "%s: %s", what, x.quote(reported.Message, 300))
	case lost(err), errors.Is(err, context.Canceled):
		return err
	}
	return failf(run.CodeLogin, "%s: %s", what, x.quote(err.Error(), 300))
}

// leaveLogin reads what a login leaves, once its steps have passed and before its tear-down.
func (t *testExecution) leaveLogin(ctx context.Context, goesOn bool) {
	if t.Login == nil || !t.Login.Leaves || t.result.Status != step.Passed {
		return
	}
	t.screenshotter.wait(ctx)
	t.tracer.wait(ctx)
	x := t.newPreparation().stepExecution
	if err := t.readLogin(ctx, x, goesOn); err != nil {
		t.fail(t.failureOf(ctx, err))
	}
}

func (t *testExecution) readLogin(ctx context.Context, x *stepExecution, goesOn bool) error {
	conn, window, err := x.loginConnection(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	left, moved, err := login.Capture(ctx, conn, window, t.shown.List())
	if err != nil {
		return x.loginFailure(err, "what the login leaves cannot be read")
	}
	secrets := left.Secrets()
	t.secrets.addAll(secrets)
	for _, secret := range secrets {
		t.Trace.Hide(secret)
	}
	t.result.Left = left
	if moved && goesOn {
		return x.open(ctx, t.href)
	}
	return nil
}

// lookSignedIn looks once, before the step that is the first on a page, whether the page says
// that the test is not signed in.
func (t *testExecution) lookSignedIn(ctx context.Context, i int) *failure {
	if t.Login == nil || t.Login.When == nil || t.looked || t.href == "" {
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
func (t *testExecution) lookAfter(ctx context.Context, i int, failed *failure) *failure {
	if failed == nil || !t.looked || t.lookedAt != i || failed.broken || t.Login.When == nil {
		return failed
	}
	if out := t.signedOut(ctx, i, 0); out != nil {
		return out
	}
	return failed
}

// signedOut returns the failure of a test whose page shows that it is not signed in. A page
// that cannot be looked at is left to the steps.
func (t *testExecution) signedOut(ctx context.Context, i int, wait time.Duration) *failure {
	x := t.newStep(i)
	x.timeout, x.deadline = wait, time.Now().Add(wait)
	when := t.Login.When
	not, err := condition{x}.holds(ctx, when, step.Tool{Type: step.Assert, Args: step.Args{Selector: when.Selector, Matcher: when.Matcher}})
	if not != nil || err != nil {
		return nil
	}
	t.result.SignedOut = true
	t.screenshotter.captureFailure(ctx, x)
	return failf(run.CodeLogin, "the page %q shows that the test is not signed in: %s", x.quote(step.ShownURL(t.href), maxShown), x.holding(when))
}

// holding is a condition that holds, for people.
func (x *stepExecution) holding(when *step.Condition) string {
	subject := "it"
	if when.Selector != nil {
		subject = x.showSelector(pageSelectorOf(when.Selector))
	}
	r, err := newRule(step.Args{Selector: when.Selector, Matcher: when.Matcher, Not: when.Not}, x.quote)
	if err != nil {
		return "the condition of the login holds"
	}
	is := r.expected()
	if state, ok := strings.CutPrefix(is, "not to be "); ok {
		is = "is not " + state
	} else if state, ok := strings.CutPrefix(is, "to be "); ok {
		is = "is " + state
	}
	return subject + " " + is
}
