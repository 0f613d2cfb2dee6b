package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judgeSignOut: what shows that somebody is signed in is gone, or the page says so: what signs out
// is gone, what signs in came, the name of who was signed in is not seen any more. What only opened
// is a menu or a question on the way.
func judgeSignOut(j *judged) Verdict {
	if j.Nothing {
		return Verdict{State: Unseen, Why: "nothing changed"}
	}
	if j.opened() >= 0 {
		return j.partly()
	}
	switch {
	case named(j.After, intent.SignOut) > named(j.Before, intent.SignOut):
		return Verdict{State: Partly, Why: "it can be done now"}
	case named(j.After, intent.SignIn) > named(j.Before, intent.SignIn), passwords(j.After) > passwords(j.Before):
		return reached("one can sign in now", j.used("signed out")...)
	case named(j.Before, intent.SignOut) > 0 && named(j.After, intent.SignOut) == 0:
		return reached("nobody is signed in any more", j.used("signed out")...)
	case j.nameGone():
		return reached("the name is not seen any more", j.used("signed out")...)
	case slices.ContainsFunc(j.NewLines, j.saysOut):
		return reached("the page says it", j.used("signed out")...)
	}
	return j.partly()
}

// leastNamed is the score of a control that is called by an effect and little else.
const leastNamed = 0.7

// named is how many controls a page has, seen or not, that are called by an effect.
func named(m *page.Model, e intent.Effect) int {
	n := 0
	for _, c := range find.Controls(m, find.Aim{Effect: e, Record: -1, Within: -1, Hidden: true}) {
		if c.Score > leastNamed {
			n++
		}
	}
	return n
}

// passwords is how many fields for a password a page shows.
func passwords(m *page.Model) int {
	n := 0
	for i := range m.Nodes {
		if m.Nodes[i].Password && !m.Nodes[i].Hidden {
			n++
		}
	}
	return n
}

// nameGone reports whether the page showed the words of the target, and does not any more.
func (j *judged) nameGone() bool {
	for i := range j.goal.Target {
		text := Fold(j.goal.Target[i].Phrase())
		shows := func(m *page.Model) bool {
			return slices.ContainsFunc(m.Lines, func(l page.Line) bool { return strings.Contains(Fold(l.Text), text) }) ||
				slices.ContainsFunc(m.Nodes, func(n nodeOf) bool { return !n.Hidden && strings.Contains(Fold(n.Name), text) })
		}
		if text != "" && shows(j.Before) && !shows(j.After) {
			return true
		}
	}
	return false
}

// saysOut reports whether a new line says that somebody is signed out, and is not what signs out.
func (j *judged) saysOut(line int) bool {
	l := &j.After.Lines[line]
	if j.After.ControlAt(l.Node) >= 0 || slices.ContainsFunc(j.After.Controls, func(c page.Control) bool {
		return len(c.Names) > 0 && Fold(c.Names[0].Text) == Fold(l.Text)
	}) {
		return false
	}
	return SaysOut(l.Text)
}

// SaysOut reports whether a text speaks of signing out.
func SaysOut(text string) bool {
	words := strings.FieldsFunc(Fold(text), func(r rune) bool { return strings.ContainsRune(" .,;:!?()", r) })
	for _, code := range lexicon.Codes() {
		for i := range words {
			cs, _ := lexicon.Language(code).ConceptsAt(words[i:])
			if slices.ContainsFunc(cs, func(c lexicon.ConceptID) bool { return c.Name() == "sign_out" }) {
				return true
			}
		}
	}
	return false
}
