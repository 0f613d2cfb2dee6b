package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// slotPool are places for inspections. One is taken before a file is read and given
// back when its reader has ended, also where nobody waits for that any more:
// readers that were left behind cannot pile up.
type slotPool chan struct{}

// parses are the places of the process: processors and memory are the process's,
// whoever asks. An inspection takes at most 64 MiB, so that four fit beside a
// server of some hundred.
var parses = make(slotPool, 4)

// take waits for a place as long as an inspection may take. Without one the error
// is context.DeadlineExceeded: not the file's fault, and worth another attempt.
func (s slotPool) take(ctx context.Context, limit time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := time.NewTimer(limit)
	defer wait.Stop()
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return fmt.Errorf("too many files are being inspected: %w", context.DeadlineExceeded)
	}
}

func (s slotPool) free() { <-s }

// within runs a reader under a deadline. A reader that does not end in time is
// left behind with its place: it ends at its next read, which the gate refuses, or
// when the bounded work between two reads is done.
func within[T any](ctx context.Context, places slotPool, limit time.Duration, in artifact.Input,
	read func(context.Context, artifact.Input) (*T, error)) (*T, error) {
	if in.Size <= 0 {
		return nil, &artifact.InvalidError{Reason: "the file is empty"}
	}
	if err := places.take(ctx, limit); err != nil {
		return nil, err
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	g := &closableReader{ctx: inner, reader: in.Reader, size: in.Size}
	in.Reader = g
	type outcome struct {
		value *T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if recover() != nil {
				o = outcome{err: &artifact.InvalidError{Reason: "the file cannot be read: its decoder failed"}}
			}
			places.free()
			done <- o
		}()
		o.value, o.err = read(inner, in)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-inner.Done():
		o.err = inner.Err()
	}
	waited, failure := g.close()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failure != nil:
		return nil, fmt.Errorf("read the file: %w", failure)
	case o.err == nil:
		return o.value, nil
	case inner.Err() == nil && !errors.Is(o.err, context.DeadlineExceeded):
		return nil, o.err
	case waited > limit/2:
		return nil, fmt.Errorf("read the file: %w", context.DeadlineExceeded)
	}
	return nil, &artifact.InvalidError{Reason: "the file takes too long to read"}
}
