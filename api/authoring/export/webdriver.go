package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/keyboard"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// dialect is how a language writes the moves that WebDriver needs. The three
// skeletons offer the same functions, each in the manner of its language, so that
// the moves are decided once, in webDriver.
type dialect interface {
	unit() (indent string, depth int)
	comment(text string) string
	literal(s string) string
	text(t script.Text) string
	number(t script.Text) string
	// address is an expression for an address; base is not empty when it must be
	// read against it.
	address(p *page, t, base script.Text) string
	locator(at script.Place) string
	// call is a statement that calls a function of the skeleton.
	call(p *page, name string, arguments ...string) string
	open(p *page, address string) string
	pause(p *page, ms int) string
	press(p *page, on string, held []string, key string) string
	// window is a statement that changes to a window.
	window(p *page, matcher string, value script.Text) string
	upload(p *page, on string, name string, content []byte) string
	// load is a statement that loads a page: back, forward or refresh.
	load(p *page, how string) string
	// claim is a statement that waits for an assertion.
	claim(p *page, m *step.Matcher, on string, value script.Text, not bool) string
	// block returns the lines around statements: inFrame, inShadowRoot, within,
	// optional.
	block(p *page, name, argument string) (open, end string)
	// condition returns the lines around the statement of a condition, and the one
	// that ends what is done when it holds.
	condition(p *page, limit string) (open, end, last string)
	milliseconds(n int) string
	// function returns the lines around the moves of a step group, and whether they are a method
	// beside the test.
	function(f *script.Function) (open, end string, method bool)
	// run is a statement that calls one.
	run(c *script.Call) string
	// rows are data rows as elements of a list, and name is an expression for the name of one.
	rows(d *testfile.Data) (rows []string, name string)
}

// webDriver writes the moves of a script in a dialect.
type webDriver struct {
	*page
	*script.Script
	dialect
	lasts []string // that end what is done when the conditions of open groups hold
}

// maxMoves is how many moves one method of Java takes: 64 KiB of its code are
// some thousand.
const maxMoves = 250

func writeWebDriver(s *script.Script, d dialect, skeleton, file string) (string, error) {
	unit, depth := d.unit()
	w := &webDriver{page: newPage(unit, depth), Script: s, dialect: d}
	for _, f := range s.Order {
		w.groupFunction(f)
	}
	if len(s.Moves) == 0 {
		w.line(d.comment("The case has no steps."))
	}
	w.moves(nil, s.Moves)
	return fill(s, w.page, skeleton, file, d.literal, d.rows)
}

// groupFunction writes a step group as a function of the test, or as a method beside it.
func (w *webDriver) groupFunction(f *script.Function) {
	open, end, method := w.function(f)
	from := len(w.lines)
	if method {
		w.depth--
	}
	w.line(w.comment(f.Label))
	w.page.block(open, end, func() { w.moves(f, f.Moves) })
	if !method {
		w.line("")
		return
	}
	w.depth++
	w.methods = append(w.methods, strings.Join(w.lines[from:], "\n"))
	w.lines = w.lines[:from]
}

// moves writes the moves of a function or, if that is nil, of the test.
func (w *webDriver) moves(f *script.Function, moves []script.Move) {
	for i := range moves {
		e, ok := w.dialect.(interface {
			next(f *script.Function, part int) []string
		})
		if ok && i > 0 && i%maxMoves == 0 && len(w.lasts) == 0 {
			w.lines = append(w.lines, e.next(f, i/maxMoves+1)...)
		}
		w.move(&moves[i])
	}
	does := func(m script.Move) bool { return m.Tool.Type != step.RunGroup || m.Call != nil } // of others only a comment stands there
	if e, ok := w.dialect.(interface{ empty() string }); ok && !slices.ContainsFunc(moves, does) {
		w.line(e.empty())
	}
}

func (w *webDriver) move(m *script.Move) {
	if m.Note != "" {
		w.line(w.comment(m.Note))
	}
	if m.Tool.Type == step.RunGroup {
		w.group(m)
		return
	}
	if m.When != nil {
		open, end, last := w.condition(w.page, w.milliseconds(m.When.Timeout))
		w.page.block(open, end, func() { w.inside(w.places(m), m.When) })
		w.depth++
		defer func() {
			w.depth--
			if last != "" {
				w.line(last)
			}
		}()
	}
	var around [][2]string
	if m.Optional {
		around = append(around, [2]string{"optional", ""})
	}
	if m.Timeout > 0 && waits(m) {
		around = append(around, [2]string{"within", w.milliseconds(m.Timeout)})
	}
	w.inside(append(around, w.places(m)...), m)
}

