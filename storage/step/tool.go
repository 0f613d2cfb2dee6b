package step

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

// rule is which arguments a tool has. Others are refused: they would be stored and
// never used.
type rule struct {
	needs, takes []string
	inside       bool // allowed in in_frame and in_shadow_root
}

var rules = map[string]rule{
	GoToURL:        {needs: []string{"url"}},
	Click:          {needs: []string{"selector"}, takes: pointerMembers, inside: true},
	InputText:      {needs: []string{"selector", "text"}, inside: true},
	Select:         {needs: []string{"selector", "optionValue"}, inside: true},
	EnterKeySubmit: {},
	SwitchWindow:   {needs: []string{"matcher"}},
	Pause:          {needs: []string{"time"}},
	ScrollDocument: {needs: []string{"direction"}},
	ScrollElement:  {needs: []string{"selector", "direction"}, inside: true},
	Assert:         {needs: []string{"matcher"}, takes: []string{"selector", "not"}, inside: true},
	InShadowRoot:   {needs: []string{"selector", "tool"}, inside: true},
	Finish:         {},
	InFrame:        {needs: []string{"selector", "tool"}, inside: true},
	Hover:          {needs: []string{"selector"}, takes: []string{"position", "modifiers"}, inside: true},
	Drag:           {needs: []string{"selector", "target"}, inside: true},
	UploadFile:     {takes: []string{"selector", "file", "files"}, inside: true},
	PressKey:       {needs: []string{"key"}, takes: []string{"selector"}, inside: true},
	HandleDialog:   {needs: []string{"action"}, takes: []string{"text"}},
	DoubleClick:    {needs: []string{"selector"}, takes: []string{"position", "button", "modifiers"}, inside: true},
	RightClick:     {needs: []string{"selector"}, takes: []string{"position", "modifiers", "clickCount"}, inside: true},
	TypeKeys:       {needs: []string{"text"}, takes: []string{"selector"}, inside: true},
	Back:           {},
	Forward:        {},
	Reload:         {},
	SetViewport:    {needs: []string{"width", "height"}},
	RunGroup:       {needs: []string{"groupId"}, takes: []string{"with"}},
	SetCookie:      {needs: []string{"name", "value"}, takes: []string{"domain", "path", "secure", "httpOnly", "sameSite", "expires"}},
	SetStorage:     {needs: []string{"area", "key", "value"}, takes: []string{"origin"}},
	ClearState:     {takes: []string{"cookies", "local", "session", "all"}},
	Emulate:        {takes: emulateMembers},
	SetClock:       {takes: []string{"fixed", "advance", "resume"}},
	Save:           {needs: []string{"from", "name"}, takes: []string{"selector", "attribute", "match"}, inside: true},
	ForEach:        {needs: []string{"selector", "tools"}, takes: []string{"max"}, inside: true},

	Route:           {needs: []string{"url"}, takes: []string{"method", "answer", "abort", "change", "delay", "times"}},
	Unroute:         {takes: []string{"url"}},
	WaitForRequest:  {needs: []string{"url"}, takes: []string{"method"}},
	WaitForResponse: {needs: []string{"url"}, takes: []string{"method", "status"}},
	WaitForURL:      {takes: []string{"url", "matcher"}},
	WaitForDownload: {takes: []string{"name"}},
}

// The values of directions and of actions on dialogs.
var (
	directions = []string{"up", "down", "left", "right", "top", "bottom"}
	actions    = []string{"accept", "dismiss"}
)

// Tools returns the types of all tools, in the order of their names.
func Tools() []string {
	types := slices.Collect(maps.Keys(rules))
	types = slices.AppendSeq(types, maps.Keys(mobileRules))
	slices.Sort(types)
	return types
}

// position is where a tool is nested.
type position struct {
	depth int
	// shadow is set directly inside a shadow root, where XPath does not work.
	shadow bool
}

func checkTool(path string, t *Tool, at position) error {
	r, ok := ruleOf(t.Type)
	switch {
	case t.Type == "":
		return Invalid(path+".type", "is missing")
	case !ok:
		return Invalid(path+".type", "must be one of %s", strings.Join(Tools(), ", "))
	case at.depth > 0 && !r.inside:
		return Invalid(path+".type", "%s acts on no element, so it cannot stand in another tool", t.Type)
	case at.depth > MaxNesting:
		return Invalid(path, "lies in more than %d frames and shadow roots", MaxNesting)
	}
	path += ".args"
	for _, m := range givenArguments(&t.Args) {
		if m.given && !slices.Contains(r.needs, m.name) && !slices.Contains(r.takes, m.name) {
			return Invalid(path+"."+m.name, "is no argument of %s", t.Type)
		}
		if !m.given && slices.Contains(r.needs, m.name) {
			return Invalid(path+"."+m.name, "is missing")
		}
	}
	if err := checkTexts(path, t); err != nil {
		return err
	}
	if err := checkWords(path, t); err != nil {
		return err
	}
	if err := checkMatcher(path, t, at); err != nil {
		return err
	}
	if err := checkNetwork(path, t); err != nil {
		return err
	}
	if err := checkSelector(path+".selector", t.Args.Selector, at); err != nil {
		return err
	}
	if err := checkSelector(path+".target", t.Args.Target, at); err != nil {
		return err
	}
	if err := checkSelector(path+".container", t.Args.Container, at); err != nil {
		return err
	}
	if err := checkMobile(path, t); err != nil {
		return err
	}
	if err := checkPointing(path, t); err != nil {
		return err
	}
	if err := checkState(path, t, at); err != nil {
		return err
	}
	if t.Args.Tool == nil {
		return nil
	}
	return checkTool(path+".tool", t.Args.Tool, position{depth: at.depth + 1, shadow: t.Type == InShadowRoot})
}

