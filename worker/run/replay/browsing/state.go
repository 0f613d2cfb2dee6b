package browsing

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/emulate"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// State is a step that sets what pages find: cookies, storage, what the browser
// pretends to be, the clock.
type State struct{ *session.Execution }

// Run executes the step.
func (x State) Run(ctx context.Context, t step.Tool) error {
	x.Screenshotter.Wait(ctx)
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

func (x State) setCookie(ctx context.Context, a step.Args) error {
	conn, err := x.BiDi(ctx, step.SetCookie)
	if err != nil {
		return err
	}
	window, err := x.CurrentWindow(ctx)
	if err != nil {
		return err
	}
	c := state.Cookie{Name: a.Name, Value: session.Text(a.Value), Domain: a.Domain, Path: a.Path, Secure: a.Secure,
		HTTPOnly: a.HTTPOnly, SameSite: a.SameSite}
	if c.Domain == "" {
		at, err := x.PageAddress(ctx)
		if err != nil {
			return err
		}
		if c.Domain = at.Hostname(); c.Domain == "" {
			return failure.Stepf("the page has no host: the cookie needs a domain")
		}
	}
	if c.Path == "" {
		c.Path = "/"
	}
	if a.Expires != "" {
		if c.Expires, err = time.Parse(time.RFC3339, a.Expires); err != nil {
			return failure.Stepf("%s is no time of RFC 3339", x.Quote(a.Expires, 60))
		}
	}
	return x.Timed(ctx, func(ctx context.Context) error { return state.SetCookie(ctx, conn, window, c) })
}

// setItemScript sets an item of the page's storage where the page is of the origin, or
// none is named.
const setItemScript = `const [area, key, value, origin] = arguments;
if (origin && location.origin !== origin) return {other: true};
try { (area === "local" ? localStorage : sessionStorage).setItem(key, value); return {}; }
catch (e) { return {why: e.name === "QuotaExceededError" ? "the storage of the origin is full" : "the page has no storage"}; }`

func (x State) setStorage(ctx context.Context, a step.Args) error {
	origin := a.Origin
	if origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" {
			return failure.Stepf("%s is no origin", x.Quote(a.Origin, 200))
		}
		if err := x.CheckAddress(ctx, origin); err != nil {
			return err
		}
		origin = strings.ToLower(u.Scheme + "://" + withoutDefaultPort(u))
	} else if x.onBlankPage(ctx) {
		at, err := x.PageAddress(ctx)
		if err != nil {
			return err
		}
		origin = strings.ToLower(at.Scheme + "://" + withoutDefaultPort(at))
	}
	var done struct {
		Other bool   `json:"other"`
		Why   string `json:"why"`
	}
	err := x.PastDialogs(ctx, func() error {
		return x.Execute(ctx, setItemScript, &done, a.Area, a.Key, session.Text(a.Value), origin)
	})
	switch {
	case err != nil:
		return err
	case done.Why != "":
		return failure.Stepf("%s", done.Why)
	case !done.Other:
		return nil
	case a.Area == step.SessionStorage:
		return failure.Stepf("the session storage is that of a window and a page's origin: open a page of %s first", x.ShowAddress(origin))
	}
	conn, err := x.BiDi(ctx, "set_storage of another origin than the page's")
	if err != nil {
		return err
	}
	window, err := x.CurrentWindow(ctx)
	if err != nil {
		return err
	}
	return x.Timed(ctx, func(ctx context.Context) error {
		return state.SetLocal(ctx, conn, window, origin, a.Key, session.Text(a.Value))
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
func (x State) onBlankPage(ctx context.Context) bool {
	if x.Href == "" {
		return true
	}
	var href string
	return x.Execute(ctx, "return location.href", &href) == nil && (href == session.StartPage || strings.HasPrefix(href, "data:"))
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

func (x State) clear(ctx context.Context, a step.Args) error {
	if a.All || a.Cookies {
		conn, err := x.BiDi(ctx, step.ClearState)
		if err != nil {
			return err
		}
		window, err := x.CurrentWindow(ctx)
		if err != nil {
			return err
		}
		if err := x.Timed(ctx, func(ctx context.Context) error { return state.ClearCookies(ctx, conn, window) }); err != nil {
			return err
		}
	}
	local, sessions := a.All || a.Local, a.All || a.Session
	if !local && !sessions {
		return nil
	}
	held := "[]"
	if local && x.HasDevTools() {
		types := "local_storage"
		if a.All {
			types = "all"
		}
		if err := x.PastDialogs(ctx, func() error { return x.Execute(ctx, heldScript, &held) }); err != nil {
			return err
		}
		err := x.Timed(ctx, func(ctx context.Context) error {
			return x.Driver.DevTools(ctx, "Storage.clearDataForOrigin", map[string]any{"origin": "*", "storageTypes": types}, nil)
		})
		if err != nil {
			return err
		}
	} else if local {
		x.Note("the storage of the page's origin alone: for that of others the browser has no command")
	}
	if err := x.PastDialogs(ctx, func() error { return x.Execute(ctx, clearScript, nil, local, sessions) }); err != nil || sessions {
		return err
	}
	return x.Execute(ctx, restoreScript, nil, held)
}

// pretended returns the current window for package emulate.
func (x State) pretended(ctx context.Context, tool string) (emulate.Browser, error) {
	conn, err := x.BiDi(ctx, tool)
	if err != nil {
		return emulate.Browser{}, err
	}
	b := emulate.Browser{Session: x.Driver, BiDi: conn, DevTools: x.HasDevTools()}
	if b.Window, err = x.CurrentWindow(ctx); err != nil {
		return b, err
	}
	b.UserContext, err = state.UserContext(ctx, conn, b.Window)
	return b, err
}

func (x State) emulate(ctx context.Context, e step.Emulation) error {
	b, err := x.pretended(ctx, step.Emulate)
	if err != nil {
		return err
	}
	if len(e.Permissions) > 0 {
		if at, err := x.PageAddress(ctx); err == nil && at.Host != "" {
			b.Origin = at.Scheme + "://" + withoutDefaultPort(at)
		}
	}
	merged := emulate.Merge(x.Pretends, e)
	if e.Viewport != nil && e.Device == "" {
		e.Device = merged.Device // how the size is set is the device's to say
	}
	if err := x.Timed(ctx, func(ctx context.Context) error { return b.Set(ctx, e) }); err != nil {
		return err
	}
	x.Pretends = merged
	return nil
}

// pretendHere sets in the window that has just become current what it does not know yet.
func (x State) pretendHere(ctx context.Context) error {
	if x.Pretends.Empty() {
		return nil
	}
	b, err := x.pretended(ctx, step.Emulate)
	if err != nil {
		return err
	}
	return x.Timed(ctx, func(ctx context.Context) error { return b.SetWindow(ctx, x.Pretends) })
}

// clockPoll is how often a page is asked whether it has fired what became due.
const clockPoll = 20 * time.Millisecond

func (x State) setClock(ctx context.Context, a step.Args) error {
	b, err := x.pretended(ctx, step.SetClock)
	if err != nil {
		return err
	}
	switch {
	case a.Fixed != "":
		at, err := time.Parse(time.RFC3339, a.Fixed)
		if err != nil {
			return failure.Stepf("%s is no time of RFC 3339", x.Quote(a.Fixed, 60))
		}
		return x.Timed(ctx, func(ctx context.Context) error { return x.Clock.Fix(ctx, b, at) })
	case a.Resume:
		return x.Timed(ctx, func(ctx context.Context) error { return x.Clock.Resume(ctx, b) })
	case a.Advance == nil:
		return failure.Stepf("the step names no time")
	}
	by := time.Duration(*a.Advance) * time.Millisecond
	if err := x.Timed(ctx, func(ctx context.Context) error { return x.Clock.Advance(ctx, b, by) }); err != nil {
		return err
	}
	return x.Until(ctx, clockPoll, func() (bool, *failure.Failure, error) {
		not := failure.Stepf("the page does not end what became due")
		// A dialog that a timer opened keeps the page from answering over BiDi; the look by
		// WebDriver meets it.
		if err := x.Execute(ctx, "return true", nil); err != nil {
			if x.HandledByNextStep(err) {
				return true, nil, nil
			}
			return false, not, x.Interrupted(ctx, err)
		}
		going, err := x.Clock.Going(ctx, b)
		switch {
		case ctx.Err() != nil:
			return false, nil, ctx.Err()
		case err != nil && failure.Lost(err) && !errors.Is(err, context.DeadlineExceeded):
			return false, nil, err
		}
		// One that does not answer has opened a dialog, or another page is being loaded.
		return err == nil && !going, not, nil
	})
}
