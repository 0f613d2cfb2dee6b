package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// Plan is all steps of a test in the order in which they are executed. A run_group stands
// before the steps of its group. The zero Plan has none.
type Plan struct {
	Steps []step.Step // their ids are those of the records
	// Places are those of the steps, of the same length.
	Places []Place
	parts  int
	values int // bytes of the values of parameters
}

// Place is where in a test a step stands.
type Place struct {
	Phase string // "", step.SetUp or step.TearDown
	// Part counts the lists that the plan was made of, from 1.
	Part int
	// Group is the group that the step stands in; nil in none.
	Group *step.InGroup
	// Values are those of the parameters of that group.
	Values map[string]string
	// End is behind the last step of the group that a run_group runs; 0 for other tools.
	End int
}

// Part is a list of steps of a test.
type Part struct {
	Phase string
	// Prefix begins the ids of the steps, so that those of all parts differ.
	Prefix string
	Steps  []step.Step
}

// Add adds the steps of a part, with those of the groups that they run. The errors are
// those of Check.
func (p *Plan) Add(part Part, groups Groups) error {
	p.parts++
	return p.add(part.Steps, walk{groups: groups, phase: part.Phase, prefix: part.Prefix})
}

// References returns the variables that the steps, the values of parameters and some
// addresses refer to, as step.References. Parameters are none of them.
func (p *Plan) References(addresses ...string) []step.Reference {
	texts := slices.Clone(addresses)
	var last map[string]string
	for i := range p.Places {
		if values := p.Places[i].Values; len(values) > 0 && !maps.Equal(values, last) {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				texts = append(texts, values[name])
			}
			last = values
		}
	}
	return slices.DeleteFunc(step.References(p.Steps, texts...), func(r step.Reference) bool { return r.Scope == step.ScopeParam })
}

// Opens returns the address that the first step opens; "" where that is another one.
func (p *Plan) Opens() string {
	for i := FirstOnPage(p.Steps, p.Places); i < len(p.Steps); i++ {
		switch p.Steps[i].Tool.Type {
		case step.RunGroup:
			continue
		case step.GoToURL:
			address, err := step.FillParameters(p.Steps[i].Tool.Args.URL, p.Places[i].Values)
			if err != nil {
				return ""
			}
			return address
		}
		return ""
	}
	return ""
}

// FirstOnPage returns the first step for which the test's address is opened: those before it only
// set what the page is to find, or run groups whose steps do. It is that behind the last step, or
// behind the last before the tear-down, when there is none.
func FirstOnPage(steps []step.Step, places []Place) int {
	for i := range steps {
		s := &steps[i]
		if i < len(places) && places[i].Phase == step.TearDown || s.When != nil {
			return i
		}
		if !step.Sets(s.Tool.Type) && (s.Tool.Type != step.RunGroup || s.Optional) {
			return i
		}
	}
	return len(steps)
}

// walk is the way to a list of steps.
type walk struct {
	groups        Groups
	phase, prefix string
	// root is the path of the groupId in the part through which the list was come to; "" in
	// the part itself.
	root   string
	chain  []*Group // around the list, from outside in
	values map[string]string
}

func (p *Plan) add(steps []step.Step, w walk) error {
	for i := range steps {
		if len(p.Steps) == step.MaxSteps {
			return w.invalid(i, "", "is one step too many: with its step groups a test has at most %d", step.MaxSteps)
		}
		at, s, place := len(p.Steps), steps[i], Place{Phase: w.phase, Part: p.parts, Values: w.values}
		if n := len(w.chain); n > 0 {
			g := w.chain[n-1]
			place.Group = &step.InGroup{ID: g.ID, Name: g.Name, RevisionID: g.RevisionID, StepID: s.ID, Depth: n}
		}
		s.ID = w.prefix + s.ID
		p.Steps, p.Places = append(p.Steps, s), append(p.Places, place)
		if s.Tool.Type != step.RunGroup {
			continue
		}
		if err := p.run(&s, i, w); err != nil {
			return err
		}
		p.Places[at].End = len(p.Steps)
	}
	return nil
}

// run adds the steps of the group that a step runs.
func (p *Plan) run(s *step.Step, i int, w walk) error {
	g := w.groups[s.Tool.Args.GroupID]
	if g == nil {
		return &MissingError{Path: w.pathOf(i), ID: s.Tool.Args.GroupID}
	}
	chain := append(w.chain[:len(w.chain):len(w.chain)], g)
	for k, around := range w.chain {
		if around.ID == g.ID {
			return w.invalid(i, ".tool.args.groupId", "is of a step group that would run itself: %s", names(chain[k:]))
		}
	}
	if len(chain) > MaxDepth {
		return w.invalid(i, ".tool.args.groupId", "is of a step group in more than %d others: %s", MaxDepth-1, names(chain))
	}
	values, at, err := g.valuesFor(s, w.values)
	if err != nil {
		return w.invalid(i, ".tool.args.with"+at, "%v", err)
	}
	for _, value := range values {
		p.values += len(value)
	}
	if p.values > maxValues {
		return w.invalid(i, ".tool.args.with", "is too much: the values of all parameters of a test have at most %d MiB", maxValues>>20)
	}
	inner := walk{groups: w.groups, phase: w.phase, prefix: s.ID + "/", root: w.pathOf(i), chain: chain, values: values}
	return p.add(g.Steps, inner)
}

// pathOf is the path of the groupId of a step in the part: that of the step or, in a group,
// of the step through which that is run.
func (w *walk) pathOf(i int) string {
	if w.root != "" {
		return w.root
	}
	return fmt.Sprintf("[%d].tool.args.groupId", i)
}

// invalid names a member of a step. What is wrong inside of a group is said of the groupId
// that leads there.
func (w *walk) invalid(i int, member, format string, args ...any) error {
	text, at := fmt.Sprintf(format, args...), fmt.Sprintf("[%d]%s", i, member)
	if w.root == "" {
		return invalid(at, "%s", text)
	}
	return invalid(w.root, "is of a step group that cannot be run: steps%s of %q %s", at, w.chain[len(w.chain)-1].Name, text)
}

// names writes a chain of groups.
func names(chain []*Group) string {
	list := make([]string, len(chain))
	for i, g := range chain {
		list[i] = g.Name
	}
	return strings.Join(list, " > ")
}
