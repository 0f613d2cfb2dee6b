package plan_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// spanOf is where a part stands in a text.
func spanOf(text, part string) intent.Span {
	i := strings.Index(text, part)
	return intent.Span{From: i, To: i + len(part)}
}

// remove is a goal that somebody else reads: to remove a thing, with the words that ask for it.
func remove(text, verb, thing string) intent.Goal {
	g := intent.Goal{Span: intent.Span{To: len(text)}, Effect: intent.Remove, Verb: spanOf(text, verb), Lemma: strings.ToLower(verb)}
	d := intent.Description{Span: spanOf(text, thing)}
	for w := range strings.FieldsSeq(thing) {
		d.Words = append(d.Words, intent.Word{Span: spanOf(text, w), Text: w})
	}
	g.Target = []intent.Description{d}
	return g
}

func TestAnsweredReadings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		goal       func(text string) intent.Goal
		left       int    // tasks
		decided    string // that must be in what was decided
	}{
		{"a verb of another language", "Usuń Walk the dog", func(s string) intent.Goal { return remove(s, "Usuń", "Walk the dog") },
			2, "read the text"},
		{"a verb that does not destroy", "Open Walk the dog", func(s string) intent.Goal {
			return remove(s, "Open",
				"Walk the dog")
		}, 3, `"Open" does not ask for remove`},
		{"no verb", "Please Walk the dog", func(s string) intent.Goal {
			g := remove(s, "Please", "Walk the dog")
			g.Verb = intent.Span{}
			return g
		}, 3, "no verb"},
		{"a lost negation", "Never remove Walk the dog", func(s string) intent.Goal { return remove(s, "remove", "Walk the dog") },
			3, `"Never" was lost`},
		{"a span outside of the text", "Remove it", func(s string) intent.Goal {
			g := remove(s, "Remove", "it")
			g.Span.To = 1000
			return g
		}, 3, "not in the text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newList("Feed the cat", "Walk the dog", "Wash the car")
			ask := func(_ context.Context, q plan.Question) (plan.Answer, error) {
				if q.Pick != nil {
					return plan.Answer{Index: -1, By: "somebody"}, nil
				}
				return plan.Answer{By: "somebody", Index: -1, Readings: []intent.Reading{{Goals: []intent.Goal{c.goal(q.Text.Source)}}}}, nil
			}
			out, err := plan.Run(t.Context(), plan.Config{Page: l, Intent: c.text, Ask: ask, AskAlways: true, NoSuggestion: true})
			t.Log(err, out.Decided, l.did)
			if len(l.tasks) != c.left {
				t.Errorf("left %v", l.tasks)
			}
			if len(out.Decided) == 0 || !strings.Contains(out.Decided[0].What, c.decided) || out.Decided[0].By != "somebody" {
				t.Errorf("decided %v", out.Decided)
			}
		})
	}
}

// A reading that leaves words out is not done, whatever is said of it.
func TestAnsweredReadingLeavesNothingOut(t *testing.T) {
	l := newList("Feed the cat", "Walk the dog", "Wash the car")
	ask := func(_ context.Context, q plan.Question) (plan.Answer, error) {
		if q.Pick != nil {
			return plan.Answer{Index: -1}, nil
		}
		return plan.Answer{Index: -1, Readings: []intent.Reading{{Goals: []intent.Goal{remove(q.Text.Source, "Usuń", "Walk the dog")}}}}, nil
	}
	_, err := plan.Run(t.Context(), plan.Config{Page: l, Intent: "Usuń Walk the dog, blorf Sunday", Ask: ask, NoSuggestion: true})
	if err == nil || len(l.tasks) != 3 {
		t.Errorf("left %v, error %v", l.tasks, err)
	}
}

// What cannot be taken back is never picked by somebody else, and an error of whom is asked ends
// the run.
func TestAskBounds(t *testing.T) {
	for _, text := range []string{"Delete the zebra", `Press "Zebra"`, "Press the cheapest zebra"} {
		l := newList("Feed the cat", "Walk the dog", "Wash the car")
		ask := func(_ context.Context, q plan.Question) (plan.Answer, error) {
			if q.Pick != nil {
				t.Errorf("%s: asked for %q", text, q.Pick.Phrase)
			}
			return plan.Answer{Index: 0}, nil
		}
		if _, err := plan.Run(t.Context(), plan.Config{Page: l, Intent: text, Ask: ask, NoSuggestion: true}); err == nil || len(l.did) > 0 {
			t.Errorf("%s: did %v, error %v", text, l.did, err)
		}
	}
	failed := &plan.FailedError{Code: "PROVIDER_ERROR", Detail: "gone"}
	ask := func(context.Context, plan.Question) (plan.Answer, error) { return plan.Answer{}, failed }
	_, err := plan.Run(t.Context(), plan.Config{Page: newList("Feed the cat"), Intent: "Frobnicate the zebra", Ask: ask})
	if !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
}
