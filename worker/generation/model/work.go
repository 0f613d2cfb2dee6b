package model

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	codeProvider = "PROVIDER_ERROR"
	codeMaxSteps = "MAX_STEPS_REACHED"

	// maxMistakes is how often in a row a model may call what cannot be called: it is
	// told of it, and one that goes on will not learn.
	maxMistakes = 2
	// maxFailures is the same for steps that fail and calls that are refused.
	maxFailures = 3
	// maxRepeats is how often a call may be made on the same page.
	maxRepeats = 3
	// maxTurns bounds the messages of one clause.
	maxTurns = 60
	// maxCalls bounds the calls of one message.
	maxCalls = 8
)

// work is one clause being done.
type work struct {
	agent  *Agent
	task   Task
	check  *check
	mark   string
	tools  []Tool
	page   *snapshot.Snapshot
	shown  string
	talk   []Message
	result Result

	// mistakes and failures are counted since the last step that was executed.
	mistakes, failures int
	emptyDone          bool
	lastFailure        string
	seen               map[[sha256.Size]byte]int
}

// Run does one clause. Its error is a *plan.NotUnderstoodError when the model cannot
// do it, a *plan.FailedError, or one of the session or of ctx; the result has the
// steps that were executed before it.
func (a *Agent) Run(ctx context.Context, task Task) (Result, error) {
	tools, err := agentTools()
	if err != nil {
		return Result{}, err
	}
	w := &work{agent: a, task: task, tools: tools, mark: marker(), seen: map[[sha256.Size]byte]int{},
		check: newCheck(task.Clause.Text, a.cfg.Intent, a.cfg.TestURL)}
	if err := w.observe(ctx); err != nil {
		return w.result, err
	}
	w.talk = []Message{{Text: task.prompt(a.cfg.Intent, w.mark, a.cfg.Redact)}}
	for range maxTurns {
		done, err := w.turn(ctx)
		if done || err != nil {
			return w.result, err
		}
	}
	return w.result, w.notUnderstood("the model did not come to an end")
}

// turn asks for a message and executes its calls.
func (w *work) turn(ctx context.Context) (done bool, err error) {
	reply, err := w.agent.cfg.Client.Chat(ctx, w.request(), w.agent.cfg.Budget, w.agent.recorder)
	if err != nil {
		return false, providerError(err)
	}
	switch {
	case reply.Stop == Refused:
		return false, &plan.FailedError{Code: codeProvider, Detail: "the model refused: " + w.short(reply.Text)}
	case reply.Stop == Cut:
		return false, w.nudge("Your last message was cut off, and nothing of it was executed. Call exactly one tool, with short arguments.")
	case len(reply.Calls) == 0:
		return false, w.nudge("You called no tool. Call one: done or give_up when there is nothing to do.")
	}
	results, done, err := w.calls(ctx, reply.Calls)
	if done || err != nil {
		return done, err
	}
	w.talk = append(w.talk, Message{Reply: reply}, Message{Results: results})
	return false, nil
}

// nudge repeats the request with a further text. The message that it is about is left
// out: it may be empty, which the formats do not allow.
func (w *work) nudge(text string) error {
	if err := w.mistake(text); err != nil {
		return err
	}
	w.talk[len(w.talk)-1].Text += "\n" + text
	return nil
}

// request is the conversation so far. The page is in its last message only: those of
// before are gone, and would be paid for again each time.
func (w *work) request() *Request {
	r := &Request{System: w.clean(fmt.Sprintf(system, w.mark)), Tools: w.tools, Messages: make([]Message, len(w.talk))}
	for i, m := range w.talk {
		m.Text = w.clean(m.Text)
		results := make([]ToolResult, len(m.Results))
		for j, result := range m.Results {
			result.Text = w.clean(result.Text)
			results[j] = result
		}
		m.Results = results
		r.Messages[i] = m
	}
	last := &r.Messages[len(w.talk)-1]
	if last.Text != "" {
		last.Text += "\n"
	}
	last.Text += fmt.Sprintf("%s begin\n%s\n%s end", w.mark, w.clean(w.shown), w.mark)
	return r
}

