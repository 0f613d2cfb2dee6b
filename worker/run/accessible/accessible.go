// Package accessible checks pages for faults of accessibility, for the assertion accessible.
//
// The rules are those of axe-core, which is embedded as its authors publish it (folder axe,
// with its licence). It runs in the page: Load puts it into a frame, and Check runs it in a
// document, through open shadow roots and those frames of the same origin that it was put
// into. Frames of other origins are counted and not looked into.
//
// A finding is a rule that an element breaks. Its key depends on the rule and on what people
// know the element by (a test id, its role and name, a label ...; a path where there is
// nothing else), so that the finding is known again when the page around it changes. Sort
// decides which findings fail the step: those of the impact that it names, unless somebody
// accepted them.
//
// The page decides what a script returns: everything is bounded and cleaned here.
package accessible

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/looks"
)

const (
	// MaxFindings bounds the findings that are kept of a step.
	MaxFindings = 100
	// maxChecked bounds those of a page that are looked at: for each its element is searched.
	maxChecked = 300
	// MaxPictures bounds the pictures of findings.
	MaxPictures = 10
	// MaxFrames bounds the frames of a page that are checked.
	MaxFrames = 50

	maxHTML    = 300
	maxElement = 300
	maxHelp    = 200
	maxName    = 60
	maxURL     = 300
	// frameWaitMS is how long a frame may take for its findings.
	frameWaitMS = 10_000
)

var (
	//go:embed axe/axe.min.js
	axe string
	//go:embed run.js
	runner string
)

// A page's own loaders of modules must not take axe-core for one of their own, and a page
// that uses axe-core itself keeps its own.
const (
	before = "var define, module, exports; const formerAxe = window.axe;\n"
	load   = before + "%s\nwindow.axe.formerAxe = formerAxe;\nreturn true;"
	// frames returns the frames of the document that is current, in open shadow roots too.
	frames = `const list = [], roots = [document];
for (let i = 0; i < roots.length; i++) {
	for (const el of roots[i].querySelectorAll("*")) {
		if (el.shadowRoot) roots.push(el.shadowRoot);
		if (!/^i?frame$/.test(el.localName) || list.length >= arguments[0]) continue;
		let inner = null;
		try { inner = el.contentDocument; } catch { /* of another origin */ }
		list.push({ frame: el, same: !!(inner && inner.documentElement) });
	}
}
return list;`
	check = before + "%s\nconst axe = window.axe;\naxe.formerAxe = formerAxe;\n" +
		"return Promise.resolve((function () { \"use strict\";\n%s\n%s\n}).apply(null, arguments)).finally(() => unload(window));\n" + unload
	// unload takes axe-core out of a window and the frames in it that Load put it into.
	unload = `function unload(view) {
	if (view.axe && "formerAxe" in view.axe) {
		if (view.axe.formerAxe === undefined) delete view.axe; else view.axe = view.axe.formerAxe;
	}
	for (let i = 0; i < view.length; i++) {
		try { unload(view[i]); } catch { /* of another origin */ }
	}
}`
)

// Load is the script that puts axe-core into the frame that is current.
func Load() string { return fmt.Sprintf(load, axe) }

// Frames is the script that returns the frames of the document that is current, as many as
// its argument says: objects of frame, an element, and same, whether it is of the origin.
func Frames() string { return frames }

// Check is the script that checks the document that is current. Selectors are the page
// scripts that find and locate elements: dom.js to locate.js of package replay.
func Check(selectors string) string { return fmt.Sprintf(check, axe, selectors, runner) }

// Query is the argument of Check. Hosts, Selector and First are those of replay's scripts.
type Query struct {
	Hosts        any      `json:"hosts"`
	Selector     any      `json:"selector"` // null: the document
	First        bool     `json:"first,omitempty"`
	Rules        []string `json:"rules"`
	WithoutRules []string `json:"withoutRules"`
	Tags         []string `json:"tags"`
	Most         int      `json:"most"`
	HTML         int      `json:"html"`
	Wait         int      `json:"wait"` // ms
}

// NewQuery returns the query of a step's arguments, for a whole document.
func NewQuery(m step.MatcherArgs) Query {
	list := func(names []string) []string { return append([]string{}, names...) }
	return Query{Hosts: []any{}, Rules: list(m.Rules), WithoutRules: list(m.WithoutRules), Tags: list(m.Tags),
		Most: maxChecked, HTML: 4 * maxHTML, Wait: frameWaitMS}
}

