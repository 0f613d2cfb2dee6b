// Package emulate makes a browser pretend: to be another device, somewhere else, at
// another time, behind a slow network.
//
// What WebDriver BiDi has a command for is set for the user context of a window, and so
// for all windows that the test opens. For the rest there is the DevTools protocol, which
// only chromedriver passes on and which knows one window: SetWindow sets that again when the
// test is in another one. A browser that lacks what is needed is an *UnsupportedError
// before anything is set.
//
// The clock (clock.go, clock.js) replaces what pages tell the time by, before their own
// scripts run.
package emulate

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// UnsupportedError is a member that the browser has no way to set.
type UnsupportedError struct{ Member, Needs string }

func (e *UnsupportedError) Error() string {
	return e.Member + " needs " + e.Needs + ", which this browser does not offer"
}

// Browser is the window that is current in a session.
type Browser struct {
	Session *webdriver.Session
	BiDi    *webdriver.BiDi
	// DevTools is true where the remote end passes commands of DevTools on.
	DevTools    bool
	Window      string
	UserContext string
	Origin      string // of the page, to which permissions are granted; "" when it has none
}

// Set sets the members that are given.
func (b Browser) Set(ctx context.Context, e step.Emulation) error {
	if err := b.check(e); err != nil {
		return err
	}
	for _, set := range []func(context.Context, step.Emulation) error{b.device, b.place, b.permissions, b.connection} {
		if err := set(ctx, e); err != nil {
			return err
		}
	}
	return b.SetWindow(ctx, e)
}

func (b Browser) check(e step.Emulation) error {
	for _, m := range []struct {
		name  string
		given bool
	}{{"colorScheme", e.ColorScheme != ""}, {"cpu", e.CPU != nil}, {"network", e.Network != nil}} {
		if m.given && !b.DevTools {
			return &UnsupportedError{m.name, "the DevTools protocol"}
		}
	}
	if d, ok := step.DeviceNamed(e.Device); ok && d.Mobile && !b.DevTools {
		return &UnsupportedError{"device " + d.Name, "the DevTools protocol"}
	}
	if len(e.Permissions) > 0 && b.Origin == "" {
		return &UnsupportedError{"permissions", "a page with an address to grant them to"}
	}
	return nil
}

// forAll sends a BiDi command for the whole user context.
func (b Browser) forAll(ctx context.Context, method string, params map[string]any) error {
	params["userContexts"] = []string{b.UserContext}
	return b.BiDi.Command(ctx, method, params, nil)
}

func (b Browser) device(ctx context.Context, e step.Emulation) error {
	d, ok := step.DeviceNamed(e.Device)
	if !ok {
		return nil
	}
	if err := b.forAll(ctx, "emulation.setUserAgentOverride", map[string]any{"userAgent": d.UserAgent}); err != nil {
		return err
	}
	points := any(nil)
	if d.Touch {
		points = 5 // fingers
	}
	return b.forAll(ctx, "emulation.setTouchOverride", map[string]any{"maxTouchPoints": points})
}

func (b Browser) place(ctx context.Context, e step.Emulation) error {
	if e.Locale != "" {
		if err := b.forAll(ctx, "emulation.setLocaleOverride", map[string]any{"locale": e.Locale}); err != nil {
			return err
		}
	}
	if e.TimeZone != "" {
		if err := b.forAll(ctx, "emulation.setTimezoneOverride", map[string]any{"timezone": e.TimeZone}); err != nil {
			return err
		}
	}
	if g := e.Geolocation; g != nil {
		accuracy := g.Accuracy
		if accuracy == 0 {
			accuracy = 1
		}
		return b.forAll(ctx, "emulation.setGeolocationOverride", map[string]any{
			"coordinates": map[string]float64{"latitude": g.Latitude, "longitude": g.Longitude, "accuracy": accuracy}})
	}
	return nil
}

func (b Browser) permissions(ctx context.Context, e step.Emulation) error {
	for _, name := range e.Permissions {
		err := b.BiDi.Command(ctx, "permissions.setPermission", map[string]any{"descriptor": map[string]string{"name": name},
			"state": "granted", "origin": b.Origin, "userContext": b.UserContext}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b Browser) connection(ctx context.Context, e step.Emulation) error {
	if e.Offline == nil {
		return nil
	}
	conditions := any(nil)
	if *e.Offline {
		conditions = map[string]string{"type": "offline"}
	}
	return b.forAll(ctx, "emulation.setNetworkConditions", map[string]any{"networkConditions": conditions})
}

// kilobit is bytes a second of one kilobit a second.
const kilobit = 1000.0 / 8

// SetWindow sets what only the current window knows.
func (b Browser) SetWindow(ctx context.Context, e step.Emulation) error {
	if err := b.size(ctx, e); err != nil {
		return err
	}
	if e.ColorScheme != "" {
		scheme := e.ColorScheme
		if scheme == "no-preference" {
			scheme = ""
		}
		features := []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}
		if err := b.Session.DevTools(ctx, "Emulation.setEmulatedMedia", map[string]any{"features": features}, nil); err != nil {
			return err
		}
	}
	if e.CPU != nil {
		if err := b.Session.DevTools(ctx, "Emulation.setCPUThrottlingRate", map[string]any{"rate": *e.CPU}, nil); err != nil {
			return err
		}
	}
	n := e.Network
	if n == nil {
		return nil
	}
	rate := func(kilobits int) float64 {
		if kilobits == 0 {
			return -1
		}
		return float64(kilobits) * kilobit
	}
	if err := b.Session.DevTools(ctx, "Network.enable", map[string]any{}, nil); err != nil {
		return err
	}
	return b.Session.DevTools(ctx, "Network.emulateNetworkConditions", map[string]any{"offline": false, "latency": n.Latency,
		"downloadThroughput": rate(n.Down), "uploadThroughput": rate(n.Up)}, nil)
}

// size sets the viewport: that of the device, unless the step has one.
func (b Browser) size(ctx context.Context, e step.Emulation) error {
	d, ok := step.DeviceNamed(e.Device)
	size := e.Viewport
	switch {
	case size == nil && !ok:
		return nil
	case size == nil:
		size = &d.Viewport
	}
	if d.Mobile {
		return b.Session.DevTools(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": size.Width, "height": size.Height,
			"screenWidth": size.Width, "screenHeight": size.Height, "deviceScaleFactor": d.Scale, "mobile": true}, nil)
	}
	params := map[string]any{"context": b.Window, "viewport": size}
	if ok {
		params["devicePixelRatio"] = d.Scale
	}
	return b.BiDi.Command(ctx, "browsingContext.setViewport", params, nil)
}

// Merge returns what is in effect when a step sets more: its members stand over the
// former ones.
func Merge(former, more step.Emulation) step.Emulation {
	all := former
	if more.Device != "" {
		all.Device, all.Viewport = more.Device, nil
	}
	if more.Viewport != nil {
		all.Viewport = more.Viewport
	}
	if more.ColorScheme != "" {
		all.ColorScheme = more.ColorScheme
	}
	if more.CPU != nil {
		all.CPU = more.CPU
	}
	if more.Network != nil {
		all.Network = more.Network
	}
	return all
}
