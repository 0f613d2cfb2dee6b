package page

import (
	"embed"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/run/accessible"
	"github.com/slipway-qa/slipway/worker/run/looks"
)

//go:embed *.js
var pages embed.FS

// The page scripts. Each is the body of a function; it is sent with every call,
// because a page may replace what an earlier one left behind. Those that take
// selectors have two forms: CSS and XPath alone need no names and texts.
var (
	ActScripts            = newActScripts()
	ActFingerprintScripts = newActScripts("text", "name", "role", "surroundings", "fingerprint")
	ActDriftScripts       = newActScripts("text", "name", "role", "surroundings", "fingerprint", "identity", "drift")
	ObserveScript         = newScript("element", "observe")
	HealScript            = Source("dom", "select", "css", "text", "name", "role", "element", "surroundings", "fingerprint",
		"identity", "difference", "locate", "candidate", "heal")
	NearestScript = Source("dom", "select", "css", "text", "name", "role", "element", "surroundings", "fingerprint",
		"identity", "difference", "locate", "candidate", "nearest")
	DragScript       = Source("element", "arrival", "drag")
	MaskScript       = Source("mask")
	LookScript       = Source("dom", "select", "css", "text", "name", "role", "element") + looks.Script
	AccessibleScript = accessible.Check(Source("dom", "select", "css", "text", "name", "role", "element",
		"surroundings", "fingerprint", "identity", "difference", "locate"))
)

// Script is a page script that takes selectors.
type Script struct{ plain, full string }

// newScript returns the script of some files, after those that selectors need.
func newScript(names ...string) Script {
	plain := append([]string{"dom", "select", "css"}, names...)
	full := plain
	if !slices.Contains(names, "text") {
		full = append([]string{"dom", "select", "css", "text", "name", "role"}, names...)
	}
	return Script{Source(plain...), Source(full...)}
}

// newActScripts returns act.js for each of the things that an element is needed for,
// with those files alone that it uses for that, and with some more.
func newActScripts(more ...string) map[string]Script {
	scripts := map[string]Script{}
	for want, parts := range map[string][]string{
		WantClick: {"arrival"}, WantHover: nil, WantFill: {"fill"}, WantSelect: {"fill"}, WantFile: {"fill"},
		WantScroll: {"arrival", "scroll"}, WantFocus: {"fill", "focus"}, WantFrame: nil,
	} {
		scripts[want] = newScript(slices.Concat(more, []string{"element"}, parts, []string{"act"})...)
	}
	return scripts
}

// Of returns the form for a selector in some shadow hosts.
func (p Script) Of(hosts []Selector, selector Selector) string {
	if allPlain(hosts, selector) {
		return p.plain
	}
	return p.full
}

// Source joins files, without the lines that are comments and their indentation:
// half of the bytes of each call.
func Source(names ...string) string {
	var out strings.Builder
	out.WriteString("\"use strict\";\n")
	for _, name := range names {
		doc, err := pages.ReadFile(name + ".js")
		if err != nil {
			panic(err) // a name above is wrong
		}
		for line := range strings.Lines(string(doc)) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "//") {
				out.WriteString(line + "\n")
			}
		}
	}
	return out.String()
}
