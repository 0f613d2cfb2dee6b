package replay

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/emulate"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// stateStep is a step that sets what pages find: cookies, storage, what the browser
// pretends to be, the clock.
type stateStep struct{ *stepExecution }

// run executes the step.
func (x stateStep) run(ctx context.Context, t step.Tool) error {
	x.screenshotter.wait(ctx)
	switch t.Type {
	case step.SetCookie:
		return x.setCookie(ctx, t.Args)
	case step.SetStorage:
		return x.setStorage(ctx, t.Args)
	case step.ClearState:
		return x.clear(ctx, t.Args)
	case step.Emulate:
		return x.emulate(ctx, t.Args.Emulation)
	}
	return x.setClock(ctx, t.Args)
}

// bidi returns the session's BiDi connection, or the failure that there is none.
func (x *stepExecution) bidi(ctx context.Context, tool string) (*webdriver.BiDi, error) {
	if x.driver.Capabilities["webSocketUrl"] == nil {
		return nil, stepf("%s needs WebDriver BiDi, which this browser does not offer", tool)
	}
	return x.driver.BiDi(ctx)
}

// hasDevTools reports whether the remote end passes commands of DevTools on.
func (s *session) hasDevTools() bool {
	return s.Lease.Local || s.driver.Capabilities["goog:chromeOptions"] != nil
}

// currentWindow returns the handle of the current window.
func (x *stepExecution) currentWindow(ctx context.Context) (window string, err error) {
	if x.window != "" {
		return x.window, nil
	}
	err = x.pastDialogs(ctx, func() (err error) {
		window, err = x.driver.Window(ctx)
		return err
	})
	return window, err
}

// pageAddress returns the address of the page, or the test's where it has opened none yet.
func (x *stepExecution) pageAddress(ctx context.Context) (*url.URL, error) {
	if x.href == "" {
		text, err := step.Expand(x.TestURL, x.secrets.value)
		if err != nil {
			return nil, variableFailure(err)
		}
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return u, nil
		}
	}
	address, err := x.absolute(ctx, &url.URL{})
	if err != nil {
		return nil, err
	}
	return url.Parse(address)
}

// commanded judges the error of a command that the step consists of.
func (x stateStep) commanded(ctx context.Context, err error) error {
	var unsupported *emulate.UnsupportedError
	var reported *webdriver.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsupported), errors.Is(err, emulate.ErrNoClock):
		return stepf("%s", err)
	case errors.As(err, &reported) && !lost(err):
		return stepf("the browser says: %s", x.quote(reported.Message, 300))
	}
	return err
}

// timed runs commands for no longer than what is left of the step and a grace.
func (x stateStep) timed(ctx context.Context, commands func(context.Context) error) error {
	return x.commanded(ctx, x.withTimeout(ctx, max(time.Until(x.deadline), 0)+x.Grace, commands))
}

func (x stateStep) setCookie(ctx context.Context, a step.Args) error {
	conn, err := x.bidi(ctx, step.SetCookie)
	if err != nil {
		return err
	}
	window, err := x.currentWindow(ctx)
	if err != nil {
		return err
	}
	c := state.Cookie{Name: a.Name, Value: text(a.Value), Domain: a.Domain, Path: a.Path, Secure: a.Secure, HTTPOnly: a.HTTPOnly, SameSite: a.SameSite}
	if c.Domain == "" {
		at, err := x.pageAddress(ctx)
		if err != nil {
			return err
		}
		if c.Domain = at.Hostname(); c.Domain == "" {
			return stepf("the page has no host: the cookie needs a domain")
		}
	}
	if c.Path == "" {
		c.Path = "/"
	}
	if a.Expires != "" {
		if c.Expires, err = time.Parse(time.RFC3339, a.Expires); err != nil {
			return stepf("%s is no time of RFC 3339", x.quote(a.Expires, 60))
		}
	}
	return x.timed(ctx, func(ctx context.Context) error { return state.SetCookie(ctx, conn, window, c) })
}

