package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// asDrawn takes what an icon shows for what it stands for: "the trash icon" is that of deleting. It
// is nil where no icon is meant, or none of the words is one.
func (s *searcher) asDrawn() *searcher {
	if s.d.Kind != intent.Icon {
		return nil
	}
	atoms, some := slices.Clone(s.words.atoms), false
	for i := range atoms {
		if id := lexicon.Icon(strings.ToLower(atoms[i].text)); id != 0 {
			atoms[i].text, atoms[i].lemma, some = strings.ReplaceAll(id.Name(), "_", " "), "", true
		}
	}
	if !some {
		return nil
	}
	t := *s
	t.joined, t.words = nil, s.ix.phrase(atoms, "en")
	return &t
}

// maxBeside is how many elements there are at most around an icon and the text that it is of.
const maxBeside = 12

// beside adds the text that an icon stands beside, and that says what it is of: "the trash of
// report.txt", which is no row of several.
func (ix *index) beside(refs []ref, node int) []ref {
	up := ix.m.Nodes[node].Parent
	if up < 0 || ix.ends[up]-up > maxBeside {
		return refs
	}
	for i := range ix.m.Lines {
		if l := &ix.m.Lines[i]; l.Record < 0 && l.Node != up && ix.below(l.Node, up) && !ix.nested(l.Node, node) {
			refs = ix.add(refs, l.Text, around, l.Node)
		}
	}
	return refs
}
