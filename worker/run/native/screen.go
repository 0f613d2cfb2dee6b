package native

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// NativeName is the context of the app itself, as Appium calls it.
const NativeName = "NATIVE_APP"

// Switch makes the context of a name current: native, or the only web view whose name a
// glob matches. It returns the name that Appium has for it.
func (d *Device) Switch(ctx context.Context, name string) (current string, err error) {
	glob, err := step.ParseGlob(name)
	if err != nil {
		return "", failf("the name %v", err)
	}
	err = d.until(ctx, func() (bool, *Failure, error) {
		all, err := d.app.Contexts(ctx)
		if err != nil {
			return false, nil, d.said("contexts", err)
		}
		var matches []string
		for _, one := range all {
			native := one == NativeName
			if native && name == step.NativeContext || !native && name != step.NativeContext && glob.Match(one) {
				matches = append(matches, one)
			}
		}
		switch {
		case len(matches) == 0:
			return false, failf("there is no context %s: there are %s", d.cfg.Quote(name, 60), d.cfg.Quote(strings.Join(all, ", "), maxShown)), nil
		case len(matches) > 1:
			return false, failf("%d contexts match %s: %s", len(matches), d.cfg.Quote(name, 60),
				d.cfg.Quote(strings.Join(matches, ", "), maxShown)), nil
		}
		current = matches[0]
		return true, nil, d.said("context", d.app.SwitchContext(ctx, current))
	})
	return current, err
}

// rotate turns the screen.
func (d *Device) rotate(ctx context.Context, orientation string) error {
	if err := d.app.SetOrientation(ctx, strings.ToUpper(orientation)); err != nil {
		return d.said("orientation", err)
	}
	return d.until(ctx, func() (bool, *Failure, error) {
		is, err := d.app.Orientation(ctx)
		if err != nil {
			return false, nil, d.said("orientation", err)
		}
		return strings.EqualFold(is, orientation), failf("the screen is still %s", d.cfg.Quote(strings.ToLower(is), 40)), nil
	})
}

// hideKeyboard hides the keyboard of the screen (UiAutomator2, XCUITest: mobile:
// hideKeyboard and mobile: isKeyboardShown).
func (d *Device) hideKeyboard(ctx context.Context) error {
	shown, err := d.keyboardShown(ctx)
	if err != nil {
		return err
	}
	if !shown {
		d.cfg.Note("no keyboard was shown")
		return nil
	}
	if err := d.mobile(ctx, "hideKeyboard", nil, nil); err != nil {
		return err
	}
	return d.until(ctx, func() (bool, *Failure, error) {
		shown, err := d.keyboardShown(ctx)
		return err == nil && !shown, failf("the keyboard is still shown"), err
	})
}

func (d *Device) keyboardShown(ctx context.Context) (shown bool, err error) {
	err = d.mobile(ctx, "isKeyboardShown", nil, &shown)
	return shown, err
}

// keyCodes are those of Android (developer.android.com, KeyEvent), by step.DeviceKeys.
var keyCodes = map[string]int{"back": 4, "home": 3, "enter": 66, "app_switch": 187, "menu": 82, "search": 84,
	"volume_up": 24, "volume_down": 25, "power": 26, "tab": 61, "delete": 67, "escape": 111}

// buttons are those of iOS (XCUITest: mobile: pressButton), by step.DeviceKeys.
var buttons = map[string]string{"home": "home", "volume_up": "volumeUp", "volume_down": "volumeDown"}

// typed are keys that iOS has on its keyboard alone.
var typed = map[string]string{"enter": "\n", "tab": "\t", "delete": "\b"}

// pressKey presses a key of the device (UiAutomator2: mobile: pressKey).
func (d *Device) pressKey(ctx context.Context, key string) error {
	if d.android() {
		code, ok := keyCodes[key]
		if !ok {
			return failf("%s is no key of a device", d.cfg.Quote(key, 40))
		}
		return d.mobile(ctx, "pressKey", map[string]any{"keycode": code}, nil)
	}
	if name, ok := buttons[key]; ok {
		return d.mobile(ctx, "pressButton", map[string]any{"name": name}, nil)
	}
	text, ok := typed[key]
	if !ok {
		return failf("iOS has no key %s", d.cfg.Quote(key, 40))
	}
	focused, err := d.app.Active(ctx)
	if webdriver.Is(err, webdriver.ErrNoSuchElement, webdriver.ErrStaleElement) {
		return failf("no element has the focus")
	}
	if err != nil {
		return d.said("press_device_key", err)
	}
	return d.said("press_device_key", d.app.SendKeys(ctx, focused, text))
}
