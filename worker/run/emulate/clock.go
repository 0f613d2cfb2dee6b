package emulate

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

//go:embed clock.js
var clockFile string

// clockScript is clock.js without comments and indentation.
var clockScript = func() string {
	var out strings.Builder
	for line := range strings.Lines(clockFile) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}()

// RealTime is put before a script that runs in a page whose clock may stand: what the
// script waits with is then what the clock replaced.
const RealTime = `const {setTimeout, clearTimeout, requestAnimationFrame, performance, Date} = (window[Symbol.for("slipway.clock")] || ` +
	`{natives: window}).natives;
`

// Clock is the time that the pages of a test see: that of the browser until Fix.
type Clock struct {
	set     bool
	options clockOptions
	script  string // of the pages that are still to come
}

// clockOptions are those of clock.js: milliseconds since 1970.
type clockOptions struct {
	Time    float64 `json:"time"`
	At      float64 `json:"at,omitempty"` // the browser's own time when it was Time
	Running bool    `json:"running,omitempty"`
}

// ErrNoClock means that a clock is to go on which no step has fixed.
var ErrNoClock = errors.New("no step has fixed the clock")

// IsSet reports whether pages see another time than the browser's.
func (c *Clock) IsSet() bool { return c.set }

// Fix lets the clock of all pages stand at a time.
func (c *Clock) Fix(ctx context.Context, b Browser, at time.Time) error {
	c.options = clockOptions{Time: float64(at.UnixMilli())}
	c.set = true
	if err := c.preload(ctx, b); err != nil {
		return err
	}
	return c.everywhere(ctx, b, c.install(), nil)
}

// Resume lets the clock go on from where it stands.
func (c *Clock) Resume(ctx context.Context, b Browser) error {
	if !c.set {
		return ErrNoClock
	}
	var resumed clockOptions
	for {
		err := evaluate(ctx, b.BiDi, b.Window, `JSON.stringify(globalThis[Symbol.for("slipway.clock")].resume())`, &resumed)
		if err == nil {
			break
		}
		if !replaced(err) {
			return err
		}
		select {
		case <-time.After(replacedPause):
		case <-ctx.Done():
			return err
		}
	}
	c.options = resumed
	if err := c.preload(ctx, b); err != nil {
		return err
	}
	return c.everywhere(ctx, b, c.install(), nil)
}

// Advance moves the clock on and has all pages fire what becomes due meanwhile. It does
// not wait for that: see Going.
func (c *Clock) Advance(ctx context.Context, b Browser, by time.Duration) error {
	if !c.set {
		return ErrNoClock
	}
	c.options.Time += float64(by.Milliseconds())
	// A page that is opened by what becomes due begins at the new time.
	if err := c.preload(ctx, b); err != nil {
		return err
	}
	script := fmt.Sprintf(`JSON.stringify((globalThis[Symbol.for("slipway.clock")] || {advance: () => 0}).advance(%d))`, by.Milliseconds())
	return c.everywhere(ctx, b, script, nil)
}

// Going reports whether a page is still firing what has become due.
func (c *Clock) Going(ctx context.Context, b Browser) (going bool, err error) {
	err = c.everywhere(ctx, b, `JSON.stringify((globalThis[Symbol.for("slipway.clock")] || {going: 0}).going)`, func(text string) {
		going = going || text != "0"
	})
	return going, err
}

// install is the expression that installs or sets the clock of a page.
func (c *Clock) install() string {
	options, err := json.Marshal(c.options)
	if err != nil { // numbers and a boolean
		options = []byte("{}")
	}
	return "JSON.stringify((" + clockScript + ")(" + string(options) + "))"
}

// preload has the pages that are still to come begin with the clock as it is.
func (c *Clock) preload(ctx context.Context, b Browser) error {
	var added struct {
		Script string `json:"script"`
	}
	params := map[string]any{"functionDeclaration": "() => { " + c.install() + " }", "userContexts": []string{b.UserContext}}
	if err := b.BiDi.Command(ctx, "script.addPreloadScript", params, &added); err != nil {
		return err
	}
	former := c.script
	c.script = added.Script
	if former == "" {
		return nil
	}
	return b.BiDi.Command(ctx, "script.removePreloadScript", map[string]string{"script": former}, nil)
}

// Close removes the clock from the pages that are still to come.
func (c *Clock) Close(ctx context.Context, conn *webdriver.BiDi) error {
	if c.script == "" {
		return nil
	}
	return conn.Command(ctx, "script.removePreloadScript", map[string]string{"script": c.script}, nil)
}

// node is a window or frame.
type node struct {
	Context     string `json:"context"`
	UserContext string `json:"userContext"`
	Children    []node `json:"children"`
}

// maxFrames bounds the documents of which the clock is set: a page of frames in frames.
const maxFrames = 200

// answerTime is how long a document has to answer: one with an open dialog does not.
const answerTime = 2 * time.Second

// everywhere evaluates an expression in the frames and other windows of the user context,
// and last in the current window, which may open a dialog by it. One that goes away meanwhile has no clock any more;
// what fails in the current window is an error.
func (c *Clock) everywhere(ctx context.Context, b Browser, expression string, each func(string)) error {
	var tree struct {
		Contexts []node `json:"contexts"`
	}
	if err := b.BiDi.Command(ctx, "browsingContext.getTree", nil, &tree); err != nil {
		return err
	}
	var all []string
	var add func(list []node)
	add = func(list []node) {
		for _, n := range list {
			if n.UserContext == b.UserContext && n.Context != b.Window && len(all) < maxFrames {
				all = append(all, n.Context)
			}
			add(n.Children)
		}
	}
	add(tree.Contexts)
	for _, in := range append(all, b.Window) {
		var text json.RawMessage
		err := func() error {
			within, cancel := context.WithTimeout(ctx, answerTime)
			defer cancel()
			return evaluate(within, b.BiDi, in, expression, &text)
		}()
		switch {
		case replaced(err) && ctx.Err() == nil:
			// The document that comes in its place begins with the clock as it is.
		case err != nil && (in == b.Window || ctx.Err() != nil):
			return err
		case err == nil && each != nil:
			each(string(text))
		}
	}
	return nil
}

// replacedPause is how long a document that is just being replaced is waited for.
const replacedPause = 20 * time.Millisecond

// replaced reports whether a document could not be asked because another one is coming in its
// place: the browser has words for it, and no code.
func replaced(err error) bool {
	var e *webdriver.Error
	return errors.As(err, &e) && (strings.Contains(e.Message, "Cannot find context") ||
		strings.Contains(e.Message, "Inspected target navigated"))
}

// evaluate evaluates an expression that is a text of JSON.
func evaluate(ctx context.Context, conn *webdriver.BiDi, in, expression string, out any) error {
	var got struct {
		Type   string `json:"type"`
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
		Exception struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	err := conn.Command(ctx, "script.evaluate", map[string]any{"expression": expression, "target": map[string]string{"context": in},
		"awaitPromise": false}, &got)
	if err != nil {
		return err
	}
	if got.Type != "success" || json.Unmarshal([]byte(got.Result.Value), out) != nil {
		return &webdriver.Error{Code: webdriver.ErrJavaScript, Message: "the page's clock could not be set: " + got.Exception.Text}
	}
	return nil
}
