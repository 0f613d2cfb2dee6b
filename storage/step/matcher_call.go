package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Clients also write matchers as calls: {"name":"toHaveText","args":["x"]}, with the
// names of Playwright, Jest and WebdriverIO. They are read as ours.

// call is a matcher of ours that a call stands for.
type call struct {
	Matcher
	not    bool
	takes  int    // arguments
	option string // that turns the matcher around when it is false
}

func calls(m Matcher, takes int) call { return call{Matcher: m, takes: takes} }

// state is a matcher without a value, which the option of that name turns around.
func state(name string, not bool, option string) call {
	return call{Matcher: Matcher{Name: name}, not: not, option: option}
}

var (
	present = Matcher{Name: Count, Args: MatcherArgs{Value: "1", Mode: AtLeast}}

	matcherCalls = map[string]call{
		"toBeVisible": state(Visible, false, "visible"), "toBeDisplayed": state(Visible, false, ""), "toBeHidden": state(Hidden, false, ""),
		"toBeEnabled": state(Enabled, false, "enabled"), "toBeDisabled": state(Enabled, true, ""),
		"toBeChecked": state(Checked, false, "checked"), "toBeSelected": state(Checked, false, ""), "toBeUnchecked": state(Checked, true, ""),
		"toBeFocused":    state(Focused, false, ""),
		"toBeAttached":   {Matcher: present, option: "attached"},
		"toExist":        calls(present, 0),
		"toBeExisting":   calls(present, 0),
		"toHaveText":     calls(Matcher{Name: TextIs}, 1),
		"toContainText":  calls(Matcher{Name: TextIs, Args: MatcherArgs{Mode: Contains}}, 1),
		"toHaveValue":    calls(Matcher{Name: ValueIs}, 1),
		"toContainValue": calls(Matcher{Name: ValueIs, Args: MatcherArgs{Mode: Contains}}, 1),
		"toHaveCount":    calls(Matcher{Name: Count}, 1), "toBeElementsArrayOfSize": calls(Matcher{Name: Count}, 1),
		"toHaveURL": calls(Matcher{Name: URLIs}, 1), "toHaveUrl": calls(Matcher{Name: URLIs}, 1),
		"toContainURL": calls(Matcher{Name: URLIs, Args: MatcherArgs{Mode: Contains}}, 1),
		"toHaveTitle":  calls(Matcher{Name: TitleIs}, 1), "toContainTitle": calls(Matcher{Name: TitleIs, Args: MatcherArgs{Mode: Contains}}, 1),
		"toHaveAttribute": calls(Matcher{Name: AttributeIs}, 2), "toHaveAttr": calls(Matcher{Name: AttributeIs}, 2),
		"toHaveId":   calls(Matcher{Name: AttributeIs, Args: MatcherArgs{Name: "id"}}, 1),
		"toHaveHref": calls(Matcher{Name: AttributeIs, Args: MatcherArgs{Name: "href"}}, 1),
	}
)

// readObject reads a matcher that is an object, in either form.
func (m *Matcher) readObject(text []byte) error {
	var in struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	known, isCall := matcherCalls[in.Name]
	if jsonKind(in.Args) != "array" && !isCall {
		type plain Matcher
		return json.Unmarshal(text, (*plain)(m))
	}
	if !isCall {
		known = calls(Matcher{Name: in.Name}, argumentsOf(in.Name))
	}
	*m = known.Matcher
	m.negated, m.ofPage = known.not, isCall && (m.Name == URLIs || m.Name == TitleIs)
	if jsonKind(in.Args) != "array" {
		return m.readArguments(in.Args)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(in.Args, &list); err != nil {
		return err
	}
	return m.readCall(known, list)
}

// argumentsOf is how many arguments a matcher of ours has, which also come as an array.
func argumentsOf(name string) int {
	r, ok := matcherRules[name]
	switch {
	case r.named:
		return 2
	case ok && len(r.modes) == 0, name == WindowNew:
		return 0
	}
	return 1
}

// readArguments reads arguments as members, over those of the call.
func (m *Matcher) readArguments(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, &m.Args); err != nil {
		return inArguments(err)
	}
	return nil
}

