package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	*script
	target string
	opened bool
	stored []string // what is put into the storage of the first page
	err    error
}

func writeCypress(s *script, target, file string) (string, error) {
	w := &cypress{page: newPage("  ", 1), script: s, target: target}
	for _, f := range s.order {
		w.line("// " + f.label)
		w.opened = true
		w.page.block("const "+f.name+" = (given) => {", "};", func() { w.moves(f.moves) })
		w.line("")
		w.opened = false
	}
	w.moves(s.moves)
	if len(w.stored) > 0 {
		w.lacks(&s.moves[0], ".type", "storage of a page that is never opened")
	}
	if w.err != nil {
		return "", w.err
	}
	if len(s.moves) == 0 {
		w.line("// The case has no steps.")
	}
	return fill(s, w.page, "cypress.cy.js", file, javaScript, javaScriptRows)
}

// moves writes moves, with the answers to the dialogs that they open.
func (w *cypress) moves(list []move) {
	moves := tieDialogs(list)
	for i := range moves {
		if moves[i].note != "" {
			w.line("// " + moves[i].note)
		}
		w.move(&moves[i])
	}
}

// lacks notes the first member for which Cypress has no words.
func (w *cypress) lacks(m *move, member, what string) {
	if w.err == nil {
		w.err = &step.InvalidError{Path: m.path + member, Msg: what + " has no words in " + w.target}
	}
}

