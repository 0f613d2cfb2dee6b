package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// cypress writes a spec of Cypress. Its commands are queued and tried again by themselves; what
// an element is, and what is read of it, comes from the functions of the skeleton.
//
// Cypress plays events of a page by scripts of it, in one window, and has neither a pointer nor
// a way to go on behind a command that failed: hovering, dragging, other windows and optional
// steps without an element are refused.
type cypress struct {
	*page
	*script.Script
	target string
	opened bool
	stored []string // what is put into the storage of the first page
	err    error
}

func writeCypress(s *script.Script, target, file string) (string, error) {
	w := &cypress{page: newPage("  ", 1), Script: s, target: target}
	for _, f := range s.Order {
		w.line("// " + f.Label)
		w.opened = true
		w.page.block("const "+f.Name+" = (given) => {", "};", func() { w.moves(f.Moves) })
		w.line("")
		w.opened = false
	}
	w.moves(s.Moves)
	if len(w.stored) > 0 {
		w.lacks(&s.Moves[0], ".type", "storage of a page that is never opened")
	}
	if w.err != nil {
		return "", w.err
	}
	if len(s.Moves) == 0 {
		w.line("// The case has no steps.")
	}
	return fill(s, w.page, "cypress.cy.js", file, language.JavaScript, language.JavaScriptRows)
}

// moves writes moves, with the answers to the dialogs that they open.
func (w *cypress) moves(list []script.Move) {
	moves := script.TieDialogs(list)
	for i := range moves {
		if moves[i].Note != "" {
			w.line("// " + moves[i].Note)
		}
		w.move(&moves[i])
	}
}

// lacks notes the first member for which Cypress has no words.
func (w *cypress) lacks(m *script.Move, member, what string) {
	if w.err == nil {
		w.err = &step.InvalidError{Path: m.Path + member, Msg: what + " has no words in " + w.target}
	}
}

func (w *cypress) move(m *script.Move) {
	if m.Tool.Type == step.RunGroup {
		switch {
		case m.Closes:
			w.depth--
			w.line("});")
		case m.When != nil:
			w.begin(m.When)
			if m.Call != nil {
				w.invoke(m)
				w.close()
			}
		case m.Call != nil:
			w.invoke(m)
		}
		return
	}
	if m.When != nil {
		w.begin(m.When)
		defer w.close()
	}
	if m.Optional {
		w.optional(m)
		defer w.close()
	}
	// Commands are queued before any is done: what was saved is there only then.
	if savedIn(m) {
		w.line("cy.wrap(saved, { log: false }).then(() => {")
		w.depth++
		defer w.close()
	}
	w.statements(m)
}

// invoke calls the function of a step group.
func (w *cypress) invoke(m *script.Move) {
	if savedIn(m) {
		w.line("cy.wrap(saved, { log: false }).then(() => {")
		w.depth++
		defer w.close()
	}
	w.line(javaScriptCall(m.Call))
}

func (w *cypress) close() {
	w.depth--
	w.line("});")
}

// begin begins what is done when a condition holds.
func (w *cypress) begin(when *script.Move) {
	w.call("whenHolds")
	read, claim := w.claim(when)
	w.line("whenHolds(" + read + ", (actual) => expect(actual)." + claim + ", " + language.Thousands(when.Timeout) + ", () => {")
	w.depth++
}

// optional does a move only where its element can be seen: Cypress cannot go on behind a
// command that failed.
func (w *cypress) optional(m *script.Move) {
	if !m.Element.Given() {
		at := strings.TrimSuffix(m.Path, ".tool")
		if w.err == nil {
			w.err = &step.InvalidError{Path: at + ".optional", Msg: "an optional step without an element has no words in " + w.target}
		}
		return
	}
	w.line("// Optional: it is done when its element can be seen.")
	w.call("whenHolds", "isVisible")
	w.line("whenHolds(isVisible(" + w.at(m, m.Element) + "), (actual) => expect(actual).to.equal(true), " +
		language.Thousands(m.Limit()) + ", () => {")
	w.depth++
}

// savedIn reports whether a move needs what another one has saved.
func savedIn(m *script.Move) bool {
	var in func(at *script.Place) bool
	has := func(t script.Text) bool {
		return slices.ContainsFunc(t, func(p script.Part) bool { return p.Saved != "" })
	}
	in = func(at *script.Place) bool {
		return at != nil && (has(at.Value) || has(at.Name) || has(at.HasText) || in(at.Within) || in(at.Has))
	}
	if m.Call != nil {
		return slices.ContainsFunc(m.Call.Given, func(a script.Argument) bool { return has(a.Value) })
	}
	texts := has(m.URL) || has(m.Text) || has(m.Option) || has(m.Value) || in(&m.Element) || in(&m.Target)
	a := &m.Tool.Args
	for _, s := range []string{a.Name, a.Domain, a.Path, a.Expires, a.Key, a.Fixed} {
		texts = texts || strings.Contains(s, "{{"+step.ScopeSaved+":")
	}
	return texts || a.Value != nil && strings.Contains(*a.Value, "{{"+step.ScopeSaved+":")
}

