package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

const (
	// maxShownSelector bounds each text of a selector in a message, in bytes.
	maxShownSelector = 120
	// maxShownMatch bounds the text of each match in a message, in bytes.
	maxShownMatch = 40
)

// SeveralFailure is the failure of a step whose selector does not say which element
// it means.
func (s *Session) SeveralFailure(found *page.Several) *failure.Failure {
	var list []string
	for _, c := range found.Candidates {
		shown := s.Quote(c.What, 80)
		if c.Text != "" {
			shown += fmt.Sprintf(" %q", s.Quote(c.Text, maxShownMatch))
		}
		list = append(list, shown)
	}
	if found.Count > len(list) {
		list = append(list, "...")
	}
	return failure.Stepf("%s: %d elements match, and the step does not say which: %s", s.ShowSelector(found.Selector), found.Count,
		strings.Join(list, ", "))
}

// NoteFirst notes that the first of several matches was used, once.
func (x *Execution) NoteFirst(count int) {
	text := fmt.Sprintf("%d elements match; the first was used", count)
	if count > 1 && !slices.Contains(x.notes, text) {
		x.Note("%s", text)
	}
}

// ShowSelector returns a selector for a message, as in
// role button "Save" within css #dialog.
func (s *Session) ShowSelector(p page.Selector) string {
	quoted := func(text string) string { return fmt.Sprintf("%q", s.Quote(text, maxShownSelector)) }
	parts := []string{p.Type}
	switch p.Type {
	case step.CSS, step.XPath, step.ByRole:
		parts = append(parts, s.Quote(p.Value, maxShownSelector))
	default:
		parts = append(parts, quoted(p.Value))
	}
	if p.Name != "" {
		parts = append(parts, quoted(p.Name))
	}
	if p.Level != 0 {
		parts = append(parts, fmt.Sprintf("level %d", p.Level))
	}
	for _, state := range slices.Sorted(maps.Keys(p.State)) {
		if p.State[state] {
			parts = append(parts, state)
		} else {
			parts = append(parts, "not "+state)
		}
	}
	if p.Has != nil {
		parts = append(parts, "with "+s.ShowSelector(*p.Has))
	}
	if p.HasText != "" {
		parts = append(parts, "with text "+quoted(p.HasText))
	}
	for _, r := range p.Lies {
		parts = append(parts, r.Where+" "+s.ShowSelector(r.Of))
	}
	if p.Index != nil {
		parts = append(parts, fmt.Sprintf("index %d", *p.Index))
	}
	if p.Within != nil {
		parts = append(parts, "within "+s.ShowSelector(*p.Within))
	}
	return strings.Join(parts, " ")
}
