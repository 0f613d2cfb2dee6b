package export

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

//go:embed skeleton
var skeletons embed.FS

// templates are read with the first export; they never change.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(skeletons, "skeleton/*.tmpl")
})

// Script is one of the scripts that run in the page, as it stands in a literal of
// the language: indented, and with escape in place of each backslash.
func (f frame) Script(name, indent, escape string) (string, error) {
	t, err := templates()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name+".js.tmpl", f); err != nil {
		return "", err
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if line != "" {
			line = indent + strings.ReplaceAll(line, `\`, escape)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), nil
}

// page collects the lines of a test's body.
type page struct {
	lines  []string
	unit   string // of indentation
	depth  int
	called map[string]bool // functions of the skeleton
	// methods are the step groups that are methods beside the test.
	methods []string
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
	Methods   []string // beside the test
	Browser   script.Browser
	Version   string // literal, "" for any
	System    string // literal, "" for any
	Variables []script.Variable
	// Rows are the data rows in the language, with Columns, which are literals. RowName is an
	// expression for the name of one, and RowTitle the literal before it.
	Rows, Columns     []string
	RowName, RowTitle string
	// FirstMatch takes the first of several matches.
	FirstMatch bool
	// Roles are the selectors of elements that have the roles of the case, and States
	// those of elements in the states.
	Roles, States []styled
	called        map[string]bool
}

// Uses reports whether the body calls one of the functions.
func (f frame) Uses(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.called[name] })
}

// The groups of functions that need the same ones below them.

// Acts are those that act on an element.
func (f frame) Acts() bool {
	return f.Performs() || f.Uses("select", "scroll")
}

// Performs are those of them that must not be repeated once they reached the element.
func (f frame) Performs() bool {
	return f.Uses("click", "doubleClick", "rightClick", "fill", "pressOn", "typeInto", "hover", "drag", "upload", "inFrame")
}

// Reads are those that need the element of an assertion.
func (f frame) Reads() bool {
	return f.Uses("first", "isEnabled", "isChecked", "isFocused", "textOf", "valueOf")
}

// Finds are those that look for elements.
func (f frame) Finds() bool {
	return f.Acts() || f.Observes() || f.Uses("first", "findAll", "inShadowRoot")
}

// Observes are those that read what an assertion is about.
func (f frame) Observes() bool {
	return f.Uses("isVisible", "isEnabled", "isChecked", "isFocused", "textOf", "valueOf")
}

// Repeats are those that try again until something works.
func (f frame) Repeats() bool { return f.Waits() || f.Uses("eventually", "setViewport") }

// Dialogs are those that wait for a dialog.
func (f frame) Dialogs() bool { return f.Uses("acceptDialog", "dismissDialog") }

// Chromium reports whether the browser takes an answer for each type of dialog.
func (f frame) Chromium() bool { return f.Browser.Prefix == "CHROME" || f.Browser.Prefix == "EDGE" }

// Waits are those that wait for something other than an assertion.
func (f frame) Waits() bool {
	return f.Acts() || f.Dialogs() || f.Uses("switchWindow", "switchToWindow", "switchToNewWindow")
}

// pageScript is a script that runs in the page.
type pageScript struct{ Name, File string }

// Scripts are the scripts that the functions run, with the names of their constants.
func (f frame) Scripts() []pageScript {
	var list []pageScript
	for _, s := range []struct {
		pageScript
		used bool
	}{
		{pageScript{"FIND", "find"}, f.Finds()},
		{pageScript{"READY", "ready"}, f.Acts()},
		{pageScript{"OBSERVE", "observe"}, f.Observes()},
		{pageScript{"FILL", "fill"}, f.Uses("fill")},
		{pageScript{"SELECT", "select"}, f.Uses("select")},
		{pageScript{"FOCUS", "focus"}, f.Uses("pressOn", "typeInto")},
		{pageScript{"SCROLL", "scroll"}, f.Uses("scroll")},
		{pageScript{"DRAG", "drag"}, f.Uses("drag")},
	} {
		if s.used {
			list = append(list, s.pageScript)
		}
	}
	return list
}

// locatorFunction is a function that makes a locator.
type locatorFunction struct{ Kind, By, Comment string }

// Function is its name in Python.
func (l locatorFunction) Function() string { return pythonName(l.Kind) }

// Locators are the functions that make the locators of the case; that of test ids has
// more to do.
func (f frame) Locators() []locatorFunction {
	all := []locatorFunction{
		{step.CSS, "css", ""},
		{step.XPath, "xpath", ""},
		{step.ByRole, "role", ""},
		{step.ByLabel, "label", "By the text of the label."},
		{step.ByText, "text", "The innermost elements with a text."},
		{step.Placeholder, "placeholder", ""},
		{step.AltText, "alt", ""},
		{step.Title, "title", ""},
	}
	return slices.DeleteFunc(all, func(l locatorFunction) bool { return !f.Uses("locate:" + l.Kind) })
}

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
		names = append(names, v.Env)
	}
	return quotedList(names, quote)
}

// TestIDs are the attributes that tests know an element by, in the same form.
func (f frame) TestIDs(quote string) string { return quotedList(script.TestIDs, quote) }

// quotedList writes names as literals of a language, which none of them breaks.
func quotedList(names []string, quote string) string {
	return quote + strings.Join(names, quote+", "+quote) + quote
}

// fill puts a body into its skeleton.
func fill(s *script.Script, p *page, skeleton, file string, literal func(string) string, rows func(*testfile.Data) ([]string,
	string)) (string, error) {
	t, err := templates()
	if err != nil {
		return "", fmt.Errorf("skeletons: %w", err)
	}
	f := frame{
		Case: s.Label, ID: s.ID, Title: literal(s.Label), Class: s.Name.Pascal(), Method: s.Name.Snake(), File: file,
		Body: strings.Join(p.lines, "\n"), Methods: p.methods, Browser: s.Browser, Variables: s.Env.Variables(), called: p.called,
		FirstMatch: s.FirstMatch, Roles: p.styled("role:", script.RoleCSS, literal), States: p.styled("state:", script.StateCSS, literal),
	}
	if s.Data != nil {
		f.Rows, f.RowName = rows(s.Data)
		f.RowTitle = literal(s.Label + ": ")
		for _, column := range s.Data.Columns {
			f.Columns = append(f.Columns, literal(column))
		}
	}
	if s.Version != "" {
		f.Version = literal(s.Version)
	}
	if s.System != "" {
		f.System = literal(s.System)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, skeleton+".tmpl", f); err != nil {
		return "", fmt.Errorf("skeleton %s: %w", skeleton, err)
	}
	return b.String(), nil
}
