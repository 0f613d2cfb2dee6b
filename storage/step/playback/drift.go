package playback

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// Drifted is set when the selector of an action found another element than the one that
// its fingerprint describes.
type Drifted struct {
	Expected Described `json:"expected"`
	Found    Described `json:"found"`
	Reason   string    `json:"reason"` // what contradicts, in words
	Acted    bool      `json:"acted"`  // the step acted on the element all the same
	// From is the selector as the step has it, and To the same one with the fingerprint
	// of the element that was found. They are no part of a stored record.
	From step.Selector `json:"-"`
	To   step.Selector `json:"-"`
}

// Text returns for people what was expected and what was found.
func (d *Drifted) Text() string {
	return "expected " + d.Expected.text() + ", found " + d.Found.text()
}

func (e Described) text() string {
	text := e.Role
	if e.Name != "" {
		text += fmt.Sprintf(" %q", shortened(e.Name))
	}
	if len(e.Row) > 0 {
		text += fmt.Sprintf(" in the row %q", shortened(strings.Join(e.Row, " | ")))
	}
	return text
}

func shortened(text string) string {
	if letters := []rune(text); len(letters) > step.MaxShown {
		return string(letters[:step.MaxShown]) + "…"
	}
	return text
}

// Described is what people see of an element: its role, its accessible name or text,
// and the first texts of the row that it is in.
type Described struct {
	Role string   `json:"role"`
	Name string   `json:"name"`
	Row  []string `json:"row"`
}
