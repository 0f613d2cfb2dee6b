package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A thing that was spoken of has another number on the page before, or none.
func TestEarlier(t *testing.T) {
	before := &page.Model{Snapshot: &snapshot.Snapshot{Nodes: []snapshot.Node{{Ref: "ann"}, {Ref: "town"}}},
		Records: []page.Record{{Node: 0}}, Fields: []page.Field{{Node: 1}}}
	after := &page.Model{Snapshot: &snapshot.Snapshot{Nodes: []snapshot.Node{{Ref: "new"}, {Ref: "ann"}, {Ref: "town"}}},
		Records: []page.Record{{Node: 0}, {Node: 1}}, Fields: []page.Field{{Node: 2}}}
	got := earlier(before, after, []Candidate{{What: Record, Index: 0, Node: 0, Sub: -1}, {What: Record, Index: 1, Node: 1, Sub: -1},
		{What: Field, Index: 0, Node: 2, Sub: -1}, {What: Record, Index: 7, Node: 9, Sub: -1}})
	if len(got) != 2 || got[0].Index != 0 || got[0].Node != 0 || got[1].What != Field || got[1].Node != 1 {
		t.Errorf("got %+v", got)
	}
}
