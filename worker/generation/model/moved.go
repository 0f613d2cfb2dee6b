// Package model lets a language model do, with tools, what the planner of package plan cannot
// do. What asks a model (clients, budgets, records) is package next/model.
package model

import (
	"encoding/json"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/next/model"
)

// What asks a model is in next/model, until this package goes.
type (
	Config          = model.Config
	Client          = model.Client
	Request         = model.Request
	Message         = model.Message
	Reply           = model.Reply
	Tool            = model.Tool
	ToolCall        = model.ToolCall
	ToolResult      = model.ToolResult
	Amount          = model.Amount
	Budget          = model.Budget
	TaskBudget      = model.TaskBudget
	Settle          = model.Settle
	OverBudgetError = model.OverBudgetError
	ServiceError    = model.ServiceError
	Usage           = model.Usage
	Call            = model.Call
	Recorder        = model.Recorder
)

// The wire formats, and why messages end.
const (
	OpenAI    = model.OpenAI
	Anthropic = model.Anthropic

	Stopped = model.Stopped
	Cut     = model.Cut
	Refused = model.Refused
)

// New is that of next/model.
func New(cfg Config) (*Client, error) { return model.New(cfg) }

// BaseURL is that of next/model.
func BaseURL(provider, base string) string { return model.BaseURL(provider, base) }

// NewTaskBudget is that of next/model.
func NewTaskBudget(limit Amount, next Budget) *TaskBudget { return model.NewTaskBudget(limit, next) }

// NewRecorder is that of next/model.
func NewRecorder(redact *step.Redactor) *Recorder { return model.NewRecorder(redact) }

// text returns a JSON string's text; "" for anything else.
func text(raw json.RawMessage) string {
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	return out
}

// shorten cuts a text in its middle to at most n bytes.
func shorten(text string, n int) string {
	const gap = "\n[...]\n"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= n {
		return text
	}
	if n <= len(gap) {
		return ""
	}
	half := (n - len(gap)) / 2
	return strings.ToValidUTF8(text[:half], "") + gap + strings.ToValidUTF8(text[len(text)-half:], "")
}
