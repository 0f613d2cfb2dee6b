package agent

import (
	"regexp"
	"strings"
)

// What a source has that says nothing of what a person sees.
var (
	silentElements = regexp.MustCompile(`(?is)<(script|style|svg|noscript|template)\b[^>]*>.*?</(script|style|svg|noscript|template)\s*>`)
	comments       = regexp.MustCompile(`(?s)<!--.*?-->`)
	dataURLs       = regexp.MustCompile(`data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]{64,}`)
	blank          = regexp.MustCompile(`[ \t\r]*\n\s*`)
	spaces         = regexp.MustCompile(`[ \t]{2,}`)
)

// outline is a page's source without scripts, styles, pictures and white space: what an
// agent reads of it is bounded.
func outline(source string) string {
	source = comments.ReplaceAllString(source, "")
	source = silentElements.ReplaceAllString(source, "")
	source = dataURLs.ReplaceAllString(source, "data:...")
	source = blank.ReplaceAllString(source, "\n")
	return strings.TrimSpace(spaces.ReplaceAllString(source, " "))
}
