package replay

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/emulate"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/network"
)

// session is the browser session that a test runs in, and what all steps share: what
// is current in the browser, the secrets, and the pages that were checked.
type session struct {
	Config
	driver  *webdriver.Session
	secrets secretStore
	console *console // nil: the driver keeps the console
	tracer  *tracer  // nil: nothing is traced
	network *network.Network

	live    bool            // the step after one is not known when it is executed
	framed  bool            // a frame is current
	inView  bool            // a web view of an app is the context
	blank   bool            // a step opened about:blank; else it is where the window was before the test
	href    string          // of the top-level page, as far as known
	checked map[string]bool // the origins and files that the test may show
	windows []string        // handles in the order of opening
	// pretends is what windows that open later must be told, and clock what pages see.
	pretends step.Emulation
	choosers *chooser // nil: no step answers one
	clock    emulate.Clock
	shown    *login.Origins // of a login; nil: nobody collects them
	window   string         // the current one; "" where no step and no screenshot needs it
}

func newSession(cfg Config) *session {
	s := &session{Config: cfg, checked: map[string]bool{}}
	if cfg.Lease != nil {
		s.driver = cfg.Lease.Session
	}
	s.secrets.lookup = cfg.Lookup
	s.tracer = newTracer(s)
	return s
}

// withTimeout runs a command that a page can block. A driver whose page does not
// respond in time is still busy with it, so the session cannot be used any more.
func (s *session) withTimeout(ctx context.Context, timeout time.Duration, command func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := command(inner)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &failure{code: run.CodeStepFailed, text: "the page does not respond", broken: true}
	}
	return err
}

// withPageTimeout runs a command that may load another page.
func (s *session) withPageTimeout(ctx context.Context, command func(context.Context) error) error {
	return s.withTimeout(ctx, s.PageTimeout+s.Grace, command)
}

// resetFrame makes the top-level page current; when that fails the next step finds
// out.
func (s *session) resetFrame(ctx context.Context) {
	if !s.framed || ctx.Err() != nil {
		return
	}
	if err := s.driver.TopFrame(ctx); err != nil {
		return
	}
	s.framed = false
}

// checkAddress refuses an address that tests may not open, before it is opened or
// after a page went there. Pages of the browser itself are refused whatever the
// settings: some end the session.
func (s *session) checkAddress(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return stepf("%s is not an address", s.quote(address, 200))
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case address == startPage:
		return nil
	case scheme == "http" || scheme == "https":
	case scheme == "file" && s.CheckURL != nil:
	default:
		return failf(run.CodeForbidden, "%s: addresses of the scheme %q are refused", s.showAddress(address), scheme)
	}
	if s.CheckURL == nil {
		return nil
	}
	if err := s.CheckURL(ctx, address); err != nil {
		return failf(run.CodeForbidden, "%s: %s", s.showAddress(address), s.quote(err.Error(), 300))
	}
	return nil
}

// arrived stores the address of the page that is current now, and refuses one that
// tests may not show; each origin is checked once. Documents that a page creates
// itself (about:, blob:, data:) are part of that page.
func (s *session) arrived(ctx context.Context, href string) error {
	if href == "" || href == s.href {
		return nil
	}
	s.href = href
	u, err := url.Parse(href)
	if err != nil {
		return nil
	}
	switch u.Scheme {
	case "about", "blob", "data", "chrome-error":
		return nil
	}
	key := origin(href)
	if u.Scheme == "file" {
		key = href
	}
	if s.checked[key] {
		return nil
	}
	if err := s.checkAddress(ctx, href); err != nil {
		return err
	}
	s.checked[key] = true
	return nil
}

// quote returns a text of a page or a test for a message, most bytes of it at most:
// without secrets first, then bounded, so that no half of one is left.
func (s *session) quote(text string, most int) string { return bounded(s.secrets.redact(text), most) }

// showAddress returns an address for a message, without user and password.
func (s *session) showAddress(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User = nil
		address = u.String()
	}
	return s.quote(address, 200)
}

// withoutSecret returns a text, or "" when a secret or the beginning of one is in it.
func (s *session) withoutSecret(text string) string {
	if s.secrets.leftIn(text) {
		return ""
	}
	return text
}

// innermost returns the tool inside of frames and shadow roots.
func innermost(t step.Tool) step.Tool {
	for t.Args.Tool != nil && (t.Type == step.InFrame || t.Type == step.InShadowRoot) {
		t = *t.Args.Tool
	}
	return t
}
