package testfile

import (
	"encoding/json"
	"fmt"
)

// Sentence is a step with its number in a line for people.
func (s *Step) Sentence(number int) string {
	var body struct {
		Tool struct {
			Type string          `json:"type"`
			Args json.RawMessage `json:"args"`
		} `json:"tool"`
	}
	if err := json.Unmarshal(s.Body, &body); err != nil {
		return fmt.Sprintf("%d.", number)
	}
	return fmt.Sprintf("%d. %s", number, Words(body.Tool.Type, body.Tool.Args))
}

// Words says what a tool does, with where and what: click button "Save". Within frames and
// shadow roots it is the tool inside.
func Words(tool string, args json.RawMessage) string {
	var a struct {
		URL      string `json:"url"`
		Text     string `json:"text"`
		Key      string `json:"key"`
		Name     string `json:"name"`
		Option   string `json:"optionValue"`
		Selector struct {
			Type  string `json:"type"`
			Value string `json:"value"`
			Name  string `json:"name"`
		} `json:"selector"`
		Matcher struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"matcher"`
		Tool *struct {
			Type string          `json:"type"`
			Args json.RawMessage `json:"args"`
		} `json:"tool"`
	}
	if json.Unmarshal(args, &a) != nil {
		return tool
	}
	if a.Tool != nil {
		return tool + ": " + Words(a.Tool.Type, a.Tool.Args)
	}
	line := tool
	line += words(a.URL) + words(a.Key) + words(a.Name)
	switch {
	case a.Selector.Name != "":
		line += fmt.Sprintf(" %s %q", a.Selector.Value, a.Selector.Name)
	case a.Selector.Value != "":
		line += fmt.Sprintf(" %s %s", a.Selector.Type, a.Selector.Value)
	}
	if a.Matcher.Name != "" {
		line += " " + a.Matcher.Name
		var value struct {
			Value any    `json:"value"`
			URL   string `json:"url"`
			Name  string `json:"name"`
		}
		if json.Unmarshal(a.Matcher.Args, &value) == nil {
			line += words(value.URL) + words(value.Name)
			if value.Value != nil {
				line += fmt.Sprintf(" %q", fmt.Sprint(value.Value))
			}
		}
	}
	if text := a.Text + a.Option; text != "" {
		line += fmt.Sprintf(" with %q", text)
	}
	return line
}

// words are a text behind others; "" for none.
func words(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}
