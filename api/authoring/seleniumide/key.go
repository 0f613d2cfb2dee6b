package seleniumide

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// keys are the names of Selenium's keys, without KEY_.
var keys = map[string]string{
	"ENTER": "Enter", "RETURN": "Enter", "TAB": "Tab", "ESC": "Escape", "ESCAPE": "Escape",
	"BACKSPACE": "Backspace", "BACK_SPACE": "Backspace", "BKSP": "Backspace", "DELETE": "Delete", "DEL": "Delete",
	"INSERT": "Insert", "SPACE": "Space", "HOME": "Home", "END": "End",
	"PAGE_UP": "PageUp", "PGUP": "PageUp", "PAGE_DOWN": "PageDown", "PGDN": "PageDown",
	"UP": "ArrowUp", "ARROW_UP": "ArrowUp", "DOWN": "ArrowDown", "ARROW_DOWN": "ArrowDown",
	"LEFT": "ArrowLeft", "ARROW_LEFT": "ArrowLeft", "RIGHT": "ArrowRight", "ARROW_RIGHT": "ArrowRight",
	"F1": "F1", "F2": "F2", "F3": "F3", "F4": "F4", "F5": "F5", "F6": "F6", "F7": "F7", "F8": "F8",
	"F9": "F9", "F10": "F10", "F11": "F11", "F12": "F12",
	"SEMICOLON": ";", "EQUALS": "=", "ADD": "+", "SUBTRACT": "-", "MULTIPLY": "*", "DIVIDE": "/",
	"NUMPAD0": "0", "NUMPAD1": "1", "NUMPAD2": "2", "NUMPAD3": "3", "NUMPAD4": "4",
	"NUMPAD5": "5", "NUMPAD6": "6", "NUMPAD7": "7", "NUMPAD8": "8", "NUMPAD9": "9",
	"N0": "0", "N1": "1", "N2": "2", "N3": "3", "N4": "4", "N5": "5", "N6": "6", "N7": "7", "N8": "8", "N9": "9",
}

var modifiers = map[string]string{
	"CONTROL": "Control", "CTRL": "Control", "LEFT_CONTROL": "Control", "SHIFT": "Shift", "LEFT_SHIFT": "Shift",
	"ALT": "Alt", "LEFT_ALT": "Alt", "META": "Meta", "COMMAND": "Meta",
}

var keyName = regexp.MustCompile(`\$\{KEY_(\w+)\}`)

// stroke is a part of what sendKeys sends: a text or a key.
type stroke struct{ text, key string }

// strokes takes the value of sendKeys apart. Modifiers hold for the rest of the
// value, until they come again or KEY_NULL.
func strokes(path, value string) ([]stroke, error) {
	var list []stroke
	var held []string
	used := true // the modifiers, by a key
	text := func(part string) {
		if part == "" {
			return
		}
		used = true
		if len(held) == 0 {
			list = append(list, stroke{text: part})
			return
		}
		for _, r := range part {
			list = append(list, stroke{key: press(held, string(r))})
		}
	}
	end := 0
	for _, m := range keyName.FindAllStringSubmatchIndex(value, -1) {
		text(value[end:m[0]])
		end = m[1]
		name := value[m[2]:m[3]]
		switch modifier, key := modifiers[name], keys[name]; {
		case name == "NULL":
			held = nil
		case slices.Contains(held, modifier):
			held = slices.DeleteFunc(held, func(h string) bool { return h == modifier })
		case modifier != "":
			held, used = append(held, modifier), false
		case key != "":
			list, used = append(list, stroke{key: press(held, key)}), true
		default:
			return nil, invalid(path, "must not hold a key that has no counterpart")
		}
	}
	text(value[end:])
	if !used && len(held) > 0 {
		list = append(list, stroke{key: strings.Join(held, "+")})
	}
	return list, nil
}

func press(held []string, key string) string {
	return strings.Join(append(slices.Clone(held), key), "+")
}

// sendKeys types behind what a field holds, where input_text replaces it. So text
// for an empty field is input_text, text right behind another such step makes
// that step's text longer, and other text is type_keys. Only the first part names
// the element: a key may have moved the focus.
func (r *reader) sendKeys(c *command) error {
	s, err := r.element(c)
	if err != nil {
		return err
	}
	value, err := r.text(c.path+".value", c.Value)
	if err != nil {
		return err
	}
	list, err := strokes(c.path+".value", value)
	if err != nil {
		return err
	}
	place := r.frames.place(s)
	for i, part := range list {
		if i > 0 {
			s = nil
		}
		switch {
		case part.key != "":
			r.press(c, s, part.key)
		case i == 0 && r.extend(place, part.text):
		case i == 0 && !r.typed[place]:
			r.fill(c, s, place, part.text)
		default:
			r.typeKeys(c, s, part.text)
		}
	}
	r.typed[place] = true
	return nil
}

// controls are the characters that stand for keys.
var controls = map[byte]string{'\n': "Enter", '\r': "Enter", '\t': "Tab"}

// typeKeys types a text into what has the focus, or into an element. Its characters
// that stand for keys are steps of their own.
func (r *reader) typeKeys(c *command, s *step.Selector, text string) {
	for text != "" {
		end := strings.IndexAny(text, "\n\r\t")
		if end == 0 {
			r.press(c, s, controls[text[0]])
			s, text = nil, text[1:]
			continue
		}
		part := text
		if end > 0 {
			part = text[:end]
		}
		r.act(c, step.Tool{Type: step.TypeKeys, Args: step.Args{Selector: s, Text: &part}}, true)
		s, text = nil, text[len(part):]
	}
}

func (r *reader) press(c *command, s *step.Selector, key string) {
	r.act(c, step.Tool{Type: step.PressKey, Args: step.Args{Selector: s, Key: key}}, true)
}

// extend adds to the text of the last step when that fills the same field.
func (r *reader) extend(place, text string) bool {
	if r.filled.steps != len(r.steps) || r.filled.place != place {
		return false
	}
	last := step.Inner(&r.steps[len(r.steps)-1].Tool)
	longer := *last.Args.Text + text
	last.Args.Text = &longer
	return true
}

// fill appends a step that puts a text into a field.
func (r *reader) fill(c *command, s *step.Selector, place, text string) {
	last := len(r.steps) + 1
	r.act(c, step.Tool{Type: step.InputText, Args: step.Args{Selector: s, Text: &text}}, true)
	r.typed[place] = text != ""
	r.filled = filled{steps: last, place: place}
}