type member struct {
	name  string
	given bool
}

// givenArguments returns which arguments are given, except reasoning, which all
// tools allow.
func givenArguments(a *Args) []member {
	return slices.Concat([]member{
		{"url", a.URL != ""},
		{"selector", a.Selector != nil},
		{"target", a.Target != nil},
		{"text", a.Text != nil},
		{"optionValue", a.OptionValue != nil},
		{"matcher", a.Matcher != nil},
		{"not", a.Not},
		{"time", a.Time != nil},
		{"width", a.Width != nil},
		{"height", a.Height != nil},
		{"direction", a.Direction != ""},
		{"key", a.Key != ""},
		{"action", a.Action != ""},
		{"file", a.File != nil},
		{"tool", a.Tool != nil},
		{"groupId", a.GroupID != ""},
		{"with", len(a.With) > 0},
		{"files", a.Files != nil},
		{"method", a.Method != ""},
		{"status", a.Status != nil},
		{"answer", a.Answer != nil},
		{"abort", a.Abort != ""},
		{"change", a.Change != nil},
		{"delay", a.Delay != nil},
		{"times", a.Times != nil},
	}, pointingArguments(&a.Pointing), stateArguments(&a.StateArgs), mobileArguments(&a.MobileArgs))
}

func checkTexts(path string, t *Tool) error {
	a := &t.Args
	if a.URL != "" {
		if err := checkURL(path+".url", a.URL); err != nil {
			return err
		}
	}
	if t.Type == TypeKeys && *a.Text == "" {
		return Invalid(path+".text", "must have at least one character")
	}
	if err := checkGroup(path, a); err != nil {
		return err
	}
	if a.Text != nil {
		if err := CheckText(path+".text", *a.Text, MaxText); err != nil {
			return err
		}
	}
	if a.OptionValue != nil {
		if err := CheckText(path+".optionValue", *a.OptionValue, MaxText); err != nil {
			return err
		}
	}
	if err := checkFiles(path, t); err != nil {
		return err
	}
	return CheckText(path+".reasoning", a.Reasoning, MaxText)
}

func checkWords(path string, t *Tool) error {
	a := &t.Args
	if a.Time != nil && (*a.Time < 0 || *a.Time > MaxWaitMS) {
		return Invalid(path+".time", "must be 0 to %d milliseconds", MaxWaitMS)
	}
	for _, m := range []struct {
		name  string
		value *int
	}{{"width", a.Width}, {"height", a.Height}} {
		if m.value != nil && (*m.value < minViewport || *m.value > maxViewport) {
			return Invalid(path+"."+m.name, "must be %d to %d pixels", minViewport, maxViewport)
		}
	}
	if a.Direction != "" && !slices.Contains(directions, a.Direction) {
		return Invalid(path+".direction", "must be one of %s", strings.Join(directions, ", "))
	}
	if a.Action != "" && !slices.Contains(actions, a.Action) {
		return Invalid(path+".action", "must be one of %s", strings.Join(actions, ", "))
	}
	if a.Key != "" && t.Type == PressKey {
		if _, _, ok := keyboard.Parse(a.Key); !ok {
			return Invalid(path+".key", "must be a character or one of %s, with %s before it and a + between",
				strings.Join(keyboard.Keys, ", "), strings.Join(keyboard.Modifiers, ", "))
		}
	}
	return nil
}

// Inner returns the tool that acts: the innermost one of in_frame and
// in_shadow_root.
func Inner(t *Tool) *Tool {
	for (t.Type == InFrame || t.Type == InShadowRoot) && t.Args.Tool != nil {
		t = t.Args.Tool
	}
	return t
}

// Selectors returns all selectors of a tool, from outside in; the target of a drag
// comes after its element.
func (t Tool) Selectors() []*Selector {
	var list []*Selector
	for at := &t; at != nil; at = at.Args.Tool {
		if at.Args.Selector != nil {
			list = append(list, at.Args.Selector)
		}
		if at.Args.Target != nil {
			list = append(list, at.Args.Target)
		}
		if at.Args.Container != nil {
			list = append(list, at.Args.Container)
		}
		for i := range at.Args.Tools {
			list = append(list, at.Args.Tools[i].Selectors()...)
		}
	}
	return list
}
