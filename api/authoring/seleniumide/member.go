package seleniumide

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/slipway-qa/slipway/api/body"
)

// The members that versions of Selenium IDE write. What is of no use to a test is known
// too: nobody is warned of what the recorder notes for itself.
type (
	knownProject struct {
		ID       any          `json:"id"`
		Version  any          `json:"version"`
		Name     any          `json:"name"`
		URL      any          `json:"url"`
		URLs     any          `json:"urls"`
		Delay    any          `json:"delay"`
		Plugins  any          `json:"plugins"`
		Snapshot any          `json:"snapshot"`
		Suites   []knownSuite `json:"suites"`
		Tests    any          `json:"tests"`
	}
	knownSuite struct {
		ID             any `json:"id"`
		Name           any `json:"name"`
		PersistSession any `json:"persistSession"`
		Parallel       any `json:"parallel"`
		Timeout        any `json:"timeout"`
		Tests          any `json:"tests"`
	}
	knownTest struct {
		ID       any `json:"id"`
		Name     any `json:"name"`
		Commands any `json:"commands"`
	}
	knownCommand struct {
		ID               any `json:"id"`
		Comment          any `json:"comment"`
		Command          any `json:"command"`
		Target           any `json:"target"`
		Targets          any `json:"targets"`
		TargetFallback   any `json:"targetFallback"`
		Value            any `json:"value"`
		Values           any `json:"values"`
		ValueFallback    any `json:"valueFallback"`
		IsBreakpoint     any `json:"isBreakpoint"`
		Skip             any `json:"skip"`
		OpensWindow      any `json:"opensWindow"`
		OpensWindowRead  any `json:"opensWindowRead"`
		WindowHandleName any `json:"windowHandleName"`
		WindowTimeout    any `json:"windowTimeout"`
	}
)

var (
	projectMembers = reflect.TypeFor[knownProject]()
	testMembers    = reflect.TypeFor[knownTest]()
	commandMembers = reflect.TypeFor[knownCommand]()
)

// maxSpare bounds the warnings of unknown members: a program that writes one writes it
// into each command.
const maxSpare = 10

// spareMembers are the members of a project that are not known.
type spareMembers struct {
	paths []string
	more  int
}

// look looks at a part of the project, which has been decoded.
func (s *spareMembers) look(path string, text json.RawMessage, known reflect.Type) {
	if path != "" {
		path += "."
	}
	// It refuses nothing, and so has no error.
	_ = body.Check(text, known, func(m body.Member) error {
		if len(s.paths) < maxSpare {
			s.paths = append(s.paths, path+m.Path)
		} else {
			s.more++
		}
		return nil
	})
}

// warnings are never nil.
func (s *spareMembers) warnings() []string {
	list := make([]string, 0, len(s.paths)+1)
	for _, path := range s.paths {
		list = append(list, path+" is no member that Selenium IDE writes and was ignored")
	}
	if s.more > 0 {
		list = append(list, fmt.Sprintf("%d more members that Selenium IDE does not write were ignored", s.more))
	}
	return list
}
