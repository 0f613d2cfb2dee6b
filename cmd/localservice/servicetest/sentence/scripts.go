package sentence

import (
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// scripts finds the scripts of a page.
type scripts struct {
	page string // its address
	// read returns the script at an address; "" if the site has none.
	read func(address string) string
}

// of returns the scripts of an element, with the modules that they import. It is not ok where one
// of these is named otherwise than by its address.
func (s scripts) of(n *html.Node) (texts []string, ok bool) {
	for _, a := range n.Attr {
		if strings.HasPrefix(a.Key, "on") {
			texts = append(texts, a.Val)
		}
	}
	if n.DataAtom != atom.Script {
		return texts, true
	}
	text, at := "", s.page
	if source := attribute(n, "src"); source != "" {
		at = resolve(s.page, source)
		text = s.read(at)
	} else if n.FirstChild != nil {
		text = n.FirstChild.Data
	}
	if attribute(n, "type") != "module" {
		return append(texts, text), true
	}
	seen := map[string]bool{at: true}
	return s.imported(append(texts, text), text, at, seen)
}

// imports is where a module names another one.
var imports = regexp.MustCompile("\\b(?:import|from)\\s*\\(?\\s*[\"'`]([^\"'`]+)[\"'`]")

// imported appends the modules that a module imports, and those that these import.
func (s scripts) imported(texts []string, text, at string, seen map[string]bool) ([]string, bool) {
	for _, m := range imports.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], ".") {
			return nil, false // the name of a package: a map says where it is
		}
		other := resolve(at, m[1])
		if seen[other] {
			continue
		}
		seen[other] = true
		next := s.read(other)
		var ok bool
		if texts, ok = s.imported(append(texts, next), next, other, seen); !ok {
			return nil, false
		}
	}
	return texts, true
}

// resolve returns the address of what a page or a script names; "" if it is on another site.
func resolve(base, source string) string {
	source, _, _ = strings.Cut(source, "?")
	switch {
	case strings.Contains(source, "//"):
		return ""
	case strings.HasPrefix(source, "/"):
		return path.Clean(source)
	}
	return path.Join(path.Dir(base), source)
}
