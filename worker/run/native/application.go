package native

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// appID is the id that a step names, or that of the app under test by the capabilities of
// the session: UiAutomator2 and XCUITest fill them in from the app's file.
func (d *Device) appID(given string) (string, error) {
	if given != "" {
		if err := step.CheckAppID("appId", given); err != nil {
			return "", failf("%s", d.cfg.Quote(err.Error(), maxShown))
		}
		return given, nil
	}
	for _, name := range []string{"appPackage", "bundleId", "CFBundleIdentifier"} {
		for _, prefix := range []string{"appium:", ""} {
			id, _ := d.cfg.Session.Capabilities[prefix+name].(string)
			if id != "" && step.CheckAppID("", id) == nil {
				return id, nil
			}
		}
	}
	return "", failf("the id of the app is not known: the step needs an appId")
}

// named are the arguments of a method that names an app: UiAutomator2 calls it appId,
// XCUITest bundleId.
func (d *Device) named(id string) map[string]any {
	if d.android() {
		return map[string]any{"appId": id}
	}
	return map[string]any{"bundleId": id}
}

// state returns the place of an app's state in step.AppStates (UiAutomator2, XCUITest:
// mobile: queryAppState).
func (d *Device) state(ctx context.Context, id string) (int, error) {
	var state int
	if err := d.mobile(ctx, "queryAppState", d.named(id), &state); err != nil {
		return 0, err
	}
	if state < 0 || state >= len(step.AppStates) {
		return 0, failf("mobile: queryAppState: the driver says %d, which is no state of an app", state)
	}
	return state, nil
}

// foreground, and the others, are places in step.AppStates.
const (
	notRunning = 1
	foreground = 4
)

// reach waits until the state of an app is right.
func (d *Device) reach(ctx context.Context, id string, right func(int) bool) error {
	return d.until(ctx, func() (bool, *Failure, error) {
		state, err := d.state(ctx, id)
		if err != nil {
			return false, nil, err
		}
		return right(state), failf("the app %s is %s", id, words(state)), nil
	})
}

func words(state int) string { return strings.ReplaceAll(step.AppStates[state], "_", " ") }

func inForeground(state int) bool { return state == foreground }

// Assert waits until an app is in a state, or is not.
func (d *Device) Assert(ctx context.Context, m *step.Matcher, not bool) error {
	id, err := d.appID(m.Args.Name)
	if err != nil {
		return err
	}
	wanted := slices.Index(step.AppStates, m.Args.Value)
	if wanted < 0 {
		return failf("%s is no state of an app", d.cfg.Quote(m.Args.Value, 60))
	}
	is := "to be"
	if not {
		is = "not to be"
	}
	return d.until(ctx, func() (bool, *Failure, error) {
		state, err := d.state(ctx, id)
		if err != nil {
			return false, nil, err
		}
		why := fmt.Sprintf("the app %s: expected %s %s; it is %s", id, is, words(wanted), words(state))
		return (state == wanted) != not, &Failure{Text: why, Assertion: true}, nil
	})
}

// launch brings an app to the foreground, and starts it where it does not run
// (UiAutomator2, XCUITest: mobile: activateApp).
func (d *Device) launch(ctx context.Context, given string) error {
	id, err := d.appID(given)
	if err != nil {
		return err
	}
	if err := d.mobile(ctx, "activateApp", d.named(id), nil); err != nil {
		return err
	}
	return d.reach(ctx, id, inForeground)
}

// terminate ends an app (UiAutomator2, XCUITest: mobile: terminateApp).
func (d *Device) terminate(ctx context.Context, given string) error {
	id, err := d.appID(given)
	if err != nil {
		return err
	}
	var ended any // false where it did not run
	if err := d.mobile(ctx, "terminateApp", d.named(id), &ended); err != nil {
		return err
	}
	if ended == false {
		d.cfg.Note("the app %s did not run", id)
	}
	return d.reach(ctx, id, func(state int) bool { return state <= notRunning })
}

// reset ends an app, clears its data, and starts it (UiAutomator2, XCUITest on simulators:
// mobile: clearApp).
func (d *Device) reset(ctx context.Context, given string) error {
	id, err := d.appID(given)
	if err != nil {
		return err
	}
	if err := d.mobile(ctx, "terminateApp", d.named(id), nil); err != nil {
		return err
	}
	if err := d.mobile(ctx, "clearApp", d.named(id), nil); err != nil {
		return err
	}
	return d.launch(ctx, id)
}

