package export

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
)

//go:embed skeleton
var skeletons embed.FS

// templates are read with the first export; they never change.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(skeletons, "skeleton/*.tmpl")
})

// page collects the lines of a test's body.
type page struct {
	lines  []string
	unit   string // of indentation
	depth  int
	called map[string]bool // functions of the skeleton
}

func newPage(unit string, depth int) *page {
	return &page{unit: unit, depth: depth, called: map[string]bool{}}
}

func (p *page) line(text string) {
	if text != "" {
		text = strings.Repeat(p.unit, p.depth) + text
	}
	p.lines = append(p.lines, text)
}

// block writes a line, then what body writes, one level in, then another line
// unless it is empty.
func (p *page) block(open, end string, body func()) {
	p.line(open)
	p.depth++
	body()
	p.depth--
	if end != "" {
		p.line(end)
	}
}

// call notes that a function of the skeleton is used.
func (p *page) call(names ...string) {
	for _, name := range names {
		p.called[name] = true
	}
}

// frame is what a skeleton is filled with.
type frame struct {
	Case      string // for comments
	ID        string
	Title     string // literal
	Class     string
	Method    string
	File      string
	Body      string
	Browser   browser
	Version   string // literal, "" for any
	System    string // literal, "" for any
	Variables []variable
	called    map[string]bool
}

// Uses reports whether the body calls one of the functions.
func (f frame) Uses(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.called[name] })
}

// The groups of functions that need the same ones below them.

// Acts are those that act on an element.
func (f frame) Acts() bool {
	return f.Uses("click", "fill", "select", "selectIndex", "pressOn", "scroll", "hover", "drag", "upload", "inFrame")
}

// Finds are those that look for elements.
func (f frame) Finds() bool {
	return f.Acts() || f.Uses("first", "findAll", "isVisible", "isChecked", "text", "textOf", "inShadowRoot")
}

// Dialogs are those that wait for a dialog.
func (f frame) Dialogs() bool { return f.Uses("acceptDialog", "dismissDialog") }

// Waits are those that wait for something other than an assertion.
func (f frame) Waits() bool {
	return f.Acts() || f.Dialogs() || f.Uses("switchWindow", "switchToWindow", "switchToNewWindow")
}

// Scripts are those that run a script in the page.
func (f frame) Scripts() bool { return f.Uses("script", "scroll", "fill") }

// StaticImports are the functions of JUnit that are called.
func (f frame) StaticImports() []string {
	var names []string
	for _, name := range []string{"assertEquals", "assertFalse", "assertNotEquals", "assertTrue"} {
		if f.called[name] || name == "assertTrue" && f.Uses("assertContains", "assertMatches") ||
			name == "assertFalse" && f.Uses("assertLacks", "assertDiffers") {
			names = append(names, name)
		}
	}
	return names
}

// Env are the names of the environment variables as literals, with commas.
func (f frame) Env(quote string) string {
	names := make([]string, 0, len(f.Variables))
	for _, v := range f.Variables {
		names = append(names, quote+v.Env+quote)
	}
	return strings.Join(names, ", ")
}

// fill puts a body into its skeleton.
func fill(s *script, p *page, skeleton, file string, literal func(string) string) (string, error) {
	t, err := templates()
	if err != nil {
		return "", fmt.Errorf("skeletons: %w", err)
	}
	f := frame{
		Case: s.label, ID: s.id, Title: literal(s.label), Class: s.name.pascal(), Method: s.name.snake(), File: file,
		Body: strings.Join(p.lines, "\n"), Browser: s.browser, Variables: s.env.variables(), called: p.called,
	}
	if s.version != "" {
		f.Version = literal(s.version)
	}
	if s.system != "" {
		f.System = literal(s.system)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, skeleton+".tmpl", f); err != nil {
		return "", fmt.Errorf("skeleton %s: %w", skeleton, err)
	}
	return b.String(), nil
}
