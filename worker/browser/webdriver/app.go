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
