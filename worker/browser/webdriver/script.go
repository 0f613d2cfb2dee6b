package webdriver

import (
	"context"
	"errors"
)

// Execute runs the body of a function in the page with arguments, which may be
// Elements, and reads what it returns into out (nil: it is dropped). A promise is
// waited for.
func (s *Session) Execute(ctx context.Context, script string, out any, args ...any) error {
	return s.execute(ctx, "/execute/sync", script, out, args)
}

// ExecuteAsync does so for a script that calls its last argument when it is done.
func (s *Session) ExecuteAsync(ctx context.Context, script string, out any, args ...any) error {
	return s.execute(ctx, "/execute/async", script, out, args)
}

// execute runs a script. What it returns is the page's to decide: a result that
// does not fit into out is the page's error, and the session is well.
func (s *Session) execute(ctx context.Context, path, script string, out any, args []any) error {
	if args == nil {
		args = []any{}
	}
	err := s.post(ctx, path, map[string]any{"script": script, "args": args}, out)
	var shape *shapeError
	if errors.As(err, &shape) {
		return s.client.newError(0, ErrJavaScript, "the script returned "+shape.Error(), "")
	}
	return err
}

// CDP runs a command of the Chrome DevTools Protocol, where the remote end is
// chromedriver.
func (s *Session) CDP(ctx context.Context, command string, params map[string]any, out any) error {
	if params == nil {
		params = map[string]any{}
	}
	return s.post(ctx, "/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, out)
}