// Found is what Check returns of a page.
type Found struct {
	Href     string         `json:"href"`
	Total    int            `json:"total"`
	Findings []FoundElement `json:"findings"`
	Missing  bool           `json:"missing"` // the element is not there
	Error    string         `json:"error"`
	// Unseen counts frames of other origins; the caller knows them.
	Unseen int `json:"-"`
}

// FoundElement is one finding. Box is null where its place is not known.
type FoundElement struct {
	Rule     string     `json:"rule"`
	Impact   string     `json:"impact"`
	Help     string     `json:"help"`
	HelpURL  string     `json:"helpUrl"`
	Element  string     `json:"element"`
	HTML     string     `json:"html"`
	Identity string     `json:"identity"`
	Box      *looks.Box `json:"box"`
}

// Sorted are the findings of a step, those that fail it first, and their places.
type Sorted struct {
	step.Findings
	Boxes []*looks.Box // of Findings.List
}

// Sort decides about what was found. impact is the least that fails; accepted has the keys
// of findings that people accepted. quote makes a text of the page one for records, of some
// bytes at most.
func Sort(found *Found, impact string, accepted map[string]bool, quote func(string, int) string) Sorted {
	if impact == "" {
		impact = step.DefaultImpact
	}
	least := slices.Index(step.Impacts, impact)
	type placed struct {
		step.Finding
		box *looks.Box
	}
	var all []placed
	for i := range found.Findings {
		f := &found.Findings[i]
		if len(all) == maxChecked {
			break
		}
		of := slices.Index(step.Impacts, f.Impact)
		if of < 0 { // of a page that answers in place of axe-core
			of = len(step.Impacts) - 1
		}
		key := Key(f.Rule, f.Identity)
		one := step.Finding{Key: key, Rule: quote(f.Rule, maxName), Impact: step.Impacts[of], Help: quote(f.Help, maxHelp),
			HelpURL: helpURL(f.HelpURL),
			Element: quote(f.Element, maxElement), HTML: quote(f.HTML, maxHTML), Accepted: accepted[key]}
		one.Fails = of >= least && !one.Accepted
		all = append(all, placed{one, f.Box})
	}
	rank := func(p placed) int {
		switch {
		case p.Fails:
			return 0
		case !p.Accepted:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b placed) int { return rank(a) - rank(b) })
	out := Sorted{Findings: step.Findings{Total: max(found.Total, len(all)), Unseen: max(found.Unseen, 0), List: []step.Finding{}}}
	for _, p := range all {
		if p.Fails {
			out.Failing++
		}
		if p.Accepted {
			out.Accepted++
		}
		if len(out.List) < MaxFindings {
			out.List, out.Boxes = append(out.List, p.Finding), append(out.Boxes, p.box)
		}
	}
	return out
}

// Key knows a finding again.
func Key(rule, identity string) string {
	sum := sha256.Sum256([]byte(rule + "\x00" + identity))
	return hex.EncodeToString(sum[:16])
}

// helpURL accepts addresses of axe-core's own site alone: the page decides what stands there.
func helpURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host != "dequeuniversity.com" || len(text) > maxURL {
		return ""
	}
	return text
}

// Text says what fails a step, for people: the rules with the number of elements, the worst
// first.
func (s *Sorted) Text() string {
	var order []string
	elements := map[string]int{}
	first := map[string]*step.Finding{}
	for i := range s.List {
		f := &s.List[i]
		if !f.Fails {
			continue
		}
		if elements[f.Rule]++; elements[f.Rule] == 1 {
			order, first[f.Rule] = append(order, f.Rule), f
		}
	}
	const most = 5
	var parts []string
	for _, rule := range order[:min(len(order), most)] {
		f := first[rule]
		text := fmt.Sprintf("%s (%s): %s at %s", rule, f.Impact, f.Help, f.Element)
		if n := elements[rule]; n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		parts = append(parts, text)
	}
	if len(order) > most {
		parts = append(parts, fmt.Sprintf("%d more rules", len(order)-most))
	}
	return strings.Join(parts, "; ")
}
