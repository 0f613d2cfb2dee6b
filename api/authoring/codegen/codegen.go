// Package codegen reads what `npx playwright codegen` writes in JavaScript and TypeScript (for the
// test runner and for the library) into steps.
//
// It reads calls of pages, locators and expect, one statement after the other, and follows popups
// to their windows. Whatever else stands there is refused by its line: loops, conditions,
// functions, values that exist only while the code runs, several tests in a file. What only
// prepares a browser is passed by: imports, launch, newContext, close at the end; options of it
// (test.use) are named in a warning.
//
// check and uncheck click and then assert the state, so they fail when the state was there
// before. A position within an element is not kept, of which a warning tells.
package codegen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

// reader turns statements into steps.
type reader struct {
	recording.Builder
	parser
	name     string
	tests    int
	url      string
	pages    map[string]int // numbers of windows, by the variable of the page
	opened   int            // windows so far
	promises map[string]string
	dialog   *step.Tool // what the dialog that the next action opens is told
	answered int        // line of that
}

// What a promise waits for.
const (
	popup    = "popup"
	download = "download"
)

// Read reads the code of one test. What has no counterpart is a *step.InvalidError whose path
// names its line ("line 7").
func Read(code string) (*recording.Test, error) {
	if len(code) > recording.MaxBytes {
		return nil, recording.Invalid("", "has at most %d bytes", recording.MaxBytes)
	}
	if !recording.Plain(code) {
		return nil, recording.Invalid("", "must be UTF-8 text without the character NUL")
	}
	tokens, err := lex(code)
	if err != nil {
		return nil, err
	}
	r := &reader{parser: parser{tokens: tokens}, pages: map[string]int{}, promises: map[string]string{}}
	for r.peek().kind != tokenEnd {
		if err := r.statement(); err != nil {
			return nil, err
		}
	}
	if r.dialog != nil {
		return nil, recording.Invalid(at(r.answered), "a dialog is answered, but nothing behind opens one")
	}
	return r.Test(r.name, r.url)
}

func (r *reader) statement() error {
	switch t := r.peek(); {
	case t.is(";"), t.is("}"), t.is(")"):
		r.at++
		return nil
	case t.word("import"):
		return r.skipImport()
	case t.is("("): // (async () => {
		return r.enter()
	case t.word("const"), t.word("let"), t.word("var"):
		return r.declaration()
	}
	if r.peek().word("await") {
		r.at++
	}
	if r.testFollows() {
		return r.test()
	}
	chain, err := r.chain(0)
	if err != nil {
		return err
	}
	return r.call(chain)
}

// skipImport passes import ... from '...'.
func (r *reader) skipImport() error {
	for {
		switch t := r.take(); t.kind {
		case tokenText:
			return nil
		case tokenEnd:
			return unread(t)
		}
	}
}

// enter goes into the body of a function that is called where it stands.
func (r *reader) enter() error {
	start := r.peek()
	if r.look(1).is(")") { // })();
		r.at += 2
		return nil
	}
	for range 8 {
		switch t := r.take(); {
		case t.is("{"):
			return nil
		case t.is("("), t.is(")"), t.is("=>"), t.word("async"), t.word("function"):
		default:
			return unread(start)
		}
	}
	return unread(start)
}

func (r *reader) testFollows() bool { return r.peek().word("test") && r.look(1).is("(") }

// test goes into the function of a test: test('name', async ({ page }) => {...}).
func (r *reader) test() error {
	line := r.peek().line
	if r.tests++; r.tests > 1 {
		return recording.Invalid(at(line), "is a second test: import each by itself")
	}
	r.at += 2
	if name := r.take(); name.kind == tokenText {
		r.name = name.text
	}
	for !r.peek().is("=>") {
		switch t := r.peek(); {
		case t.kind == tokenEnd, t.kind == tokenText:
			return unread(t)
		case t.word("page"):
			r.pages["page"] = 0
			r.opened = max(r.opened, 1)
		}
		r.at++
	}
	r.at++
	if !r.accept("{") {
		return unread(r.peek())
	}
	return nil
}

// declaration reads const name = [await] ...
func (r *reader) declaration() error {
	line := r.take().line
	if r.accept("{") { // const { chromium } = require('playwright');
		for !r.accept("}") {
			if t := r.take(); t.kind == tokenEnd {
				return unread(t)
			}
		}
		if !r.accept("=") {
			return unread(r.peek())
		}
		chain, err := r.chain(0)
		if err != nil {
			return err
		}
		if chain[0].name != "require" {
			return recording.Invalid(at(line), "only require is read here")
		}
		return nil
	}
	name := r.take()
	if name.kind != tokenWord || !r.accept("=") {
		return unread(name)
	}
	if r.peek().word("await") {
		r.at++
	}
	chain, err := r.chain(0)
	if err != nil {
		return err
	}
	return r.declare(name.text, chain)
}

