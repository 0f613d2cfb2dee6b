package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Call is one request to a child.
type Call struct {
	Operation string
	Args      any
	// Result is a pointer to what the result is decoded into; nil drops it.
	Result any

	// File is what the operation reads by ranges (see File), of Size bytes; nil for
	// operations that read none. It may still be read when Run has returned, by a read that
	// did not end in time.
	File io.ReaderAt
	Size int64
	// MaxRead is how many bytes of the file may be read in all; 0 for any number. What is
	// read again because the child has not kept it counts again.
	MaxRead int64
	// Partial gets what the operation sends before its result, and is called before Run
	// returns. It may be nil.
	Partial func(json.RawMessage)

	// CPU bounds the processor time of the request; 0 is the pool's, which it cannot exceed.
	CPU time.Duration
	// Once keeps a request from being repeated in another child when the first one died for
	// a cause that need not be the request's.
	Once bool
}

// Do runs an operation in a child, and reads its result into a pointer. See Run.
func (p *Pool) Do(ctx context.Context, operation string, args, result any) error {
	return p.Run(ctx, Call{Operation: operation, Args: args, Result: result})
}

// Run runs an operation in a child. It waits for a child to be free. The error is a
// *symbol.InvalidError when something is wrong with the file that the request is about, and
// the file's own when that could not be read.
func (p *Pool) Run(ctx context.Context, call Call) error {
	doc, err := json.Marshal(call.Args)
	if err != nil {
		return fmt.Errorf("encode request of %s: %w", call.Operation, err)
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.slots }()
	r := request{Operation: call.Operation, Args: doc, CPU: p.cfg.Limits.CPU, File: call.File != nil, Size: call.Size}
	if call.CPU > 0 {
		r.CPU = min(r.CPU, call.CPU)
	}
	res, err := p.run(ctx, r, call)
	if err != nil {
		return fmt.Errorf("%s: %w", call.Operation, err)
	}
	if err := res.failure(); err != nil {
		return fmt.Errorf("%s: %w", call.Operation, err)
	}
	if call.Result == nil {
		return nil
	}
	if err := json.Unmarshal(res.Result, call.Result); err != nil {
		return fmt.Errorf("decode result of %s: %w", call.Operation, err)
	}
	return nil
}

// run has a child do the request; another child when the first one died for a cause
// that need not be the request's.
func (p *Pool) run(ctx context.Context, r request, call Call) (*response, error) {
	for attempt := 1; ; attempt++ {
		c, err := p.take()
		if err != nil {
			return nil, err
		}
		from := &source{file: call.File, size: call.Size, left: call.MaxRead}
		if call.MaxRead <= 0 {
			from.left = 1<<63 - 1
		}
		bounded, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
		res, err := c.do(bounded, r, from, call.Partial)
		late := bounded.Err() != nil
		cancel()
		if err == nil {
			p.put(c)
			return res, from.failure(call)
		}
		death := p.bury(c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.cfg.Log.WarnContext(ctx, "child process ended", "operation", r.Operation, "attempt", attempt, "cause", death.cause, "error", err)
		if failed := from.failure(call); failed != nil {
			return nil, failed
		}
		invalid, repeats := death.verdict(late, err, r.CPU, p.cfg)
		if repeats && attempt == 1 && !call.Once {
			continue
		}
		return nil, invalid
	}
}

// failure returns why the file could not be read; nil when it could.
func (s *source) failure(call Call) error {
	if errors.Is(s.err, errReadLimit) {
		return symbol.Invalid(symbol.TooLarge, "reading this file takes more than %d MiB of it", call.MaxRead>>20)
	}
	return s.err
}

// failure returns the error that a response stands for.
func (r *response) failure() error {
	switch {
	case r.Invalid != nil:
		return &symbol.InvalidError{Code: r.Invalid.Code, Reason: r.Invalid.Reason}
	case r.Panic != "":
		return symbol.Invalid(symbol.Internal, "the reader of this file failed: %s", r.Panic)
	case r.Failure != "":
		return errors.New(r.Failure)
	}
	return nil
}
