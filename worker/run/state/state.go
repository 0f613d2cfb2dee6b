// Package state reads and sets what a browser keeps for the pages of a test: cookies and
// the storages of origins.
//
// Cookies are those of the user context of a window, over WebDriver BiDi: also of hosts
// that no page of the test has shown yet, and also those that scripts cannot see. The
// storage of the page that is open is the caller's, by a script in it; that of another
// origin is set in a window of its own, in the background, whose page is made here: no
// request of it leaves the browser.
//
// Errors are those of package webdriver, but for ErrNoPage.
package state

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Cookie is a cookie of a browser.
type Cookie struct {
	Name, Value, Domain, Path string
	Secure, HTTPOnly          bool
	SameSite                  string    // strict, lax, none; "" is the browser's default
	Expires                   time.Time // zero: with the session
}

// protocolCookie is a cookie as BiDi has it.
type protocolCookie struct {
	Name     string        `json:"name"`
	Value    protocolValue `json:"value"`
	Domain   string        `json:"domain"`
	Path     string        `json:"path"`
	Secure   bool          `json:"secure"`
	HTTPOnly bool          `json:"httpOnly"`
	SameSite string        `json:"sameSite,omitempty"`
	Expiry   *int64        `json:"expiry,omitempty"` // Unix, seconds
}

type protocolValue struct {
	Type  string `json:"type"` // string, base64
	Value string `json:"value"`
}

// partition is where the cookies of a window are kept.
func partition(window string) map[string]string {
	return map[string]string{"type": "context", "context": window}
}

// SetCookie sets a cookie in the user context of a window.
func SetCookie(ctx context.Context, conn *webdriver.BiDi, window string, c Cookie) error {
	sent := protocolCookie{Name: c.Name, Value: protocolValue{"string", c.Value}, Domain: c.Domain, Path: c.Path,
		Secure: c.Secure, HTTPOnly: c.HTTPOnly, SameSite: strings.ToLower(c.SameSite)}
	if !c.Expires.IsZero() {
		seconds := c.Expires.Unix()
		sent.Expiry = &seconds
	}
	return conn.Command(ctx, "storage.setCookie", map[string]any{"cookie": sent, "partition": partition(window)}, nil)
}

// FindCookie returns the cookie of a name that a page gets at a host and path; of several
// the one of the longest path. domain "" is the page's; nil: there is none.
func FindCookie(ctx context.Context, conn *webdriver.BiDi, window, name, host, path, domain string) (*Cookie, error) {
	var got struct {
		Cookies []protocolCookie `json:"cookies"`
	}
	params := map[string]any{"filter": map[string]string{"name": name}, "partition": partition(window)}
	if err := conn.Command(ctx, "storage.getCookies", params, &got); err != nil {
		return nil, err
	}
	var found *Cookie
	for _, c := range got.Cookies {
		fits := sameDomain(c.Domain, domain)
		if domain == "" {
			fits = sentTo(c, host, path)
		}
		if c.Name != name || !fits || found != nil && len(found.Path) >= len(c.Path) {
			continue
		}
		found = &Cookie{Name: c.Name, Value: c.Value.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure,
			HTTPOnly: c.HTTPOnly, SameSite: c.SameSite}
		if c.Expiry != nil {
			found.Expires = time.Unix(*c.Expiry, 0).UTC()
		}
	}
	return found, nil
}

func sameDomain(a, b string) bool {
	return strings.EqualFold(strings.TrimPrefix(a, "."), strings.TrimPrefix(b, "."))
}

// sentTo reports whether a cookie is sent with a request to a host and path.
func sentTo(c protocolCookie, host, path string) bool {
	if !sameDomain(c.Domain, host) && !(strings.HasPrefix(c.Domain, ".") && strings.HasSuffix(strings.ToLower(host),
		strings.ToLower(c.Domain))) {
		return false
	}
	at := strings.TrimSuffix(c.Path, "/")
	return strings.HasPrefix(path, at) && (len(path) == len(at) || path[len(at)] == '/')
}

// Differs returns in what a cookie is not as attributes require, "" where it is.
func (c *Cookie) Differs(a *step.CookieAttributes) string {
	switch {
	case a == nil:
		return ""
	case a.Domain != "" && !sameDomain(a.Domain, c.Domain):
		return "its domain is " + c.Domain
	case a.Path != "" && a.Path != c.Path:
		return "its path is " + c.Path
	case a.SameSite != "" && !strings.EqualFold(a.SameSite, c.SameSite):
		return "its sameSite is " + c.SameSite
	case a.Secure != nil && *a.Secure != c.Secure:
		return "it is " + orNot(c.Secure) + "secure"
	case a.HTTPOnly != nil && *a.HTTPOnly != c.HTTPOnly:
		return "it is " + orNot(c.HTTPOnly) + "httpOnly"
	}
	return ""
}