// declare reads what a name is given.
func (r *reader) declare(name string, chain []call) error {
	last := chain[len(chain)-1]
	number, isPage := r.pages[chain[0].name]
	switch {
	case len(chain) == 1 && !last.called && r.promises[last.name] == popup:
		r.pages[name] = r.opened
		r.opened++
		return nil
	case len(chain) == 1 && !last.called && r.promises[last.name] == download:
		return nil
	case isPage && len(chain) == 2 && last.name == "waitForEvent":
		return r.promise(name, &last)
	case last.name == "launch", last.name == "newContext":
		if len(last.args) > 0 && last.name == "newContext" {
			r.Warn(at(last.line), "the options of newContext are not kept: they belong to the target")
		}
		return nil
	case last.name == "newPage":
		if r.opened > 0 {
			return recording.Invalid(at(last.line), "a second newPage has no counterpart among the tools")
		}
		r.pages[name], r.opened = 0, 1
		return nil
	case isPage:
		return recording.Invalid(at(last.line), "the value of %s is not read: name the element in each step (window %d)", last.name, number)
	}
	return recording.Invalid(at(last.line), "is no code of a recording")
}

// promise notes what a name waits for.
func (r *reader) promise(name string, c *call) error {
	event := ""
	if len(c.args) > 0 {
		event = c.args[0].text
	}
	switch event {
	case popup:
	case download:
		r.Warn(at(c.line), "the download is not waited for")
	default:
		return recording.Invalid(at(c.line), "waitForEvent(%s) has no counterpart among the tools", strconv.Quote(event))
	}
	r.promises[name] = event
	return nil
}

// preparing are calls that only prepare a browser, or end it.
var preparing = []string{"close", "tracing", "storageState", "setDefaultTimeout", "setDefaultNavigationTimeout"}

// call reads a statement that is a call.
func (r *reader) call(chain []call) error {
	first, last := chain[0], chain[len(chain)-1]
	number, isPage := r.pages[first.name]
	switch {
	case first.name == "expect":
		return r.expect(chain)
	case first.name == "test" && len(chain) == 2 && last.name == "use":
		r.Warn(at(first.line), "test.use is not kept: it belongs to the target")
		return nil
	case (first.name == "context" || first.name == "browser") && len(chain) >= 2 && slices.Contains(preparing, chain[1].name):
		return nil
	case r.promises[first.name] != "" && len(chain) == 1:
		return nil
	case !isPage || len(chain) < 2:
		return recording.Invalid(at(first.line), "%s is no page of the recording", shown(first.name))
	}
	if len(chain) == 2 && last.name == "close" {
		return nil // the window stays open, which nothing notices
	}
	if err := r.InWindow(at(first.line), number); err != nil {
		return err
	}
	return r.onPage(chain[1:])
}

func shown(name string) string {
	if len(name) > 60 {
		return "this"
	}
	return name
}

// add appends a step, and after one that acts what the dialog that it opens is told.
func (r *reader) add(line int, tool step.Tool, frames []*step.Selector) error {
	if err := r.Add(at(line), tool, frames...); err != nil {
		return err
	}
	if r.dialog == nil || tool.Type == step.Assert {
		return nil
	}
	answer := *r.dialog
	r.dialog = nil
	return r.Add(at(r.answered), answer)
}

// refuse is the error of a call without a counterpart.
func refuse(c *call) error {
	return recording.Invalid(at(c.line), "%s has no counterpart among the tools", shown(c.name))
}

// text returns an argument that must be a text.
func (c *call) text(i int) (string, error) {
	if i >= len(c.args) || c.args[i].kind != valueText {
		return "", recording.Invalid(at(c.line), "%s needs a text in quotes", shown(c.name))
	}
	return c.args[i].text, nil
}

// options returns the object of options behind n arguments; its members must be of those named.
func (c *call) options(n int, known ...string) (map[string]value, error) {
	if len(c.args) <= n {
		return nil, nil
	}
	if len(c.args) > n+1 || c.args[n].kind != valueObject {
		return nil, recording.Invalid(at(c.line), "%s has other arguments than a recording writes", shown(c.name))
	}
	for name := range c.args[n].members {
		if !slices.Contains(known, name) {
			return nil, recording.Invalid(at(c.line), "the option %s of %s has no counterpart", shown(name), shown(c.name))
		}
	}
	return c.args[n].members, nil
}

// dialogOf reads page.once('dialog', dialog => { ... dialog.dismiss() ... }).
func (r *reader) dialogOf(c *call) error {
	if event, err := c.text(0); err != nil || event != "dialog" || len(c.args) != 2 || c.args[1].kind != valueFunction {
		return refuse(c)
	}
	body := c.args[1].body
	answer := step.Tool{Type: step.HandleDialog}
	for i := range body {
		switch {
		case body[i].word("dismiss"):
			answer.Args.Action = "dismiss"
		case body[i].word("accept"):
			answer.Args.Action = "accept"
			if i+2 < len(body) && body[i+1].is("(") && body[i+2].kind == tokenText {
				text := body[i+2].text
				answer.Args.Text = &text
			}
		}
	}
	if answer.Args.Action == "" {
		return recording.Invalid(at(c.line), "the dialog must be accepted or dismissed")
	}
	r.dialog, r.answered = &answer, c.line
	return nil
}

// key returns a key as press_key has it: Playwright also names keys by their place (KeyA, Digit1).
func key(text string) string {
	text = strings.ReplaceAll(text, "ControlOrMeta+", "Control+")
	held, last := "", text
	if i := strings.LastIndexByte(text, '+'); i > 0 {
		held, last = text[:i+1], text[i+1:]
	}
	switch {
	case len(last) == len("KeyA") && strings.HasPrefix(last, "Key"):
		last = strings.ToLower(last[3:])
	case len(last) == len("Digit1") && strings.HasPrefix(last, "Digit"):
		last = last[5:]
	}
	return held + last
}