// background leaves the app for a time (UiAutomator2, XCUITest: mobile: backgroundApp,
// which returns when the app is back).
func (d *Device) background(ctx context.Context, a step.Args) error {
	left := within(a.Time, 0)
	if err := d.mobile(ctx, "backgroundApp", map[string]any{"seconds": left.Seconds()}, nil); err != nil {
		return err
	}
	d.deadline = d.deadline.Add(left)
	id, err := d.appID("")
	if err != nil {
		d.cfg.Note("whether the app came back was not seen: its id is not known")
		return nil
	}
	return d.reach(ctx, id, inForeground)
}

// refusedSchemes are not links of an app: they read files, run code, or start any part of
// any app.
var refusedSchemes = []string{"file", "content", "javascript", "data", "blob", "about", "intent", "android-app", "adb",
	"prefs", "app-prefs"}

// openLink opens an address in an app (UiAutomator2: mobile: deepLink with package;
// XCUITest: with bundleId).
func (d *Device) openLink(ctx context.Context, a step.Args) error {
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme == "" {
		return failf("%s is no absolute address", d.cfg.Quote(a.URL, maxShown))
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case slices.Contains(refusedSchemes, scheme):
		return failf("addresses of the scheme %q are refused", scheme)
	case scheme == "http" || scheme == "https":
		if err := d.cfg.CheckURL(ctx, a.URL); err != nil {
			return err
		}
	}
	args := map[string]any{"url": a.URL}
	id, err := d.appID(a.AppID)
	switch {
	case err != nil && a.AppID != "":
		return err
	case err != nil: // the system chooses the app
	case d.android():
		args["package"] = id
	default:
		args["bundleId"] = id
	}
	return d.mobile(ctx, "deepLink", args, nil)
}

// setPermissions grants and revokes permissions of an app. UiAutomator2: mobile:
// changePermissions, and mobile: getPermissions to see it; XCUITest on simulators: mobile:
// setPermission.
func (d *Device) setPermissions(ctx context.Context, a step.Args) error {
	id, err := d.appID(a.AppID)
	if err != nil {
		return err
	}
	if !d.android() {
		return d.setAccess(ctx, id, a)
	}
	for _, change := range []struct {
		action string
		names  []string
	}{{"grant", a.Grant}, {"revoke", a.Revoke}} {
		if len(change.names) == 0 {
			continue
		}
		names := make([]string, 0, len(change.names))
		for _, name := range change.names {
			names = append(names, androidPermission(name))
		}
		args := map[string]any{"permissions": names, "appPackage": id, "action": change.action}
		if err := d.mobile(ctx, "changePermissions", args, nil); err != nil {
			return err
		}
		if err := d.seePermissions(ctx, id, names, change.action == "grant"); err != nil {
			return err
		}
	}
	return nil
}

// seePermissions waits until an app has permissions, or has them no more.
func (d *Device) seePermissions(ctx context.Context, id string, names []string, granted bool) error {
	return d.until(ctx, func() (bool, *Failure, error) {
		var has []string
		if err := d.mobile(ctx, "getPermissions", map[string]any{"type": "granted", "appPackage": id}, &has); err != nil {
			return false, nil, err
		}
		for _, name := range names {
			if slices.Contains(has, name) != granted {
				what := "has still"
				if granted {
					what = "does not have"
				}
				return false, failf("the app %s %s the permission %s", id, what, name), nil
			}
		}
		return true, nil, nil
	})
}

// androidPermission is the full name of a permission.
func androidPermission(name string) string {
	if strings.Contains(name, ".") {
		return name
	}
	return "android.permission." + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func (d *Device) setAccess(ctx context.Context, id string, a step.Args) error {
	access := map[string]string{}
	for _, change := range []struct {
		state string
		names []string
	}{{"yes", a.Grant}, {"no", a.Revoke}} {
		for _, name := range change.names {
			if strings.ContainsAny(name, "._") {
				return failf("%s is no permission of iOS", name)
			}
			access[strings.ToLower(name)] = change.state
		}
	}
	return d.mobile(ctx, "setPermission", map[string]any{"bundleId": id, "access": access}, nil)
}

// Extra is how much longer than others a step may take.
func Extra(t *step.Tool) time.Duration {
	switch t.Type {
	case step.Background, step.LongPress, step.Swipe, step.Pause:
		return within(t.Args.Time, 0)
	}
	return 0
}
