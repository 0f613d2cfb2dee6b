package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// slotPool bounds how many inspections run. A slot is acquired before a file is
// read and released when its reader has ended, also where nobody waits for that
// any more: readers that were left behind cannot pile up.
type slotPool chan struct{}

// acquire waits for a slot as long as an inspection may take. Without one the
// error is context.DeadlineExceeded: not the file's fault, and worth a retry.
func (s slotPool) acquire(ctx context.Context, limit time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return fmt.Errorf("too many files are being inspected: %w", context.DeadlineExceeded)
	}
}

func (s slotPool) release() { <-s }

// outcome is what a reader of packages returned.
type outcome[T any] struct {
	value *T
	err   error
}

// runWithin runs a reader under a deadline. A reader that does not end in time is
// left behind with its slot: it ends at its next read, which closableReader
// refuses, or when the bounded work between two reads is done.
func runWithin[T any](ctx context.Context, slots slotPool, limit time.Duration, in artifact.Input,
	read func(context.Context, artifact.Input) (*T, error)) (*T, error) {
	if in.Size <= 0 {
		return nil, &artifact.InvalidError{Reason: "the file is empty"}
	}
	if err := slots.acquire(ctx, limit); err != nil {
		return nil, err
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	file := &closableReader{ctx: inner, reader: in.Reader, size: in.Size}
	in.Reader = file
	done := make(chan outcome[T], 1)
	go func() {
		var o outcome[T]
		defer func() {
			if recover() != nil {
				o = outcome[T]{err: &artifact.InvalidError{Reason: "the file cannot be read: its decoder failed"}}
			}
			slots.release()
			done <- o
		}()
		o.value, o.err = read(inner, in)
	}()
	var o outcome[T]
	select {
	case o = <-done:
	case <-inner.Done():
		o.err = inner.Err()
	}
	waited, failure := file.close()
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
