package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

const (
	codeProvider = "PROVIDER_ERROR"

	// maxQuestions bounds the questions of one generation: its readings, and a thing for each of
	// its goals.
	maxQuestions = 12
	// maxReplies bounds the messages of one question: what is wrong with an answer is told twice.
	maxReplies = 3
	// maxReason bounds the reasons of a model, in bytes.
	maxReason = 500
)

// AgentConfig is what an agent works on: one for each generation.
type AgentConfig struct {
	Client *Client
	// Budget bounds the calls; nil: nothing does.
	Budget Budget
	// Redact removes the values of secrets from everything that is sent.
	Redact *redaction.Redactor
	// Recorder keeps what is sent; nil: one of the agent's own.
	Recorder *Recorder
}

// Agent answers questions of the planner by asking a model. It is not safe for concurrent
// use: it is of one generation.
type Agent struct {
	cfg   AgentConfig
	asked int
}

// NewAgent returns an agent.
func NewAgent(cfg AgentConfig) *Agent {
	if cfg.Recorder == nil {
		cfg.Recorder = NewRecorder(cfg.Redact)
	}
	return &Agent{cfg: cfg}
}

// Usage returns what the model was asked so far and what it cost; nil without a call.
func (a *Agent) Usage() *Usage { return a.cfg.Recorder.Usage() }

// By is how an agent is named in answers.
func (a *Agent) By() string { return "the model " + a.cfg.Client.cfg.Model }

// Ask answers a question; it is a plan.Config.Ask. Its error is a *plan.FailedError or that of
// ctx: a model that has no answer is none.
func (a *Agent) Ask(ctx context.Context, q plan.Question) (plan.Answer, error) {
	none := plan.Answer{Index: -1, By: a.By()}
	if a.asked == maxQuestions {
		none.Why = "it was asked often enough"
		return none, nil
	}
	a.asked++
	t := &talk{agent: a, mark: marker()}
	var answer plan.Answer
	var err error
	if q.Pick != nil {
		answer, err = t.pick(ctx, &q)
	} else {
		answer, err = t.read(ctx, &q)
	}
	if err != nil {
		return none, err
	}
	answer.By, answer.Why = a.By(), redactedPart(a.cfg.Redact, answer.Why, maxReason)
	return answer, nil
}

// talk is one question with its answers.
type talk struct {
	agent *Agent
	mark  string
	log   []Message
}

// read asks how a text is read.
func (t *talk) read(ctx context.Context, q *plan.Question) (plan.Answer, error) {
	answer := plan.Answer{Index: -1}
	why, err := t.ask(ctx, readPrompt(q, t.mark, t.agent.cfg.Redact), readTool(), func(call *ToolCall) (string, error) {
		var args readArguments
		if err := decode(call.Arguments, &args); err != nil {
			return "", err
		}
		if len(args.Readings) == 0 {
			return "", errors.New("readings is missing")
		}
		answer.Readings = nil
		for i := range args.Readings[:min(len(args.Readings), maxReadings)] {
			r, err := readingOf(q.Text.Source, q.Text.Lang, &args.Readings[i])
			if err != nil {
				return "", fmt.Errorf("reading %d: %w", i+1, err)
			}
			answer.Readings = append(answer.Readings, r)
		}
		return args.Reason, nil
	})
	answer.Why = why
	return answer, err
}

// pick asks which thing is meant.
func (t *talk) pick(ctx context.Context, q *plan.Question) (plan.Answer, error) {
	answer := plan.Answer{Index: -1}
	why, err := t.ask(ctx, pickPrompt(q, t.mark, t.agent.cfg.Redact), pickTool(), func(call *ToolCall) (string, error) {
		var args pickArguments
		if err := decode(call.Arguments, &args); err != nil {
			return "", err
		}
		if args.Index == nil || *args.Index < 0 || *args.Index >= len(q.Pick.Candidates) {
			return "", fmt.Errorf("index must be 0 to %d", len(q.Pick.Candidates)-1)
		}
		answer.Index = *args.Index
		return args.Reason, nil
	})
	answer.Why = why
	return answer, err
}

// ask sends a question and passes the call of its tool to accept, whose error is told to the
// model. It returns why there is this answer, or none.
func (t *talk) ask(ctx context.Context, prompt string, tool Tool, accept func(*ToolCall) (string, error)) (string, error) {
	t.log = []Message{{Text: t.clean(prompt)}}
	r := &Request{System: fmt.Sprintf(system, t.mark), Tools: []Tool{tool, noAnswerTool()}}
	last := ""
	for range maxReplies {
		r.Messages = t.log
		reply, err := t.agent.cfg.Client.Chat(ctx, r, t.agent.cfg.Budget, t.agent.cfg.Recorder)
		if err != nil {
			return "", providerError(err)
		}
		switch {
		case reply.Stop == Refused:
			return "the model refused: " + reply.Text, nil
		case reply.Stop == Cut:
			last = "Your last message was cut off. Call one tool, with short arguments."
			t.nudge(last)
			continue
		case len(reply.Calls) == 0:
			last = "You called no tool. Call one."
			t.nudge(last)
			continue
		}
		why, done, results := t.calls(reply.Calls, tool.Name, accept)
		if done {
			return why, nil
		}
		last = results[0].Text
		t.log = append(t.log, Message{Reply: reply}, Message{Results: results})
	}
	return "the model did not answer as it should; at last: " + last, nil
}

// calls takes the first call of a message that is an answer. Each one gets a result otherwise, as
// the formats want it.
func (t *talk) calls(calls []ToolCall, name string, accept func(*ToolCall) (string, error)) (why string, done bool, results []ToolResult) {
	for i := range calls {
		c := &calls[i]
		result := ToolResult{ID: c.ID, Error: true}
		switch c.Name {
		case toolNoAnswer:
			var args noAnswerArguments
			_ = decode(c.Arguments, &args) // whatever it says: there is no answer
			return args.Reason, true, nil
		case name:
			why, err := accept(c)
			if err == nil {
				return why, true, nil
			}
			result.Text = t.clean(err.Error())
		default:
			result.Text = "there is no such tool; call one of those that are listed"
		}
		results = append(results, result)
	}
	return "", false, results
}

// nudge repeats the question with a further text. The message that it is about is left out: it
// may be empty, which the formats do not allow.
func (t *talk) nudge(text string) { t.log[len(t.log)-1].Text += "\n" + text }

// clean removes the values of secrets.
func (t *talk) clean(text string) string { return t.agent.cfg.Redact.Text(text) }

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
