package model

import (
	"encoding/json"
	"errors"
	"strings"
)

// The answers of a model are arguments of tools. A reading has goals, a goal has slots, and all
// texts in them are parts of the text that was asked about: the program finds each one there and
// refuses an answer with others. What a goal may say is a part of what intent.Goal has.

// readArguments are those of the tool that gives readings.
type readArguments struct {
	Readings []jsonReading `json:"readings"`
	Reason   string        `json:"reason"`
}

// pickArguments are those of the tool that picks a thing.
type pickArguments struct {
	Index  *int   `json:"index"`
	Reason string `json:"reason"`
}

// noAnswerArguments are those of the tool that gives no answer.
type noAnswerArguments struct {
	Reason string `json:"reason"`
}

type jsonReading struct {
	Goals []jsonGoal `json:"goals"`
}

type jsonGoal struct {
	Text       string      `json:"text"`   // its part of the text
	Effect     string      `json:"effect"` // one of effects
	Verb       string      `json:"verb"`   // the words that ask for it
	Target     []jsonThing `json:"target"` // what it is done to
	To         *jsonThing  `json:"to"`
	From       *jsonThing  `json:"from"`
	In         *jsonThing  `json:"in"`
	With       *jsonThing  `json:"with"`
	Measure    *jsonThing  `json:"measure"` // of sort
	Become     string      `json:"become"`  // the state that the target has then
	Value      string      `json:"value"`   // what is typed, searched for, edited to
	Amount     string      `json:"amount"`  // stars, page, seconds, by how much
	Fields     []jsonField `json:"fields"`
	Place      string      `json:"place"` // one of places
	Keys       string      `json:"keys"`  // "Enter", "Control+a"
	Times      int         `json:"times"`
	Descending bool        `json:"descending"`
	On         bool        `json:"on"`
	Forbidden  bool        `json:"forbidden"` // must not happen
	Expected   bool        `json:"expected"`  // must fail
	Optional   bool        `json:"optional"`
	Otherwise  bool        `json:"otherwise"`
	Claim      *jsonClaim  `json:"claim"` // of check
	If         *jsonClaim  `json:"if"`
	// Words are further words of the text that say the same as the effect: "again", "please".
	Words []string `json:"words"`
}

type jsonField struct {
	Name  *jsonThing `json:"name"`
	Value string     `json:"value"`
	Off   bool       `json:"off"`
	Keep  bool       `json:"keep"`
}

type jsonThing struct {
	Words   string       `json:"words"` // that name it, without articles and Noun
	Noun    string       `json:"noun"`  // the word for what kind of thing it is
	Kind    string       `json:"kind"`  // one of kinds
	Quoted  bool         `json:"quoted"`
	Ordinal int          `json:"ordinal"` // 1 first, -1 last
	All     bool         `json:"all"`
	Both    bool         `json:"both"`
	Only    bool         `json:"only"`
	Next    bool         `json:"next"`
	Other   bool         `json:"other"`
	Pronoun bool         `json:"pronoun"`
	Count   int          `json:"count"`
	Flags   []string     `json:"flags"` // the words for the seven above
	Extreme *jsonExtreme `json:"extreme"`
	States  []jsonState  `json:"states"`
	Of      *jsonThing   `json:"of"`
	In      *jsonThing   `json:"in"`
	Having  []jsonThing  `json:"having"`
	Lacking []jsonThing  `json:"lacking"`
	Except  []jsonThing  `json:"except"`
}

type jsonExtreme struct {
	Words   string `json:"words"`   // "cheapest", "most"
	Measure string `json:"measure"` // price, date, number ...; "" with Noun
	Noun    string `json:"noun"`    // "sugar" of "the most sugar"
	Max     bool   `json:"max"`
}

type jsonState struct {
	Words string `json:"words"`
	Name  string `json:"name"` // checked, disabled, selected, empty ...
	Not   bool   `json:"not"`
}

type jsonClaim struct {
	Subject    []jsonThing `json:"subject"`
	Property   string      `json:"property"` // one of properties
	Not        bool        `json:"not"`
	Only       bool        `json:"only"`
	Values     []string    `json:"values"`
	States     []jsonState `json:"states"`
	Where      *jsonThing  `json:"where"`
	By         *jsonThing  `json:"by"`
	Op         string      `json:"op"` // one of operators
	Descending bool        `json:"descending"`
	Words      []string    `json:"words"` // the words for the property: "is displayed"
}