// setItemScript sets an item of the page's storage where the page is of the origin, or
// none is named.
const setItemScript = `const [area, key, value, origin] = arguments;
if (origin && location.origin !== origin) return {other: true};
try { (area === "local" ? localStorage : sessionStorage).setItem(key, value); return {}; }
catch (e) { return {why: e.name === "QuotaExceededError" ? "the storage of the origin is full" : "the page has no storage"}; }`

func (x stateStep) setStorage(ctx context.Context, a step.Args) error {
	origin := a.Origin
	if origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" {
			return stepf("%s is no origin", x.quote(a.Origin, 200))
		}
		if err := x.checkAddress(ctx, origin); err != nil {
			return err
		}
		origin = strings.ToLower(u.Scheme + "://" + withoutDefaultPort(u))
	} else if x.onBlankPage(ctx) {
		at, err := x.pageAddress(ctx)
		if err != nil {
			return err
		}
		origin = strings.ToLower(at.Scheme + "://" + withoutDefaultPort(at))
	}
	var done struct {
		Other bool   `json:"other"`
		Why   string `json:"why"`
	}
	err := x.pastDialogs(ctx, func() error { return x.execute(ctx, setItemScript, &done, a.Area, a.Key, text(a.Value), origin) })
	switch {
	case err != nil:
		return err
	case done.Why != "":
		return stepf("%s", done.Why)
	case !done.Other:
		return nil
	case a.Area == step.SessionStorage:
		return stepf("the session storage is that of a window and a page's origin: open a page of %s first", x.showAddress(origin))
	}
	conn, err := x.bidi(ctx, "set_storage of another origin than the page's")
	if err != nil {
		return err
	}
	window, err := x.currentWindow(ctx)
	if err != nil {
		return err
	}
	return x.timed(ctx, func(ctx context.Context) error {
		return state.SetLocal(ctx, conn, window, origin, a.Key, text(a.Value))
	})
}

// withoutDefaultPort returns the host as the browser writes it in an origin.
func withoutDefaultPort(u *url.URL) string {
	if p := u.Port(); p == "443" && u.Scheme == "https" || p == "80" && u.Scheme == "http" {
		return strings.TrimSuffix(u.Host, ":"+p)
	}
	return u.Host
}

// onBlankPage reports whether the window shows no page of the test yet.
func (x *stepExecution) onBlankPage(ctx context.Context) bool {
	if x.href == "" {
		return true
	}
	var href string
	return x.execute(ctx, "return location.href", &href) == nil && (href == startPage || strings.HasPrefix(href, "data:"))
}

// clearScript clears storages of the page. Clearing the local storage of all origins
// takes that of the session with it, which is put back unless it is to be cleared too.
const (
	clearScript = `const done = [];
try { if (arguments[0]) localStorage.clear(); if (arguments[1]) sessionStorage.clear(); } catch {}
return true;`
	heldScript    = `try { return JSON.stringify(Object.entries(sessionStorage)); } catch { return "[]"; }`
	restoreScript = `try { for (const [key, value] of JSON.parse(arguments[0])) sessionStorage.setItem(key, value); } catch {} return true;`
)

func (x stateStep) clear(ctx context.Context, a step.Args) error {
	if a.All || a.Cookies {
		conn, err := x.bidi(ctx, step.ClearState)
		if err != nil {
			return err
		}
		window, err := x.currentWindow(ctx)
		if err != nil {
			return err
		}
		if err := x.timed(ctx, func(ctx context.Context) error { return state.ClearCookies(ctx, conn, window) }); err != nil {
			return err
		}
	}
	local, sessions := a.All || a.Local, a.All || a.Session
	if !local && !sessions {
		return nil
	}
	held := "[]"
	if local && x.hasDevTools() {
		types := "local_storage"
		if a.All {
			types = "all"
		}
		if err := x.pastDialogs(ctx, func() error { return x.execute(ctx, heldScript, &held) }); err != nil {
			return err
		}
		err := x.timed(ctx, func(ctx context.Context) error {
			return x.driver.DevTools(ctx, "Storage.clearDataForOrigin", map[string]any{"origin": "*", "storageTypes": types}, nil)
		})
		if err != nil {
			return err
		}
	} else if local {
		x.note("the storage of the page's origin alone: for that of others the browser has no command")
	}
	if err := x.pastDialogs(ctx, func() error { return x.execute(ctx, clearScript, nil, local, sessions) }); err != nil || sessions {
		return err
	}
	return x.execute(ctx, restoreScript, nil, held)
}

// pretended returns the current window for package emulate.
func (x *stepExecution) pretended(ctx context.Context, tool string) (emulate.Browser, error) {
	conn, err := x.bidi(ctx, tool)
	if err != nil {
		return emulate.Browser{}, err
	}
	b := emulate.Browser{Session: x.driver, BiDi: conn, DevTools: x.hasDevTools()}
	if b.Window, err = x.currentWindow(ctx); err != nil {
		return b, err
	}
	b.UserContext, err = state.UserContext(ctx, conn, b.Window)
	return b, err
}

func (x stateStep) emulate(ctx context.Context, e step.Emulation) error {
	b, err := x.pretended(ctx, step.Emulate)
	if err != nil {
		return err
	}
	if len(e.Permissions) > 0 {
		if at, err := x.pageAddress(ctx); err == nil && at.Host != "" {
			b.Origin = at.Scheme + "://" + withoutDefaultPort(at)
		}
	}
	merged := emulate.Merge(x.pretends, e)
	if e.Viewport != nil && e.Device == "" {
		e.Device = merged.Device // how the size is set is the device's to say
	}
	if err := x.timed(ctx, func(ctx context.Context) error { return b.Set(ctx, e) }); err != nil {
		return err
	}
	x.pretends = merged
	return nil
}

// pretendHere sets in the window that has just become current what it does not know yet.
func (x *stepExecution) pretendHere(ctx context.Context) error {
	if x.pretends.Empty() {
		return nil
	}
	b, err := x.pretended(ctx, step.Emulate)
	if err != nil {
		return err
	}
	return stateStep{x}.timed(ctx, func(ctx context.Context) error { return b.SetWindow(ctx, x.pretends) })
}

// clockPoll is how often a page is asked whether it has fired what became due.
const clockPoll = 20 * time.Millisecond

func (x stateStep) setClock(ctx context.Context, a step.Args) error {
	b, err := x.pretended(ctx, step.SetClock)
	if err != nil {
		return err
	}
	switch {
	case a.Fixed != "":
		at, err := time.Parse(time.RFC3339, a.Fixed)
		if err != nil {
			return stepf("%s is no time of RFC 3339", x.quote(a.Fixed, 60))
		}
		return x.timed(ctx, func(ctx context.Context) error { return x.clock.Fix(ctx, b, at) })
	case a.Resume:
		return x.timed(ctx, func(ctx context.Context) error { return x.clock.Resume(ctx, b) })
	case a.Advance == nil:
		return stepf("the step names no time")
	}
	by := time.Duration(*a.Advance) * time.Millisecond
	if err := x.timed(ctx, func(ctx context.Context) error { return x.clock.Advance(ctx, b, by) }); err != nil {
		return err
	}
	return x.until(ctx, clockPoll, func() (bool, *failure, error) {
		not := stepf("the page does not end what became due")
		// A dialog that a timer opened keeps the page from answering over BiDi; the look by
		// WebDriver meets it.
		if err := x.execute(ctx, "return true", nil); err != nil {
			if x.handledByNextStep(err) {
				return true, nil, nil
			}
			return false, not, x.interrupted(ctx, err)
		}
		going, err := x.clock.Going(ctx, b)
		switch {
		case ctx.Err() != nil:
			return false, nil, ctx.Err()
		case err != nil && lost(err) && !errors.Is(err, context.DeadlineExceeded):
			return false, nil, err
		}
		// One that does not answer has opened a dialog, or another page is being loaded.
		return err == nil && !going, not, nil
	})
}

// closeState takes back what would outlive the test in a browser that is used again.
func (s *session) closeState(ctx context.Context) error {
	if s.choosers == nil && !s.clock.IsSet() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	s.choosers.close(ctx)
	conn, err := s.driver.BiDi(ctx)
	if err != nil {
		return err
	}
	return s.clock.Close(ctx, conn)
}
