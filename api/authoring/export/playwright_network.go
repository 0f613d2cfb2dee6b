package export

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// pathKey is a part of those JSONPaths that exports can say: a member, an element, or all.
var pathKey = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\[([0-9]{1,9})\]|\[['"]([^'"\\]*)['"]\]|(\.\*|\[\*\]))`)

// pathKeys are the keys of a JSONPath as literals of JavaScript, null for all; ok is false for
// a path with filters, slices or steps of any depth.
func pathKeys(path string) (keys []string, ok bool) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		m := pathKey.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		switch {
		case m[1] != "":
			keys = append(keys, language.JavaScript(m[1]))
		case m[2] != "":
			keys = append(keys, strings.TrimLeft(m[2][:len(m[2])-1], "0")+m[2][len(m[2])-1:])
		case m[4] != "":
			keys = append(keys, "null")
		default:
			keys = append(keys, language.JavaScript(m[3]))
		}
		rest = rest[len(m[0]):]
	}
	return keys, ok
}

// fits is a function that compares a text as a mode says.
func (w *playwright) fits(value, mode string) string {
	t := w.Env.Read(value)
	switch mode {
	case step.Contains:
		return "(text) => text.includes(" + language.JavaScriptText(t) + ")"
	case step.Matches:
		return "(text) => " + language.JavaScriptPattern(t) + ".test(text)"
	}
	return "(text) => text === " + language.JavaScriptText(t)
}

// listens notes that the export keeps what the browser sends, gets and says.
func (w *playwright) listens() { w.call("traffic", "glob") }

// isWait reports whether a move waits for what came since the step before it began.
func isWait(m *script.Move) bool {
	switch m.Tool.Type {
	case step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
		return true
	}
	return false
}

// exchange are the members that find requests or responses.
func (w *playwright) exchange(url, method string, status *int) (o language.Members) {
	o.Add("url", w.read(url))
	if method != "" {
		o.Add("method", language.JavaScript(method))
	}
	if status != nil {
		o.Add("status", strconv.Itoa(*status))
	}
	return o
}

// network is the expression of a tool on requests and downloads.
func (w *playwright) network(m *script.Move) string {
	a := &m.Tool.Args
	switch m.Tool.Type {
	case step.Route:
		return w.route(a)
	case step.Unroute:
		w.call("unroute", "route", "glob")
		if a.URL == "" {
			return "unroute(context, routes)"
		}
		return "unroute(context, routes, " + w.read(a.URL) + ")"
	case step.WaitForURL:
		w.call("eventually")
		limit := ", " + language.Thousands(m.Limit())
		if a.Matcher != nil {
			claim := javaScriptClaim(w.page, a.Matcher, m.Value, a.Not, func(string) string { return "page.url()" })
			return "eventually(" + arrow(claim) + limit + ")"
		}
		w.call("glob")
		return "eventually(() => assert.match(page.url(), glob(" + w.read(a.URL) + "))" + limit + ")"
	case step.WaitForDownload:
		w.listens()
		w.call("waitFor", "downloads")
		var o language.Members
		if a.Name != "" {
			o.Add("name", w.read(a.Name))
		}
		return "traffic.waitFor('download', () => downloads(traffic.since('downloads'), " + o.String() + ")" + ownLimit(m) + ")"
	case step.WaitForRequest:
		w.listens()
		w.call("waitFor", "requests")
		return "traffic.waitFor('request', () => requests(traffic.since('requests'), " + w.exchange(a.URL, a.Method, nil).String() +
			")" + ownLimit(m) + ")"
	}
	w.listens()
	w.call("waitFor", "responses")
	return "traffic.waitFor('response', () => responses(traffic.since('responses'), " + w.exchange(a.URL, a.Method,
		a.Status).String() + ")" + ownLimit(m) + ")"
}

func (w *playwright) route(a *step.Args) string {
	w.call("route", "glob")
	o := w.exchange(a.URL, a.Method, nil)
	if a.Times != nil {
		o.Add("times", strconv.Itoa(*a.Times))
	}
	if a.Delay != nil {
		o.Add("delay", language.Thousands(*a.Delay))
	}
	if a.Abort != "" {
		o.Add("abort", language.JavaScript(a.Abort))
	}
	if n := a.Answer; n != nil {
		w.call("route:answer")
		o.Add("answer", w.answer("", n.Status, n.Headers, n.Body, n.JSON))
	}
	if c := a.Change; c != nil {
		w.call("route:change")
		o.Add("change", w.answer(c.URLTo, c.Status, c.Headers, c.Body, c.JSON))
	}
	return "route(context, routes, " + o.String() + ")"
}

func (w *playwright) answer(to string, status int, headers map[string]string, body *string, doc json.RawMessage) string {
	var o language.Members
	if to != "" {
		o.Add("urlTo", w.read(to))
	}
	if status > 0 {
		o.Add("status", strconv.Itoa(status))
	}
	if len(headers) > 0 {
		var h language.Members
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			h.Add(language.JavaScriptKey(name), w.read(headers[name]))
		}
		o.Add("headers", h.String())
	}
	switch {
	case body != nil:
		o.Add("body", w.read(*body))
	case len(doc) > 0:
		o.Add("json", w.document(doc))
	}
	if len(o) == 0 {
		return "{}"
	}
	return o.String()
}

// document is a JSON value, in whose texts there may be variables.
func (w *playwright) document(doc json.RawMessage) string {
	var value any
	d := json.NewDecoder(strings.NewReader(string(doc)))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return "null" // step.Validate let none through
	}
	return w.within(value)
}

func (w *playwright) within(value any) string {
	switch v := value.(type) {
	case string:
		return w.read(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		list := make([]string, len(v))
		for i := range v {
			list[i] = w.within(v[i])
		}
		return "[" + strings.Join(list, ", ") + "]"
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
		var o language.Members
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o.Add(language.JavaScriptKey(name), w.within(v[name]))
		}
		return o.String()
	}
	return "null"
}

// networkClaim asserts what the browser did since the test began.
func (w *playwright) networkClaim(m *script.Move) string {
	a, not := &m.Tool.Args.Matcher.Args, m.Tool.Args.Not
	w.listens()
	w.call("eventually")
	var found, number, mode string
	switch m.Tool.Args.Matcher.Name {
	case step.RequestIs:
		w.call("requests")
		o := w.exchange(a.URL, a.Method, nil)
		w.body(&o, a.Body)
		found = "(await requests(traffic.requests, " + o.String() + ")).length"
		if a.Count != nil {
			number, mode = strconv.Itoa(*a.Count), a.Mode
		}
	case step.ResponseIs:
		w.call("responses")
		o := w.exchange(a.URL, a.Method, a.Status)
		if a.Header != nil {
			w.call("responses:header")
			o.Add("header", "{ name: "+language.JavaScript(strings.ToLower(a.Header.Name))+", fits: "+w.fits(a.Header.Value,
				a.Header.Mode)+" }")
		}
		w.body(&o, a.Body)
		found = "(await responses(traffic.responses, " + o.String() + ")).length"
	case step.DownloadIs:
		w.call("downloads")
		var o language.Members
		if a.Name != "" {
			o.Add("name", w.read(a.Name))
		}
		if a.Size != nil {
			w.call("readFile")
			o.Add("size", strconv.FormatInt(*a.Size, 10))
		}
		if a.Value != "" || a.Mode != "" {
			w.call("readFile")
			o.Add("fits", w.fits(a.Value, a.Mode))
		}
		found = "(await downloads(traffic.downloads, " + o.String() + ")).length"
	default:
		return w.consoleClaim(m)
	}
	claim := "assert.ok(" + found + map[bool]string{false: " > 0", true: " === 0"}[not] + ")"
	switch {
	case number == "":
	case mode == step.AtLeast:
		claim = "assert.ok(" + found + map[bool]string{false: " >= ", true: " < "}[not] + number + ")"
	case mode == step.AtMost:
		claim = "assert.ok(" + found + map[bool]string{false: " <= ", true: " > "}[not] + number + ")"
	default:
		claim = "assert." + map[bool]string{false: "equal", true: "notEqual"}[not] + "(" + found + ", " + number + ")"
	}
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}

func (w *playwright) consoleClaim(m *script.Move) string {
	errors := "traffic.errors"
	if ignore := m.Tool.Args.Matcher.Args.Ignore; len(ignore) > 0 {
		list := make([]string, len(ignore))
		for i, pattern := range ignore {
			list[i] = language.JavaScriptPattern(script.Text{{Literal: pattern}})
		}
		errors += ".filter((text) => ![" + strings.Join(list, ", ") + "].some((pattern) => pattern.test(text)))"
	}
	claim := "assert.deepEqual(" + errors + ", [])"
	if m.Tool.Args.Not {
		claim = "assert.notDeepEqual(" + errors + ", [])"
	}
	return "eventually(" + arrow(claim) + ownLimit(m) + ")"
}

// body compares a body, or what a path selects of it. writable let no other path through.
func (w *playwright) body(o *language.Members, b *step.BodyCheck) {
	if b == nil {
		return
	}
	w.call("bodyFits")
	var in language.Members
	if keys, ok := pathKeys(b.Path); ok {
		in.Add("path", "["+strings.Join(keys, ", ")+"]")
	}
	in.Add("fits", w.fits(b.Value, b.Mode))
	o.Add("body", in.String())
}

// accessibleClaim checks rules of axe-core. What people accepted is not here: such a finding fails.
func (w *playwright) accessibleClaim(m *script.Move) string {
	a := &m.Tool.Args.Matcher.Args
	w.call("accessible", "eventually")
	var o language.Members
	impact := a.Impact
	if impact == "" {
		impact = step.DefaultImpact
	}
	o.Add("impact", language.JavaScript(impact))
	list := func(name string, of []string) {
		if len(of) == 0 {
			return
		}
		quoted := make([]string, len(of))
		for i, one := range of {
			quoted[i] = language.JavaScript(one)
		}
		o.Add(name, "["+strings.Join(quoted, ", ")+"]")
	}
	list("rules", a.Rules)
	list("tags", a.Tags)
	list("withoutRules", a.WithoutRules)
	on := "page.locator(':root')"
	if m.Element.Given() {
		w.asserting = true
		on = w.element(m, m.Element)
		w.asserting = false
	}
	limit := ", " + language.Thousands(script.StepTimeout)
	if m.Timeout > 0 {
		limit = ownLimit(m)
	}
	return "eventually(async () => accessible(" + on + ", " + o.String() + ")" + limit + ")"
}
