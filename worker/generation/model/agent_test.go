package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// A text with words that no grammar has is read by the model, and done with the planner's own
// effects.
func TestAgentReads(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		page := &testPage{tasks: []string{"Feed the cat", "Walk the dog", "Wash the car"}}
		j := newJob(t, format, `Usuń "Walk the dog" frobnicate`, page, languagemodel.Say(
			reads(map[string]any{"text": `Usuń "Walk the dog" frobnicate`, "effect": "remove", "verb": "Usuń",
				"target": []any{map[string]any{"words": "Walk the dog", "quoted": true}}, "words": []any{"frobnicate"}})))
		out, err := j.run(t)
		require.NoError(t, err)
		require.Equal(t, []string{"Feed the cat", "Wash the car"}, page.tasks)
		require.NotEmpty(t, out.Decided)
		require.Contains(t, out.Decided[0].By, languagemodel.Model)
		require.Contains(t, j.server.Requests()[0].Last().Text, "Walk the dog")
		require.NotNil(t, j.agent.Usage())
		require.Len(t, j.agent.Usage().Calls, 1)
	})
}

// Who is sure does not ask.
func TestAgentIsNotAskedForWhatIsClear(t *testing.T) {
	t.Parallel()
	page := &testPage{tasks: []string{"Feed the cat", "Walk the dog", "Wash the car"}}
	j := newJob(t, OpenAI, `Delete Walk the dog`, page, languagemodel.Say(noAnswer()))
	_, err := j.run(t)
	require.NoError(t, err)
	require.Empty(t, j.server.Requests())
	require.Nil(t, j.agent.Usage())
}

// What a model says is accounted for like what grammar says: a word that it leaves out is not
// done, and a claim that does not hold fails.
func TestAnswersAreAccountedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		answer languagemodel.Answer
		why    string
	}{
		"a word is left out": {`Usuń "Walk the dog" frobnicate`, reads(map[string]any{"text": `Usuń "Walk the dog"`,
			"effect": "remove", "verb": "Usuń",
			"target": []any{map[string]any{"words": "Walk the dog", "quoted": true}}}), "frobnicate"},
		"a negation is lost": {`Do not frobnicate Walk the dog`, reads(goalOf("frobnicate Walk the dog", "remove",
			"frobnicate", "Walk the dog")), "frobnicate"},
		"a verb that does not destroy": {`Open frobnicate Walk the dog`,
			reads(map[string]any{"text": `Open frobnicate Walk the dog`, "effect": "remove", "verb": "Open",
				"target": []any{map[string]any{"words": "Walk the dog"}}, "words": []any{"frobnicate"}}), ""},
		"no answer": {`Usuń "Walk the dog" frobnicate`, noAnswer(), ""},
		"a refusal": {`Usuń "Walk the dog" frobnicate`, languagemodel.Answer{Text: "I must not.", Refuse: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := &testPage{tasks: []string{"Feed the cat", "Walk the dog", "Wash the car"}}
			j := newJob(t, OpenAI, c.text, page, languagemodel.Say(c.answer, noAnswer()))
			_, err := j.run(t)
			var not *plan.NotUnderstoodError
			require.ErrorAs(t, err, &not)
			require.Contains(t, err.Error(), c.why)
			require.Len(t, page.tasks, 3)
			require.Empty(t, page.clicked)
		})
	}
}

// What a model does wrong is told to it; what it does not learn is no answer.
func TestMistakes(t *testing.T) {
	t.Parallel()
	wrong := func(name, arguments string) languagemodel.Answer {
		return languagemodel.Answer{Calls: []languagemodel.Call{{Name: name, ArgumentText: arguments}}}
	}
	text := "Frobnicate Save"
	right := reads(goalOf(text, "press", "Frobnicate", "Save"))
	for name, c := range map[string]struct {
		bad  languagemodel.Answer
		told string
	}{
		"unknown tool":   {wrong("click", `{"ref": "e3"}`), "no such tool"},
		"malformed":      {wrong(toolRead, `{"readings": [`), "not a JSON object"},
		"an array":       {wrong(toolRead, `[1]`), "not a JSON object"},
		"a wrong type":   {wrong(toolRead, `{"readings": 3}`), "has the wrong type"},
		"nothing":        {wrong(toolRead, `{}`), "readings is missing"},
		"another text":   {reads(goalOf("Delete all", "remove", "Delete")), "is not in the text"},
		"no call":        {languagemodel.Answer{Text: "I think about it."}, "You called no tool"},
		"cut":            {languagemodel.Answer{Text: "I wi", Cut: true}, "was cut off"},
		"unknown effect": {reads(goalOf(text, "hack", "Frobnicate")), "effect"},
	} {
		for _, format := range languagemodel.Formats {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				q := plan.Question{Text: &intent.Text{Source: text, Lang: "en"}}
				j := newJob(t, format, text, nil, languagemodel.Say(c.bad, right))
				a, err := j.agent.Ask(t.Context(), q)
				require.NoError(t, err)
				require.Len(t, a.Readings, 1)
				told := j.server.Requests()[1].Last()
				for _, r := range told.Results {
					told.Text += r.Text
				}
				require.Contains(t, told.Text, c.told)

				j = newJob(t, format, text, nil, languagemodel.Say(c.bad, c.bad, c.bad, c.bad, c.bad))
				a, err = j.agent.Ask(t.Context(), q)
				require.NoError(t, err)
				require.Empty(t, a.Readings)
				require.Equal(t, -1, a.Index)
				require.Contains(t, a.Why, "did not answer as it should")
				require.Len(t, j.server.Requests(), maxReplies)
			})
		}
	}
}