func orNot(is bool) string {
	if is {
		return ""
	}
	return "not "
}

// ClearCookies deletes all cookies of the user context of a window.
func ClearCookies(ctx context.Context, conn *webdriver.BiDi, window string) error {
	return conn.Command(ctx, "storage.deleteCookies", map[string]any{"partition": partition(window)}, nil)
}

// UserContext returns the user context of a window.
func UserContext(ctx context.Context, conn *webdriver.BiDi, window string) (string, error) {
	var tree struct {
		Contexts []struct {
			UserContext string `json:"userContext"`
		} `json:"contexts"`
	}
	if err := conn.Command(ctx, "browsingContext.getTree", map[string]any{"root": window, "maxDepth": 0}, &tree); err != nil {
		return "", err
	}
	if len(tree.Contexts) != 1 {
		return "", &webdriver.Error{Code: webdriver.ErrNoSuchWindow, Message: "the window is closed"}
	}
	return tree.Contexts[0].UserContext, nil
}

// ErrNoPage means that the window for another origin's storage did not get its page.
var ErrNoPage = errors.New("no page of the origin could be made")

const requestEvent = "network.beforeRequestSent"

// SetLocal sets an item of the local storage of an origin that the window does not show.
func SetLocal(ctx context.Context, conn *webdriver.BiDi, window, origin, key, value string) (err error) {
	userContext, err := UserContext(ctx, conn, window)
	if err != nil {
		return err
	}
	var created struct {
		Context string `json:"context"`
	}
	params := map[string]any{"type": "tab", "userContext": userContext, "background": true}
	if err := conn.Command(ctx, "browsingContext.create", params, &created); err != nil {
		return err
	}
	tab := created.Context
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		err = errors.Join(err, conn.CloseWindow(end, tab))
	}()
	stop, err := answerEmpty(ctx, conn, tab)
	if err != nil {
		return err
	}
	defer stop()
	if err := conn.Command(ctx, "browsingContext.navigate", map[string]any{"context": tab, "url": origin + "/", "wait": "complete"},
		nil); err != nil {
		return err
	}
	return setItem(ctx, conn, tab, origin, key, value)
}

// endTimeout bounds what is put back after an error.
const endTimeout = 5 * time.Second

// answerEmpty answers the requests of a window with empty pages until stop.
func answerEmpty(ctx context.Context, conn *webdriver.BiDi, tab string) (stop func(), err error) {
	var subscribed struct {
		Subscription string `json:"subscription"`
	}
	var intercept struct {
		Intercept string `json:"intercept"`
	}
	if err := conn.Command(ctx, "session.subscribe", map[string]any{"events": []string{requestEvent}, "contexts": []string{tab}},
		&subscribed); err != nil {
		return nil, err
	}
	unhandle := conn.On(requestEvent, func(text json.RawMessage) {
		var event struct {
			Context   string `json:"context"`
			IsBlocked bool   `json:"isBlocked"`
			Request   struct {
				Request string `json:"request"`
			} `json:"request"`
		}
		if json.Unmarshal(text, &event) != nil || event.Context != tab || !event.IsBlocked {
			return
		}
		within, cancel := context.WithTimeout(ctx, endTimeout)
		defer cancel()
		_ = conn.Command(within, "network.provideResponse", map[string]any{"request": event.Request.Request, "statusCode": 200,
			"headers": []any{map[string]any{"name": "Content-Type", "value": protocolValue{"string", "text/html"}}},
			"body":    protocolValue{"string", "<!doctype html>"}}, nil) // else the navigation fails
	})
	err = conn.Command(ctx, "network.addIntercept", map[string]any{"phases": []string{"beforeRequestSent"},
		"contexts": []string{tab}}, &intercept)
	stop = func() {
		unhandle()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if intercept.Intercept != "" {
			_ = conn.Command(end, "network.removeIntercept", map[string]string{"intercept": intercept.Intercept}, nil)
		}
		_ = conn.Command(end, "session.unsubscribe", map[string]any{"subscriptions": []string{subscribed.Subscription}}, nil)
	}
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func setItem(ctx context.Context, conn *webdriver.BiDi, tab, origin, key, value string) error {
	got, err := call(ctx, conn, tab, `(key, value) => { localStorage.setItem(key, value); return location.origin; }`,
		protocolValue{"string", key}, protocolValue{"string", value})
	if err != nil {
		return err
	}
	if !strings.EqualFold(got, origin) {
		return ErrNoPage
	}
	return nil
}
