package inspect

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	in := input([]byte("some file"))
	run := func(ctx context.Context, limit time.Duration, in artifact.Input, read func(context.Context, artifact.Input) error) error {
		_, err := runWithin(ctx, make(slotPool, 1), limit, in, func(ctx context.Context, in artifact.Input) (*int, error) { return new(int), read(ctx, in) })
		return err
	}
	t.Run("panic", func(t *testing.T) {
		t.Parallel()
		err := run(context.Background(), time.Minute, in, func(context.Context, artifact.Input) error { panic("a decoder's fault") })
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.NotContains(t, err.Error(), "a decoder's fault")
	})
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		left := make(chan error, 1)
		release := make(chan struct{})
		err := run(context.Background(), 10*time.Millisecond, in, func(_ context.Context, in artifact.Input) error {
			<-release // deaf to its context, as a decoder is
			_, err := in.Reader.ReadAt(make([]byte, 1), 0)
			left <- err
			return err
		})
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Contains(t, invalid.Reason, "takes too long")
		close(release)
		require.ErrorIs(t, <-left, errClosed)
	})
	t.Run("deadline of a reader's own", func(t *testing.T) {
		t.Parallel()
		err := run(context.Background(), time.Minute, in, func(context.Context, artifact.Input) error {
			return fmt.Errorf("inner: %w", context.DeadlineExceeded)
		})
		var invalid *artifact.InvalidError
		require.ErrorAs(t, err, &invalid)
	})
	t.Run("slow storage", func(t *testing.T) {
		t.Parallel()
		slow := in
		slow.Reader = readerFunc(func(p []byte, _ int64) (int, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			<-ctx.Done()
			return len(p), nil
		})
		err := run(context.Background(), 20*time.Millisecond, slow, func(_ context.Context, in artifact.Input) error {
			_, err := in.Reader.ReadAt(make([]byte, 1), 0)
			if err == nil {
				_, err = in.Reader.ReadAt(make([]byte, 1), 0)
			}
			return err
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var invalid *artifact.InvalidError
		require.False(t, errors.As(err, &invalid))
	})
	t.Run("caller is gone", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		err := run(ctx, time.Minute, in, func(ctx context.Context, _ artifact.Input) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("storage fails", func(t *testing.T) {
		t.Parallel()
		broken, down := in, errors.New("the storage is down")
		broken.Reader = readerFunc(func([]byte, int64) (int, error) { return 0, down })
		err := run(context.Background(), time.Minute, broken, func(_ context.Context, in artifact.Input) error {
			_, _ = in.Reader.ReadAt(make([]byte, 1), 0)
			return nil // as a reader does that takes it for a broken icon
		})
		require.ErrorIs(t, err, down)
	})
	t.Run("storage is short", func(t *testing.T) {
		t.Parallel()
		short := in
		short.Size *= 2
		_, err := New(Config{}).Package(context.Background(), short, "windows", true)
		require.NoError(t, err) // what is not read is not missed
		err = run(context.Background(), time.Minute, short, func(_ context.Context, in artifact.Input) error {
			_, err := in.Reader.ReadAt(make([]byte, 10), in.Size-10)
			return err
		})
		require.Error(t, err)
		var invalid *artifact.InvalidError
		require.NotErrorAs(t, err, &invalid)
	})
	t.Run("outside of the file", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, run(context.Background(), time.Minute, in, func(_ context.Context, in artifact.Input) error {
			for _, off := range []int64{-1, in.Size, in.Size + 5, 1<<63 - 1} {
				if n, err := in.Reader.ReadAt(make([]byte, 4), off); n != 0 || err == nil {
					return fmt.Errorf("read %d bytes at %d", n, off)
				}
			}
			p := make([]byte, 10)
			if n, _ := in.Reader.ReadAt(p, in.Size-4); string(p[:n]) != "file" {
				return fmt.Errorf("read %q", p[:n])
			}
			return nil
		}))
	})
}

// A reader that is left behind keeps its slot until it has ended; until then the
// next file is refused for now, which is not its fault.
func TestSlots(t *testing.T) {
	t.Parallel()
	in, slots := input([]byte("some file")), make(slotPool, 1)
	run := func(ctx context.Context, limit time.Duration, read func()) error {
		_, err := runWithin(ctx, slots, limit, in, func(context.Context, artifact.Input) (*int, error) {
			read()
			return new(int), nil
		})
		return err
	}
	var invalid *artifact.InvalidError
	release := make(chan struct{})
	require.ErrorAs(t, run(context.Background(), 10*time.Millisecond, func() { <-release }), &invalid)

	never := func() { t.Error("read without a slot") }
	err := run(context.Background(), 10*time.Millisecond, never)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorAs(t, err, &invalid)

	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, run(short, time.Minute, never), context.DeadlineExceeded)
	gone, leave := context.WithCancel(context.Background())
	leave()
	require.ErrorIs(t, run(gone, time.Minute, never), context.Canceled)

	close(release)
	require.NoError(t, run(context.Background(), time.Minute, func() {}))
	require.ErrorAs(t, run(context.Background(), time.Minute, func() { panic("a decoder's fault") }), &invalid)
	require.NoError(t, run(context.Background(), time.Minute, func() {}))
}

type readerFunc func([]byte, int64) (int, error)

func (f readerFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }
