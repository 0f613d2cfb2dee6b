// Package route answers requests of pages in place of their servers, ends, delays or
// changes them.
//
// A driver starts no command of WebDriver BiDi while one over HTTP runs, and many of
// those wait for the very request that would have to be answered: a navigation, a click
// that loads a page, a script that waits for an element. So the answers do not come from
// outside. Open puts a page into the browser that nobody sees (agent.js), gives it the
// DevTools protocol, and the rules are executed there. Its window is hidden from the
// session. Requests that no rule can be for are not stopped at all.
//
// The rules are of the whole browser, which a test has alone while it runs. Close must be
// called before another test has it; when that fails, the browser must end.
//
// A remote end without the DevTools protocol over BiDi (goog:cdp.sendCommand), as all but
// Chromium's, gives a *traffic.UnavailableError from Open. An answer that the browser
// refuses fails its request, and Troubles says why.
package route

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

//go:embed agent.js
var agentScript string

const (
	// MaxRules bounds the rules of a test: each request is compared with each.
	MaxRules = 100
	// closeTimeout bounds Close.
	closeTimeout = 10 * time.Second
)

// ErrTooMany is the error of a rule above MaxRules.
var ErrTooMany = errors.New("route: too many rules")

// Router has the rules of one test. Its methods must not be called concurrently.
type Router struct {
	session       *webdriver.Session
	conn          *webdriver.BiDi
	target, agent string // of the hidden page: its target, and the DevTools session of it
	rules         int
}

// Open prepares a browser for rules. After an error the browser must end.
func Open(ctx context.Context, s *webdriver.Session) (*Router, error) {
	conn, err := s.BiDi(ctx)
	if errors.Is(err, webdriver.ErrNoBiDi) {
		return nil, &traffic.UnavailableError{Text: "this browser's driver offers no WebDriver BiDi, so its requests cannot be answered"}
	}
	if err != nil {
		return nil, err
	}
	r := &Router{session: s, conn: conn}
	var created struct {
		TargetID string `json:"targetId"`
	}
	err = r.devTools(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "hidden": true}, &created)
	if webdriver.Is(err, webdriver.ErrUnknownCommand, webdriver.ErrUnsupported, webdriver.ErrUnknownMethod, webdriver.ErrInvalidArgument) {
		return nil, &traffic.UnavailableError{Text: "this browser has no DevTools protocol over WebDriver BiDi, so its requests cannot " +
			"be answered", Err: err}
	}
	if err != nil {
		return nil, err
	}
	r.target = created.TargetID
	s.Hide(r.target)
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

