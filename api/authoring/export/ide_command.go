package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

// command returns the command of a move; ok is false when there is none.
func (w *ide) command(m *script.Move) (c ideCommand, ok bool) {
	a := &m.Tool.Args
	target, ok := "", true
	if m.Element.Given() {
		target, ok = w.locator(m.Element)
	}
	c.Target = target
	switch m.Tool.Type {
	case step.GoToURL:
		c.Command, c.Target = "open", w.value(m.URL, true)
	case step.Click:
		c.Command = "click"
	case step.DoubleClick:
		c.Command = "doubleClick"
	case step.TypeKeys:
		if !m.Element.Given() {
			c.Target = "css=:focus"
		}
		c.Command, c.Value = "sendKeys", w.value(m.Text, true)
	case step.Back, step.Forward:
		c.Command, c.Target = "executeScript", "window.history."+m.Tool.Type+"()"
	case step.Reload:
		c.Command, c.Target = "executeScript", "window.location.reload()"
	case step.SetViewport:
		c.Command, c.Target = "setWindowSize", fmt.Sprintf("%dx%d", *a.Width, *a.Height)
	case step.InputText:
		c.Command, c.Value = "type", w.value(m.Text, true)
	case step.Select:
		c.Command, c.Value = "select", "value="+w.value(m.Option, true)
		if n, ok := script.OptionIndex(m.Option); ok {
			c.Value = "index=" + strconv.Itoa(n)
		}
	case step.Hover:
		c.Command = "mouseOver"
	case step.Drag:
		goal, reached := w.locator(m.Target)
		c.Command, c.Value, ok = "dragAndDropToObject", goal, ok && reached
	case step.EnterKeySubmit:
		c.Command, c.Target, c.Value = "sendKeys", "css=:focus", "${KEY_ENTER}"
	case step.PressKey:
		if !m.Element.Given() {
			c.Target = "css=:focus"
		}
		c.Command, c.Value = "sendKeys", ideKeys(a.Key)
	case step.Pause:
		c.Command, c.Target = "pause", strconv.Itoa(pauseOf(a))
	case step.HandleDialog:
		switch {
		case a.Action == "dismiss":
			c.Command = "webdriverChooseCancelOnVisibleConfirmation"
		case a.Text != nil:
			c.Command, c.Target = "webdriverAnswerOnVisiblePrompt", w.value(m.Text, true)
		default:
			c.Command = "webdriverChooseOkOnVisibleConfirmation"
		}
	case step.Assert:
		w.claim(m, &c)
	}
	return c, ok && c.Command != ""
}

// claim fills in an assertion where there is one of the same meaning: none of a
// weaker one.
func (w *ide) claim(m *script.Move, c *ideCommand) {
	matcher, not := m.Tool.Args.Matcher, m.Tool.Args.Not
	limit := strconv.Itoa(m.Limit())
	equals := matcher.Args.Mode == "" || matcher.Args.Mode == step.Equals
	choose := func(yes, no string) string {
		if not {
			return no
		}
		return yes
	}
	switch matcher.Name {
	case step.Visible:
		c.Command, c.Value = choose("waitForElementVisible", "waitForElementNotVisible"), limit
	case step.Hidden:
		c.Command, c.Value = choose("waitForElementNotVisible", "waitForElementVisible"), limit
	case step.Checked:
		c.Command = choose("assertChecked", "assertNotChecked")
	case step.Count:
		w.count(m, c, limit)
	case step.TextIs:
		if equals {
			c.Command, c.Value = choose("waitForText", "assertNotText"), w.value(m.Value, true)
		}
	case step.ValueIs:
		if equals {
			c.Command, c.Value = choose("assertValue", "assertNotValue"), w.value(m.Value, true)
		}
	case step.TitleIs:
		if equals && !not {
			c.Command, c.Target = "assertTitle", w.value(m.Value, true)
		}
	}
}

// count knows whether there is an element or none; the place among matches does
// not matter then, so only a plain locator will do.
func (w *ide) count(m *script.Move, c *ideCommand, limit string) {
	literal, _ := m.Value.Fixed()
	n, err := strconv.Atoi(strings.TrimSpace(literal))
	if err != nil || m.Element.Index != nil {
		return
	}
	mode, not := m.Tool.Args.Matcher.Args.Mode, m.Tool.Args.Not
	none := n == 0 && mode != step.AtLeast
	some := n == 1 && mode == step.AtLeast
	switch {
	case none && !not || some && not:
		c.Command, c.Value = "waitForElementNotPresent", limit
	case some && !not || none && not:
		c.Command, c.Value = "waitForElementPresent", limit
	}
}

// ideKeys writes a key with what is held; the names are Selenium's.
func ideKeys(text string) string {
	held, key, _ := keyboard.Parse(text)
	var b strings.Builder
	for _, k := range append(held, key) {
		switch {
		case k == " ":
			b.WriteString("${KEY_SPACE}")
		case strings.HasPrefix(k, "Arrow"):
			b.WriteString("${KEY_" + strings.ToUpper(strings.TrimPrefix(k, "Arrow")) + "}")
		case len([]rune(k)) > 1:
			b.WriteString("${KEY_" + upperWithUnderscores(k) + "}")
		default:
			b.WriteString(ideEscapes.Replace(k))
		}
	}
	return b.String()
}
