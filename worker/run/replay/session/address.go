package session

import (
	"context"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// StartPage is what a window shows before the test opens anything: no page of the test.
const StartPage = "about:blank"

// IsErrorPage reports whether an address is of the page that the browser shows for one
// it could not load.
func IsErrorPage(href string) bool { return strings.HasPrefix(href, "chrome-error:") }

// Absolute resolves a relative address on the current page, else on the test's.
func (x *Execution) Absolute(ctx context.Context, ref *url.URL) (string, error) {
	var current string
	err := x.PastDialogs(ctx, func() (err error) {
		current, err = x.Driver.URL(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	base, err := url.Parse(current)
	if err == nil && (base.Scheme == "http" || base.Scheme == "https" || base.Scheme == "file") {
		return base.ResolveReference(ref).String(), nil
	}
	text, err := step.Expand(x.TestURL, x.Secrets.Value)
	if err != nil {
		return "", failure.OfVariable(err)
	}
	if base, err = url.Parse(text); err != nil || !base.IsAbs() {
		return "", failure.Stepf("the address %s is relative, and no page is open", x.Quote(ref.String(), 200))
	}
	return base.ResolveReference(ref).String(), nil
}

// Move returns from where to where the test is moved. An address whose variables have no
// value moves nothing: a step that needs one says so.
func (s *Session) Move() step.Move {
	if s.RecordedURL == "" {
		return step.Move{}
	}
	recorded, err := step.Expand(s.RecordedURL, s.Secrets.Value)
	if err != nil {
		return step.Move{}
	}
	given, err := step.Expand(s.TestURL, s.Secrets.Value)
	if err != nil {
		return step.Move{}
	}
	return step.NewMove(recorded, given)
}

// PageAddress returns the address of the page, or the test's where it has opened none yet.
func (x *Execution) PageAddress(ctx context.Context) (*url.URL, error) {
	if x.Href == "" {
		text, err := step.Expand(x.TestURL, x.Secrets.Value)
		if err != nil {
			return nil, failure.OfVariable(err)
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return u, nil
		}
	}
	address, err := x.Absolute(ctx, &url.URL{})
	if err != nil {
		return nil, err
	}
	return url.Parse(address)
}
