package state

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Jar is all cookies of a user context, as the browser has them, to be kept as JSON.
type Jar []protocolCookie

// ReadJar returns the cookies of the user context of a window.
func ReadJar(ctx context.Context, conn *webdriver.BiDi, window string) (Jar, error) {
	var got struct {
		Cookies Jar `json:"cookies"`
	}
	err := conn.Command(ctx, "storage.getCookies", map[string]any{"partition": partition(window)}, &got)
	return got.Cookies, err
}

// Set sets the cookies in the user context of a window, but for those that have expired at a
// time.
func (j Jar) Set(ctx context.Context, conn *webdriver.BiDi, window string, at time.Time) error {
	for _, c := range j {
		if c.Expiry != nil && *c.Expiry <= at.Unix() {
			continue
		}
		c.SameSite = settable(c)
		if err := conn.Command(ctx, "storage.setCookie", map[string]any{"cookie": c, "partition": partition(window)}, nil); err != nil {
			return fmt.Errorf("cookie %.100q of %.100q: %w", c.Name, c.Domain, err)
		}
	}
	return nil
}

// settable returns the sameSite with which a browser takes a cookie that it has itself. Chromium
// says "none" also of cookies whose site named nothing, and drops without a word what it is given
// as "none" and not as secure.
func settable(c protocolCookie) string {
	if c.SameSite == "default" || c.SameSite == "none" && !c.Secure {
		return "" // the browser's own, which it has by itself
	}
	return c.SameSite
}

// Values returns those of the cookies, as they are sent.
func (j Jar) Values() (list []string) {
	for _, c := range j {
		text := c.Value.Value
		if c.Value.Type == "base64" {
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				continue
			}
			text = string(raw)
		}
		list = append(list, text)
	}
	return list
}

// Stored is what the pages of one origin keep in a window.
type Stored struct {
	Origin  string            `json:"origin"`
	Local   map[string]string `json:"local,omitempty"`
	Session map[string]string `json:"session,omitempty"`
}

// Empty reports whether the origin keeps nothing.
func (s *Stored) Empty() bool { return len(s.Local)+len(s.Session) == 0 }

const readScript = `() => {
	const all = (area) => { try { return Object.fromEntries(Object.keys(area()).map((k) => [k, area().getItem(k)])); } catch { return {}; } };
	return JSON.stringify({origin: location.origin, local: all(() => localStorage), session: all(() => sessionStorage)});
}`

const writeScript = `(text) => {
	const stored = JSON.parse(text);
	if (location.origin !== stored.origin) return location.origin;
	for (const [key, value] of Object.entries(stored.local || {})) localStorage.setItem(key, value);
	for (const [key, value] of Object.entries(stored.session || {})) sessionStorage.setItem(key, value);
	return location.origin;
}`

// ReadStored returns what the origin of the page keeps that a window shows.
func ReadStored(ctx context.Context, conn *webdriver.BiDi, window string) (s Stored, err error) {
	text, err := call(ctx, conn, window, readScript)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("storage of a page: %w", err)
	}
	return s, nil
}

// Visit lets a window show an empty page of each of some origins, one after the other, and
// calls at for each: no request leaves the browser. The window shows the last one then.
func Visit(ctx context.Context, conn *webdriver.BiDi, window string, origins []string, at func(origin string) error) error {
	if len(origins) == 0 {
		return nil
	}
	stop, err := answerEmpty(ctx, conn, window)
	if err != nil {
		return err
	}
	defer stop()
	for _, origin := range origins {
		err := conn.Command(ctx, "browsingContext.navigate", map[string]any{"context": window, "url": origin + "/", "wait": "complete"}, nil)
		if err != nil {
			return err
		}
		if err := at(origin); err != nil {
			return err
		}
	}
	return nil
}

// WriteStored sets what origins keep, in a window that shows the last of them then. ErrNoPage.
func WriteStored(ctx context.Context, conn *webdriver.BiDi, window string, list []Stored) error {
	of, origins := map[string]*Stored{}, make([]string, len(list))
	for i := range list {
		origins[i] = list[i].Origin
		of[list[i].Origin] = &list[i]
	}
	return Visit(ctx, conn, window, origins, func(origin string) error {
		text, err := json.Marshal(of[origin])
		if err != nil {
			return fmt.Errorf("storage of a page: %w", err)
		}
		got, err := call(ctx, conn, window, writeScript, protocolValue{"string", string(text)})
		if err != nil {
			return err
		}
		if !strings.EqualFold(got, origin) {
			return ErrNoPage
		}
		return nil
	})
}

// call calls a function that returns a text in the page of a window.
func call(ctx context.Context, conn *webdriver.BiDi, window, function string, arguments ...protocolValue) (string, error) {
	var result struct {
		Type   string        `json:"type"`
		Result protocolValue `json:"result"`
	}
	if arguments == nil {
		arguments = []protocolValue{}
	}
	err := conn.Command(ctx, "script.callFunction", map[string]any{"functionDeclaration": function,
		"target": map[string]string{"context": window}, "awaitPromise": false, "arguments": arguments}, &result)
	if err != nil {
		return "", err
	}
	if result.Type != "success" || result.Result.Type != "string" {
		return "", ErrNoPage
	}
	return result.Result.Value, nil
}
