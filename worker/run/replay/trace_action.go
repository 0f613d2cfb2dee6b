package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// actionOf returns what a trace says of a step. Variables stay what they are.
func (t *testExecution) actionOf(i int) trace.Action {
	if t.Tracer == nil {
		return trace.Action{}
	}
	s, at := &t.Steps[i], t.Place(i)
	inner := session.Innermost(s.Tool)
	params := map[string]string{"step": s.ID}
	if doc, err := json.Marshal(inner.Args); err == nil && len(doc) < 4<<10 {
		params["args"] = string(doc)
	}
	if at.Phase != "" {
		params["phase"] = at.Phase
	}
	if at.Group != nil {
		params["group"] = fmt.Sprintf("%s (%s)", at.Group.Name, at.Group.ID)
	}
	return trace.Action{Title: titleOf(t, i), Class: session.Traced, Method: inner.Type, Params: params}
}

// titleOf names a step for people. Variables stay what they are.
func titleOf(t *testExecution, i int) string {
	inner := session.Innermost(t.Steps[i].Tool)
	words := []string{strings.ReplaceAll(inner.Type, "_", " ")}
	if inner.Type == step.RunGroup {
		words = append(words, fmt.Sprintf("%q", failure.Bounded(t.groupName(i), 100)))
	}
	if inner.Args.Selector != nil {
		words = append(words, t.ShowSelector(page.SelectorOf(inner.Args.Selector)))
	}
	if m := inner.Args.Matcher; m != nil {
		words = append(words, m.Name)
	}
	for _, text := range []string{inner.Args.URL, session.Text(inner.Args.Text), session.Text(inner.Args.OptionValue), inner.Args.Key} {
		if text != "" {
			words = append(words, fmt.Sprintf("%q", failure.Bounded(text, 100)))
		}
	}
	title := strings.Join(words, " ")
	return strings.ToUpper(title[:1]) + title[1:]
}

// phaseOf returns what a trace says of the steps before or after a test.
func phaseOf(phase string) trace.Action {
	title := "Set-up"
	if phase == step.TearDown {
		title = "Tear-down"
	}
	return trace.Action{Title: title, Class: session.Traced, Method: phase}
}
