package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// rowBoxes returns the check boxes by which rows or items are selected that a phrase
// means: one in each of them, or the one for all in the header of their table. There are
// none where rows are selected otherwise.
func rowBoxes(p *planner, v *view, phrase *intent.Phrase) []match {
	if !meansItem(phrase.Roles) {
		return nil
	}
	rows, err := p.pickAll(v, phrase, toHold)
	if err != nil {
		return nil
	}
	var boxes []match
	table := ""
	for _, row := range rows {
		if !isItem(row.node) && !v.itemLike(row.index) || row.node.Selected != "" {
			return nil
		}
		found := v.within(row.index, isBox)
		if len(found) != 1 {
			return nil
		}
		boxes = append(boxes, v.matchOf(scored{found[0], row.score, ""}, "the box of "+describeNode(row.node)))
		if cell := v.ancestor(found[0], isCell); cell >= 0 {
			table = v.Nodes[cell].Table
		}
	}
	if phrase.All && len(phrase.Except) == 0 && len(phrase.Relations) == 0 && phrase.Count == 0 && table != "" {
		// Further pages have rows as well, which only the box of the header means.
		for _, i := range v.within(v.find(table), isBox) {
			if v.around(i, "columnheader") >= 0 {
				return []match{v.matchOf(scored{i, 1, ""}, "the box of all rows")}
			}
		}
	}
	return boxes
}

func isBox(n *snapshot.Node) bool {
	return !n.Hidden && !n.Disabled && (n.Role == "checkbox" || n.Role == "switch")
}

// bodyWords are what people call the part of a table that has its values.
var bodyWords = map[string]bool{"body": true, "koerper": true, "rumpf": true}

// inBody leaves what is in a cell of a table below its headers, where a phrase means the
// body of a table.
func inBody(v *view, list []scored, phrase *intent.Phrase) []scored {
	if !bodyWords[fold(phrase.Name)] || !slices.Contains(phrase.Roles, "table") {
		return nil
	}
	var kept []scored
	for _, s := range list {
		if isCell(&v.Nodes[s.index]) || v.ancestor(s.index, isCell) >= 0 {
			kept = append(kept, s)
		}
	}
	return kept
}
