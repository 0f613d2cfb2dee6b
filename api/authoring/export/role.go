package export

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// styled is a name with a CSS selector. WebDriver cannot look for a role, so the
// exports look for the elements that have it, and ask the browser for their names.
type styled struct{ Name, CSS string } // CSS is a literal

// noteRole notes the role and the states of a place. A role in a variable may be
// any.
func (p *page) noteRole(at script.Place) {
	role, fixed := at.Value.Fixed()
	for name := range script.RoleCSS {
		if !fixed || strings.EqualFold(strings.TrimSpace(role), name) {
			p.call("role:" + name)
		}
	}
	for _, s := range at.State {
		p.call("state:" + s.Name)
	}
}

func (p *page) styled(prefix string, all map[string]string, literal func(string) string) []styled {
	var list []styled
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if p.called[prefix+name] {
			list = append(list, styled{name, literal(all[name])})
		}
	}
	return list
}

// noteFind notes what a place, with those that it is made of, needs of the script that
// finds elements.
func (p *page) noteFind(at script.Place) {
	switch at.Kind {
	case step.Placeholder, step.AltText, step.Title:
		p.call("by:attribute")
	case step.TestID:
		p.call("by:css", "testId")
	case step.ByRole:
		p.call("by:role")
		p.noteRole(at)
		if len(at.Name) > 0 {
			p.call("name")
		}
		if at.Level > 0 {
			p.call("level")
		}
	default:
		p.call("by:" + at.Kind)
	}
	p.call("locate:" + at.Kind)
	if len(at.HasText) > 0 {
		p.call("hasText")
	}
	if at.Has != nil {
		p.call("has")
		p.noteFind(*at.Has)
	}
	if at.Within != nil {
		p.call("scope")
		p.noteFind(*at.Within)
	}
	if at.Index != nil {
		p.call("nth")
	}
	if at.Exact {
		p.call("exact")
	}
	if len(at.State) > 0 {
		p.call("state")
	}
}