func (w *cypress) move(m *move) {
	if m.tool.Type == step.RunGroup {
		switch {
		case m.closes:
			w.depth--
			w.line("});")
		case m.when != nil:
			w.begin(m.when)
			if m.call != nil {
				w.invoke(m)
				w.close()
			}
		case m.call != nil:
			w.invoke(m)
		}
		return
	}
	if m.when != nil {
		w.begin(m.when)
		defer w.close()
	}
	if m.optional {
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
func (w *cypress) invoke(m *move) {
	if savedIn(m) {
		w.line("cy.wrap(saved, { log: false }).then(() => {")
		w.depth++
		defer w.close()
	}
	w.line(m.call.statement())
}

func (w *cypress) close() {
	w.depth--
	w.line("});")
}

// begin begins what is done when a condition holds.
func (w *cypress) begin(when *move) {
	w.call("whenHolds")
	read, claim := w.claim(when)
	w.line("whenHolds(" + read + ", (actual) => expect(actual)." + claim + ", " + thousands(when.timeout) + ", () => {")
	w.depth++
}

// optional does a move only where its element can be seen: Cypress cannot go on behind a
// command that failed.
func (w *cypress) optional(m *move) {
	if !m.element.given() {
		at := strings.TrimSuffix(m.path, ".tool")
		if w.err == nil {
			w.err = &step.InvalidError{Path: at + ".optional", Msg: "an optional step without an element has no words in " + w.target}
		}
		return
	}
	w.line("// Optional: it is done when its element can be seen.")
	w.call("whenHolds", "isVisible")
	w.line("whenHolds(isVisible(" + w.at(m, m.element) + "), (actual) => expect(actual).to.equal(true), " + thousands(m.limit()) + ", () => {")
	w.depth++
}

// savedIn reports whether a move needs what another one has saved.
func savedIn(m *move) bool {
	var in func(at *place) bool
	has := func(t text) bool { return slices.ContainsFunc(t, func(p part) bool { return p.saved != "" }) }
	in = func(at *place) bool {
		return at != nil && (has(at.value) || has(at.name) || has(at.hasText) || in(at.within) || in(at.has))
	}
	if m.call != nil {
		return slices.ContainsFunc(m.call.given, func(a argument) bool { return has(a.value) })
	}
	texts := has(m.url) || has(m.text) || has(m.option) || has(m.value) || in(&m.element) || in(&m.target)
	a := &m.tool.Args
	for _, s := range []string{a.Name, a.Domain, a.Path, a.Expires, a.Key, a.Fixed} {
		texts = texts || strings.Contains(s, "{{"+step.ScopeSaved+":")
	}
	return texts || a.Value != nil && strings.Contains(*a.Value, "{{"+step.ScopeSaved+":")
}

// at is the locator of an element, with the frames and shadow roots around it.
func (w *cypress) at(m *move, of place) string {
	w.call("Finds")
	w.noteFind(of)
	locator := webdriverIO{}.locator(of)
	for i := len(m.within) - 1; i >= 0; i-- {
		w.noteFind(m.within[i].place)
		name := "inShadowRoot"
		if m.within[i].frame {
			name = "inFrame"
		}
		w.call(name)
		locator = name + "(" + webdriverIO{}.locator(m.within[i].place) + ", " + locator + ")"
	}
	return locator
}

// element is a command that waits for the element of a move.
func (w *cypress) element(m *move, of place) string {
	w.call("element")
	return "element(" + w.at(m, of) + ownLimit(m) + ")"
}

// options are the last argument of a command, or all that it has.
func (w *cypress) options(m *move, members ...string) string {
	if m.timeout > 0 {
		members = append(members, "timeout: "+thousands(m.timeout))
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

func (w *cypress) addressOf(t text) string {
	t, relative := w.script.address(t)
	if relative {
		return "new URL(" + javaScriptText(t) + ", " + javaScriptText(w.base) + ").href"
	}
	return javaScriptText(t)
}

func (w *cypress) visit(m *move) {
	if len(w.stored) == 0 {
		w.line("cy.visit(" + w.addressOf(m.url) + after(w.options(m)) + ");")
	} else {
		w.line("cy.visit(" + w.addressOf(m.url) + ", {")
		w.line(w.unit + "onBeforeLoad({ localStorage, sessionStorage }) {")
		for _, line := range w.stored {
			w.line(w.unit + w.unit + line)
		}
		w.line(w.unit + "},")
		w.line("});")
	}
	w.stored, w.opened = nil, true
}

func (w *cypress) statements(m *move) {
	a := &m.tool.Args
	if len(m.dialogs) > 0 {
		w.dialogs(m.dialogs)
		defer w.answered(m.dialogs)
	}
	switch m.tool.Type {
	case step.GoToURL:
		w.visit(m)
	case step.Back, step.Forward:
		w.line("cy.go(" + javaScript(m.tool.Type) + after(w.options(m)) + ");")
	case step.Reload:
		w.line("cy.reload(" + w.options(m) + ");")
	case step.SetViewport:
		w.line(fmt.Sprintf("cy.viewport(%d, %d);", *a.Width, *a.Height))
	case step.Click, step.DoubleClick, step.RightClick:
		w.click(m)
	case step.InputText:
		w.call("fill")
		w.line("fill(" + w.at(m, m.element) + ", " + javaScriptText(m.text) + ownLimit(m) + ");")
		w.call("element")
	case step.TypeKeys:
		on := "cy.focused(" + w.options(m) + ")"
		if m.element.given() {
			on = w.element(m, m.element)
		}
		w.line(on + ".type(" + javaScriptText(m.text) + ", { parseSpecialCharSequences: false });")
	case step.Select:
		option := javaScriptText(m.option)
		if n, ok := optionIndex(m.option); ok {
			option = strconv.Itoa(n)
		}
		w.line(w.element(m, m.element) + ".select(" + option + after(w.options(m)) + ");")
	case step.EnterKeySubmit:
		w.line("cy.focused().type('{enter}');")
	case step.PressKey:
		w.press(m)
	case step.Pause:
		w.line("cy.wait(" + thousands(pauseOf(a)) + ");")
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
		w.lacks(m, ".type", m.tool.Type)
	}
}

func (w *cypress) dialogs(list []*move) {
	w.call("answerDialogs")
	answers := make([]string, len(list))
	for i, d := range list {
		members := []string{"accept: " + strconv.FormatBool(d.tool.Args.Action == "accept")}
		if d.tool.Args.Text != nil {
			members = append(members, "text: "+javaScriptText(d.text))
		}
		if d.note != "" {
			w.line("// " + d.note)
		}
		answers[i] = "{ " + strings.Join(members, ", ") + " }"
	}
	w.line("answerDialogs([" + strings.Join(answers, ", ") + "]);")
}

// answered claims that each dialog was opened.
func (w *cypress) answered(list []*move) {
	if slices.ContainsFunc(list, func(d *move) bool { return d.optional || d.when != nil }) {
		return
	}
	w.call("look")
	w.line("cy.look(() => pending.length).should('equal', 0);")
}

// each goes through rows.
func (w *cypress) each(m *move) {
	w.call("forEachRow")
	most := step.MaxIterations
	if m.tool.Args.Max != nil {
		most = *m.tool.Args.Max
	}
	w.line("forEachRow(" + w.at(m, m.element) + ", " + strconv.Itoa(most) + ", () => {")
	w.depth++
	for i := range m.each {
		w.move(&m.each[i])
	}
	w.close()
}
