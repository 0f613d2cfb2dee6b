package export

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// playwright writes the moves for Playwright's own waiting: an action waits by
// itself, so most moves are one call.
type playwright struct {
	*page
	*script
}

func writePlaywright(s *script, file string) (string, error) {
	w := &playwright{newPage("  ", 2), s}
	moves := tieDialogs(s.moves)
	for i := range moves {
		m := &moves[i]
		if m.tool.Type == step.SwitchWindow {
			w.call("windows")
		}
		if m.note != "" {
			w.line("// " + m.note)
		}
		w.move(m)
	}
	if len(moves) == 0 {
		w.line("// The case has no steps.")
	}
	return fill(s, w.page, "playwright.mjs", file, javaScript)
}

func (w *playwright) move(m *move) {
	statement := "await " + w.action(m) + ";"
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

// withDialogs answers dialogs while an action runs: the action ends only when its
// dialog is closed.
func (w *playwright) withDialogs(m *move) {
	for _, d := range m.dialogs {
		if d.note != "" {
			w.line("// " + d.note)
		}
	}
	action := w.action(m)
	if m.optional {
		w.line("// Optional: the test goes on when the action does not work out.")
		action += ".catch(() => {})"
	}
	w.line("await " + w.answers(m.dialogs, "() => "+action) + ";")
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
		if d.optional {
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
		options := "{ waitUntil: 'domcontentloaded' }"
		if m.timeout > 0 {
			options = "{ waitUntil: 'domcontentloaded', timeout: " + thousands(m.timeout) + " }"
		}
		return "page.goto(" + w.addressOf(m.url) + ", " + options + ")"
	case step.Click:
		return w.visible(m, m.element) + ".click(" + w.options(m, false) + ")"
	case step.InputText:
		return w.visible(m, m.element) + ".fill(" + javaScriptText(m.text) + w.options(m, true) + ")"
	case step.Select:
		option := javaScriptText(m.option)
		if n, ok := optionIndex(m.option); ok {
			option = fmt.Sprintf("{ index: %d }", n)
		}
		return w.visible(m, m.element) + ".selectOption(" + option + w.options(m, true) + ")"
	case step.EnterKeySubmit:
		return "page.keyboard.press('Enter')"
	case step.PressKey:
		return w.press(m)
	case step.SwitchWindow:
		return w.window(m)
	case step.Pause:
		w.call("sleep")
		return "sleep(" + thousands(pauseOf(a)) + ")"
	case step.ScrollDocument:
		return "page.evaluate(() => " + scrollPage[a.Direction] + ")"
	case step.ScrollElement:
		argument := "" // stands before options
		if m.timeout > 0 {
			argument = ", undefined"
		}
		return w.visible(m, m.element) + ".evaluate((e) => " + scrollElement[a.Direction] + argument + w.options(m, true) + ")"
	case step.Hover:
		return w.visible(m, m.element) + ".hover(" + w.options(m, false) + ")"
	case step.Drag:
		return w.visible(m, m.element) + ".dragTo(" + w.visible(m, m.target) + w.options(m, true) + ")"
	case step.UploadFile:
		return w.first(m, m.element) + fmt.Sprintf(".setInputFiles({ name: %s, mimeType: 'application/octet-stream', buffer: Buffer.from('%s', 'base64') }%s)",
			javaScript(fileName(a.File.Name)), base64.StdEncoding.EncodeToString(a.File.Content), w.options(m, true))
	case step.HandleDialog:
		return w.answers([]*move{m}, "async () => {}")
	}
	return w.assertion(m) // check let no other tool through
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

// bareCSS begins as CSS does and cannot be taken for one of Playwright's engines
// (text=, id=); prefixed is what may be.
var (
	bareCSS  = regexp.MustCompile(`^[#.\[A-Za-z*:]`)
	prefixed = regexp.MustCompile(`^[A-Za-z_0-9+:*\s-]+=`)
)

func (w *playwright) all(m *move, at place) string {
	locator := "page"
	for _, s := range m.within {
		locator += w.pick(s.place) + s.at(".first()")
		if s.frame {
			locator += ".contentFrame()"
		}
	}
	return locator + w.pick(at)
}

func (w *playwright) pick(at place) string {
	value := at.value
	literal, fixed := value.fixed()
	switch {
	case at.xpath && !(fixed && strings.HasPrefix(literal, "//")):
		value = value.prefixed("xpath=")
	case !at.xpath && (!fixed || !bareCSS.MatchString(literal) || prefixed.MatchString(literal)):
		value = value.prefixed("css=")
	}
	return ".locator(" + javaScriptText(value) + ")"
}

// at chooses one of the matches.
func (at place) at(otherwise string) string {
	if at.index != nil {
		return fmt.Sprintf(".nth(%d)", *at.index)
	}
	return otherwise
}

func (w *playwright) first(m *move, at place) string { return w.all(m, at) + at.at(".first()") }

// visible is what an action takes: the match of the index, or the first one that
// can be seen.
func (w *playwright) visible(m *move, at place) string {
	if at.index != nil {
		return w.first(m, at)
	}
	w.call("visible")
	return "visible(" + w.all(m, at) + ")"
}

func (w *playwright) press(m *move) string {
	key := m.tool.Args.Key
	_, last, _ := step.ParseKey(key)
	switch ascii := last > " " && last <= "~"; {
	case m.element.given:
		return w.visible(m, m.element) + ".press(" + javaScript(key) + w.options(m, true) + ")"
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
	limit := ""
	if m.timeout > 0 {
		limit = ", " + thousands(m.timeout)
	}
	return "findPage(context, " + test + limit + ")"
}
