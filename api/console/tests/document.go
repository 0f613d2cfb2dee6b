package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// indented writes a value as JSON for people.
func indented(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// readJSON reads what a person typed as JSON; the fault says in which line it is none.
func readJSON(typed, what string) (compact json.RawMessage, fault string) {
	typed = strings.TrimSpace(strings.ReplaceAll(typed, "\r\n", "\n"))
	if typed == "" {
		return nil, what + " are missing: write [] for none."
	}
	var value json.RawMessage
	err := json.Unmarshal([]byte(typed), &value)
	if err == nil {
		var b bytes.Buffer
		_ = json.Compact(&b, value) // what could be read can be written
		return b.Bytes(), ""
	}
	line := 1 + strings.Count(typed, "\n")
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) {
		line = 1 + strings.Count(typed[:min(int(wrong.Offset), len(typed))], "\n")
	}
	return nil, fmt.Sprintf("%s are no JSON, in line %d: %s.", what, line, err)
}

// text is what a member has that may be null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func joined(list []string) string { return strings.Join(list, ", ") }

// said is a notice with the warnings of the answer.
func said(notice string, warnings []string) string {
	if len(warnings) == 0 {
		return notice
	}
	return notice + " But: " + strings.Join(warnings, "; ") + "."
}
