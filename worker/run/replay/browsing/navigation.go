package browsing

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Navigator is a step that opens an address.
type Navigator struct{ *session.Execution }

// navigation is the opening of an address.
type navigation struct {
	*session.Execution
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
return {href: location.href, error: broken ? (/ERR_[A-Z_]+/.exec(document.body.textContent) || [""])[0] : "", ` +
	`refusal: plain && document.body ? document.body.textContent.slice(0, 300) : ""};`

// GoTo opens an address, which may be relative to the current page.
func (x Navigator) GoTo(ctx context.Context, address string) error {
	if u, err := url.Parse(address); err == nil && !u.IsAbs() {
		if address, err = x.Absolute(ctx, u); err != nil {
			return err
		}
	}
	return x.Open(ctx, address)
}

// Open opens an absolute address.
func (x Navigator) Open(ctx context.Context, address string) error {
	if err := x.CheckAddress(ctx, address); err != nil {
		return err
	}
	x.Screenshotter.Wait(ctx)
	x.Blank = x.Blank || address == session.StartPage
	x.Secrets.NoteTyped(address, address)
	n := navigation{x.Execution, address, time.Now()}
	err := x.PastDialogs(ctx, func() error {
		return x.WithPageTimeout(ctx, func(ctx context.Context) error { return x.Driver.Navigate(ctx, address) })
	})
	if err != nil {
		return n.unreachable(ctx, err)
	}
	d, err := n.destination(ctx)
	if d == nil || err != nil {
		return err
	}
	if strings.HasPrefix(d.Refusal, outbound.ErrForbiddenAddress.Error()+": ") {
		return failure.Newf(run.CodeForbidden, "%s: %s", x.ShowAddress(address), x.Quote(strings.TrimSpace(d.Refusal), 200))
	}
	if session.IsErrorPage(d.Href) {
		return n.unreachable(ctx, errors.New("net::"+d.Error))
	}
	return x.Arrived(ctx, d.Href)
}

// destination waits until the page that was opened can be looked at. It is nil when
// the page has opened a dialog that the next step handles.
func (n navigation) destination(ctx context.Context) (*destination, error) {
	for {
		var d destination
		err := n.Execute(ctx, destinationScript, &d)
		switch {
		case n.HandledByNextStep(err):
			return nil, nil // the next step that runs a script looks
		case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
			if err := n.Dismiss(ctx, err); err != nil {
				return nil, err
			}
			continue
		case err != nil && !failure.Retriable(err), failure.Lost(err):
			return nil, err
		case err == nil && d.Href != "":
			return &d, nil
		}
		if time.Since(n.started) > n.PageTimeout {
			return nil, failure.Newf(run.CodeUnreachable, "%s does not come to rest", n.ShowAddress(n.address))
		}
		if err := session.Sleep(ctx, session.RetryPause); err != nil {
			return nil, err
		}
	}
}

// unreachable returns the failure of the navigation.
func (n navigation) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil || failure.Lost(err) {
		return err
	}
	var f *failure.Failure
	if errors.As(err, &f) {
		return f
	}
	if webdriver.Is(err, webdriver.ErrInvalidArgument) {
		return failure.Stepf("%s is not an address", n.ShowAddress(n.address))
	}
	reason, forbidden := n.refusal()
	if forbidden {
		return failure.Newf(run.CodeForbidden, "%s: %s", n.ShowAddress(n.address), reason)
	}
	if reason == "" {
		reason = n.reason(err)
	}
	return failure.Newf(run.CodeUnreachable, "%s was not reached: %s", n.ShowAddress(n.address), reason)
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
	return n.Quote(text, 200), strings.Contains(text, outbound.ErrForbiddenAddress.Error()+": ")
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
		return "the browser says " + failure.Bounded(strings.Fields(text)[0], 60)
	case webdriver.Is(err, webdriver.ErrInsecureCert):
		return "its certificate is not trusted"
	}
	return "the browser could not load it"
}
