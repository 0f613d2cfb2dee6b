package export

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

// playwright writes the moves for Playwright's own waiting: an action waits by
// itself, so most moves are one call.
type playwright struct {
	*page
	*script.Script
	// asserting is set while an assertion is written, which looks again by itself, and
	// timeout is the time of the move that is written, 0 for the default.
	asserting bool
	timeout   int
	// opened is set once a page is open, and row is the locator of the row that a for_each is in.
	opened bool
	row    string
}

func writePlaywright(s *script.Script, file string) (string, error) {
	w := &playwright{page: newPage("  ", 2), Script: s}
	for _, f := range s.Order {
		w.line("// " + f.Label)
		w.opened = true
		w.page.block("const "+f.Name+" = async (given) => {", "};", func() { w.moves(f.Moves) })
		w.line("")
		w.opened = false
	}
	w.moves(s.Moves)
	if len(s.Moves) == 0 {
		w.line("// The case has no steps.")
	}
	return fill(s, w.page, "playwright.mjs", file, language.JavaScript, language.JavaScriptRows)
}

// moves writes moves, with the answers to the dialogs that they open.
func (w *playwright) moves(list []script.Move) {
	moves := script.TieDialogs(list)
	for i := range moves {
		m := &moves[i]
		if m.Tool.Type == step.SwitchWindow {
			w.call("windows")
		}
		if m.Note != "" {
			w.line("// " + m.Note)
		}
		if isWait(m) || i+1 < len(moves) && isWait(&moves[i+1]) {
			w.listens()
			w.call("waitFor")
			w.line("traffic.begin();")
		}
		w.move(m)
	}
}

// group begins a step group, or ends one with a condition.
func (w *playwright) group(m *script.Move) {
	switch {
	case m.Closes:
		w.depth--
		w.line("}")
	case m.When != nil:
		w.call("holds")
		w.line("if (await holds(" + arrow(w.assertion(m.When)) + ")) {")
		w.depth++
		if m.Call != nil {
			w.line("await " + javaScriptCall(m.Call))
			w.depth--
			w.line("}")
		}
	case m.Call != nil:
		w.line("await " + javaScriptCall(m.Call))
	}
}

func (w *playwright) move(m *script.Move) {
	if m.Tool.Type == step.RunGroup {
		w.group(m)
		return
	}
	if m.When != nil {
		w.call("holds")
		w.line("if (await holds(" + arrow(w.assertion(m.When)) + ")) {")
		w.depth++
		defer func() {
			w.depth--
			w.line("}")
		}()
	}
	if m.Tool.Type == step.ForEach {
		w.each(m)
		return
	}
	statement := "await " + w.action(m) + ";"
	w.opened = w.opened || m.Tool.Type == step.GoToURL
	switch {
	case len(m.Dialogs) > 0:
		w.withDialogs(m)
		return
	case m.Tool.Type == step.SwitchWindow:
		statement = "page = " + statement
	}
	if !m.Optional {
		w.line(statement)
		return
	}
	w.line("// Optional: the test goes on when this does not work out.")
	w.line("try {")
	w.depth++
	w.line(statement)
	w.depth--
	w.line("} catch {")
	w.line(w.unit + "// Not there this time.")
	w.line("}")
}

// arrow is a function without arguments that returns an expression.
func arrow(expression string) string {
	if strings.Contains(expression, "await ") {
		return "async () => " + expression
	}
	return "() => " + expression
}

// withDialogs answers dialogs while an action runs: the action ends only when its
// dialog is closed.
func (w *playwright) withDialogs(m *script.Move) {
	for _, d := range m.Dialogs {
		if d.Note != "" {
			w.line("// " + d.Note)
		}
	}
	action := arrow(w.action(m))
	if m.Optional {
		w.line("// Optional: the test goes on when the action does not work out.")
		w.call("holds")
		action = "() => holds(" + action + ")"
	}
	w.line("await " + w.answers(m.Dialogs, action) + ";")
}

func (w *playwright) answers(dialogs []*script.Move, action string) string {
	w.call("withDialogs")
	var list []string
	limit := 0
	for _, d := range dialogs {
		members := []string{"answer: " + language.JavaScript(d.Tool.Args.Action)}
		if d.Tool.Args.Text != nil {
			members = append(members, "text: "+language.JavaScriptText(d.Text))
		}
		if d.Optional || d.When != nil {
			members = append(members, "optional: true")
		}
		list = append(list, "{ "+strings.Join(members, ", ")+" }")
		limit = max(limit, d.Limit())
	}
	arguments := []string{"context", "[" + strings.Join(list, ", ") + "]", action}
	if limit != script.StepTimeout {
		arguments = append(arguments, language.Thousands(limit))
	}
	return "withDialogs(" + strings.Join(arguments, ", ") + ")"
}

