package generation

import (
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage/step"
)

// Number sets the ids of the steps that a refinement added, to numbers that no step of
// the base has: what was removed and what was added are never one step.
func Number(base, refined []step.Step) {
	taken := make(map[string]bool, len(base)+len(refined))
	for _, list := range [][]step.Step{base, refined} {
		for _, s := range list {
			taken[s.ID] = true
		}
	}
	taken[""] = true
	n := 0
	for i := range refined {
		if refined[i].ID != "" {
			continue
		}
		id := ""
		for taken[id] {
			n++
			id = fmt.Sprintf("s%d", n)
		}
		refined[i].ID, taken[id] = id, true
	}
}

// Compare returns what became of the steps of a base. A step that does the same as
// before was kept, wherever it stands now, and whatever was learnt about its element.
func Compare(base, refined []step.Step) *Changes {
	before := make(map[string]string, len(base))
	for _, s := range base {
		before[s.ID] = essence(s)
	}
	c := &Changes{Kept: []string{}, Changed: []string{}, Added: []string{}, Removed: []string{}}
	stays := make(map[string]bool, len(refined))
	for _, s := range refined {
		stays[s.ID] = true
		old, known := before[s.ID]
		switch {
		case !known:
			c.Added = append(c.Added, s.ID)
		case old == essence(s):
			c.Kept = append(c.Kept, s.ID)
		default:
			c.Changed = append(c.Changed, s.ID)
		}
	}
	for _, s := range base {
		if !stays[s.ID] {
			c.Removed = append(c.Removed, s.ID)
		}
	}
	return c
}

// essence returns what a step does, without what was observed when it was recorded.
func essence(s step.Step) string {
	s.ID, s.Result, s.ScreenshotID = "", nil, ""
	s.Tool = bare(s.Tool)
	if s.When != nil {
		when := *s.When
		when.Selector = bareSelector(when.Selector)
		s.When = &when
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%p", &s) // like no other
	}
	return string(text)
}

func bare(t step.Tool) step.Tool {
	t.Args.Reasoning = ""
	t.Args.Selector, t.Args.Target = bareSelector(t.Args.Selector), bareSelector(t.Args.Target)
	if t.Args.Tool != nil {
		inner := bare(*t.Args.Tool)
		t.Args.Tool = &inner
	}
	return t
}

func bareSelector(s *step.Selector) *step.Selector {
	if s == nil {
		return nil
	}
	plain := *s
	plain.Fingerprint, plain.Within, plain.Has = nil, bareSelector(s.Within), bareSelector(s.Has)
	return &plain
}
