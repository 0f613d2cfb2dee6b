package export

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

func (w *cypress) click(m *script.Move) {
	p := &m.Tool.Args.Pointing
	name := map[string]string{step.Click: "click", step.DoubleClick: "dblclick", step.RightClick: "rightclick"}[m.Tool.Type]
	switch {
	case p.Button == "right":
		name = "rightclick"
	case p.Button != "" && p.Button != "left":
		w.lacks(m, ".args.button", "the button "+p.Button)
	case p.ClickCount != nil && *p.ClickCount == 2:
		name = "dblclick"
	case p.ClickCount != nil && *p.ClickCount != 1:
		w.lacks(m, ".args.clickCount", "this number of clicks")
	}
	var members []string
	for _, key := range p.Modifiers {
		member, ok := map[string]string{"Shift": "shiftKey", "Control": "ctrlKey", "Alt": "altKey", "Meta": "metaKey"}[key]
		if !ok {
			w.lacks(m, ".args.modifiers", "the held key "+script.Comment(key))
		}
		members = append(members, member+": true")
	}
	options := w.options(m, members...)
	if p.Position != nil {
		options = fmt.Sprintf("%d, %d", p.Position.X, p.Position.Y) + after(options)
	}
	w.line(w.element(m, m.Element) + "." + name + "(" + options + ");")
}

// cypressKeys are the keys that .type knows.
var cypressKeys = map[string]string{"Enter": "enter", "Escape": "esc", "Backspace": "backspace", "Delete": "del", "Insert": "insert",
	"ArrowUp": "upArrow", "ArrowDown": "downArrow", "ArrowLeft": "leftArrow", "ArrowRight": "rightArrow", "Home": "home", "End": "end",
	"PageUp": "pageUp", "PageDown": "pageDown", "Control": "ctrl", "Shift": "shift", "Alt": "alt", "Meta": "meta"}

func (w *cypress) press(m *script.Move) {
	held, key, _ := keyboard.Parse(m.Tool.Args.Key)
	if key == "Tab" && len(held) == 0 && !m.Element.Given() {
		w.line("cy.press(Cypress.Keyboard.Keys.TAB);")
		return
	}
	var typed strings.Builder
	for _, k := range append(held, key) {
		name, known := cypressKeys[k]
		switch {
		case known:
			typed.WriteString("{" + name + "}")
		case k == "Space":
			typed.WriteString(" ")
		case k == "{":
			typed.WriteString("{{}")
		case len([]rune(k)) == 1:
			typed.WriteString(k)
		default:
			w.lacks(m, ".args.key", "the key "+script.Comment(k))
		}
	}
	on := "cy.focused()"
	if m.Element.Given() {
		on = w.element(m, m.Element)
	}
	w.line(on + ".type(" + language.JavaScript(typed.String()) + ");")
}

func (w *cypress) scroll(m *script.Move) {
	w.call("scroll")
	at := script.Place{Kind: step.CSS, Value: script.Text{{Literal: ":root"}}}
	if m.Element.Given() {
		at = m.Element
	}
	w.line("scroll(" + w.element(m, at) + ", " + language.JavaScript(m.Tool.Args.Direction) + ");")
}

func (w *cypress) upload(m *script.Move) {
	files := m.Tool.Args.Files
	if m.Tool.Args.File != nil {
		files = []step.File{*m.Tool.Args.File}
	}
	if !m.Element.Given() {
		w.lacks(m, ".args.selector", "a file chooser")
	}
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = fmt.Sprintf("{ fileName: %s, contents: Cypress.Buffer.from('%s', 'base64') }", language.JavaScript(fileName(f.Name)),
			base64.StdEncoding.EncodeToString(f.Content))
	}
	written := strings.Join(list, ", ")
	if len(list) > 1 {
		written = "[" + written + "]"
	}
	// Pages hide the input behind a button.
	w.line(w.element(m, m.Element) + ".selectFile(" + written + after(w.options(m, "force: true")) + ");")
}
