package effect

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judgeSignOut: another page is seen, one can sign in, or what signs out is gone. A menu that offers
// to sign out is a step on the way.
func judgeSignOut(j *judged) Verdict {
	if j.Nothing {
		return Verdict{State: Unseen, Why: "nothing changed"}
	}
	offered, before := offers(j.After, "sign_out"), offers(j.Before, "sign_out")
	switch {
	case offered && !before:
		return Verdict{State: Partly, Why: "it can be done now"}
	case j.Change.URL && !offered, j.Windows:
		return reached("another page is seen", j.used("signed out")...)
	case !offered && before && j.opened() < 0, !offers(j.Before, "sign_in") && offers(j.After, "sign_in") && !offered:
		return reached("one is signed out", j.used("signed out")...)
	case offered, j.opened() >= 0:
		return j.partly()
	}
	return judgeSubmit(j)
}

// offers reports whether a control that is seen is called by a concept.
func offers(m *page.Model, concept string) bool {
	id := lexicon.Named(concept)
	for i := range m.Controls {
		c := &m.Controls[i]
		if !c.Hidden && !m.Nodes[c.Node].Hidden && slices.Contains(lexicon.Concept(ControlName(m, i), ""), id) {
			return true
		}
	}
	return false
}