// group begins a step group, or ends one with a condition.
func (w *webDriver) group(m *script.Move) {
	switch {
	case m.Closes:
		w.depth--
		last := w.lasts[len(w.lasts)-1]
		if w.lasts = w.lasts[:len(w.lasts)-1]; last != "" {
			w.line(last)
		}
	case m.When != nil:
		open, end, last := w.condition(w.page, w.milliseconds(m.When.Timeout))
		w.page.block(open, end, func() { w.inside(nil, m.When) })
		w.depth++
		if m.Call == nil {
			w.lasts = append(w.lasts, last)
			return
		}
		w.line(w.run(m.Call))
		w.depth--
		if last != "" {
			w.line(last)
		}
	case m.Call != nil:
		w.line(w.run(m.Call))
	}
}

// waits reports whether a move waits for something that its time limit is for: what
// is pressed where the focus is does not, and a page has the driver's limit.
func waits(m *script.Move) bool {
	switch m.Tool.Type {
	case step.Pause, step.GoToURL, step.Back, step.Forward, step.Reload:
		return false
	case step.EnterKeySubmit, step.PressKey, step.TypeKeys:
		return m.Element.Given() || slices.ContainsFunc(m.Within, func(s script.Scope) bool { return s.Frame })
	}
	return true
}

// places are the blocks of the frames and shadow roots around an element.
func (w *webDriver) places(m *script.Move) [][2]string {
	var around [][2]string
	for _, s := range m.Within {
		name := "inShadowRoot"
		if s.Frame {
			name = "inFrame"
		}
		around = append(around, [2]string{name, w.at(s.Place)})
	}
	return around
}

// at is the locator of a place.
func (w *webDriver) at(of script.Place) string {
	w.noteFind(of)
	return w.locator(of)
}

func (w *webDriver) inside(around [][2]string, m *script.Move) {
	if len(around) == 0 {
		w.line(w.statement(m))
		return
	}
	open, end := w.dialect.block(w.page, around[0][0], around[0][1])
	w.page.block(open, end, func() { w.inside(around[1:], m) })
}

func (w *webDriver) statement(m *script.Move) string {
	a := &m.Tool.Args
	on := ""
	if m.Element.Given() {
		on = w.at(m.Element)
	}
	switch m.Tool.Type {
	case step.GoToURL:
		address, relative := w.Script.Address(m.URL)
		base := w.Base
		if !relative {
			base = nil
		}
		return w.open(w.page, w.dialect.address(w.page, address, base))
	case step.Back, step.Forward:
		return w.load(w.page, m.Tool.Type)
	case step.Reload:
		return w.load(w.page, "refresh")
	case step.SetViewport:
		return w.dialect.call(w.page, "setViewport", strconv.Itoa(*a.Width), strconv.Itoa(*a.Height))
	case step.Click:
		return w.dialect.call(w.page, "click", on)
	case step.DoubleClick:
		return w.dialect.call(w.page, "doubleClick", on)
	case step.RightClick:
		return w.dialect.call(w.page, "rightClick", on)
	case step.TypeKeys:
		if on == "" {
			return w.dialect.call(w.page, "typeKeys", w.dialect.text(m.Text))
		}
		return w.dialect.call(w.page, "typeInto", on, w.dialect.text(m.Text))
	case step.InputText:
		return w.dialect.call(w.page, "fill", on, w.dialect.text(m.Text))
	case step.Select:
		if n, ok := script.OptionIndex(m.Option); ok {
			return w.dialect.call(w.page, "select", on, strconv.Itoa(n))
		}
		return w.dialect.call(w.page, "select", on, w.dialect.text(m.Option))
	case step.EnterKeySubmit:
		return w.press(w.page, "", nil, "Enter")
	case step.PressKey:
		held, key, _ := keyboard.Parse(a.Key)
		return w.press(w.page, on, held, key)
	case step.SwitchWindow:
		return w.window(w.page, a.Matcher.Name, m.Value)
	case step.Pause:
		return w.pause(w.page, pauseOf(a))
	case step.ScrollDocument:
		return w.dialect.call(w.page, "scroll", w.at(script.Place{Kind: step.CSS, Value: script.Text{{Literal: ":root"}}}),
			w.literal(a.Direction))
	case step.ScrollElement:
		return w.dialect.call(w.page, "scroll", on, w.literal(a.Direction))
	case step.Hover:
		return w.dialect.call(w.page, "hover", on)
	case step.Drag:
		return w.dialect.call(w.page, "drag", on, w.at(m.Target))
	case step.UploadFile:
		return w.upload(w.page, on, fileName(a.File.Name), a.File.Content)
	case step.HandleDialog:
		if a.Action == "dismiss" {
			return w.dialect.call(w.page, "dismissDialog")
		}
		if a.Text != nil {
			return w.dialect.call(w.page, "acceptDialog", w.dialect.text(m.Text))
		}
		return w.dialect.call(w.page, "acceptDialog")
	}
	return w.claim(w.page, a.Matcher, on, m.Value, a.Not)
}
