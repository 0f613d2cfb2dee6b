package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// find returns what a description means, of some kinds, on the whole page or in what is open.
func (t *Task) find(d *intent.Description, kinds ...find.What) []find.Candidate {
	return t.findIn(d, t.scope(), kinds...)
}

// findIn returns what a description means below a node, the best first, as long as nothing of
// the description is missing.
func (t *Task) findIn(d *intent.Description, within int, kinds ...find.What) []find.Candidate {
	found := find.Description(t.Model, d, find.Want{Kinds: kinds, Lang: t.Lang, Within: within})
	var list []find.Candidate
	for _, c := range found.Candidates {
		if c.Score < find.Enough || len(c.Missing) > 0 {
			continue
		}
		if list = append(list, c); len(list) == maxFound {
			break
		}
	}
	return list
}

// maxFound is how many candidates of one description are made ways of.
const maxFound = 3

// controls returns the controls below a node (-1: anywhere) that say an effect or the verb of
// the goal.
func (t *Task) controls(effect intent.Effect, within int) []find.Candidate {
	return t.controlsFor(effect, within, func(*find.Candidate) bool { return true })
}

// controlsFor is controls of those that serve: what does not, as the many of a list, leaves room for them.
// Where what deletes, pays or sends is looked for on the whole page, it leaves none: behind the buttons of many
// rows stands the one that is for all.
func (t *Task) controlsFor(effect intent.Effect, within int, serves func(c *find.Candidate) bool) []find.Candidate {
	list := t.allControls(effect, within)
	if risky[effect] && within < 0 {
		list = list[:min(len(list), maxControls)]
	}
	list = slices.DeleteFunc(list, func(c find.Candidate) bool { return !serves(&c) })
	return list[:min(len(list), maxControls)]
}

// allControls is controls of any number.
func (t *Task) allControls(effect intent.Effect, within int) []find.Candidate {
	list := find.Controls(t.Model, find.Aim{Effect: effect, Lemma: t.Goal.Lemma, Words: t.words(), Lang: t.Lang,
		Record: -1, Within: within, Hidden: true, Likes: t.Goal.Concept == "unfavorite"})
	list = slices.DeleteFunc(list, func(c find.Candidate) bool {
		return !t.reachable(c.Index) || makes[effect] && t.Model.Controls[c.Index].Role == "radio"
	})
	return slices.DeleteFunc(list, func(c find.Candidate) bool {
		return c.Index < 0 || c.Index >= len(t.Model.Controls) || !usable(t.Model, &t.Model.Controls[c.Index])
	})
}

// makes are the effects that no choice among values has: a star of five is a value of a form, and adds
// nothing.
var makes = map[intent.Effect]bool{intent.Add: true, intent.Remove: true, intent.Submit: true, intent.Confirm: true}

// reachable reports whether a control is seen, or it is known what shows it.
func (t *Task) reachable(control int) bool {
	if control < 0 || control >= len(t.Model.Controls) {
		return false
	}
	c := &t.Model.Controls[control]
	if !c.Hidden && !t.Model.Nodes[c.Node].Hidden {
		return true
	}
	_, ok := t.shows(c)
	return ok
}

// words are what the name of a control may have besides the verb: what the goal is done to, where
// it goes, what it becomes.
func (t *Task) words() []intent.Description {
	list := slices.Clone(t.Goal.Target)
	for _, d := range []*intent.Description{t.Goal.To, t.Goal.From, t.Goal.With} {
		if d != nil {
			list = append(list, *d)
		}
	}
	if t.Goal.Become != nil {
		list = append(list, valueDescription(t.Goal.Become))
	}
	return list
}

// maxControls is how many controls of one effect are made ways of.
const maxControls = 4

// hasConcept reports whether one of the names of a control is a word for one of some concepts,
// or its icon is.
func hasConcept(c *page.Control, concepts ...string) bool {
	for i := range c.Names {
		if i == maxNames {
			break
		}
		name := strings.TrimRight(strings.TrimSpace(c.Names[i].Text), " .…:!?›»>")
		if len(strings.Fields(name)) <= maxWords && textHas(name, "", concepts...) {
			return true
		}
	}
	return false
}

const (
	// maxNames is how many names of a control are compared.
	maxNames = 4
	// maxWords is how long a name may be that stands for a concept: longer ones speak of
	// something else besides.
	maxWords = 4
)

// saysState reports whether a word of a text is one for a state, in any language.
func saysState(text string, states ...string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		return slices.ContainsFunc(lexicon.Codes(), func(code string) bool {
			e := lexicon.Language(code).Entry(w, lexicon.State)
			return e != nil && slices.Contains(states, e.Name)
		})
	})
}

// textHas reports whether a text, or a word of it, is a word for one of some concepts.
func textHas(text, lang string, concepts ...string) bool {
	return lexicon.Means(text, lang, concepts...) || slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		return lexicon.Means(strings.Trim(w, ".,:;!?()\"'“”„«»‘’"), lang, concepts...)
	})
}

// saysMarked reports whether a text calls something selected or not, or that it selects.
func saysMarked(text string) bool {
	return textHas(text, "", "select") || saysState(text, "selected", "unselected")
}

// saysMore reports whether a word is one for a state that is more than being selected, or for removing.
func saysMore(word string) bool {
	return textHas(word, "", "delete", "remove") || slices.ContainsFunc(lexicon.Codes(), func(code string) bool {
		e := lexicon.Language(code).Entry(word, lexicon.State)
		return e != nil && e.Name != "selected" && e.Name != "unselected"
	})
}
