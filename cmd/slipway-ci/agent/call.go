package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// outcome is how a call ended, as the record has it.
type outcome string

const (
	done      outcome = "done"
	failed    outcome = "failed"
	refused   outcome = "refused"
	cancelled outcome = "cancelled"
	timedOut  outcome = "timed_out"
)

// callError is a failure with its line for the agent.
type callError struct {
	outcome outcome
	text    string
}

func (e *callError) Error() string { return e.text }

// wrong says which argument is wrong.
func wrong(argument, what string) error {
	return &callError{outcome: failed, text: argument + ": " + what}
}

// maxProblem bounds the line of a failure, in bytes.
const maxProblem = 600

// explain makes a line of a failure.
func explain(err error) error {
	var said *callError
	var asked *client.Error
	switch {
	case errors.As(err, &said):
		return said
	case errors.Is(err, context.DeadlineExceeded):
		return &callError{timedOut, "the call took too long and was ended; what it began may go on"}
	case errors.Is(err, context.Canceled):
		return &callError{cancelled, "the call was cancelled; what it began may go on"}
	case errors.As(err, &asked):
		return &callError{outcomeOf(asked), visible(cut(meaning(asked)+asked.Error(), maxProblem))}
	}
	return &callError{failed, visible(cut(err.Error(), maxProblem))}
}

func outcomeOf(e *client.Error) outcome {
	if e.Kind == client.Refused {
		return refused
	}
	return failed
}

// meaning is what an agent does with a kind of failure.
func meaning(e *client.Error) string {
	switch e.Kind {
	case client.Refused:
		return "refused: "
	case client.Missing:
		return "not found, or not of this organization: "
	case client.Busy:
		return "the server is busy, try again later: "
	case client.Unreachable:
		return "the server did not answer: "
	case client.Misused:
		return "wrong arguments: "
	}
	return ""
}

// receive stands before all methods.
func (s *server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		call, ok := req.(*mcp.CallToolRequest)
		switch {
		case ok && call.Params != nil:
			return s.call(ctx, call, next)
		case method == "subscriptions/listen": // nothing ever changes, and it would hold a connection
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is nothing to subscribe to"}
		}
		return next(ctx, method, req)
	}
}

// lifetimeKey has the context of the HTTP request that a call came by.
type lifetimeKey struct{}

// call executes one call of a tool.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.deadline(req.Params.Name))
	defer cancel()
	if request, ok := ctx.Value(lifetimeKey{}).(context.Context); ok {
		defer context.AfterFunc(request, cancel)() // the SDK does not end a call with its request
	}
	result, problem := s.guarded(ctx, req, next)
	var protocol *jsonrpc.Error
	if errors.As(problem, &protocol) { // such as the name of no tool
		problem = &callError{failed, protocol.Message}
	}
	if problem != nil {
		result = failure(explain(problem))
	}
	how := outcomeFrom(result)
	if err := s.record(ctx, req.Params, how, time.Since(begun)); err != nil {
		s.cfg.Log.WarnContext(ctx, "call of a tool not recorded", "tool", req.Params.Name, "error", err)
		return s.unrecorded(req.Params.Name, how, result, err), nil
	}
	return result, nil
}

// deadline is when a call of a tool ends.
func (s *server) deadline(name string) time.Duration {
	if name == uploadTool {
		return uploadTime
	}
	return s.cfg.Deadline
}

// survive makes a failure of a panic: a call has a goroutine of its own, whose panic would end
// the process, with the api in it.
func (s *server) survive(ctx context.Context, name string, err *error) {
	if reason := recover(); reason != nil {
		s.cfg.Log.ErrorContext(ctx, "panic in a tool", "tool", name, "panic", fmt.Sprint(reason), "stack", string(debug.Stack()))
		*err = &callError{failed, "an internal error; the server's log has more"}
	}
}

// guarded calls the tool in its turn, and survives it.
func (s *server) guarded(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (result *mcp.CallToolResult, err error) {
	defer s.survive(ctx, req.Params.Name, &err)
	if kind, ok := s.refused[req.Params.Name]; ok {
		return nil, refusal(req.Params.Name, kind)
	}
	leave, err := s.pace.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	answer, err := next(ctx, "tools/call", req)
	if err != nil {
		return nil, err
	}
	result, ok := answer.(*mcp.CallToolResult)
	if !ok {
		return nil, &callError{failed, "an internal error: a tool without a result"}
	}
	return result, nil
}

func failure(err error) *mcp.CallToolResult {
	result := &mcp.CallToolResult{}
	result.SetError(err)
	return result
}

// outcomeFrom reads how a call ended from its result.
func outcomeFrom(result *mcp.CallToolResult) outcome {
	var said *callError
	switch {
	case !result.IsError:
		return done
	case errors.As(result.GetError(), &said):
		return said.outcome
	}
	return failed
}

// unrecorded replaces the result of a call that is not in the audit log. What was changed
// is said: otherwise it would be done again.
func (s *server) unrecorded(name string, how outcome, result *mcp.CallToolResult, err error) *mcp.CallToolResult {
	reason := "the call could not be recorded: " + explain(err).Error()
	if how == done && s.changes[name] {
		result.Content = append(result.Content, &mcp.TextContent{Text: "Done, but " + reason})
		return result
	}
	if how == done {
		return failure(&callError{failed, "the answer is withheld, since " + reason})
	}
	return result
}
