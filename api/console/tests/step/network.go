package step

import (
	"fmt"
	"strings"
)

// networkArguments are those of the tools that answer requests and wait for them.
type networkArguments struct {
	Method string `json:"method"`
	Status *int   `json:"status"`
	Times  int    `json:"times"`
	Answer *struct {
		Status *int `json:"status"`
	} `json:"answer"`
	Abort  string `json:"abort"`
	Change *struct {
		URLTo  string `json:"urlTo"`
		Status *int   `json:"status"`
	} `json:"change"`
	Delay *int `json:"delay"`
}

// words says which requests one of these tools means, and what it does with them; "" for another
// tool.
func (a *networkArguments) words(tool, address string) string {
	switch tool {
	case "route", "wait_for_request", "wait_for_response":
	default:
		return ""
	}
	text := strings.TrimSpace(a.Method + " " + address)
	with := func(status *int) {
		if status != nil {
			text += fmt.Sprintf(" with the status %d", *status)
		}
	}
	with(a.Status)
	if a.Answer != nil {
		with(a.Answer.Status)
	}
	if a.Abort != "" {
		text += " by failing: " + a.Abort
	}
	if a.Change != nil {
		if a.Change.URLTo != "" {
			text += " from " + a.Change.URLTo
		}
		with(a.Change.Status)
	}
	if a.Delay != nil {
		text += fmt.Sprintf(" after %d ms", *a.Delay)
	}
	if a.Times > 0 {
		text += fmt.Sprintf(", %d times", a.Times)
	}
	return text
}