// What answers may say. The effects are those of intent.Effect, and so on.
var (
	effects = []string{"add", "remove", "complete", "reopen", "toggle", "set", "choose", "rate", "open", "close", "expand", "collapse", "sort",
		"filter", "search", "page", "move", "submit", "abandon", "confirm", "sign_in", "sign_out", "navigate", "edit", "append", "clear",
		"increase", "decrease", "press", "type", "point", "select", "scroll", "wait", "check", "act"}
	kinds = []string{"button", "link", "field", "checkbox", "radio", "list", "option", "tab", "menu", "dialog", "section", "form", "icon",
		"image", "row", "column", "cell", "table", "card", "item", "page", "message", "heading", "tree", "slider", "switch", "window", "frame",
		"text", "value", "total", "count"}
	properties = []string{"shown", "gone", "appears", "vanishes", "is", "contains", "counts", "order", "at", "in",
		"unchanged", "address", "title", "asked"}
	places = []string{"before", "after", "first", "last", "next", "previous", "top", "bottom", "left", "right", "back",
		"forward", "reload"}
	operators = []string{"=", ">=", "<=", ">", "<", "contains", "starts", "ends"}
)

// goalFormat is the schema in words: as JSON schema it has ten times the tokens, in each call.
func goalFormat() string {
	return `A reading is {"goals": [goal]}. Leave out what is not said. All texts are words of the text, exactly as they stand in it.
goal: {"text": its whole part of the text, "effect": see below, "verb": the words that ask for it, "target": [thing] that it is done to, "to": thing, "from": thing,
"in": thing that holds all of it, "with": thing by which it is done, "measure": thing to sort by, "become": the state that the target has then,
"value": what is typed, searched for or edited to, "amount": stars, page, seconds, by how much, "fields": [{"name": thing, "value": text, "off": bool, "keep": bool}],
"place": see below, "keys": such as Enter or Control+a, "times": number, "descending": bool, "on": bool of toggle, "forbidden": true where it must not be done,
"expected": true where it must fail, "optional": bool, "if": claim, "otherwise": true where the if of the goal before did not hold, "claim": claim of check,
"words": [further words that mean nothing more than the effect]}
thing: {"words": that name it, without articles and noun, "noun": the word for what kind of thing it is, "kind": see below, "quoted": bool, "ordinal": 1 first, -1 last,
"all": bool, "both": bool, "only": bool, "next": bool, "other": bool, "count": number, "flags": [the words for these seven], "pronoun": true for it, them, that one,
"extreme": {"words": such as cheapest, "measure": price, date, duration, size, number, rating, name or age, "noun": sugar in the most sugar, "max": bool},
"states": [state], "of": thing, "in": thing, "having": [thing], "lacking": [thing], "except": [thing]}
state: {"words": text, "name": checked, unchecked, selected, disabled, enabled, empty, open, closed, visible, hidden and so on, "not": bool}
claim: {"subject": [thing], "property": see below, "not": bool, "only": nothing else of the kind, "values": [text], "states": [state], "where": thing, "by": thing,
"op": see below, "descending": bool, "words": [the words for the property]}
effects: ` + strings.Join(effects, ", ") + `
kinds: ` + strings.Join(kinds, ", ") + `
properties: ` + strings.Join(properties, ", ") + `
places: ` + strings.Join(places, ", ") + `
op: ` + strings.Join(operators, ", ")
}

// object is a schema of an object.
func object(required []string, properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func kindOf(name, description string) map[string]any {
	return map[string]any{"type": name, "description": description}
}

// tool returns a tool whose arguments are an object.
func tool(name, description string, required []string, properties map[string]any) Tool {
	schema, err := json.Marshal(object(required, properties))
	if err != nil {
		panic("model: " + err.Error()) // of our own, held by a test
	}
	return Tool{Name: name, Description: description, Schema: schema}
}

// The names of the tools of answers.
const (
	toolRead     = "read"
	toolPick     = "pick"
	toolNoAnswer = "no_answer"
)

func readTool() Tool {
	readings := map[string]any{"type": "array", "description": "The best one to three readings.", "items": map[string]any{"type": "object"}}
	return tool(toolRead, "Give the goals of the text. Every word of it that says something has its place.", []string{"readings"},
		map[string]any{"readings": readings, "reason": kindOf("string", "Why.")})
}

func pickTool() Tool {
	return tool(toolPick, "Say which of the things is meant.", []string{"index"},
		map[string]any{"index": kindOf("integer", "The number before the thing."), "reason": kindOf("string", "Why, in some words.")})
}

func noAnswerTool() Tool {
	return tool(toolNoAnswer, "Say that there is no clear answer. Better than a guess.", []string{"reason"},
		map[string]any{"reason": kindOf("string", "Why.")})
}

// maxArguments bounds the arguments of a call, in bytes: three readings of the longest text.
const maxArguments = 256 << 10

// decode reads the arguments of a call. Its error is for the model.
func decode(arguments json.RawMessage, into any) error {
	if len(arguments) > maxArguments {
		return errors.New("the arguments are too long")
	}
	if !isObject(arguments) {
		return errors.New("the arguments are not a JSON object; call the tool again")
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return errors.New(wrong.Field + " has the wrong type")
		}
		return errors.New("the arguments cannot be read")
	}
	return nil
}
