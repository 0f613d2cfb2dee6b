package model

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func form() []snapshot.Node {
	return []snapshot.Node{
		{Role: "textbox", Name: "Name"}, {Role: "textbox", Name: "Password", Password: true, HasValue: true, Value: "leaked-value"},
		{Role: "button", Name: "Sign up"}, {Role: "heading", Name: "Welcome", Ref: "e9"},
	}
}

func TestAgentDoesAClause(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		page := newPage(form()...)
		page.on = func(p *testPage, s step.Step) error {
			if step.Inner(&s.Tool).Type == step.Click {
				p.show(snapshot.Node{Role: "heading", Name: "Hello Ann"})
			}
			return nil
		}
		var seen []string
		j := newJob(t, format, `Register as "Ann" with password {{pass}}`, page, use(
			// Two calls in one message: both are executed, in their order.
			languagemodel.Answer{Text: "I fill both.", Calls: []languagemodel.Call{
				{Name: "fill", Arguments: map[string]any{"ref": "[ref=e1]", "text": "Ann"}},
				{Name: "fill", Arguments: map[string]any{"ref": "e2", "text": "{{pass}}"}}}},
			click("e3"), done()),
			func(c *AgentConfig) {
				c.OnStep = func(s step.Step, why authoring.Reason) { seen = append(seen, why.Title+": "+why.Description) }
			})
		result, err := j.run(t)
		require.NoError(t, err)
		require.Equal(t, []string{`input_text "Name" text "Ann"`, `input_text "Password" text "{{pass}}"`, `click "Sign up"`}, lines(result.Steps))
		require.Equal(t, result.Steps[0].Tool.Args.Selector.Fingerprint.Name, "Name")
		require.Len(t, seen, 3)
		require.Equal(t, `click "Sign up": it is named so`, seen[2])
		require.Equal(t, "all of it", result.Summary)
		require.False(t, result.Asserted)
		require.NoError(t, step.Validate(result.Steps))

		requests := j.server.Requests()
		require.Len(t, requests, 3)
		require.Contains(t, requests[0].Last().Text, `button "Sign up" [ref=e3]`)
		require.NotContains(t, requests[0].Body, "leaked-value")
		last := requests[2]
		require.Contains(t, last.Last().Text, "Hello Ann")
		require.NotContains(t, last.Messages[0].Text, "[ref=e3]", "pages of before are not sent again")
		require.Equal(t, int64(3*2500), j.agent.Usage().MicroUSD)
	})
}

// A clause that asks for an assertion has one, and done alone does nothing.
func TestDoneIsChecked(t *testing.T) {
	t.Parallel()
	verify := intent.Clause{Text: "verify that the greeting says Welcome",
		Readings: []intent.Reading{{Instructions: []intent.Instruction{{Kind: intent.Assert}}}}}
	for name, c := range map[string]struct {
		clause  intent.Clause
		answers []languagemodel.Answer
		steps   int
		reason  string
	}{
		"nothing": {verify, []languagemodel.Answer{done(), done()}, 0, "nothing was executed"},
		"no assertion": {verify, []languagemodel.Answer{languagemodel.Use("scroll", map[string]any{"direction": "down"}), done(), done()},
			1, "nothing was asserted"},
		"asserted": {verify, []languagemodel.Answer{done(),
			languagemodel.Use("assert_text", map[string]any{"ref": "e9", "text": "Welcome", "mode": "contains"}), done()}, 1, ""},
		"only asserted": {intent.Clause{Text: "click Sign up",
			Readings: []intent.Reading{{Instructions: []intent.Instruction{{Kind: intent.Click}}}}},
			[]languagemodel.Answer{languagemodel.Use("assert_visible", map[string]any{"ref": "e3"}), done(), done()}, 1, "but assertions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, OpenAI, c.clause.Text, newPage(form()...), use(c.answers...))
			result, err := j.agent.Run(t.Context(), Task{Clause: c.clause, MaxSteps: 5})
			require.Len(t, result.Steps, c.steps)
			if c.reason == "" {
				require.NoError(t, err)
				require.True(t, result.Asserted)
				return
			}
			var unknown *plan.NotUnderstoodError
			require.ErrorAs(t, err, &unknown)
			require.Contains(t, unknown.Reason, c.reason)
		})
	}
}

