package model

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// The tools that are no steps.
const (
	toolDone   = "done"
	toolGiveUp = "give_up"
)

// toolSpec is a tool that an agent offers: its name, what it is for, and its arguments.
type toolSpec struct {
	name, description string
	arguments         []argument
}

// argument is one of a tool.
type argument struct {
	name, kind, description string
	required                bool
	oneOf                   []string
}

func need(name, kind, description string, oneOf ...string) argument {
	return argument{name, kind, description, true, oneOf}
}

func may(name, kind, description string, oneOf ...string) argument {
	return argument{name, kind, description, false, oneOf}
}

var (
	aRef  = need("ref", "string", "The ref of the element in the page, such as e12.")
	aMode = may("mode", "string", "How to compare; equals by default.", step.Equals, step.Contains)
	aNot  = may("not", "boolean", "Assert the opposite.")
	aText = need("text", "string", "The text.")
)

// toolSpecs are the tools. Each becomes one step of the test, but the last two.
var toolSpecs = []toolSpec{
	{step.Click, "Click an element.", []argument{aRef}},
	{step.DoubleClick, "Double-click an element.", []argument{aRef}},
	{step.RightClick, "Open the context menu of an element.", []argument{aRef}},
	{step.Hover, "Move the mouse over an element.", []argument{aRef}},
	{"fill", "Replace what a field holds.", []argument{aRef, need("text", "string", "What to type: as the task writes it.")}},
	{step.TypeKeys, "Type into an element key by key, after what is there.", []argument{aRef, need("text", "string", "What to type.")}},
	{step.Select, "Choose an option of a native select element.", []argument{aRef, need("option", "string", "The option's label.")}},
	{step.PressKey, "Press a key, in an element or where the focus is.",
		[]argument{need("key", "string", "Such as Enter, Escape, ArrowDown, Control+a."), may("ref", "string", "The element.")}},
	{"scroll", "Scroll the page, or an element.", []argument{
		need("direction", "string", "Where to.", "up", "down", "left", "right", "top", "bottom"), may("ref", "string", "The element.")}},
	{step.Drag, "Drag an element onto another one.", []argument{
		need("from", "string", "The ref of the element."), need("to", "string", "The ref of where it goes.")}},
	{step.GoToURL, "Open an address that the task names.", []argument{need("url", "string", "The address.")}},
	{"wait", "Wait, when the page needs time and the task says so.", []argument{need("milliseconds", "integer", "At most 10000.")}},
	{step.HandleDialog, "Answer the browser's open dialog.", []argument{
		need("action", "string", "What to do.", "accept", "dismiss"), may("text", "string", "The text for a prompt.")}},
	{step.SwitchWindow, "Go on in another window: the newest, or the one of an index.", []argument{
		may("index", "integer", "From 0 in the order of opening; without it the newest.")}},
	{"assert_visible", "Assert that an element is visible.", []argument{aRef}},
	{"assert_absent", "Assert that nothing on the page shows a text.", []argument{aText}},
	{"assert_text", "Assert the text of an element.", []argument{aRef, aText, aMode, aNot}},
	{"assert_value", "Assert what a field holds.", []argument{aRef, aText, aMode, aNot}},
	{"assert_checked", "Assert that an element is checked.", []argument{aRef, aNot}},
	{"assert_enabled", "Assert that an element can be used.", []argument{aRef, aNot}},
	{"assert_count", "Assert how many elements of a role there are.", []argument{
		need("role", "string", "The ARIA role."), may("name", "string", "The accessible name."), need("count", "integer", "How many."),
		may("mode", "string", "How to compare; equals by default.", step.Equals, step.AtLeast, step.AtMost)}},
	{"assert_url", "Assert the address of the page.", []argument{aText, aMode}},
	{"assert_title", "Assert the title of the page.", []argument{aText, aMode}},
	{toolDone, "Say that the task is done, when the page shows that it is.", []argument{need("summary", "string", "What was done.")}},
	{toolGiveUp, "Say that the task cannot be done, or that it is not clear what it means. Better than a guess.",
		[]argument{need("reason", "string", "Why.")}},
}

// agentTools returns the tools as a request has them.
func agentTools() ([]Tool, error) {
	list := make([]Tool, 0, len(toolSpecs))
	for _, spec := range toolSpecs {
		properties, required := map[string]any{}, []string{}
		arguments := spec.arguments
		if spec.name != toolDone && spec.name != toolGiveUp {
			arguments = append(slices.Clip(arguments), may("reason", "string", "Why, in some words."))
		}
		for _, a := range arguments {
			property := map[string]any{"type": a.kind, "description": a.description}
			if len(a.oneOf) > 0 {
				property["enum"] = a.oneOf
			}
			properties[a.name] = property
			if a.required {
				required = append(required, a.name)
			}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required,
			"additionalProperties": false})
		if err != nil {
			return nil, err
		}
		list = append(list, Tool{Name: spec.name, Description: spec.description, Schema: schema})
	}
	return list, nil
}

// arguments are those of all tools.
type arguments struct {
	Ref          string  `json:"ref"`
	From         string  `json:"from"`
	To           string  `json:"to"`
	Text         *string `json:"text"`
	Option       *string `json:"option"`
	Key          string  `json:"key"`
	Direction    string  `json:"direction"`
	URL          string  `json:"url"`
	Mode         string  `json:"mode"`
	Role         string  `json:"role"`
	Name         string  `json:"name"`
	Action       string  `json:"action"`
	Milliseconds *int    `json:"milliseconds"`
	Count        *int    `json:"count"`
	Index        *int    `json:"index"`
	Not          bool    `json:"not"`
	Reason       string  `json:"reason"`
	Summary      string  `json:"summary"`
}

// maxArguments bounds the arguments of a call, in bytes: the longest text with its
// escapes.
const maxArguments = 64 << 10

// errTool is a call of a tool that there is not.
var errTool = errors.New("there is no such tool; call one of those that are listed")

// readCall reads the arguments of a call, by the rules of its tool.
func readCall(call *ToolCall) (arguments, error) {
	var args arguments
	i := slices.IndexFunc(toolSpecs, func(s toolSpec) bool { return s.name == call.Name })
	if i < 0 {
		return args, errTool
	}
	if len(call.Arguments) > maxArguments {
		return args, errors.New("the arguments are too long")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(call.Arguments, &members) != nil || members == nil {
		return args, errors.New("the arguments are not a JSON object; call the tool again")
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return args, errors.New(wrong.Field + " has the wrong type")
		}
		return args, errors.New("the arguments cannot be read")
	}
	for _, a := range toolSpecs[i].arguments {
		value, given := members[a.name]
		given = given && string(value) != "null" && (string(value) != `""` || a.name == "text" || a.name == "option")
		switch {
		case a.required && !given:
			return args, errors.New(a.name + " is missing")
		case given && len(a.oneOf) > 0 && !slices.Contains(a.oneOf, text(value)):
			return args, errors.New(a.name + " must be one of " + strings.Join(a.oneOf, ", "))
		}
	}
	args.Ref, args.From, args.To = ref(args.Ref), ref(args.From), ref(args.To)
	return args, nil
}

// ref reads a ref as models write it: e12, ref=e12, [ref=e12].
func ref(text string) string {
	return strings.TrimPrefix(strings.Trim(strings.TrimSpace(text), "[]"), "ref=")
}