// clean removes the values of secrets.
func (w *work) clean(text string) string { return w.agent.cfg.Redact.Text(text) }

// short returns a text of a model or a page for people, without secrets.
func (w *work) short(text string) string { return redactedPart(w.agent.cfg.Redact, text, maxReason) }

// calls executes the calls of a message in their order, up to the first that does not
// succeed. Each one gets a result, as the formats want it.
func (w *work) calls(ctx context.Context, calls []ToolCall) (results []ToolResult, done bool, err error) {
	stopped := false
	for i := range calls {
		if stopped || i >= maxCalls {
			results = append(results, ToolResult{ID: calls[i].ID, Text: "not executed: look at the page that follows first", Error: true})
			continue
		}
		text, done, err := w.call(ctx, &calls[i])
		if done {
			return nil, true, err
		}
		var wrong *wrongCall
		if errors.As(err, &wrong) {
			if err := w.count(wrong); err != nil {
				return nil, false, err
			}
			results = append(results, ToolResult{ID: calls[i].ID, Text: wrong.text, Error: true})
			stopped = true
			continue
		}
		if err != nil {
			return nil, false, err
		}
		results = append(results, ToolResult{ID: calls[i].ID, Text: text})
	}
	return results, false, nil
}

// wrongCall is a call that was not executed, or whose step failed: the model is told.
type wrongCall struct {
	text string
	// mistake is set for what no model should call; otherwise the page was in the way.
	mistake bool
}

func (e *wrongCall) Error() string { return e.text }

// count counts a call that went wrong, and ends the work when there were too many.
func (w *work) count(wrong *wrongCall) error {
	if wrong.mistake {
		return w.mistake(wrong.text)
	}
	w.failures++
	w.lastFailure = wrong.text
	if w.failures > maxFailures {
		return w.notUnderstood("what the model tried did not work; at last: " + wrong.text)
	}
	return nil
}

func (w *work) mistake(text string) error {
	w.mistakes++
	if w.mistakes > maxMistakes {
		return &plan.FailedError{Code: codeProvider, Detail: "the model does not call tools as it should; at last: " + w.clean(text)}
	}
	return nil
}

// call executes one call. Its error is a *wrongCall when the work goes on.
func (w *work) call(ctx context.Context, call *ToolCall) (text string, done bool, err error) {
	args, err := readCall(call)
	if err != nil {
		return "", false, &wrongCall{err.Error(), true}
	}
	switch call.Name {
	case toolGiveUp:
		return "", true, w.notUnderstood("the model says: " + w.short(args.Reason))
	case toolDone:
		if err := w.complete(); err != nil {
			return "", false, err
		}
		w.result.Summary = w.short(args.Summary)
		return "", true, nil
	}
	if w.repeats(call) {
		return "", false, w.notUnderstood("the model repeats itself on a page that stays as it is: " + call.Name)
	}
	if w.task.MaxSteps > 0 && len(w.result.Steps) >= w.task.MaxSteps {
		return "", false, &plan.FailedError{Code: codeMaxSteps, Detail: "the intent needs more steps than are allowed"}
	}
	act, err := w.check.actionOf(w.page, call.Name, &args)
	if err != nil {
		return "", false, &wrongCall{err.Error(), false}
	}
	act.tool.Args.Reasoning = w.clean(act.tool.Args.Reasoning)
	return w.execute(ctx, &act)
}

// repeats counts a call, and reports whether it was made too often on this page.
func (w *work) repeats(call *ToolCall) bool {
	key := sha256.Sum256([]byte(call.Name + "\x00" + string(call.Arguments) + "\x00" + w.shown))
	w.seen[key]++
	return w.seen[key] >= maxRepeats
}