// readCall reads arguments by their place: the name of the attribute, the value, and
// an object of options.
func (m *Matcher) readCall(known call, list []json.RawMessage) error {
	if n := len(list); n > 0 && jsonKind(list[n-1]) == "object" {
		if err := m.readOptions(known, fmt.Sprintf("[%d].", n-1), list[n-1]); err != nil {
			return err
		}
		list = list[:n-1]
	}
	if len(list) > known.takes {
		m.wrong = "has too many elements for " + m.Name
		return nil
	}
	into := []*string{&m.Args.Value}
	if known.takes == 2 {
		into = []*string{&m.Args.Name, &m.Args.Value}
		if len(list) == 1 {
			m.Args.Mode = Matches // anything, if only the attribute is there
		}
	}
	for i, text := range list {
		if err := json.Unmarshal(text, (*scalar)(into[i])); err != nil {
			return inArguments(err)
		}
	}
	if len(list) == 0 && known.takes > 0 {
		m.wrong = "has too few elements for " + m.Name
	}
	return nil
}

// readOptions reads the options of a call, which are an argument at the path. Null stands
// for an absent option; one that is not known is refused whatever its value.
func (m *Matcher) readOptions(known call, path string, text []byte) error {
	var options map[string]json.RawMessage
	if err := json.Unmarshal(text, &options); err != nil {
		return inArguments(err)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		set := string(options[name])
		wrong := ""
		switch {
		case name == "message":
			m.ignored = append(m.ignored, "args"+path+name)
		case name == "timeout", name == "wait":
			if err := json.Unmarshal(options[name], &m.timeout); err != nil {
				wrong = "must be a number of milliseconds"
			}
		case known.option == "" || name != known.option:
			wrong = "is no option of " + m.Name
		case set == "false":
			m.negated = !m.negated
		case set != "true" && set != "null":
			wrong = "must be true or false"
		}
		if wrong != "" {
			m.wrong, m.wrongAt = wrong, path+shownOption(name)
			return nil
		}
	}
	return nil
}

// shownOption is the name of an option as a failure repeats it.
func shownOption(name string) string {
	if len(name) > MaxShown {
		name = name[:MaxShown] + "..."
	}
	return strings.ToValidUTF8(name, string(utf8.RuneError))
}

// takeIgnored returns the paths, beside those of the selector, that a call has and that
// mean nothing.
func (m *Matcher) takeIgnored(beside *Selector) (paths []string) {
	if m == nil {
		return nil
	}
	if m.ofPage && beside != nil && beside.Value != "" {
		paths = []string{"selector"}
	}
	for _, path := range m.ignored {
		paths = append(paths, "matcher."+path)
	}
	m.ignored = nil
	return paths
}

// TakeIgnored returns the paths of what calls among decoded steps have and what means
// nothing: the selector of one that looks at the page, and messages for failures. It
// returns each once.
func TakeIgnored(steps []Step) (paths []string) {
	take := func(path string, of *[]string) {
		for _, name := range *of {
			paths = append(paths, path+"."+name)
		}
		*of = nil
	}
	for i := range steps {
		path := fmt.Sprintf("[%d]", i)
		if when := steps[i].When; when != nil {
			take(path+".when", &when.ignored)
		}
		for t := &steps[i].Tool; t != nil; t = t.Args.Tool {
			path += ".tool"
			take(path+".args", &t.Args.ignored)
			path += ".args"
		}
	}
	return paths
}

// takeTimeout returns the time that a call waits; nil when it does not say.
func (m *Matcher) takeTimeout() *int {
	if m == nil {
		return nil
	}
	timeout := m.timeout
	m.timeout = nil
	return timeout
}

// settleTimeout makes the time that a call waits that of the step or condition that it is in.
func settleTimeout(path string, into *int, ofCall **int) error {
	if *ofCall == nil {
		return nil
	}
	if *into != 0 && *into != **ofCall {
		return Invalid(path+".timeoutMs", "must not differ from the timeout of the matcher")
	}
	*into, *ofCall = **ofCall, nil
	return nil
}

// inArguments puts the path of the arguments before that of a wrong type.
func inArguments(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		wrong.Field = strings.TrimSuffix("args."+wrong.Field, ".")
	}
	return err
}

// without returns a selector, nil where the matcher came as a call that looks at the
// page: clients that write calls have a selector in every assertion.
func (m *Matcher) without(s *Selector) *Selector {
	if m == nil || !m.ofPage {
		return s
	}
	m.ofPage = false
	return nil
}

// turn returns not, turned around where the matcher was written as its opposite.
func (m *Matcher) turn(not bool) bool {
	if m == nil || !m.negated {
		return not
	}
	m.negated = false
	return !not
}
