// Package native does what steps ask of a device and of its apps: gestures, the keyboard and
// the keys, orientation, contexts, permissions, links, and the life of an app.
//
// Gestures are touches of W3C WebDriver at points that are computed from the box of an
// element or of the screen: all drivers have them, and they end where a finger would. The
// rest are Appium's commands, and methods of its drivers UiAutomator2 and XCUITest
// ("mobile: deepLink"); each names where it is documented.
//
// A step waits until its element is displayed and rests, and until what it did is seen: the
// app is in the foreground, the screen is turned, the keyboard is gone. What a gesture leads
// to is the app's to decide, so a screen that stays as it is does not fail a tap or a swipe;
// the note of the step says it. scroll_to fails where the list has ended.
//
// A driver that does not know a command fails the step with both names. One that is gone is
// an error of the transport, for the caller. Nothing here has a time limit of its own beside
// the deadline of the step: the caller bounds commands that never end.
package native

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// poll is between two looks: a command takes some 50 ms on a device.
	poll = 200 * time.Millisecond
	// effectWait is how long the screen may take to change after a gesture, before the
	// step says that it did not.
	effectWait = time.Second
	maxShown   = 200
)

// Failure is why a step failed, for people. Assertion: it was one that did not hold.
type Failure struct {
	Text      string
	Assertion bool
}

func (f *Failure) Error() string { return f.Text }

func failf(format string, args ...any) *Failure { return &Failure{Text: fmt.Sprintf(format, args...)} }

// Found is what a selector finds. Why says why there is no such element, "" where there is;
// Final: waiting does not change that.
type Found struct {
	Element   webdriver.Element
	Displayed bool
	Why       string
	Final     bool
}

// Config is what a Device needs.
type Config struct {
	Session *webdriver.Session
	// Find looks for an element, once.
	Find func(context.Context, *step.Selector) (Found, error)
	// Show returns a selector for a message.
	Show func(*step.Selector) string
	// Quote returns a text of the app for a message, without secrets, of so many bytes at most.
	Quote func(text string, most int) string
	// CheckURL refuses addresses that tests may not open.
	CheckURL func(ctx context.Context, address string) error
	// Note takes what else is worth knowing of a step.
	Note func(format string, args ...any)
}

// Device is the device of a session, while one step uses it.
type Device struct {
	cfg      Config
	app      webdriver.App
	deadline time.Time
}

// New returns the device of a session, for a step that has until the deadline.
func New(cfg Config, deadline time.Time) *Device {
	return &Device{cfg: cfg, app: webdriver.App{Session: cfg.Session}, deadline: deadline}
}

// Run does a step of native apps. The error is a *Failure or one of the session.
func (d *Device) Run(ctx context.Context, t step.Tool) error {
	a := t.Args
	switch t.Type {
	case step.Tap, step.LongPress, step.Swipe, step.Pinch, step.Zoom:
		return d.watched(ctx, func() error { return d.gesture(ctx, t) })
	case step.ScrollTo:
		return d.scrollTo(ctx, a)
	case step.HideKeyboard:
		return d.hideKeyboard(ctx)
	case step.Background:
		return d.background(ctx, a)
	case step.DeepLink:
		return d.watched(ctx, func() error { return d.openLink(ctx, a) })
	case step.SetPermissions:
		return d.setPermissions(ctx, a)
	case step.Rotate:
		return d.rotate(ctx, a.Orientation)
	case step.PressDeviceKey:
		return d.watched(ctx, func() error { return d.pressKey(ctx, a.Key) })
	case step.LaunchApp:
		return d.launch(ctx, a.AppID)
	case step.TerminateApp:
		return d.terminate(ctx, a.AppID)
	case step.ResetApp:
		return d.reset(ctx, a.AppID)
	}
	return failf("%s is no step of native apps", t.Type)
}

// InWebView reports whether a step works in whatever context the session is: it uses the
// device, and no element.
func InWebView(tool string) bool {
	switch tool {
	case step.Tap, step.LongPress, step.Swipe, step.Pinch, step.Zoom, step.ScrollTo, step.HideKeyboard:
		return false
	}
	return true
}

// android reports whether the device is one of Android.
func (d *Device) android() bool {
	platform, _ := d.cfg.Session.Capabilities["platformName"].(string)
	return strings.EqualFold(platform, "android")
}

// driver is the name of the driver, as people know it.
func (d *Device) driver() string {
	for _, name := range []string{"appium:automationName", "automationName"} {
		if text, _ := d.cfg.Session.Capabilities[name].(string); text != "" {
			return d.cfg.Quote(text, 60)
		}
	}
	return "of the hub"
}

// said returns the failure of what a driver reports about a command. An error that says
// nothing of the command is returned as it is.
func (d *Device) said(command string, err error) error {
	var reported *webdriver.Error
	switch {
	case !errors.As(err, &reported) || webdriver.Is(err, webdriver.ErrInvalidSession):
		return err
	case webdriver.Is(err, webdriver.ErrUnknownCommand, webdriver.ErrUnknownMethod, webdriver.ErrUnsupported):
		return failf("the driver %s does not know the command %s", d.driver(), command)
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return failf("%s: a dialog is open, which no step handles", command)
	}
	return failf("%s: the driver says: %s", command, d.cfg.Quote(reported.Message, maxShown))
}

// mobile executes a method of the driver.
func (d *Device) mobile(ctx context.Context, method string, args map[string]any, out any) error {
	return d.said("mobile: "+method, d.app.Mobile(ctx, "mobile: "+method, args, out))
}

// until calls attempt until it is done, fails with an error, or the step's time is over:
// then the failure is what it last returned.
func (d *Device) until(ctx context.Context, attempt func() (done bool, not *Failure, err error)) error {
	for {
		done, not, err := attempt()
		if done || err != nil {
			return err
		}
		if time.Now().After(d.deadline) {
			return not
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}

// pause waits for a time or until ctx ends.
func pause(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// screen returns the digest of what the screen shows; ok is false where it cannot be read.
func (d *Device) screen(ctx context.Context) (digest [sha256.Size]byte, ok bool, err error) {
	source, err := webdriver.PageSource(ctx, d.cfg.Session)
	var reported *webdriver.Error
	if errors.As(err, &reported) && !webdriver.Is(err, webdriver.ErrInvalidSession) {
		return digest, false, nil // an app that starts, or a dialog
	}
	return sha256.Sum256([]byte(source)), err == nil, err
}

// watched does something, and notes it when nothing on the screen changes after it.
func (d *Device) watched(ctx context.Context, act func() error) error {
	before, ok, err := d.screen(ctx)
	if err != nil {
		return err
	}
	if err := act(); err != nil || !ok {
		return err
	}
	for end := time.Now().Add(effectWait); ; {
		after, ok, err := d.screen(ctx)
		if err != nil || !ok || after != before {
			return err
		}
		if time.Now().After(end) {
			d.cfg.Note("nothing changed on the screen")
			return nil
		}
		if err := pause(ctx, poll); err != nil {
			return err
		}
	}
}
