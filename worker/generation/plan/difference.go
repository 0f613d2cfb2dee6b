package plan

import (
	"context"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// changedOf reports whether the page shows something else than before the last step, wherever
// it has been scrolled to and whatever has the focus.
func changedOf(ctx context.Context, p *planner) (bool, error) {
	before := p.before
	after, err := p.look(ctx)
	if err != nil || before == nil {
		return true, err
	}
	return showsElse(before, after), nil
}

func showsElse(a, b *view) bool {
	if a.URL != b.URL || a.Title != b.Title || a.Windows != b.Windows || a.Window != b.Window ||
		(a.Dialog == nil) != (b.Dialog == nil) || len(a.Nodes) != len(b.Nodes) {
		return true
	}
	for i := range a.Nodes {
		if nodeShowsElse(&a.Nodes[i], &b.Nodes[i]) {
			return true
		}
	}
	return false
}

func nodeShowsElse(a, b *snapshot.Node) bool {
	if a.Ref != b.Ref || a.Name != b.Name || a.Text != b.Text || a.Value != b.Value || a.Checked != b.Checked ||
		a.Selected != b.Selected || a.Expanded != b.Expanded || a.Hidden != b.Hidden || a.Disabled != b.Disabled ||
		a.Invalid != b.Invalid || a.Box[2] != b.Box[2] || a.Box[3] != b.Box[3] || len(a.Options) != len(b.Options) {
		return true
	}
	if len(a.Style) != len(b.Style) {
		return true
	}
	for k, value := range a.Style {
		if b.Style[k] != value {
			return true
		}
	}
	return false
}