// A thing is picked among those that were found, and no other.
func TestPick(t *testing.T) {
	t.Parallel()
	q := plan.Question{Text: &intent.Text{Source: "Open the shop floor", Lang: "en"},
		Pick: &plan.Pick{Goal: "Open the shop floor", Phrase: "the shop floor",
			Candidates: []plan.Candidate{{What: `button "Sales room"`}, {What: `button "Office"`}}}}
	eachFormat(t, func(t *testing.T, format string) {
		j := newJob(t, format, "", nil, languagemodel.Say(picks(7), picks(0)))
		a, err := j.agent.Ask(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, 0, a.Index)
		require.Equal(t, "it is named so", a.Why)
		j = newJob(t, format, "", nil, languagemodel.Say(noAnswer()))
		a, err = j.agent.Ask(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, -1, a.Index)
	})
}

// What nothing on the page is called is picked by the model among what can be used, and the effect
// must come all the same. A name in quotes is the page's own, and nothing else is it.
func TestPickedThingIsUsed(t *testing.T) {
	t.Parallel()
	page := &testPage{buttons: []string{"Sales floor", "Office", "Delete everything"}}
	script := func(_ int, r *languagemodel.Request) languagemodel.Answer {
		if list := things(r.Last().Text); list != "" {
			require.NotContains(t, list, "Delete everything")
			return picks(0)
		}
		return noAnswer()
	}
	j := newJob(t, OpenAI, "Press the boutique", page, script)
	out, err := j.run(t)
	require.NoError(t, err)
	require.Equal(t, []string{"b0 Sales floor"}, page.clicked)
	require.Contains(t, out.Decided[0].What, "Sales floor")

	page.clicked = nil
	j = newJob(t, OpenAI, `Press "Boutique"`, page, script)
	_, err = j.run(t)
	require.Error(t, err)
	require.Empty(t, page.clicked)
}

// A model is asked a bounded number of times, and within its budget.
func TestBounds(t *testing.T) {
	t.Parallel()
	q := plan.Question{Text: &intent.Text{Source: "Frobnicate Save", Lang: "en"}}
	j := newJob(t, OpenAI, "", nil, func(int, *languagemodel.Request) languagemodel.Answer { return noAnswer() })
	for range maxQuestions + 3 {
		a, err := j.agent.Ask(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, -1, a.Index)
	}
	require.Len(t, j.server.Requests(), maxQuestions)

	j = newJob(t, OpenAI, "", nil, languagemodel.Say(noAnswer(), noAnswer()),
		func(c *AgentConfig) { c.Budget = NewTaskBudget(Amount{Calls: 1}, nil) })
	_, err := j.agent.Ask(t.Context(), q)
	require.NoError(t, err)
	_, err = j.agent.Ask(t.Context(), q)
	var failed *plan.FailedError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, codeProvider, failed.Code)
	require.Contains(t, failed.Detail, "calls per task")
}

// A prompt has the whole text and is bounded.
func TestPromptIsBounded(t *testing.T) {
	t.Parallel()
	q := plan.Question{Text: &intent.Text{Source: strings.Repeat("Click Save. ", 5000), Lang: "en"},
		Why: &plan.NotUnderstoodError{Reason: strings.Repeat("x", 100_000)}}
	require.Less(t, len(readPrompt(&q, "PAGE", nil)), 3*maxText)
}
