package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// harm is a family of deeds that cannot be taken back: what controls for it are called, and the
// effects that are such a deed, or say yes to one.
type harm struct {
	concepts []string
	signs    []string
	effects  []intent.Effect
}

var harms = []harm{
	{
		concepts: []string{"delete", "remove", "trash"},
		signs:    []string{"×", "✕", "✖", "✗", "🗑"},
		effects: []intent.Effect{intent.Remove, intent.Clear, intent.Close, intent.Abandon, intent.Confirm, intent.Decrease, intent.Collapse,
			intent.Reopen, intent.Move},
	},
	{
		concepts: []string{"pay", "buy", "checkout"},
		effects:  []intent.Effect{intent.Submit, intent.Confirm, intent.Add, intent.Complete, intent.Act, intent.Page},
	},
}

// Unsaid names the control that a way presses and that deletes or pays by its name, where the goal
// says nothing of it: part of a name, or a description in a title, is no reason to press it. It is
// "" where there is none. Text is what the goal says.
func Unsaid(m *page.Model, w *Way, g *intent.Goal, text string) string {
	for i := range harms {
		h := &harms[i]
		if slices.Contains(h.effects, g.Effect) || textHas(text, "", h.concepts...) {
			continue
		}
		for _, a := range w.Acts {
			if a.Tool != step.Click && a.Tool != step.DoubleClick {
				continue
			}
			if c := m.ControlAt(a.Node); c >= 0 && h.says(m, c, g.Effect == intent.Press) {
				return DescribeNode(m, a.Node)
			}
		}
	}
	return ""
}

// says reports whether a control is called by the deed: its name begins or ends with it. A thing
// that has the word in its title is none ("Buy milk"), and a sign may be what is pressed by name.
func (h *harm) says(m *page.Model, control int, named bool) bool {
	c := &m.Controls[control]
	if c.Role == "checkbox" || c.Role == "radio" || c.Role == "option" || c.Role == "switch" || c.Role == "tab" {
		return false
	}
	name := fold(effect.ControlName(m, control))
	if slices.Contains(h.signs, name) {
		return !named
	}
	if c.Record >= 0 && c.Record < len(m.Records) && name != "" && strings.Contains(name, fold(m.Records[c.Record].Title)) && m.Records[c.Record].Title != "" {
		return false
	}
	words := strings.Fields(name)
	if len(words) == 0 || len(words) > maxWords {
		return false
	}
	return textHas(name, "", h.concepts...) && (textHas(words[0], "", h.concepts...) || textHas(words[len(words)-1], "", h.concepts...))
}
