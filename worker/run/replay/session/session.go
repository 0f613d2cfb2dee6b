package session

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/emulate"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/network"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// Session is the browser session that a test runs in, and what all steps share: what
// is current in the browser, the secrets, and the pages that were checked.
type Session struct {
	Config
	Driver  *webdriver.Session
	Secrets Secrets
	Console *Console // nil: the driver keeps the console
	Tracer  *Tracer  // nil: nothing is traced
	Network *network.Network

	Live    bool            // the step after one is not known when it is executed
	Framed  bool            // a frame is current
	InView  bool            // a web view of an app is the context
	Blank   bool            // a step opened about:blank; else it is where the window was before the test
	Href    string          // of the top-level page, as far as known
	checked map[string]bool // the origins and files that the test may show
	Windows []string        // handles in the order of opening
	// Pretends is what windows that open later must be told, and clock what pages see.
	Pretends step.Emulation
	Choosers *Chooser // nil: no step answers one
	Clock    emulate.Clock
	Shown    *login.Origins // of a login; nil: nobody collects them
	Window   string         // the current one; "" where no step and no screenshot needs it
}

// NewSession returns the session of a test.
func NewSession(cfg Config) *Session {
	s := &Session{Config: cfg, checked: map[string]bool{}}
	if cfg.Lease != nil {
		s.Driver = cfg.Lease.Session
	}
	s.Secrets.lookup = cfg.Lookup
	s.Tracer = newTracer(s)
	return s
}

// WithTimeout runs a command that a page can block. A driver whose page does not
// respond in time is still busy with it, so the session cannot be used any more.
func (s *Session) WithTimeout(ctx context.Context, timeout time.Duration, command func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := command(inner)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &failure.Failure{Code: run.CodeStepFailed, Text: "the page does not respond", Broken: true}
	}
	return err
}

// WithPageTimeout runs a command that may load another page.
func (s *Session) WithPageTimeout(ctx context.Context, command func(context.Context) error) error {
	return s.WithTimeout(ctx, s.PageTimeout+s.Grace, command)
}

// ResetFrame makes the top-level page current; when that fails the next step finds
// out.
func (s *Session) ResetFrame(ctx context.Context) {
	if !s.Framed || ctx.Err() != nil {
		return
	}
	if err := s.Driver.TopFrame(ctx); err != nil {
		return
	}
	s.Framed = false
}

// CheckAddress refuses an address that tests may not open, before it is opened or
// after a page went there. Pages of the browser itself are refused whatever the
// settings: some end the session.
func (s *Session) CheckAddress(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return failure.Stepf("%s is not an address", s.Quote(address, 200))
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case address == StartPage:
		return nil
	case scheme == "http" || scheme == "https":
	case scheme == "file" && s.CheckURL != nil:
	default:
		return failure.Newf(run.CodeForbidden, "%s: addresses of the scheme %q are refused", s.ShowAddress(address), scheme)
	}
	if s.CheckURL == nil {
		return nil
	}
	if err := s.CheckURL(ctx, address); err != nil {
		return failure.Newf(run.CodeForbidden, "%s: %s", s.ShowAddress(address), s.Quote(err.Error(), 300))
	}
	return nil
}

// Arrived stores the address of the page that is current now, and refuses one that
// tests may not show; each origin is checked once. Documents that a page creates
// itself (about:, blob:, data:) are part of that page.
func (s *Session) Arrived(ctx context.Context, href string) error {
	if href == "" || href == s.Href {
		return nil
	}
	s.Href = href
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
	if err := s.CheckAddress(ctx, href); err != nil {
		return err
	}
	s.checked[key] = true
	return nil
}

// Quote returns a text of a page or a test for a message, most bytes of it at most:
// without secrets first, then bounded, so that no half of one is left.
func (s *Session) Quote(text string, most int) string {
	return failure.Bounded(s.Secrets.Redact(text), most)
}

// ShowAddress returns an address for a message, without user and password.
func (s *Session) ShowAddress(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User = nil
		address = u.String()
	}
	return s.Quote(address, 200)
}

// WithoutSecret returns a text, or "" when a secret or the beginning of one is in it.
func (s *Session) WithoutSecret(text string) string {
	if s.Secrets.leftIn(text) {
		return ""
	}
	return text
}

// Place returns where a step stands.
func (s *Session) Place(i int) group.Place {
	if i >= len(s.Places) {
		return group.Place{}
	}
	return s.Places[i]
}

// InApp reports whether a tool works in an app, and not in a page: in a web view of an app
// the tools of pages do.
func (s *Session) InApp(t step.Tool) bool {
	return s.Lease.Mobile && (!s.InView || step.IsMobile(&t) || t.Type == step.HandleDialog)
}

// Innermost returns the tool inside of frames and shadow roots.
func Innermost(t step.Tool) step.Tool {
	for t.Args.Tool != nil && (t.Type == step.InFrame || t.Type == step.InShadowRoot) {
		t = *t.Args.Tool
	}
	return t
}

// NewNetwork returns what steps on requests, downloads and the console use.
func (s *Session) NewNetwork() *network.Network {
	return network.New(network.Config{Session: s.Driver, Local: s.Lease.Local, CheckURL: s.CheckAddress, Quote: s.Quote,
		Console: s.consoleErrors})
}

// CloseNetwork ends it; a browser that may keep something of it is broken.
func (s *Session) CloseNetwork() (broken bool) { return s.Network.Close(context.Background()) }

// CloseState takes back what would outlive the test in a browser that is used again.
func (s *Session) CloseState(ctx context.Context) error {
	if s.Choosers == nil && !s.Clock.IsSet() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	s.Choosers.close(ctx)
	conn, err := s.Driver.BiDi(ctx)
	if err != nil {
		return err
	}
	return s.Clock.Close(ctx, conn)
}
