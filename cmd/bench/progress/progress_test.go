package progress

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRunSaysWhatThePartWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ended := 0
		part := Part{Name: "cases", Limit: 2 * time.Minute, Out: &out}
		err := part.Run(t.Context(), func(ctx context.Context) error {
			time.Sleep(11 * time.Second) // says nothing
			outer := Waits(ctx, "the suite")
			inner := WaitsFor(ctx, func() string { return []string{"0 of 40 runs", "12 of 40 runs"}[ended] })
			time.Sleep(10 * time.Second)
			ended = 1
			time.Sleep(10 * time.Second)
			inner()
			time.Sleep(10 * time.Second)
			outer()
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "cases: works, 10s of 2m0s\ncases: waits for 0 of 40 runs, 20s of 2m0s\n"+
			"cases: waits for 12 of 40 runs, 30s of 2m0s\ncases: waits for the suite, 40s of 2m0s\n", out.String())
	})
}

func TestRunEndsAPartThatExceedsItsLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(context.Context) error
		want string
	}{
		"hangs until its context ends": {func(ctx context.Context) error {
			defer Waits(ctx, "12 of 40 runs")()
			<-ctx.Done()
			return ctx.Err()
		}, "cases: not done within 1m0s, waited for 12 of 40 runs"},
		"hangs, and does not say for what": {func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}, "cases: not done within 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := Part{Name: "cases", Limit: time.Minute}.Run(t.Context(), c.work)
				require.EqualError(t, err, c.want)
				require.Equal(t, time.Minute, time.Since(began))
			})
		})
	}
}

func TestRunLeavesBehindWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		err := Part{Name: "cases", Limit: time.Minute, Grace: time.Second}.Run(t.Context(), func(ctx context.Context) error {
			defer Waits(ctx, "Playwright")()
			<-never
			return nil
		})
		var exceeded *ExceededError
		require.ErrorAs(t, err, &exceeded)
		require.True(t, exceeded.Left)
		require.EqualError(t, err, "cases: not done within 1m0s, waited for Playwright; it does not end")
	})
}

func TestRunReturnsTheErrorOfTheWork(t *testing.T) {
	t.Parallel()
	failed := errors.New("no browser")
	err := Part{Name: "cases"}.Run(t.Context(), func(context.Context) error { return failed })
	require.ErrorIs(t, err, failed)
}

func TestWaitsOutsideOfAPart(t *testing.T) {
	t.Parallel()
	Waits(t.Context(), "nothing")()
}