// at is the locator of an element, with the frames and shadow roots around it.
func (w *cypress) at(m *script.Move, of script.Place) string {
	w.call("Finds")
	w.noteFind(of)
	locator := webdriverIO{}.locator(of)
	for i := len(m.Within) - 1; i >= 0; i-- {
		w.noteFind(m.Within[i].Place)
		name := "inShadowRoot"
		if m.Within[i].Frame {
			name = "inFrame"
		}
		w.call(name)
		locator = name + "(" + webdriverIO{}.locator(m.Within[i].Place) + ", " + locator + ")"
	}
	return locator
}

// element is a command that waits for the element of a move.
func (w *cypress) element(m *script.Move, of script.Place) string {
	w.call("element")
	return "element(" + w.at(m, of) + ownLimit(m) + ")"
}

// options are the last argument of a command, or all that it has.
func (w *cypress) options(m *script.Move, members ...string) string {
	if m.Timeout > 0 {
		members = append(members, "timeout: "+language.Thousands(m.Timeout))
	}
	if len(members) == 0 {
		return ""
	}
	return "{ " + strings.Join(members, ", ") + " }"
}

func after(options string) string {
	if options == "" {
		return ""
	}
	return ", " + options
}

func (w *cypress) addressOf(t script.Text) string {
	t, relative := w.Script.Address(t)
	if relative {
		return "new URL(" + language.JavaScriptText(t) + ", " + language.JavaScriptText(w.Base) + ").href"
	}
	return language.JavaScriptText(t)
}

func (w *cypress) visit(m *script.Move) {
	if len(w.stored) == 0 {
		w.line("cy.visit(" + w.addressOf(m.URL) + after(w.options(m)) + ");")
	} else {
		w.line("cy.visit(" + w.addressOf(m.URL) + ", {")
		w.line(w.unit + "onBeforeLoad({ localStorage, sessionStorage }) {")
		for _, line := range w.stored {
			w.line(w.unit + w.unit + line)
		}
		w.line(w.unit + "},")
		w.line("});")
	}
	w.stored, w.opened = nil, true
}

func (w *cypress) statements(m *script.Move) {
	a := &m.Tool.Args
	if len(m.Dialogs) > 0 {
		w.dialogs(m.Dialogs)
		defer w.answered(m.Dialogs)
	}
	switch m.Tool.Type {
	case step.GoToURL:
		w.visit(m)
	case step.Back, step.Forward:
		w.line("cy.go(" + language.JavaScript(m.Tool.Type) + after(w.options(m)) + ");")
	case step.Reload:
		w.line("cy.reload(" + w.options(m) + ");")
	case step.SetViewport:
		w.line(fmt.Sprintf("cy.viewport(%d, %d);", *a.Width, *a.Height))
	case step.Click, step.DoubleClick, step.RightClick:
		w.click(m)
	case step.InputText:
		w.call("fill")
		w.line("fill(" + w.at(m, m.Element) + ", " + language.JavaScriptText(m.Text) + ownLimit(m) + ");")
		w.call("element")
	case step.TypeKeys:
		on := "cy.focused(" + w.options(m) + ")"
		if m.Element.Given() {
			on = w.element(m, m.Element)
		}
		w.line(on + ".type(" + language.JavaScriptText(m.Text) + ", { parseSpecialCharSequences: false });")
	case step.Select:
		option := language.JavaScriptText(m.Option)
		if n, ok := script.OptionIndex(m.Option); ok {
			option = strconv.Itoa(n)
		}
		w.line(w.element(m, m.Element) + ".select(" + option + after(w.options(m)) + ");")
	case step.EnterKeySubmit:
		w.line("cy.focused().type('{enter}');")
	case step.PressKey:
		w.press(m)
	case step.Pause:
		w.line("cy.wait(" + language.Thousands(pauseOf(a)) + ");")
	case step.ScrollDocument, step.ScrollElement:
		w.scroll(m)
	case step.UploadFile:
		w.upload(m)
	case step.HandleDialog:
		w.lacks(m, ".type", "a dialog that no step before it opens")
	case step.ForEach:
		w.each(m)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Save:
		w.state(m)
	case step.Assert:
		w.assertion(m)
	default:
		w.lacks(m, ".type", m.Tool.Type)
	}
}

func (w *cypress) dialogs(list []*script.Move) {
	w.call("answerDialogs")
	answers := make([]string, len(list))
	for i, d := range list {
		members := []string{"accept: " + strconv.FormatBool(d.Tool.Args.Action == "accept")}
		if d.Tool.Args.Text != nil {
			members = append(members, "text: "+language.JavaScriptText(d.Text))
		}
		if d.Note != "" {
			w.line("// " + d.Note)
		}
		answers[i] = "{ " + strings.Join(members, ", ") + " }"
	}
	w.line("answerDialogs([" + strings.Join(answers, ", ") + "]);")
}

// answered claims that each dialog was opened.
func (w *cypress) answered(list []*script.Move) {
	if slices.ContainsFunc(list, func(d *script.Move) bool { return d.Optional || d.When != nil }) {
		return
	}
	w.call("look")
	w.line("cy.look(() => pending.length).should('equal', 0);")
}

// each goes through rows.
func (w *cypress) each(m *script.Move) {
	w.call("forEachRow")
	most := step.MaxIterations
	if m.Tool.Args.Max != nil {
		most = *m.Tool.Args.Max
	}
	w.line("forEachRow(" + w.at(m, m.Element) + ", " + strconv.Itoa(most) + ", () => {")
	w.depth++
	for i := range m.Each {
		w.move(&m.Each[i])
	}
	w.close()
}
