package export

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// playwright writes the moves for Playwright's own waiting: an action waits by
// itself, so most moves are one call.
type playwright struct {
	*page
	*script
	// asserting is set while an assertion is written, which looks again by itself, and
	// timeout is the time of the move that is written, 0 for the default.
	asserting bool
	timeout   int
	// opened is set once a page is open, and row is the locator of the row that a for_each is in.
	opened bool
	row    string
}

func writePlaywright(s *script, file string) (string, error) {
	w := &playwright{page: newPage("  ", 2), script: s}
	for _, f := range s.order {
		w.line("// " + f.label)
		w.opened = true
		w.page.block("const "+f.name+" = async (given) => {", "};", func() { w.moves(f.moves) })
		w.line("")
		w.opened = false
	}
	w.moves(s.moves)
	if len(s.moves) == 0 {
		w.line("// The case has no steps.")
	}
	return fill(s, w.page, "playwright.mjs", file, javaScript, javaScriptRows)
}

// moves writes moves, with the answers to the dialogs that they open.
func (w *playwright) moves(list []move) {
	moves := tieDialogs(list)
	for i := range moves {
		m := &moves[i]
		if m.tool.Type == step.SwitchWindow {
			w.call("windows")
		}
		if m.note != "" {
			w.line("// " + m.note)
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
func (w *playwright) group(m *move) {
	switch {
	case m.closes:
		w.depth--
		w.line("}")
	case m.when != nil:
		w.call("holds")
		w.line("if (await holds(" + arrow(w.assertion(m.when)) + ")) {")
		w.depth++
		if m.call != nil {
			w.line("await " + m.call.statement())
			w.depth--
			w.line("}")
		}
	case m.call != nil:
		w.line("await " + m.call.statement())
	}
}

func (w *playwright) move(m *move) {
	if m.tool.Type == step.RunGroup {
		w.group(m)
		return
	}
	if m.when != nil {
		w.call("holds")
		w.line("if (await holds(" + arrow(w.assertion(m.when)) + ")) {")
		w.depth++
		defer func() {
			w.depth--
			w.line("}")
		}()
	}
	if m.tool.Type == step.ForEach {
		w.each(m)
		return
	}
	statement := "await " + w.action(m) + ";"
	w.opened = w.opened || m.tool.Type == step.GoToURL
	switch {
	case len(m.dialogs) > 0:
		w.withDialogs(m)
		return
	case m.tool.Type == step.SwitchWindow:
		statement = "page = " + statement
	}
	if !m.optional {
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
func (w *playwright) withDialogs(m *move) {
	for _, d := range m.dialogs {
		if d.note != "" {
			w.line("// " + d.note)
		}
	}
	action := arrow(w.action(m))
	if m.optional {
		w.line("// Optional: the test goes on when the action does not work out.")
		w.call("holds")
		action = "() => holds(" + action + ")"
	}
	w.line("await " + w.answers(m.dialogs, action) + ";")
}

func (w *playwright) answers(dialogs []*move, action string) string {
	w.call("withDialogs")
	var list []string
	limit := 0
	for _, d := range dialogs {
		members := []string{"answer: " + javaScript(d.tool.Args.Action)}
		if d.tool.Args.Text != nil {
			members = append(members, "text: "+javaScriptText(d.text))
		}
		if d.optional || d.when != nil {
			members = append(members, "optional: true")
		}
		list = append(list, "{ "+strings.Join(members, ", ")+" }")
		limit = max(limit, d.limit())
	}
	arguments := []string{"context", "[" + strings.Join(list, ", ") + "]", action}
	if limit != stepTimeout {
		arguments = append(arguments, thousands(limit))
	}
	return "withDialogs(" + strings.Join(arguments, ", ") + ")"
}

// action is an expression that can be awaited.
func (w *playwright) action(m *move) string {
	a := &m.tool.Args
	switch m.tool.Type {
	case step.GoToURL:
		return "page.goto(" + w.addressOf(m.url) + ", " + w.loading(m, "domcontentloaded") + ")"
	case step.Back:
		return "page.goBack(" + w.loading(m, "commit") + ")"
	case step.Forward:
		return "page.goForward(" + w.loading(m, "commit") + ")"
	case step.Reload:
		return "page.reload(" + w.loading(m, "commit") + ")"
	case step.SetViewport:
		return fmt.Sprintf("page.setViewportSize({ width: %d, height: %d })", *a.Width, *a.Height)
	case step.DoubleClick:
		return w.acting(m, m.element) + ".dblclick(" + w.pointing(m, "") + ")"
	case step.RightClick:
		return w.acting(m, m.element) + ".click(" + w.pointing(m, "right") + ")"
	case step.TypeKeys:
		if !m.element.given() {
			return "page.keyboard.type(" + javaScriptText(m.text) + ")"
		}
		w.call("typeInto")
		return "typeInto(" + w.acting(m, m.element) + ", " + javaScriptText(m.text) + w.options(m, true) + ")"
	case step.Click:
		return w.acting(m, m.element) + ".click(" + w.pointing(m, "") + ")"
	case step.InputText:
		w.call("fill")
		return "fill(" + w.acting(m, m.element) + ", " + javaScriptText(m.text) + w.options(m, true) + ")"
	case step.Select:
		option := javaScriptText(m.option)
		if n, ok := optionIndex(m.option); ok {
			option = fmt.Sprintf("{ index: %d }", n)
		}
		return w.acting(m, m.element) + ".selectOption(" + option + w.options(m, true) + ")"
	case step.EnterKeySubmit:
		return "page.keyboard.press('Enter')"
	case step.PressKey:
		return w.press(m)
	case step.SwitchWindow:
		return w.window(m)
	case step.Pause:
		w.call("sleep")
		return "sleep(" + thousands(pauseOf(a)) + ")"
	case step.ScrollDocument, step.ScrollElement:
		on := "page.locator(':root')"
		if m.element.given() {
			on = w.acting(m, m.element)
		}
		w.call("scroll", "eventually")
		return "scroll(" + on + ", " + javaScript(a.Direction) + ownLimit(m) + ")"
	case step.Hover:
		return w.acting(m, m.element) + ".hover(" + w.pointing(m, "") + ")"
	case step.Drag:
		w.call("drag")
		return "drag(" + w.acting(m, m.element) + ", " + w.acting(m, m.target) + w.options(m, true) + ")"
	case step.UploadFile:
		return w.upload(m)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.Save:
		return w.state(m)
	case step.Route, step.Unroute, step.WaitForURL, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
		return w.network(m)
	case step.HandleDialog:
		return w.answers([]*move{m}, "async () => {}")
	}
	return w.assertion(m) // check let no other tool through
}

// loading are the options of what waits for a page.
func (w *playwright) loading(m *move, until string) string {
	if m.timeout > 0 {
		return "{ waitUntil: '" + until + "', timeout: " + thousands(m.timeout) + " }"
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

func (w *playwright) addressOf(t text) string {
	t, relative := w.address(t)
	if relative {
		return "new URL(" + javaScriptText(t) + ", " + javaScriptText(w.base) + ").href"
	}
	return javaScriptText(t)
}

// options are those of a step with a limit of its own.
func (w *playwright) options(m *move, behind bool) string {
	switch {
	case m.timeout <= 0:
		return ""
	case behind:
		return ", { timeout: " + thousands(m.timeout) + " }"
	}
	return "{ timeout: " + thousands(m.timeout) + " }"
}

func (w *playwright) press(m *move) string {
	key := m.tool.Args.Key
	_, last, _ := step.ParseKey(key)
	switch ascii := last > " " && last <= "~"; {
	case m.element.given():
		return w.acting(m, m.element) + ".press(" + javaScript(key) + w.options(m, true) + ")"
	case !ascii && key == last && last != " ":
		// Characters without a key of their own.
		return "page.keyboard.insertText(" + javaScript(key) + ")"
	}
	return "page.keyboard.press(" + javaScript(key) + ")"
}

func (w *playwright) window(m *move) string {
	w.call("findPage")
	test := "(candidate, index, all) => candidate !== page && index === all.length - 1"
	switch m.tool.Args.Matcher.Name {
	case step.WindowTitle:
		test = "async (candidate) => (await candidate.title()).includes(" + javaScriptText(m.value) + ")"
	case step.WindowURL:
		test = "(candidate) => candidate.url().includes(" + javaScriptText(m.value) + ")"
	case step.WindowIndex:
		test = "(candidate, index) => index === " + javaScriptNumber(m.value)
	}
	return "findPage(context, " + test + ownLimit(m) + ")"
}

// ownLimit is a last argument: the limit of a step that has its own.
func ownLimit(m *move) string {
	if m.timeout <= 0 {
		return ""
	}
	return ", " + thousands(m.timeout)
}