func (r *Router) start(ctx context.Context) error {
	err := r.devTools(ctx, "", "Target.exposeDevToolsProtocol", map[string]any{"targetId": r.target, "bindingName": "cdp",
		"inheritPermissions": true}, nil)
	if err != nil {
		return err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := r.devTools(ctx, "", "Target.attachToTarget", map[string]any{"targetId": r.target, "flatten": true}, &attached); err != nil {
		return err
	}
	r.agent = attached.SessionID
	if err := r.evaluate(ctx, agentScript, nil); err != nil {
		return err
	}
	return r.evaluate(ctx, "agent.start()", nil)
}

// devTools sends a command of the DevTools protocol to the browser, or to a session of it.
func (r *Router) devTools(ctx context.Context, session, method string, params, out any) error {
	var result struct {
		Result json.RawMessage `json:"result"`
	}
	sent := map[string]any{"method": method, "params": params}
	if session != "" {
		sent["session"] = session
	}
	if err := r.conn.Command(ctx, "goog:cdp.sendCommand", sent, &result); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(result.Result, out); err != nil {
		return fmt.Errorf("route: %s: %w", method, err)
	}
	return nil
}

// evaluate runs an expression in the agent's page and waits for its promise.
func (r *Router) evaluate(ctx context.Context, expression string, out any) error {
	var result struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := r.devTools(ctx, r.agent, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true,
		"returnByValue": true}, &result)
	if err != nil {
		return err
	}
	if e := result.Exception; e != nil {
		return fmt.Errorf("route: the agent: %s %s", e.Text, e.Exception.Description)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(result.Result.Value, out)
}

// rule is what the agent reads.
type rule struct {
	Glob    string  `json:"glob"`
	Pattern string  `json:"pattern"`
	Narrow  string  `json:"narrow"`
	Method  string  `json:"method,omitempty"`
	Times   int     `json:"times,omitempty"`
	Delay   int     `json:"delay,omitempty"`
	Abort   string  `json:"abort,omitempty"`
	Answer  *answer `json:"answer,omitempty"`
	Change  *change `json:"change,omitempty"`
}

type answer struct {
	Status  int    `json:"status"`
	Phrase  string `json:"phrase,omitempty"`
	Headers []line `json:"headers"`
	Body    string `json:"body"` // Base64
}

type change struct {
	URLTo    string  `json:"urlTo,omitempty"`
	Response bool    `json:"response"` // the response changes too
	Status   int     `json:"status,omitempty"`
	Phrase   string  `json:"phrase,omitempty"`
	Headers  []line  `json:"headers"`
	Body     *string `json:"body,omitempty"` // Base64
}

type line struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Add puts the rule of a route step, its variables replaced, before the rules that are
// there.
func (r *Router) Add(ctx context.Context, a step.Args) error {
	if r.rules >= MaxRules {
		return ErrTooMany
	}
	glob, err := step.ParseGlob(a.URL)
	if err != nil {
		return err
	}
	added := rule{Glob: a.URL, Pattern: glob.Pattern(), Narrow: narrow(a.URL), Method: a.Method, Abort: errorReasons[a.Abort]}
	if a.Times != nil {
		added.Times = *a.Times
	}
	if a.Delay != nil {
		added.Delay = min(*a.Delay, step.MaxRouteDelay)
	}
	if n := a.Answer; n != nil {
		status := n.Status
		if status == 0 {
			status = http.StatusOK
		}
		body, kind := bodyOf(n.Body, n.JSON)
		added.Answer = &answer{Status: status, Phrase: http.StatusText(status), Headers: lines(n.Headers, kind),
			Body: base64.StdEncoding.EncodeToString(body)}
	}
	if c := a.Change; c != nil {
		added.Change = &change{URLTo: c.URLTo, Status: c.Status, Phrase: http.StatusText(c.Status)}
		kind := ""
		if c.Body != nil || len(c.JSON) > 0 {
			var body []byte
			if body, kind = bodyOf(c.Body, c.JSON); c.Body != nil {
				kind = "" // as the server says
			}
			encoded := base64.StdEncoding.EncodeToString(body)
			added.Change.Body = &encoded
		}
		added.Change.Headers = lines(c.Headers, kind)
		added.Change.Response = c.Status != 0 || len(added.Change.Headers) > 0 || added.Change.Body != nil
	}
	doc, err := json.Marshal(added)
	if err != nil {
		return err
	}
	if err := r.evaluate(ctx, "agent.add("+string(doc)+")", nil); err != nil {
		return err
	}
	r.rules++
	return nil
}

// Remove ends the rules of a glob as it was given, or all for "", and returns how many.
func (r *Router) Remove(ctx context.Context, glob string) (n int, err error) {
	doc, err := json.Marshal(glob)
	if err != nil {
		return 0, err
	}
	err = r.evaluate(ctx, "agent.remove("+string(doc)+")", &n)
	r.rules -= n
	return n, err
}

// Troubles returns why answers were refused by the browser since the last call, in its
// words.
func (r *Router) Troubles(ctx context.Context) (texts []string, err error) {
	err = r.evaluate(ctx, "agent.troubles()", &texts)
	return texts, err
}

// Close ends all rules. Requests that still wait go to their servers. After an error the
// browser must end.
func (r *Router) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return r.devTools(ctx, "", "Target.closeTarget", map[string]any{"targetId": r.target}, nil)
}

func bodyOf(text *string, doc json.RawMessage) (body []byte, kind string) {
	switch {
	case len(doc) > 0:
		return doc, "application/json"
	case text != nil:
		return []byte(*text), "text/plain; charset=utf-8"
	}
	return nil, ""
}

// lines are headers in the order of their names, with the type of the body where they
// have none.
func lines(headers map[string]string, kind string) []line {
	list := []line{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if strings.EqualFold(name, "Content-Type") {
			kind = ""
		}
		list = append(list, line{name, headers[name]})
	}
	if kind != "" {
		list = append(list, line{"content-type", kind})
	}
	return list
}

// narrow returns a pattern of the DevTools protocol that all requests of a glob match,
// and some others: there * is anything, and ? one character.
func narrow(glob string) string {
	var out strings.Builder
	if strings.HasPrefix(glob, "/") {
		out.WriteByte('*')
	}
	group, escaped := false, false
	for _, c := range glob {
		switch {
		case group:
			group = c != '}'
		case escaped, c != '\\' && c != '*' && c != '{' && c != '?':
			if escaped && strings.ContainsRune(`\*?`, c) {
				out.WriteByte('\\')
			}
			out.WriteRune(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '?':
			out.WriteString(`\?`)
		default:
			group = c == '{'
			out.WriteByte('*')
		}
	}
	// The slash of **/ may be missing.
	return strings.ReplaceAll(out.String(), "**/", "*")
}

// errorReasons are the reasons of the DevTools protocol.
var errorReasons = map[string]string{"failed": "Failed", "aborted": "Aborted", "timedout": "TimedOut", "accessdenied": "AccessDenied",
	"connectionclosed": "ConnectionClosed", "connectionreset": "ConnectionReset", "connectionrefused": "ConnectionRefused",
	"connectionaborted": "ConnectionAborted", "connectionfailed": "ConnectionFailed", "namenotresolved": "NameNotResolved",
	"internetdisconnected": "InternetDisconnected", "addressunreachable": "AddressUnreachable", "blockedbyclient": "BlockedByClient",
	"blockedbyresponse": "BlockedByResponse"}
