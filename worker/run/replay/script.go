package replay

import (
	"embed"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/run/accessible"
	"github.com/slipway-qa/slipway/worker/run/looks"
)

//go:embed page/*.js
var pages embed.FS

// The page scripts. Each is the body of a function; it is sent with every call,
// because a page may replace what an earlier one left behind. Those that take
// selectors have two forms: CSS and XPath alone need no names and texts.
var (
	actScripts            = newActScripts()
	actFingerprintScripts = newActScripts("text", "name", "role", "surroundings", "fingerprint")
	actDriftScripts       = newActScripts("text", "name", "role", "surroundings", "fingerprint", "identity", "drift")
	observeScript         = newPageScript("element", "observe")
	healScript            = script("dom", "select", "css", "text", "name", "role", "element", "surroundings", "fingerprint", "identity", "difference", "locate", "candidate", "heal")
	nearestScript         = script("dom", "select", "css", "text", "name", "role", "element", "surroundings", "fingerprint", "identity", "difference", "locate", "candidate", "nearest")
	dragScript            = script("element", "arrival", "drag")
	maskScript            = script("mask")
	lookScript            = script("dom", "select", "css", "text", "name", "role", "element") + looks.Script
	accessibleScript      = accessible.Check(script("dom", "select", "css", "text", "name", "role", "element", "surroundings", "fingerprint", "identity", "difference", "locate"))
)

// pageScript is a page script that takes selectors.
type pageScript struct{ plain, full string }

// newPageScript returns the script of some files, after those that selectors need.
func newPageScript(names ...string) pageScript {
	plain := append([]string{"dom", "select", "css"}, names...)
	full := plain
	if !slices.Contains(names, "text") {
		full = append([]string{"dom", "select", "css", "text", "name", "role"}, names...)
	}
	return pageScript{script(plain...), script(full...)}
}

// newActScripts returns act.js for each of the things that an element is needed for,
// with those files alone that it uses for that, and with some more.
func newActScripts(more ...string) map[string]pageScript {
	scripts := map[string]pageScript{}
	for want, parts := range map[string][]string{
		wantClick: {"arrival"}, wantHover: nil, wantFill: {"fill"}, wantSelect: {"fill"}, wantFile: {"fill"},
		wantScroll: {"arrival", "scroll"}, wantFocus: {"fill", "focus"}, wantFrame: nil,
	} {
		scripts[want] = newPageScript(slices.Concat(more, []string{"element"}, parts, []string{"act"})...)
	}
	return scripts
}

// of returns the form for a selector in some shadow hosts.
func (p pageScript) of(hosts []pageSelector, selector pageSelector) string {
	if allPlain(hosts, selector) {
		return p.plain
	}
	return p.full
}

// script joins files, without the lines that are comments and their indentation:
// half of the bytes of each call.
func script(names ...string) string {
	var out strings.Builder
	out.WriteString("\"use strict\";\n")
	for _, name := range names {
		doc, err := pages.ReadFile("page/" + name + ".js")
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
