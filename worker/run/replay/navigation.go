package replay

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// navigation is the opening of an address.
type navigation struct {
	*stepExecution
	address string
	started time.Time
}

// destination is where a navigation ended.
type destination struct {
	Href    string `json:"href"`
	Error   string `json:"error"`   // of the page that the browser shows for one it could not load
	Refusal string `json:"refusal"` // what the proxy or a server refused it with
}

// destinationScript returns a destination. The proxy's refusal is a page of plain
// text with status 403.
const destinationScript = `const nav = performance.getEntriesByType("navigation")[0];
const plain = document.contentType === "text/plain" && nav && nav.responseStatus === 403;
const broken = location.protocol === "chrome-error:" && document.body;
return {href: location.href, error: broken ? (/ERR_[A-Z_]+/.exec(document.body.textContent) || [""])[0] : "", refusal: plain && document.body ? document.body.textContent.slice(0, 300) : ""};`

// isErrorPage reports whether an address is of the page that the browser shows for one
// it could not load.
func isErrorPage(href string) bool { return strings.HasPrefix(href, "chrome-error:") }

// goTo opens an address, which may be relative to the current page.
func (x *stepExecution) goTo(ctx context.Context, address string) error {
	if u, err := url.Parse(address); err == nil && !u.IsAbs() {
		if address, err = x.absolute(ctx, u); err != nil {
			return err
		}
	}
	return x.open(ctx, address)
}

// absolute resolves a relative address on the current page, else on the test's.
func (x *stepExecution) absolute(ctx context.Context, ref *url.URL) (string, error) {
	var current string
	err := x.pastDialogs(ctx, func() (err error) {
		current, err = x.driver.URL(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	base, err := url.Parse(current)
	if err == nil && (base.Scheme == "http" || base.Scheme == "https" || base.Scheme == "file") {
		return base.ResolveReference(ref).String(), nil
	}
	text, err := step.Expand(x.TestURL, x.secrets.value)
	if err != nil {
		return "", variableFailure(err)
	}
	if base, err = url.Parse(text); err != nil || !base.IsAbs() {
		return "", stepf("the address %s is relative, and no page is open", x.quote(ref.String(), 200))
	}
	return base.ResolveReference(ref).String(), nil
}

// move returns from where to where the test is moved. An address whose variables have no
// value moves nothing: a step that needs one says so.
func (s *session) move() step.Move {
	if s.RecordedURL == "" {
		return step.Move{}
	}
	recorded, err := step.Expand(s.RecordedURL, s.secrets.value)
	if err != nil {
		return step.Move{}
	}
	given, err := step.Expand(s.TestURL, s.secrets.value)
	if err != nil {
		return step.Move{}
	}
	return step.NewMove(recorded, given)
}

// open opens an absolute address.
func (x *stepExecution) open(ctx context.Context, address string) error {
	if err := x.checkAddress(ctx, address); err != nil {
		return err
	}
	x.screenshotter.wait(ctx)
	x.blank = x.blank || address == startPage
	x.secrets.noteTyped(address, address)
	n := navigation{x, address, time.Now()}
	err := x.pastDialogs(ctx, func() error {
		return x.withPageTimeout(ctx, func(ctx context.Context) error { return x.driver.Navigate(ctx, address) })
	})
	if err != nil {
		return n.unreachable(ctx, err)
	}
	d, err := n.destination(ctx)
	if d == nil || err != nil {
		return err
	}
	if strings.HasPrefix(d.Refusal, outbound.ErrForbiddenAddress.Error()+": ") {
		return failf(run.CodeForbidden, "%s: %s", x.showAddress(address), x.quote(strings.TrimSpace(d.Refusal), 200))
	}
	if isErrorPage(d.Href) {
		return n.unreachable(ctx, errors.New("net::"+d.Error))
	}
	return x.arrived(ctx, d.Href)
}

// destination waits until the page that was opened can be looked at. It is nil when
// the page has opened a dialog that the next step handles.
func (n navigation) destination(ctx context.Context) (*destination, error) {
	for {
		var d destination
		err := n.execute(ctx, destinationScript, &d)
		switch {
		case n.handledByNextStep(err):
			return nil, nil // the next step that runs a script looks
		case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
			if err := n.dismiss(ctx, err); err != nil {
				return nil, err
			}
			continue
		case err != nil && !retriable(err), lost(err):
			return nil, err
		case err == nil && d.Href != "":
			return &d, nil
		}
		if time.Since(n.started) > n.PageTimeout {
			return nil, failf(run.CodeUnreachable, "%s does not come to rest", n.showAddress(n.address))
		}
		if err := sleep(ctx, retryPause); err != nil {
			return nil, err
		}
	}
}

// unreachable returns the failure of the navigation.
func (n navigation) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil || lost(err) {
		return err
	}
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if webdriver.Is(err, webdriver.ErrInvalidArgument) {
		return stepf("%s is not an address", n.showAddress(n.address))
	}
	reason, forbidden := n.refusal()
	if forbidden {
		return failf(run.CodeForbidden, "%s: %s", n.showAddress(n.address), reason)
	}
	if reason == "" {
		reason = n.reason(err)
	}
	return failf(run.CodeUnreachable, "%s was not reached: %s", n.showAddress(n.address), reason)
}

// refusal returns why the browser's proxy did not connect, "" when it did, and
// whether it refused the address.
func (n navigation) refusal() (reason string, forbidden bool) {
	u, err := url.Parse(n.address)
	if err != nil || n.Trouble == nil {
		return "", false
	}
	text, ok := n.Trouble(u.Hostname(), n.started)
	if !ok {
		return "", false
	}
	return n.quote(text, 200), strings.Contains(text, outbound.ErrForbiddenAddress.Error()+": ")
}

// reason returns what an error of a navigation means, for people.
func (n navigation) reason(err error) string {
	text := err.Error()
	switch {
	case webdriver.Is(err, webdriver.ErrTimeout):
		return "it did not load within " + n.PageTimeout.String()
	case strings.Contains(text, "ERR_TOO_MANY_REDIRECTS"):
		return "it redirects without end"
	case strings.Contains(text, "ERR_CONNECTION_REFUSED"):
		return "the connection was refused"
	case strings.Contains(text, "ERR_NAME_NOT_RESOLVED"):
		return "the name is unknown"
	case strings.Contains(text, "net::ERR_"):
		_, text, _ = strings.Cut(text, "net::")
		return "the browser says " + bounded(strings.Fields(text)[0], 60)
	case webdriver.Is(err, webdriver.ErrInsecureCert):
		return "its certificate is not trusted"
	}
	return "the browser could not load it"
}
