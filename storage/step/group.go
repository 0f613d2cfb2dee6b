package step

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The phases of a test besides its own steps.
const (
	SetUp    = "setUp"
	TearDown = "tearDown"
)

// InGroup is the step group that a step of a run stands in.
type InGroup struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	RevisionID string `json:"revisionId"`
	StepID     string `json:"stepId"` // of the step in the group
	// Depth is 1 in a group of the test, 2 in a group of that group.
	Depth int `json:"depth"`
}

// Values are texts by the names of parameters. Numbers and booleans are accepted, and
// stored as text.
type Values map[string]string

// UnmarshalJSON reads an object of texts, numbers and booleans.
func (v *Values) UnmarshalJSON(text []byte) error {
	switch jsonKind(text) {
	case "null":
		return nil
	case "object":
	default:
		return wrongType[Values](text)
	}
	var given map[string]scalar
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	*v = make(Values, len(given))
	for name, value := range given {
		(*v)[name] = string(value)
	}
	return nil
}

// MaxParameters is how many parameters a step group may have.
const MaxParameters = 50

var (
	parameterName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	groupID       = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// IsParameterName reports whether a text can be the name of a parameter: that of a variable.
func IsParameterName(name string) bool { return parameterName.MatchString(name) }

// checkGroup checks the arguments of run_group. Whether there is such a group, with such
// parameters, package group checks.
func checkGroup(path string, a *Args) error {
	if a.GroupID == "" {
		return nil
	}
	if a.GroupID = strings.ToLower(a.GroupID); !groupID.MatchString(a.GroupID) {
		return Invalid(path+".groupId", "must be the id of a step group: a UUID")
	}
	if len(a.With) > MaxParameters {
		return Invalid(path+".with", "has at most %d names", MaxParameters)
	}
	for _, name := range slices.Sorted(maps.Keys(a.With)) {
		if !IsParameterName(name) {
			return Invalid(path+".with", "has a name that is not 1 to 64 lower-case letters, digits and underscores")
		}
		if err := CheckText(path+".with."+name, a.With[name], MaxText); err != nil {
			return err
		}
	}
	return nil
}

// values returns a copy of the values of parameters, mapped in the order of their names.
func (m *textMapper) values(of Values) Values {
	if of == nil {
		return nil
	}
	changed := make(Values, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		changed[name] = m.text(of[name])
	}
	return changed
}

// FillParameters replaces the parameters of a text, {{param:name}}, and leaves every other
// variable as it is. The errors are those of Expand.
func FillParameters(text string, values map[string]string) (string, error) {
	return Expand(text, fillParameter(values))
}

func fillParameter(values map[string]string) func(Reference) (string, bool) {
	return func(r Reference) (string, bool) {
		if r.Scope != ScopeParam {
			return r.String(), true
		}
		value, ok := values[r.Name]
		return value, ok
	}
}

// WithParameters returns a step with the parameters of all its texts replaced, for what
// has no parameters, such as code. The errors are those of Expand and ErrEmptyText.
func WithParameters(s Step, values map[string]string) (Step, error) {
	var err error
	fill := func(text string) (string, error) { return FillParameters(text, values) }
	if s.Tool, err = mapTool(s.Tool, fill, true); err != nil {
		return s, err
	}
	if s.When != nil {
		when, err := ExpandCondition(*s.When, fillParameter(values))
		if err != nil {
			return s, err
		}
		s.When = &when
	}
	return s, nil
}

// Parameters returns the names of the parameters that a step refers to, each once.
func Parameters(s *Step) (names []string) {
	for _, r := range References([]Step{*s}) {
		if r.Scope == ScopeParam {
			names = append(names, r.Name)
		}
	}
	return names
}