// What a model does wrong is told to it; what it does not learn ends the clause.
func TestMistakes(t *testing.T) {
	t.Parallel()
	wrong := func(name, arguments string) languagemodel.Answer {
		return languagemodel.Answer{Calls: []languagemodel.Call{{Name: name, ArgumentText: arguments}}}
	}
	text := "Sign up"
	for name, c := range map[string]struct {
		bad  languagemodel.Answer
		told string // in the next request
		code string // of the end, when it goes on; "": not understood
	}{
		"unknown tool":      {wrong("delete everything", `{}`), "no such tool", codeProvider},
		"malformed":         {wrong("click", `{"ref": "e3"`), "not a JSON object", codeProvider},
		"an array":          {wrong("click", `["e3"]`), "not a JSON object", codeProvider},
		"null":              {wrong("click", `null`), "not a JSON object", codeProvider},
		"a wrong type":      {wrong("click", `{"ref": 3}`), "ref has the wrong type", codeProvider},
		"missing":           {wrong("click", `{"element": "e3"}`), "ref is missing", codeProvider},
		"no such direction": {wrong("scroll", `{"direction": "inside"}`), "direction must be one of", codeProvider},
		"no such ref":       {wrong("click", `{"ref": "e77"}`), "no element with the ref", ""},
		"no call":           {languagemodel.Answer{Text: "I think about it."}, "You called no tool", codeProvider},
		"nothing":           {languagemodel.Answer{}, "You called no tool", codeProvider},
		"cut":               {languagemodel.Answer{Text: "I wi", Cut: true}, "was cut off", codeProvider},
		"too long a wait":   {wrong("wait", `{"milliseconds": 99999999}`), "milliseconds must be", ""},
		"no such key":       {wrong("press_key", `{"key": "Hyper+Q"}`), "does not ask for the key", ""},
		"no dialog":         {wrong("handle_dialog", `{"action": "accept"}`), "there is no dialog", ""},
	} {
		for _, format := range languagemodel.Formats {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				j := newJob(t, format, text, newPage(form()...), use(c.bad, click("e3"), done()))
				result, err := j.run(t)
				require.NoError(t, err)
				require.Equal(t, []string{`click "Sign up"`}, lines(result.Steps))
				told := j.server.Requests()[1].Last()
				for _, r := range told.Results {
					told.Text += r.Text
				}
				require.Contains(t, told.Text, c.told)

				j = newJob(t, format, text, newPage(form()...), use(c.bad))
				result, err = j.run(t)
				require.Empty(t, result.Steps)
				require.Empty(t, j.page.steps)
				require.LessOrEqual(t, len(j.server.Requests()), maxFailures+1)
				var failed *plan.FailedError
				if c.code != "" {
					require.ErrorAs(t, err, &failed)
					require.Equal(t, c.code, failed.Code)
					return
				}
				var unknown *plan.NotUnderstoodError
				require.ErrorAs(t, err, &unknown)
			})
		}
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	text := "Scroll down to Sign up"
	scroll := languagemodel.Use("scroll", map[string]any{"direction": "down"})
	for name, c := range map[string]struct {
		script languagemodel.Script
		code   string // "": not understood
		detail string
		steps  int
	}{
		"gives up": {use(languagemodel.Use("give_up", map[string]any{"reason": "two are alike"})), "", "the model says: two are alike", 0},
		"refuses":  {use(languagemodel.Answer{Text: "I cannot help with that", Refuse: true}), codeProvider, "the model refused: I cannot", 0},
		"loops":    {use(scroll), "", "repeats itself", 2},
		"never ends": {func(n int, _ *languagemodel.Request) languagemodel.Answer {
			return languagemodel.Use("scroll", map[string]any{"direction": "down", "reason": strings.Repeat("x", n)})
		}, codeMaxSteps, "more steps than are allowed", 20},
		"fails": {use(languagemodel.Answer{Status: 401, Text: "no"}), codeProvider, "answered 401: no", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := newJob(t, Anthropic, text, newPage(form()...), c.script).run(t)
			require.Len(t, result.Steps, c.steps)
			require.ErrorContains(t, err, c.detail)
			var failed *plan.FailedError
			require.Equal(t, c.code != "", errors.As(err, &failed))
			if c.code != "" {
				require.Equal(t, c.code, failed.Code)
			}
		})
	}
	t.Run("over budget", func(t *testing.T) {
		t.Parallel()
		j := newJob(t, OpenAI, text, newPage(form()...), use(scroll), func(c *AgentConfig) { c.Budget = NewTaskBudget(Amount{Calls: 1}, nil) })
		result, err := j.run(t)
		require.Len(t, result.Steps, 1)
		require.EqualError(t, err, "PROVIDER_ERROR: the budget of 1 calls per task is used up")
	})
	t.Run("after the timeout", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		j := newJob(t, OpenAI, text, newPage(form()...), func(int, *languagemodel.Request) languagemodel.Answer {
			cancel()
			return languagemodel.Answer{Delay: 10 * time.Millisecond, Calls: scroll.Calls}
		})
		result, err := j.agent.Run(ctx, Task{Clause: intent.Clause{Text: text}, MaxSteps: 5})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, result.Steps)
		require.Empty(t, j.page.steps)
	})
}