// action is an expression that can be awaited.
func (w *playwright) action(m *script.Move) string {
	a := &m.Tool.Args
	switch m.Tool.Type {
	case step.GoToURL:
		return "page.goto(" + w.addressOf(m.URL) + ", " + w.loading(m, "domcontentloaded") + ")"
	case step.Back:
		return "page.goBack(" + w.loading(m, "commit") + ")"
	case step.Forward:
		return "page.goForward(" + w.loading(m, "commit") + ")"
	case step.Reload:
		return "page.reload(" + w.loading(m, "commit") + ")"
	case step.SetViewport:
		return fmt.Sprintf("page.setViewportSize({ width: %d, height: %d })", *a.Width, *a.Height)
	case step.DoubleClick:
		return w.acting(m, m.Element) + ".dblclick(" + w.pointing(m, "") + ")"
	case step.RightClick:
		return w.acting(m, m.Element) + ".click(" + w.pointing(m, "right") + ")"
	case step.TypeKeys:
		if !m.Element.Given() {
			return "page.keyboard.type(" + language.JavaScriptText(m.Text) + ")"
		}
		w.call("typeInto")
		return "typeInto(" + w.acting(m, m.Element) + ", " + language.JavaScriptText(m.Text) + w.options(m, true) + ")"
	case step.Click:
		return w.acting(m, m.Element) + ".click(" + w.pointing(m, "") + ")"
	case step.InputText:
		w.call("fill")
		return "fill(" + w.acting(m, m.Element) + ", " + language.JavaScriptText(m.Text) + w.options(m, true) + ")"
	case step.Select:
		option := language.JavaScriptText(m.Option)
		if n, ok := script.OptionIndex(m.Option); ok {
			option = fmt.Sprintf("{ index: %d }", n)
		}
		return w.acting(m, m.Element) + ".selectOption(" + option + w.options(m, true) + ")"
	case step.EnterKeySubmit:
		return "page.keyboard.press('Enter')"
	case step.PressKey:
		return w.press(m)
	case step.SwitchWindow:
		return w.window(m)
	case step.Pause:
		w.call("sleep")
		return "sleep(" + language.Thousands(pauseOf(a)) + ")"
	case step.ScrollDocument, step.ScrollElement:
		on := "page.locator(':root')"
		if m.Element.Given() {
			on = w.acting(m, m.Element)
		}
		w.call("scroll", "eventually")
		return "scroll(" + on + ", " + language.JavaScript(a.Direction) + ownLimit(m) + ")"
	case step.Hover:
		return w.acting(m, m.Element) + ".hover(" + w.pointing(m, "") + ")"
	case step.Drag:
		w.call("drag")
		return "drag(" + w.acting(m, m.Element) + ", " + w.acting(m, m.Target) + w.options(m, true) + ")"
	case step.UploadFile:
		return w.upload(m)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.Save:
		return w.state(m)
	case step.Route, step.Unroute, step.WaitForURL, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
		return w.network(m)
	case step.HandleDialog:
		return w.answers([]*script.Move{m}, "async () => {}")
	}
	return w.assertion(m) // check let no other tool through
}

// loading are the options of what waits for a page.
func (w *playwright) loading(m *script.Move, until string) string {
	if m.Timeout > 0 {
		return "{ waitUntil: '" + until + "', timeout: " + language.Thousands(m.Timeout) + " }"
	}
	return "{ waitUntil: '" + until + "' }"
}

// pauseOf is the time of a pause, at least 0 and at most what a step may wait.
func pauseOf(a *step.Args) int {
	if a.Time == nil {
		return 0
	}
	return max(0, min(*a.Time, step.MaxWaitMS))
}

// fileName drops folders, so that a helper never writes outside of its own.
func fileName(name string) string {
	name = strings.ToValidUTF8(name[strings.LastIndexAny(name, `/\`)+1:], "_")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"|?*`, r) || 0x7f <= r && r < 0xa0 {
			return '_'
		}
		return r
	}, name)
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	return name
}

func (w *playwright) addressOf(t script.Text) string {
	t, relative := w.Address(t)
	if relative {
		return "new URL(" + language.JavaScriptText(t) + ", " + language.JavaScriptText(w.Base) + ").href"
	}
	return language.JavaScriptText(t)
}

// options are those of a step with a limit of its own.
func (w *playwright) options(m *script.Move, behind bool) string {
	switch {
	case m.Timeout <= 0:
		return ""
	case behind:
		return ", { timeout: " + language.Thousands(m.Timeout) + " }"
	}
	return "{ timeout: " + language.Thousands(m.Timeout) + " }"
}

func (w *playwright) press(m *script.Move) string {
	key := m.Tool.Args.Key
	_, last, _ := keyboard.Parse(key)
	switch ascii := last > " " && last <= "~"; {
	case m.Element.Given():
		return w.acting(m, m.Element) + ".press(" + language.JavaScript(key) + w.options(m, true) + ")"
	case !ascii && key == last && last != " ":
		// Characters without a key of their own.
		return "page.keyboard.insertText(" + language.JavaScript(key) + ")"
	}
	return "page.keyboard.press(" + language.JavaScript(key) + ")"
}

func (w *playwright) window(m *script.Move) string {
	w.call("findPage")
	test := "(candidate, index, all) => candidate !== page && index === all.length - 1"
	switch m.Tool.Args.Matcher.Name {
	case step.WindowTitle:
		test = "async (candidate) => (await candidate.title()).includes(" + language.JavaScriptText(m.Value) + ")"
	case step.WindowURL:
		test = "(candidate) => candidate.url().includes(" + language.JavaScriptText(m.Value) + ")"
	case step.WindowIndex:
		test = "(candidate, index) => index === " + language.JavaScriptNumber(m.Value)
	}
	return "findPage(context, " + test + ownLimit(m) + ")"
}

// ownLimit is a last argument: the limit of a step that has its own.
func ownLimit(m *script.Move) string {
	if m.Timeout <= 0 {
		return ""
	}
	return ", " + language.Thousands(m.Timeout)
}
