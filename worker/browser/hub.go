package browser

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// maxHubs bounds the setting: each target is compared with each hub.
const maxHubs = 32

var platformForm = regexp.MustCompile(`^[a-z][a-z0-9 ._-]{0,49}$`)

// ParseHubs reads the setting: hubs separated by ";", each an address, or
// PLATFORM,PLATFORM=address. Errors show no password.
func ParseHubs(text string) ([]Hub, error) {
	var hubs []Hub
	for i, part := range strings.Split(text, ";") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		var hub Hub
		// An address may have a "=" of its own, behind its scheme.
		if names, address, ok := strings.Cut(part, "="); ok && !strings.Contains(names, "://") {
			for name := range strings.SplitSeq(names, ",") {
				name = strings.ToLower(strings.TrimSpace(name))
				if !platformForm.MatchString(name) {
					return nil, fmt.Errorf("hub %d: %.50q is no name of a platform", i+1, name)
				}
				hub.Platforms = append(hub.Platforms, name)
			}
			part = strings.TrimSpace(address)
		}
		u, err := url.Parse(part)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
			return nil, fmt.Errorf("hub %d: not an http or https address", i+1)
		}
		hub.URL = part
		hubs = append(hubs, hub)
	}
	if len(hubs) > maxHubs {
		return nil, fmt.Errorf("%d hubs, at most %d", len(hubs), maxHubs)
	}
	return hubs, nil
}

// unsafeEverywhere is the value of the setting for all hubs.
const unsafeEverywhere = "true"

// ParseUnsafe marks the hubs that the setting names as Unsafe: hosts (host:port as in
// the address) separated by commas, or true for all hubs. A host of no hub is an error,
// which shows no password.
func ParseUnsafe(text string, hubs []Hub) error {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.EqualFold(name, "false") {
			continue
		}
		found := strings.EqualFold(name, unsafeEverywhere)
		for i := range hubs {
			u, err := url.Parse(hubs[i].URL)
			if strings.EqualFold(name, unsafeEverywhere) || err == nil && strings.EqualFold(u.Host, name) {
				hubs[i].Unsafe, found = true, true
			}
		}
		if !found {
			return fmt.Errorf("%.100q is the host of no hub", name)
		}
	}
	return nil
}

// remote is a hub with its client.
type remote struct {
	platforms []string
	unsafe    bool
	host      string // for people; the client keeps the password out of errors
	client    *webdriver.Client
}

func newRemote(h Hub) (*remote, error) {
	client, err := webdriver.New(webdriver.Config{URL: h.URL})
	if err != nil {
		return nil, err
	}
	r := &remote{platforms: h.Platforms, unsafe: h.Unsafe, client: client}
	if u, err := url.Parse(h.URL); err == nil {
		r.host = u.Host
	}
	return r, nil
}

// serves reports whether a hub names a platform: "windows" also means "windows
// 11", and "mac" all spellings of it.
func (r *remote) serves(platform string) bool {
	for _, p := range r.platforms {
		if platform == p || strings.HasPrefix(platform, p+" ") || (isMac(p) && isMac(platform)) {
			return true
		}
	}
	return false
}

func isMac(platform string) bool {
	return strings.HasPrefix(platform, "mac") || strings.HasPrefix(platform, "os x")
}

// route returns the hub of a target; nil: the managed chromedriver, if that serves it.
func route(hubs []*remote, t capability.Target) *remote {
	for _, platform := range platformsOf(t) {
		for _, h := range hubs {
			if h.serves(platform) {
				return h
			}
		}
	}
	for _, h := range hubs {
		if len(h.platforms) == 0 {
			return h
		}
	}
	return nil
}

// platformsOf returns the platforms that a target may mean, best first: the one that
// it names, or for a device without a name those that its options belong to.
func platformsOf(t capability.Target) []string {
	if name := lowerText(t.Capabilities, "platformName"); name != "" {
		return []string{name}
	}
	if !isMobile(t) {
		return nil
	}
	c := t.Capabilities
	automation, app := lowerText(c, "appium:automationName"), strings.ToLower(capability.App(c))
	switch {
	case automation == "xcuitest", c["appium:bundleId"] != nil, strings.HasSuffix(app, ".ipa"):
		return []string{"ios"}
	case automation == "uiautomator2", automation == "espresso", c["appium:appPackage"] != nil,
		strings.HasSuffix(app, ".apk"), strings.HasSuffix(app, ".aab"):
		return []string{"android"}
	}
	return []string{"android", "ios"}
}

