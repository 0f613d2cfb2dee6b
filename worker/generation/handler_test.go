package generation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation/model"
)

func TestGenerationStoresItsCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("Click on Go")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	g, captured := w.read(id)
	require.Equal(t, store.Completed, g.State)
	require.Len(t, captured.Files, 1)
	c, err := authoring.CaseByID(t.Context(), w.db, w.writer.OrganizationID, g.CaseID)
	require.NoError(t, err)
	require.Equal(t, "log in", c.Name)
	require.True(t, c.Runnable())
	v, err := authoring.RevisionByID(t.Context(), w.db, g.CaseID, g.RevisionID)
	require.NoError(t, err)
	require.Equal(t, "Click on Go", v.Intent)
	require.Equal(t, captured.Files[0].ID.String(), v.Steps[0].ScreenshotID)
	require.Equal(t, []string{captured.Files[0].Key}, w.stored())
	unnamed, err := store.UnnamedObjects(t.Context(), w.db, append(w.stored(), "generations/x"))
	require.NoError(t, err)
	require.Equal(t, []string{"generations/x"}, unnamed)
	task := w.task(id)
	require.Equal(t, ledger.Succeeded, task.State)
	require.JSONEq(t, `{"case_id":"`+g.CaseID+`"}`, string(*task.Result))
	require.Equal(t, 1, w.browser.released)
}

func TestGenerationFailsWithItsCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, author := range map[string]writes{
		CodeNotUnderstood: func(ctx context.Context, j Job) (Result, error) {
			return Result{Code: CodeNotUnderstood, Detail: "which?", Steps: []step.Step{clickOn("a")}}, nil
		},
		CodeNotUnderstood + " by nobody": func(context.Context, Job) (Result, error) { return Result{Description: "nothing"}, nil },
		CodeInternal:                     func(context.Context, Job) (Result, error) { panic("no page") },
	} {
		code, _, _ := strings.Cut(name, " ")
		w.handler.Author = author
		id := w.newGeneration("x")
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
		require.Equal(t, code, w.code(id))
		require.JSONEq(t, `{"code":"`+code+`"}`, string(*w.task(id).Result))
	}
	require.Zero(t, w.number(`select count(*) from test_cases`))
	require.Contains(t, w.log.String(), "no page")
}

// The author hears whether it may try twice; how the text was taken is kept, and what worked
// where that was asked for.
func TestGenerationKeepsItsDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("Click on Go and wave")
	_, err := w.db.ExecContext(t.Context(), `update test_generations set keep_draft = true, explore = 'off' where id = $1`, id)
	require.NoError(t, err)
	w.handler.Author = writes(func(_ context.Context, j Job) (Result, error) {
		return Result{Code: CodeNotUnderstood, Detail: "wave", Steps: []step.Step{clickOn("a")},
			Findings: &store.Findings{Clauses: []store.Clause{{Text: j.Explore}}}}, nil
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	g, captured := w.read(id)
	require.Equal(t, CodeNotUnderstood, g.ErrorCode)
	require.Empty(t, g.CaseID)
	require.JSONEq(t, `{"clauses": [{"text": "off", "done": false, "left": []}], "candidates": [], "trivial": [], "decided": []}`,
		string(captured.Findings))
	v, err := authoring.RevisionByID(t.Context(), w.db, g.DraftCaseID, "")
	require.NoError(t, err)
	require.Len(t, v.Steps, 1)
}

// A worker that is lost leaves nothing of its attempt.
func TestGenerationBeginsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("Click on Go")
	first := w.claim(id)
	kept, lost := make(chan struct{}), make(chan struct{})
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		result, err := clicks(ctx, j)
		close(kept)
		<-lost
		return result, err
	})
	ended := make(chan error)
	go func() { ended <- w.handler.Handle(t.Context(), first) }()
	<-kept
	require.Eventually(t, func() bool { _, c := w.read(id); return len(c.Steps) == 1 && len(c.Files) == 1 }, time.Minute, 10*time.Millisecond)
	before, _ := w.read(id)
	second := w.again(id)
	next := *w.handler
	next.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		_, c := w.read(id)
		require.Empty(t, c.Steps)
		require.Empty(t, c.Reasoning)
		require.Empty(t, c.Files)
		require.Empty(t, w.stored())
		deadline, ok := ctx.Deadline()
		require.True(t, ok)
		require.WithinDuration(t, before.Deadline, deadline, 30*time.Second, "the same timeout")
		return Result{Steps: []step.Step{clickOn("b")}}, nil
	})
	require.NoError(t, next.Handle(t.Context(), second))
	close(lost)
	require.ErrorIs(t, <-ended, storage.ErrStale)
	g, c := w.read(id)
	require.Equal(t, store.Completed, g.State)
	require.Equal(t, before.StartedAt, g.StartedAt)
	require.Equal(t, "b", c.Steps[0].ID)
	require.Equal(t, 1, w.number(`select count(*) from test_cases`))
	require.Empty(t, w.stored())
}

func TestGenerationLosesItsWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	claim := w.claim(id)
	for range maxLosses {
		claim = w.again(id)
	}
	w.handler.Author = nil
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, CodeWorkerLost, w.code(id))
}

func TestGenerationIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	w.handler.Author = writes(func(context.Context, Job) (Result, error) { return Result{}, errors.New("no connection") })
	claim := w.claim(id)
	for range maxTries - 1 {
		claim = w.failed(claim, w.handler.Handle(t.Context(), claim))
		g, _ := w.read(id)
		require.Equal(t, store.InProgress, g.State)
	}
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, CodeInternal, w.code(id))
	require.NotContains(t, asJSON(t, w.task(id).Result), "no connection")
}

func TestGenerationRunsOutOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	w.exec(`update test_generations set deadline = now() + interval '4 seconds'`)
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		result, err := clicks(ctx, j)
		require.NoError(t, err)
		<-ctx.Done()
		return result, context.Cause(ctx)
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeTimeout, w.code(id))
	_, c := w.read(id)
	require.Len(t, c.Steps, 1, "with what was captured")
	require.Len(t, c.Files, 1)
	require.Len(t, w.stored(), 1)

	// One whose time is over before it begins.
	id = w.newGeneration("x")
	w.exec(`update test_generations set deadline = now() - interval '1 second' where id = $1`, id)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeTimeout, w.code(id))
}

func TestGenerationHasNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.browser.fail = &browser.SessionError{Text: "no hub serves netscape", Err: errors.New("inside")}
	id := w.newGeneration("x")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeNoSession, w.code(id))
	g, _ := w.read(id)
	require.Equal(t, "no hub serves netscape", g.Error)
}

func TestGenerationWaitsForASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.browser.fail = &browser.SessionError{Text: "the hub is away", Retry: true}
	id := w.newGeneration("x")
	claim := w.claim(id)
	for _, seconds := range []time.Duration{5, 10, 20, 30, 30} {
		next, wait := w.snoozed(claim, w.handler.Handle(t.Context(), claim))
		require.Equal(t, seconds*time.Second, wait)
		claim = next
	}
	w.exec(`update test_generations set deadline = now() + interval '6 seconds'`)
	claim, wait := w.snoozed(claim, w.handler.Handle(t.Context(), claim))
	require.Less(t, wait, 6*time.Second, "the last try is before the deadline")
	w.exec(`update test_generations set deadline = now() + interval '1 second'`)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, CodeNoSession, w.code(id))

	// Who says so in the result means the same.
	id = w.newGeneration("x")
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		_, err := j.Acquire(ctx)
		return Result{Code: CodeNoSession, Detail: err.Error()}, nil
	})
	claim = w.claim(id)
	claim, _ = w.snoozed(claim, w.handler.Handle(t.Context(), claim))
	w.browser.fail = nil
	w.handler.Author = writes(clicks)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	g, _ := w.read(id)
	require.Equal(t, store.Completed, g.State)
}

func TestGenerationIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		w.must(func(ctx context.Context, tx *storage.Tx) error { return store.Cancel(ctx, tx, w.writer, id) })
		result, _ := clicks(ctx, j) // its progress finds that the generation has ended
		<-ctx.Done()
		return result, context.Cause(ctx)
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeCancelled, w.code(id))
	require.Empty(t, w.stored())
	require.Zero(t, w.number(`select count(*) from test_cases`))

	// Cancelled while the case is being written: nothing of it stays.
	id = w.newGeneration("x")
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		result, err := clicks(ctx, j)
		w.must(func(ctx context.Context, tx *storage.Tx) error { return store.Cancel(ctx, tx, w.writer, id) })
		return result, err
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeCancelled, w.code(id))
	require.Zero(t, w.number(`select count(*) from test_cases`))
	require.Empty(t, w.stored())

	// Before it began.
	id = w.newGeneration("x")
	w.must(func(ctx context.Context, tx *storage.Tx) error { return store.Cancel(ctx, tx, w.writer, id) })
	w.handler.Author = nil
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeCancelled, w.code(id))
}

func TestGenerationOfADeletedCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "c",
			Revision: authoring.Revision{Intent: "Click", Steps: []step.Step{clickOn("a")}}})
		return err
	})
	refines := func(n *store.New) { n.Refines = c }
	id := w.newGeneration("Then log out", refines)
	w.handler.Author = writes(func(_ context.Context, j Job) (Result, error) {
		require.Equal(t, "Click", j.Base.Intent)
		require.Equal(t, "Then log out", j.Intent)
		return Result{Steps: append(j.Base.Steps, clickOn("out")), Changes: &Changes{Kept: []string{"a"}, Added: []string{"out"}}}, nil
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	g, captured := w.read(id)
	require.Equal(t, c.ID, g.CaseID)
	require.JSONEq(t, `{"kept":["a"],"changed":null,"added":["out"],"removed":null}`, string(captured.Changes))
	v, err := authoring.RevisionByID(t.Context(), w.db, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, "Click\nThen log out", v.Intent)
	require.Equal(t, 2, v.Number)

	id = w.newGeneration("x", refines)
	w.exec(`delete from test_cases`)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, store.CodeCaseNotFound, w.code(id))
}

func TestSecretsOfAGeneration(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	w := newWorld(t)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.CreateVariable(ctx, tx, w.writer, sealKey, authoring.NewVariable{Scope: step.ScopeOrg,
			Name: "password", Value: secret, IsSecret: true})
		return err
	})
	id := w.newGeneration("Enter {{password}} and {{unknown}}")
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		value, isSecret, ok := j.Lookup(step.Reference{Name: "password"})
		require.Equal(t, []any{secret, true, true}, []any{value, isSecret, ok})
		_, _, ok = j.Lookup(step.Reference{Name: "unknown"})
		require.False(t, ok)
		typed := "{{password}}"
		steps := []step.Step{
			{ID: "one", Result: &step.Outcome{Message: "typed " + secret}, Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &typed,
				Reasoning: "because of " + secret, Selector: &step.Selector{Type: step.ByRole, Value: "textbox", Name: "Not " + secret,
					Fingerprint: &step.Fingerprint{Name: secret, Attributes: map[string]string{"title": secret}}}}}},
			{ID: "two", Tool: step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.TextIs,
				Args: step.MatcherArgs{Value: "Hello " + secret}}}},
				When: &step.Condition{Matcher: &step.Matcher{Name: step.TitleIs, Args: step.MatcherArgs{Value: secret}}}},
		}
		reasons := []authoring.Reason{{Title: secret, Description: "saw " + secret}}
		j.Progress(steps, reasons)
		require.Eventually(t, func() bool { _, c := w.read(id); return len(c.Steps) == 2 }, time.Minute, 10*time.Millisecond)
		require.NotContains(t, w.everywhere(), secret)
		return Result{Steps: steps, Reasoning: reasons, Description: secret, DiscoveredIntent: secret,
			Model: &ModelUsage{Calls: []model.Call{{Request: "see " + secret, Response: secret}}}}, nil
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.NotContains(t, w.everywhere(), secret)
	g, c := w.read(id)
	require.Equal(t, store.Completed, g.State)
	require.Equal(t, "Not {{password}}", c.Steps[0].Tool.Args.Selector.Name, "the element is found again")
	require.Equal(t, step.ByRole, c.Steps[0].Tool.Args.Selector.Type)
	require.Equal(t, "***", c.Steps[0].Tool.Args.Selector.Fingerprint.Name)
	require.Equal(t, "{{password}}", *c.Steps[0].Tool.Args.Text)
	require.Equal(t, "Hello {{password}}", c.Steps[1].Tool.Args.Matcher.Args.Value)
	require.Contains(t, string(c.Model), "see ***")

	w.handler.Author = writes(func(context.Context, Job) (Result, error) { return Result{}, errors.New("page: " + secret) })
	id = w.newGeneration("{{password}}")
	err := w.handler.Handle(t.Context(), w.claim(id))
	require.ErrorContains(t, err, "page: ***")
	w.handler.Keys = seal.Ring{[]byte(strings.Repeat("x", 32))}
	id = w.newGeneration("{{password}}")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeInternal, w.code(id))
}

func TestGenerationWithoutItsTunnel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x", func(n *store.New) { n.Tunnel = "gone" })
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	require.Equal(t, CodeTunnel, w.code(id))
	require.Empty(t, w.browser.requests)
}

func TestGenerationPayloadIsUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	w.exec(`update tasks set payload = '{}'`)
	err := w.handler.Handle(t.Context(), w.claim(id))
	require.True(t, tasks.IsPermanent(err))
	require.ErrorContains(t, err, "generation_id")
}