// execute does a step as a replay does, keeps it when it passes, and looks what the
// page shows then.
func (w *work) execute(ctx context.Context, act *action) (text string, done bool, err error) {
	s, err := w.step(ctx, act)
	if err != nil {
		return "", false, err
	}
	record, err := w.agent.cfg.Page.Do(ctx, s)
	if err != nil {
		return "", false, err
	}
	before := w.shown
	if err := w.observe(ctx); err != nil {
		return "", false, err
	}
	if record.Status != step.Passed {
		return "", false, &wrongCall{fmt.Sprintf("the step failed: %q", w.short(record.Result.Message)), false}
	}
	s.Tool, s.ScreenshotID = record.Tool, record.ScreenshotID
	s.Result = &record.Result
	w.keep(s, act)
	if w.shown == before && !act.asserts() {
		return "executed; the page shows the same as before", false, nil
	}
	return "executed; the page that follows is the new one", false, nil
}

// step returns the step of an action, with the selectors of its elements.
func (w *work) step(ctx context.Context, act *action) (step.Step, error) {
	var found []snapshot.Located
	refs := []string{}
	for _, ref := range []string{act.on, act.onto} {
		if ref != "" {
			refs = append(refs, ref)
		}
	}
	if len(refs) > 0 {
		located, err := w.agent.cfg.Page.Locate(ctx, refs...)
		if err != nil {
			return step.Step{}, err
		}
		if len(located) != len(refs) {
			return step.Step{}, errors.New("elements were not located")
		}
		found = located
	}
	s, err := act.place(found)
	if err != nil {
		return s, &wrongCall{err.Error(), false}
	}
	if w.agent.cfg.NewID != nil {
		s.ID = w.agent.cfg.NewID()
	}
	return s, nil
}

// keep adds a step that was executed.
func (w *work) keep(s step.Step, act *action) {
	w.mistakes, w.failures, w.emptyDone = 0, 0, false
	why := authoring.Reason{Title: stepText(&s, w.agent.cfg.Redact), Description: w.clean(act.tool.Args.Reasoning)}
	if why.Description == "" {
		why.Description = "chosen by the model"
	}
	w.result.Steps = append(w.result.Steps, s)
	w.result.Reasoning = append(w.result.Reasoning, why)
	w.result.Asserted = w.result.Asserted || act.asserts()
	if w.agent.cfg.OnStep != nil {
		w.agent.cfg.OnStep(s, why)
	}
}

// complete checks a call of done: something was executed, and asserted where the clause
// asks for that. Where the planner began with the clause, it may have acted already.
func (w *work) complete() error {
	missing := ""
	acts, asserts := w.task.asks()
	begun := w.task.Why != nil && len(w.task.Done) > 0
	switch {
	case len(w.result.Steps) == 0:
		missing = "nothing was executed for your part"
	case asserts && !w.result.Asserted:
		missing = "your part asks to verify something, and nothing was asserted"
	case acts && !begun && w.assertedOnly():
		missing = "your part asks to do something, and nothing was done but assertions"
	default:
		return nil
	}
	if w.emptyDone {
		return w.notUnderstood("the model ended its work, but " + missing)
	}
	w.emptyDone = true
	return &wrongCall{missing + "; do it, or call give_up", false}
}

func (w *work) assertedOnly() bool {
	for i := range w.result.Steps {
		if step.Inner(&w.result.Steps[i].Tool).Type != step.Assert {
			return false
		}
	}
	return true
}

func (w *work) notUnderstood(reason string) error {
	out := &plan.NotUnderstoodError{Sentence: w.task.Clause.Text, Reason: w.clean(reason)}
	if why := w.task.Why; why != nil {
		out.Understood, out.Candidates = why.Understood, why.Candidates
	}
	return out
}

// providerError is the failure that a task ends with.
func providerError(err error) error {
	var service *ServiceError
	var over *OverBudgetError
	switch {
	case errors.As(err, &service):
		return &plan.FailedError{Code: codeProvider, Detail: service.Detail}
	case errors.As(err, &over):
		return &plan.FailedError{Code: codeProvider, Detail: over.Error()}
	}
	return err
}
