package replay

import (
	"embed"
	"strings"
)

//go:embed page/*.js
var pages embed.FS

// The page scripts. Each is the body of a function; it is sent with every call,
// because a page may replace what an earlier one left behind.
var (
	actScript            = script("select", "element", "arrival", "scroll", "fill", "act")
	actFingerprintScript = script("select", "element", "name", "fingerprint", "arrival", "scroll", "fill", "act")
	healScript           = script("select", "element", "name", "fingerprint", "heal")
	observeScript        = script("select", "element", "observe")
	dragScript           = script("element", "arrival", "drag")
	maskScript           = script("mask")
)

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