// isMobile reports whether a target is a phone or something on one.
func isMobile(t capability.Target) bool {
	switch lowerText(t.Capabilities, "platformName") {
	case "android", "ios", "ipados", "tvos":
		return true
	case "":
	default:
		return false
	}
	if t.IsRDC {
		return true
	}
	for name := range t.Capabilities {
		if strings.HasPrefix(name, "appium:") {
			return true
		}
	}
	return false
}

// lowerText returns a text of the capabilities in lower case, "" when there is none.
func lowerText(c capability.Capabilities, name string) string {
	text, _ := c[name].(string)
	return strings.ToLower(strings.TrimSpace(text))
}

// hubCapabilities returns the capabilities that are requested of a hub, and whether
// they are of a native app.
func hubCapabilities(r Request) (c capability.Capabilities, native bool, err error) {
	c = capability.Merge(nil, r.Target.Capabilities)
	browser := lowerText(c, "browserName")
	native = browser == "" && isMobile(r.Target)
	if !native {
		defaults := capability.Capabilities{"pageLoadStrategy": "eager"}
		c = capability.Merge(defaults, c)
		c["unhandledPromptBehavior"] = "ignore" // the steps handle dialogs
	}
	if r.Proxy == "" {
		return c, native, nil
	}
	u, err := url.Parse(r.Proxy)
	if err != nil || u.Host == "" {
		return nil, false, refuse("the tunnel has no address")
	}
	if u.User != nil {
		return nil, false, refuse("the browsers of hubs know no tunnels with a password")
	}
	proxy := map[string]any{"proxyType": "manual"}
	switch u.Scheme {
	case "http", "https":
		proxy["httpProxy"], proxy["sslProxy"] = u.Host, u.Host
	case "socks5", "socks5h":
		proxy["socksProxy"], proxy["socksVersion"] = u.Host, 5
	default:
		return nil, false, refuse("the tunnel is none of http, https and socks5")
	}
	if browser == "chrome" || browser == "chromium" || browser == "microsoftedge" || browser == "msedge" {
		proxy["noProxy"] = []any{"<-loopback>"} // else they go around it for pages of their machine
	}
	c["proxy"] = proxy
	return c, native, nil
}

// acquireHub starts a session on a hub and leases it.
func (p *Pool) acquireHub(ctx context.Context, h *remote, r Request) (*Lease, error) {
	if !h.unsafe {
		if err := capability.CheckPermitted(&r.Target, p.cfg.Vendor); err != nil {
			return nil, refuse("%s", err)
		}
	}
	capabilities, native, err := hubCapabilities(r)
	if err != nil {
		return nil, err
	}
	session, err := p.newSession(ctx, h.client, p.startTimeout(true), capabilities)
	if err != nil {
		return nil, p.sessionError(h, err)
	}
	l := &Lease{Session: session, Mobile: native}
	if !p.register(l) {
		_ = p.deleteSession(session)
		return nil, errClosed()
	}
	l.release = p.releaseOnce(l, func(bool) { p.background(func() { _ = p.deleteSession(session) }) })
	return l, nil
}

// newSession starts a session on a remote end and waits for it until the timeout. The
// request runs in the background: a session that comes when nobody waits for it any
// more is ended.
func (p *Pool) newSession(ctx context.Context, client *webdriver.Client, timeout time.Duration,
	capabilities map[string]any) (*webdriver.Session, error) {
	type result struct {
		session *webdriver.Session
		err     error
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	started, gone := make(chan result), make(chan struct{})
	defer close(gone)
	ok := p.background(func() {
		late, cancel := context.WithTimeout(p.late, timeout+lateTimeout)
		defer cancel()
		s, err := client.NewSession(late, capabilities)
		select {
		case started <- result{s, err}:
			return
		case <-gone:
		}
		if err != nil {
			return
		}
		_ = p.deleteSession(s)
	})
	if !ok {
		return nil, errClosed()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.life.Done():
		return nil, errClosed()
	case r := <-started:
		return r.session, r.err
	}
}

// deleteSession ends a session, whatever became of its caller.
func (p *Pool) deleteSession(s *webdriver.Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	return s.Delete(ctx)
}

// endTimeout bounds the end of one session.
const endTimeout = 8 * time.Second