// A step that fails is no step of the test: the model is told and may try another.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	page := newPage(snapshot.Node{Role: "button", Name: "Sign up"}, snapshot.Node{Role: "link", Name: "Sign up"})
	page.on = func(_ *testPage, s step.Step) error {
		if s.Tool.Args.Selector.Value == "button" {
			return errors.New("it is covered by k3y-of-ann")
		}
		return nil
	}
	two := languagemodel.Answer{Calls: append(click("e1").Calls, click("e2").Calls...)}
	j := newJob(t, Anthropic, "Sign up", page, use(two, click("e2"), done()),
		func(c *AgentConfig) { c.Redact = step.NewRedactor([]string{"k3y-of-ann"}) })
	result, err := j.run(t)
	require.NoError(t, err)
	require.Len(t, result.Steps, 1)
	require.Equal(t, "link", result.Steps[0].Tool.Args.Selector.Value)
	told := j.server.Requests()[1].Last().Results
	require.Equal(t, `the step failed: "it is covered by ***"`, told[0].Text)
	require.Contains(t, told[1].Text, "not executed", "a call after one that failed is not executed")
}

// Elements in frames get the steps that a replay needs.
func TestFrames(t *testing.T) {
	t.Parallel()
	page := newPage(snapshot.Node{Role: "button", Name: "Sign up", Frame: []string{"#outer", "#inner"}}, snapshot.Node{Role: "button", Name: "Up"})
	j := newJob(t, OpenAI, "Sign up, then drag it up", page, use(click("e1"),
		languagemodel.Use("drag", map[string]any{"from": "e1", "to": "e2"}), done()))
	result, err := j.run(t)
	require.NoError(t, err)
	require.Len(t, result.Steps, 1)
	require.Equal(t, step.InFrame, result.Steps[0].Tool.Type)
	require.Equal(t, step.InFrame, result.Steps[0].Tool.Args.Tool.Type)
	require.Equal(t, step.Click, step.Inner(&result.Steps[0].Tool).Type)
	require.NoError(t, step.Validate(result.Steps))
	require.Contains(t, lastResult(t, j.server).Text, "different frames")
}

// The model gets the draft of the planner and what was done before.
func TestPrompt(t *testing.T) {
	t.Parallel()
	name := "Ann"
	task := Task{Clause: intent.Clause{Text: "Sign up", Readings: []intent.Reading{{Instructions: []intent.Instruction{
		{Kind: intent.Click, Target: &intent.Phrase{Text: "Sign up button"}}}}}},
		Why:  &plan.NotUnderstoodError{Understood: "click Sign up", Reason: "two are alike", Candidates: []plan.Candidate{{What: `button "Sign up"`, Score: 0.5}}},
		Done: []step.Step{{Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &name, Selector: &step.Selector{Type: step.ByLabel, Value: "Name", Name: "Name"}}}}}}
	j := newJob(t, OpenAI, "Enter Ann and sign up", newPage(form()...), use(click("e3"), done()))
	_, err := j.agent.Run(t.Context(), task)
	require.NoError(t, err)
	sent := j.server.Requests()[0].Last().Text
	for _, part := range []string{"Enter Ann and sign up", "Your part:\nSign up", `- click "Sign up button"`, `understood: "click Sign up"`, `stopped because: "two are alike"`,
		`candidate: "button \"Sign up\""`, `- input_text "Name" text "Ann"`} {
		require.Contains(t, sent, part)
	}
}
