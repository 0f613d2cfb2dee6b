package script

import (
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
)

// Place is where an element is: a selector with its texts in parts.
type Place struct {
	Kind                 string // the type of the selector; "" for no element
	Value, Name, HasText Text
	Exact                bool
	Level                int
	State                []state
	Within, Has          *Place
	Index                *int
	// First is set when the first match is taken where there are several.
	First bool
	// Inner is set for what others hold: that one is there is all that matters, so a name
	// need not be whole first.
	Inner bool
}

// Inside returns what an element holds, with what that is in.
func (at Place) Inside() Place {
	at.Inner = true
	if at.Within != nil {
		within := at.Within.Inside()
		at.Within = &within
	}
	return at
}

// state is what an element of a role must be or not be.
type state struct {
	Name string
	Is   bool
}

// Given reports whether there is a selector.
func (at Place) Given() bool { return at.Kind != "" }

// Place reads a selector.
func (s *Script) Place(from *step.Selector) Place {
	if from == nil {
		return Place{}
	}
	at := Place{
		Kind: from.Type, Value: s.Env.Read(from.Value), Name: s.Env.Read(from.Name).squeezed(),
		HasText: s.Env.Read(from.HasText).squeezed(),
		Exact:   from.Exact, Level: from.Level, Index: from.Index, First: s.FirstMatch && from.Index == nil,
	}
	if slices.Contains([]string{step.ByLabel, step.ByText, step.Placeholder, step.AltText, step.Title}, at.Kind) {
		at.Value = at.Value.squeezed()
	}
	for _, name := range slices.Sorted(maps.Keys(from.State)) {
		at.State = append(at.State, state{name, from.State[name]})
	}
	if from.Within != nil {
		within := s.Place(from.Within)
		at.Within = &within
	}
	if from.Has != nil {
		has := s.Place(from.Has)
		at.Has = &has
	}
	return at
}

// TestIDs are the attributes that tests know an element by.
var TestIDs = []string{"data-testid", "data-test-id", "data-test", "data-cy", "data-qa"}

// SelectorTypes are the types that code is written for.
var SelectorTypes = []string{step.CSS, step.XPath, step.ByRole, step.ByLabel, step.ByText, step.Placeholder, step.TestID,
	step.AltText, step.Title}

// checkSelector finds a selector that no code can be written for.
func checkSelector(path string, s *step.Selector) error {
	for depth := 0; s != nil; depth++ {
		if !slices.Contains(SelectorTypes, s.Type) {
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
