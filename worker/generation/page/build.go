package page

import (
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Setting adjusts how a model is made.
type Setting func(*builder)

// After has the model know the groups of an earlier one of the same page: what is left of a
// list of cards is a record of it still, though nothing beside it has its structure.
func After(before *Model) Setting {
	return func(b *builder) {
		if before != nil {
			b.Earlier = before.patterns
		}
	}
}

// builder makes a model, one kind of things after the other.
type builder struct {
	*Model
	*shape.Page
	headCells map[*shape.Cluster][]int // the heads of the columns of tables, once asked for
	member    []int                    // the group's record of each node that is one, -1
	groups    []*shape.Cluster
	values    *value.Reader
	deeds     map[deed]int
	openers   map[string]bool  // refs of what shows hidden nodes
	opened    map[string][]int // options by the ref of what opens them; those that are open under ""
}

func build(s *snapshot.Snapshot, settings []Setting) *Model {
	b := &builder{Model: &Model{Snapshot: s, Front: -1}, Page: shape.New(s, language(s.Lang)), headCells: map[*shape.Cluster][]int{}}
	b.index = b.X
	for _, o := range settings {
		o(b)
	}
	b.findGroups()
	b.findContainers()
	b.findControls()
	b.findFields()
	b.describeRecords()
	b.nameByRecord()
	b.readLines()
	b.findPagers()
	b.findFront()
	b.setKeys()
	return b.Model
}

// language returns the code of a page's language: "de" of "de-AT".
func language(tag string) string {
	if len(tag) < 2 {
		return ""
	}
	return shape.Lower(tag[:2])
}

// filled returns a list of n times -1.
func filled(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = -1
	}
	return list
}
