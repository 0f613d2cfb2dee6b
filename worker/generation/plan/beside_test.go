package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestSharedDepth(t *testing.T) {
	m := &page.Model{Snapshot: &snapshot.Snapshot{Nodes: []snapshot.Node{
		{Parent: -1}, {Parent: 0}, {Parent: 1}, {Parent: 1}, {Parent: 0}, {Parent: 4},
	}}}
	for _, c := range []struct{ a, b, want int }{{2, 3, 2}, {2, 5, 1}, {5, 4, 2}, {0, 5, 1}} {
		if got := sharedDepth(m, c.a, c.b); got != c.want {
			t.Errorf("%d and %d share %d elements, want %d", c.a, c.b, got, c.want)
		}
	}
}
