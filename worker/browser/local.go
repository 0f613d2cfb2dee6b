package browser

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/egress"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// maxLeases and maxAge bound what a browser can gather: memory that
	// removed contexts leave behind, and a profile that grows.
	maxLeases = 200
	maxAge    = 30 * time.Minute
	// resetTimeout bounds the creation of a context; a browser that takes
	// longer is replaced.
	resetTimeout = 30 * time.Second
	// checkTimeout bounds the look at a warm browser before a lease.
	checkTimeout = 5 * time.Second
)

// defaultTimeouts are those of a session as WebDriver has them.
func defaultTimeouts() webdriver.Timeouts {
	return webdriver.Timeouts{Script: 30 * time.Second, PageLoad: 300 * time.Second}
}

// local is a browser of the managed chromedriver.
type local struct {
	kind    kind
	session *webdriver.Session
	bidi    *webdriver.BiDi
	tunnel  *egress.Proxy // the browser's own proxy, in front of its tunnel or for its headers; nil without
	context string        // the user context of the present or next lease
	born    time.Time
	idle    time.Time // since when no lease uses it
	leases  int
}

// version returns the browser's version, "" when it reports none.
func (l *local) version() string {
	v, _ := l.session.Capabilities["browserVersion"].(string)
	return v
}

// spent reports whether a browser is to be replaced.
func (l *local) spent() bool {
	select {
	case <-l.bidi.Done():
		return true
	default:
		return l.leases >= maxLeases || time.Since(l.born) > maxAge
	}
}

// startLocal starts a browser and prepares it for its first lease.
func (p *Pool) startLocal(k kind) (*local, error) {
	// Close waits for a start that is under way: chromedriver would finish it all the
	// same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.life), p.startTimeout(false))
	defer cancel()
	select {
	case <-p.life.Done():
		return nil, errClosed()
	case p.startSlots <- struct{}{}:
		defer func() { <-p.startSlots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := &local{kind: k, born: time.Now()}
	proxy := p.cfg.Proxy
	if k.tunnel != "" || k.site != "" {
		var err error
		if l.tunnel, err = p.startProxy(&l.kind); err != nil {
			return nil, err
		}
		proxy = l.tunnel.Addr().String()
	}
	if err := p.openSession(ctx, l, proxy); err != nil {
		p.end(l)
		return nil, err
	}
	return l, nil
}

// startProxy starts the proxy of one browser: in front of its tunnel, with its headers, or
// both.
func (p *Pool) startProxy(k *kind) (*egress.Proxy, error) {
	var headers *egress.Headers
	if k.site != "" {
		var err error
		if headers, err = egress.NewHeaders(k.site, k.headers, k.insecure); err != nil {
			return nil, refuse("the address of the site is no http or https address, so its headers and certificate have no site to go to")
		}
		if k.certificate != "" {
			if strings.HasPrefix(strings.ToLower(k.tunnel), "https:") {
				return nil, refuse("a client certificate does not go through a tunnel over https")
			}
			if err := headers.Present([]byte(k.certificate), []byte(k.certificateKey)); err != nil {
				return nil, refuse("the client certificate cannot be used: %s", err)
			}
		}
		k.trusted = headers.Key()
	}
	proxy, err := egress.StartWith(k.tunnel, headers, p.cfg.Guard, p.cfg.Log)
	if err != nil && k.tunnel != "" {
		return nil, refuse("the address of the tunnel is none of http, https and socks5")
	}
	return proxy, err
}

func (p *Pool) openSession(ctx context.Context, l *local, proxy string) error {
	session, err := p.newSession(ctx, p.driver, p.startTimeout(false), l.kind.capabilities(p.cfg, proxy))
	if err != nil {
		return err
	}
	l.session = session
	if v := l.version(); v != "" {
		p.version.Store(&v)
	}
	return l.reset(ctx)
}

// reset creates a new user context with one window in the browser, and removes what
// the lease before has left: its context with all windows, windows elsewhere,
// subscriptions and timeouts. The new connection receives the lines of the console.
func (l *local) reset(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, resetTimeout)
	defer cancel()
	if l.bidi != nil {
		l.bidi.Close() // and with it what the lease subscribed to
	}
	var err error
	if l.bidi, err = l.session.BiDi(ctx); err != nil {
		return err
	}
	former := l.context
	if l.context, err = l.bidi.CreateUserContext(ctx); err != nil {
		return err
	}
	// A browser of which all windows are closed ends: the new one comes first.
	window, err := l.bidi.CreateWindow(ctx, "tab", l.context)
	if err != nil {
		return err
	}
	if former != "" {
		if err := l.bidi.RemoveUserContext(ctx, former); err != nil {
			return err
		}
	}
	if err := l.session.SwitchWindow(ctx, window); err != nil {
		return err
	}
	windows, err := l.session.Windows(ctx)
	if err != nil {
		return err
	}
	for _, other := range windows {
		if other != window {
			// Some close by themselves, with the context.
			if err := l.bidi.CloseWindow(ctx, other); err != nil && !webdriver.Is(err, "no such frame", webdriver.ErrNoSuchWindow) {
				return err
			}
		}
	}
	if err := l.session.SetTimeouts(ctx, defaultTimeouts()); err != nil {
		return err
	}
	if l.kind.emulation == nil {
		if width, height := l.kind.size(); width > 0 {
			if err := l.session.SetWindowSize(ctx, width, height); err != nil {
				return err
			}
		}
	}
	// The console, as events: a log that chromedriver keeps grows until it is read. No
	// window of a former lease is in it.
	return l.bidi.Command(ctx, "session.subscribe", map[string]any{
		"events": []string{"log.entryAdded"}, "userContexts": []string{l.context}}, nil)
}

// check reports an error when a warm browser does not respond any more; that its
// caller goes away does not count.
func (l *local) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	var result int
	if err := l.session.Execute(ctx, "return 1", &result); err != nil {
		return err
	}
	if result != 1 {
		return errors.New("browser: it cannot count")
	}
	return nil
}

// end ends a browser with its proxy.
func (p *Pool) end(l *local) {
	if l.session != nil {
		p.endSession(l.session)
	}
	if l.tunnel != nil {
		l.tunnel.Close()
	}
}

// endSession ends a session with its browser, by force when chromedriver cannot.
func (p *Pool) endSession(s *webdriver.Session) {
	if p.deleteSession(s) == nil {
		return
	}
	if err := kill(s); err != nil {
		p.cfg.Log.Warn("a browser did not end", "error", err)
	}
}

// endLocked ends a browser in the background; after Close nothing waits for it. The
// caller holds the lock.
func (p *Pool) endLocked(l *local) {
	if !p.backgroundLocked(func() { p.end(l) }) {
		go p.end(l)
	}
}
