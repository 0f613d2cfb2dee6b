// Package group puts the steps of step groups in the place of the steps that name them.
//
// A step group is a list of steps with parameters, which cases, suites and other groups run
// by a step run_group. Check refuses what cannot be run, when it is written; Plan makes one
// list of all steps of a test, when it is run or exported. Both follow groups to a depth of
// MaxDepth and refuse one that runs itself, by the names on the way.
//
// Parameters are no variables: {{param:name}} stands for the text that run_group gives,
// whose own variables are replaced when the step executes. So a secret in a parameter is
// masked like any other.
package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// MaxDepth is how deep groups may stand in groups: a test in which one has to look
	// further than that for a step is read by nobody.
	MaxDepth = 5
	// maxValues bounds the values of all parameters of a test, in bytes: each of a
	// thousand steps could double them.
	maxValues = 4 << 20
)

// Parameter is a text that a group is run with.
type Parameter struct {
	Name string `json:"name"`
	// Default is what stands for a value that run_group does not give; nil: it must.
	Default *string `json:"default,omitempty"`
}

// Group is one revision of a step group.
type Group struct {
	ID         string      `json:"id"`         // a UUID
	RevisionID string      `json:"revisionId"` // likewise
	Name       string      `json:"name"`
	Parameters []Parameter `json:"parameters"`
	Steps      []step.Step `json:"steps"`
}

// Groups are groups by their ids.
type Groups map[string]*Group

// IDs returns the groups that steps run by themselves, each once, in their order.
func IDs(lists ...[]step.Step) (ids []string) {
	for _, steps := range lists {
		for i := range steps {
			if t := &steps[i].Tool; t.Type == step.RunGroup && !slices.Contains(ids, t.Args.GroupID) {
				ids = append(ids, t.Args.GroupID)
			}
		}
	}
	return ids
}

// MissingError means that steps run a group that is not there.
type MissingError struct {
	Path string // of the groupId, below the steps
	ID   string
}

func (e *MissingError) Error() string { return e.Path + ": the step group does not exist" }

// valuesFor returns what the parameters of a group stand for where a step runs it. outer
// are those of the group around the step. With an error, at is the member below with.
func (g *Group) valuesFor(s *step.Step, outer map[string]string) (values map[string]string, at string, err error) {
	values = make(map[string]string, len(g.Parameters))
	for _, p := range g.Parameters {
		given, ok := s.Tool.Args.With[p.Name]
		switch {
		case ok:
			if values[p.Name], err = step.FillParameters(given, outer); err != nil {
				return nil, "." + p.Name, fmt.Errorf("cannot be used: %w", err)
			}
		case p.Default != nil:
			values[p.Name] = *p.Default
		default:
			return nil, "", fmt.Errorf("has no %s, which the step group %q needs", p.Name, g.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tool.Args.With)) {
		if _, ok := values[name]; !ok {
			return nil, "." + name, fmt.Errorf("is no parameter of the step group %q%s", g.Name, g.known())
		}
	}
	return values, "", nil
}

// known lists the parameters of a group, for who has misspelt one.
func (g *Group) known() string {
	if len(g.Parameters) == 0 {
		return ", which has none"
	}
	names := make([]string, len(g.Parameters))
	for i, p := range g.Parameters {
		names[i] = p.Name
	}
	return ": it has " + strings.Join(names, ", ")
}

func invalid(path, format string, args ...any) error {
	return &step.InvalidError{Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Own refuses what the steps of a group, which step.Validate has checked, must not have:
// a parameter that the group does not have, and an end of the test.
func (g *Group) Own() error {
	for i := range g.Steps {
		path := fmt.Sprintf("[%d].tool", i)
		if g.Steps[i].Tool.Type == step.Finish {
			return invalid(path+".type", "must not be finish: the test that runs the group ends by itself")
		}
		for _, name := range step.Parameters(&g.Steps[i]) {
			if !slices.ContainsFunc(g.Parameters, func(p Parameter) bool { return p.Name == name }) {
				return invalid(path, "names {{param:%s}}, which is no parameter of the step group", name)
			}
		}
	}
	return nil
}

// CheckInside refuses groups in a group that cannot be run, as Check. groups has the group
// itself. Its own parameters may stand for anything.
func (g *Group) CheckInside(groups Groups) error {
	values := make(map[string]string, len(g.Parameters))
	for _, p := range g.Parameters {
		values[p.Name] = "x"
	}
	return new(Plan).add(g.Steps, walk{groups: groups, chain: []*Group{g}, values: values})
}

// Depth is how deep groups stand in a group that CheckInside has found right: 1 without any.
func (g *Group) Depth(groups Groups) int {
	deep := 0
	for _, id := range IDs(g.Steps) {
		if inner := groups[id]; inner != nil {
			deep = max(deep, inner.Depth(groups))
		}
	}
	return deep + 1
}

// Check refuses steps of a test or suite that cannot be run with the groups: one that is
// not there (*MissingError), parameters that it has not or needs, too many steps, groups
// too deep, and parameters outside of a group. The other errors are *step.InvalidError,
// with a path below the list.
func Check(steps []step.Step, groups Groups) error {
	for i := range steps {
		if names := step.Parameters(&steps[i]); len(names) > 0 {
			return invalid(fmt.Sprintf("[%d].tool", i), "names {{param:%s}}: there are parameters in step groups only", names[0])
		}
	}
	return new(Plan).Add(Part{Steps: steps}, groups)
}
