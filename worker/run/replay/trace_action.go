package replay

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// actionOf returns what a trace says of a step. Variables stay what they are.
func (t *testExecution) actionOf(i int) trace.Action {
	if t.tracer == nil {
		return trace.Action{}
	}
	s, at := &t.Steps[i], t.place(i)
	inner := innermost(s.Tool)
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
	return trace.Action{Title: titleOf(t, i), Class: traced, Method: inner.Type, Params: params}
}

// titleOf names a step for people. Variables stay what they are.
func titleOf(t *testExecution, i int) string {
	inner := innermost(t.Steps[i].Tool)
	words := []string{strings.ReplaceAll(inner.Type, "_", " ")}
	if inner.Type == step.RunGroup {
		words = append(words, fmt.Sprintf("%q", bounded(t.groupName(i), 100)))
	}
	if inner.Args.Selector != nil {
		words = append(words, t.showSelector(pageSelectorOf(inner.Args.Selector)))
	}
	if m := inner.Args.Matcher; m != nil {
		words = append(words, m.Name)
	}
	for _, text := range []string{inner.Args.URL, text(inner.Args.Text), text(inner.Args.OptionValue), inner.Args.Key} {
		if text != "" {
			words = append(words, fmt.Sprintf("%q", bounded(text, 100)))
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
	return trace.Action{Title: title, Class: traced, Method: phase}
}

// beginWhole begins an action of which those that follow are parts, until endWhole.
func (t *tracer) beginWhole(a trace.Action) {
	if t != nil {
		t.begin(a)
		t.wholes = append(t.wholes, t.call)
	}
}

// endWhole ends the action that beginWhole began last; failed is "" where it did what it should.
func (t *tracer) endWhole(failed string) {
	if t == nil || len(t.wholes) == 0 {
		return
	}
	last := len(t.wholes) - 1
	t.recorder.EndWhole(t.wholes[last], failed)
	t.call, t.wholes = "", t.wholes[:last]
}

// endGroup ends the action of a step that ran a group.
func (t *tracer) endGroup(record step.Record) {
	if t == nil || len(t.wholes) == 0 {
		return
	}
	failed := ""
	if record.Status == step.Failed {
		failed = record.Result.Message
	} else {
		t.recorder.Log(t.wholes[len(t.wholes)-1], record.Result.Message)
	}
	t.endWhole(failed)
}
