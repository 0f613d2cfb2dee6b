package webdriver

import (
	"context"
	"fmt"
)

// App is what the commands of a session mean in native apps.
type App struct{ *Session }

// Attribute returns an attribute of the element; ok is false where it has none. In apps
// these are what their page source has.
func (a App) Attribute(ctx context.Context, e Element, name string) (value string, ok bool, err error) {
	var got any
	if err := a.get(ctx, e.path("attribute/"+pathSegment(name)), &got); err != nil || got == nil {
		return "", false, err
	}
	return fmt.Sprint(got), true, nil
}

// Enabled reports whether the element can be used.
func (a App) Enabled(ctx context.Context, e Element) (bool, error) {
	var enabled bool
	err := a.get(ctx, e.path("enabled"), &enabled)
	return enabled, err
}

// Active returns the element that has the focus.
func (a App) Active(ctx context.Context) (Element, error) {
	var e Element
	if err := a.get(ctx, "/element/active", &e); err != nil {
		return "", err
	}
	if e == "" {
		return "", &Error{Code: ErrNoSuchElement, Message: "no element has the focus"}
	}
	return e, nil
}

// Box is the place and the size of an element on the screen: pixels on Android, points on
// iOS, as touches have them.
type Box struct{ X, Y, Width, Height float64 }

// Box returns that of the element (WebDriver, 12.4.7).
func (a App) Box(ctx context.Context, e Element) (Box, error) {
	var b Box
	err := a.get(ctx, e.path("rect"), &b)
	return b, err
}

// Screen returns the box of what the screen shows (WebDriver, 11.8.1).
func (a App) Screen(ctx context.Context) (Box, error) {
	var b Box
	err := a.get(ctx, "/window/rect", &b)
	return b, err
}

// Contexts returns the names of the contexts: NATIVE_APP, and one for each web view
// (Appium, GET /session/{id}/contexts). Some drivers return objects with an id.
func (a App) Contexts(ctx context.Context) ([]string, error) {
	var all []any
	if err := a.get(ctx, "/contexts", &all); err != nil {
		return nil, err
	}
	var names []string
	for _, one := range all {
		if members, ok := one.(map[string]any); ok {
			one = members["id"]
		}
		if name, ok := one.(string); ok && name != "" && len(name) <= maxID {
			names = append(names, name)
		}
	}
	return names, nil
}

// SwitchContext makes a context current (Appium, POST /session/{id}/context).
func (a App) SwitchContext(ctx context.Context, name string) error {
	return a.post(ctx, "/context", map[string]string{"name": name}, nil)
}

// Orientation returns PORTRAIT or LANDSCAPE (Appium, GET /session/{id}/orientation).
func (a App) Orientation(ctx context.Context) (string, error) {
	var orientation string
	err := a.get(ctx, "/orientation", &orientation)
	return orientation, err
}

// SetOrientation turns the screen (Appium, POST /session/{id}/orientation).
func (a App) SetOrientation(ctx context.Context, orientation string) error {
	return a.post(ctx, "/orientation", map[string]string{"orientation": orientation}, nil)
}

// Mobile executes a method of the driver, as "mobile: deepLink", with its arguments by
// name, and reads what it returns into out (nil: it is dropped). Appium takes them by the
// command that executes scripts (appium.io, Execute Methods).
func (a App) Mobile(ctx context.Context, method string, args map[string]any, out any) error {
	if args == nil {
		args = map[string]any{}
	}
	return a.Execute(ctx, method, out, args)
}
