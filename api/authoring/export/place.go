package export

import (
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
)

// place is where an element is: a selector with its texts in parts.
type place struct {
	kind                 string // the type of the selector; "" for no element
	value, name, hasText text
	exact                bool
	level                int
	state                []state
	within, has          *place
	index                *int
	// first is set when the first match is taken where there are several.
	first bool
	// inner is set for what others hold: that one is there is all that matters, so a name
	// need not be whole first.
	inner bool
}

// inside returns what an element holds, with what that is in.
func (at place) inside() place {
	at.inner = true
	if at.within != nil {
		within := at.within.inside()
		at.within = &within
	}
	return at
}

// state is what an element of a role must be or not be.
type state struct {
	name string
	is   bool
}

func (at place) given() bool { return at.kind != "" }

// place reads a selector.
func (s *script) place(from *step.Selector) place {
	if from == nil {
		return place{}
	}
	at := place{
		kind: from.Type, value: s.env.read(from.Value), name: s.env.read(from.Name).squeezed(), hasText: s.env.read(from.HasText).squeezed(),
		exact: from.Exact, level: from.Level, index: from.Index, first: s.firstMatch && from.Index == nil,
	}
	if slices.Contains([]string{step.ByLabel, step.ByText, step.Placeholder, step.AltText, step.Title}, at.kind) {
		at.value = at.value.squeezed()
	}
	for _, name := range slices.Sorted(maps.Keys(from.State)) {
		at.state = append(at.state, state{name, from.State[name]})
	}
	if from.Within != nil {
		within := s.place(from.Within)
		at.within = &within
	}
	if from.Has != nil {
		has := s.place(from.Has)
		at.has = &has
	}
	return at
}

// testIDs are the attributes that tests know an element by.
var testIDs = []string{"data-testid", "data-test-id", "data-test", "data-cy", "data-qa"}

// selectorTypes are the types that code is written for.
var selectorTypes = []string{step.CSS, step.XPath, step.ByRole, step.ByLabel, step.ByText, step.Placeholder, step.TestID,
	step.AltText, step.Title}

// checkSelector finds a selector that no code can be written for.
func checkSelector(path string, s *step.Selector) error {
	for depth := 0; s != nil; depth++ {
		if !slices.Contains(selectorTypes, s.Type) {
			return &step.InvalidError{Path: path + ".type", Msg: "is not known"}
		}
		if depth > step.MaxNesting {
			return &step.InvalidError{Path: path, Msg: "has too many others around or in it"}
		}
		if err := checkSelector(path+".has", s.Has); err != nil {
			return err
		}
		s, path = s.Within, path+".within"
	}
	return nil
}
