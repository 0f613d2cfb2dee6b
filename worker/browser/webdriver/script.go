package webdriver

import (
	"context"
	"errors"
)

// Execute runs the body of a function in the page with arguments, which may be
// Elements, and reads what it returns into out (nil: it is dropped). A promise is
// waited for. What a script returns is the page's to decide: a result that does
// not fit into out is an *Error of the page, and the session can be used further.
func (s *Session) Execute(ctx context.Context, script string, out any, args ...any) error {
	if args == nil {
		args = []any{}
	}
	err := s.post(ctx, "/execute/sync", map[string]any{"script": script, "args": args}, out)
	var shape *shapeError
	if errors.As(err, &shape) {
		return s.client.newError(0, ErrJavaScript, "the script returned "+shape.Error(), "")
	}
	return err
}
