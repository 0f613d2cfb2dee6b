package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// fakeStore records commits.
type fakeStore struct {
	mu      sync.Mutex
	commits [][]int
	act     func(call int, in []int) error
}

func (f *fakeStore) store(_ context.Context, in []int) ([]string, error) {
	f.mu.Lock()
	f.commits = append(f.commits, slices.Clone(in))
	call := len(f.commits)
	f.mu.Unlock()
	if f.act != nil {
		if err := f.act(call, in); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(in))
	for i, n := range in {
		out[i] = fmt.Sprint("stored ", n)
	}
	return out, nil
}

func (f *fakeStore) committer(change func(*Config[int, string])) *Committer[int, string] {
	cfg := Config[int, string]{Name: "numbers", Store: f.store, Log: slog.New(slog.DiscardHandler),
		Linger: 5 * time.Millisecond, LingerMost: 4, Most: 4}
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

// One organization with many requests does not stand in front of another with one.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &fakeStore{act: func(call int, _ []int) error {
			if call == 1 {
				<-release
			}
			return nil
		}}
		c := f.committer(func(cfg *Config[int, string]) { cfg.Lanes = 1 })
		var all sync.WaitGroup
		submit := func(organization int64, n int) {
			all.Go(func() {
				out, err := c.Submit(t.Context(), organization, n)
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint("stored ", n), out)
			})
			synctest.Wait()
		}
		for i := range 4 {
			submit(9, i)
		}
		time.Sleep(10 * time.Millisecond) // the only lane is taken
		for i := range 12 {
			submit(1, 100+i)
		}
		submit(2, 200)
		require.Positive(t, c.Crowd())
		close(release)
		all.Wait()
		require.Len(t, f.commits, 5)
		require.Contains(t, f.commits[1], 200)
		require.Zero(t, c.Crowd())
		c.Close()
		_, err := c.Submit(t.Context(), 1, 1)
		require.ErrorIs(t, err, ErrBusy)
	})
}

func TestBytesOfACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStore{}
		c := f.committer(func(cfg *Config[int, string]) {
			cfg.Size, cfg.Bytes = func(n int) int { return n }, 10
		})
		var all sync.WaitGroup
		for _, n := range []int{6, 6, 50, 4} {
			all.Go(func() { _, _ = c.Submit(t.Context(), 1, n) })
			synctest.Wait()
		}
		all.Wait()
		c.Close()
		require.Equal(t, [][]int{{6}, {6}, {50}, {4}}, f.commits)
	})
}

func TestBadRequestStandsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := &pq.Error{Code: "22P05"}
		f := &fakeStore{act: func(_ int, in []int) error {
			if slices.Contains(in, 2) {
				return bad
			}
			if slices.Contains(in, 9) {
				panic("nine")
			}
			return nil
		}}
		c := f.committer(nil)
		defer c.Close()
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, errs[i] = c.Submit(t.Context(), int64(i), i) })
		}
		all.Wait()
		require.ErrorIs(t, errs[2], bad)
		errs[2] = nil
		require.NoError(t, errors.Join(errs...))
		_, err := c.Submit(t.Context(), 1, 9)
		require.ErrorContains(t, err, "panic: nine")
	})
}

// A request that has waited nearly as long as it may does not take those with it that came
// later, of other organizations.
func TestOldRequestsFailAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		f := &fakeStore{act: func(int, []int) error {
			if time.Since(begun) < 10500*time.Millisecond {
				return storage.ErrUnavailable
			}
			return nil
		}}
		c := f.committer(func(cfg *Config[int, string]) { cfg.Lanes, cfg.LingerMost = 1, 1 })
		defer c.Close()
		var all sync.WaitGroup
		all.Go(func() { _, _ = c.Submit(t.Context(), 1, 1) }) // has the lane for ten seconds
		synctest.Wait()
		time.Sleep(50 * time.Millisecond)
		all.Go(func() {
			_, err := c.Submit(t.Context(), 1, 2)
			require.ErrorIs(t, err, ErrBusy)
		})
		time.Sleep(9 * time.Second)
		all.Go(func() {
			out, err := c.Submit(t.Context(), 2, 3)
			require.NoError(t, err)
			require.Equal(t, "stored 3", out)
		})
		all.Wait()
	})
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStore{act: func(call int, _ []int) error {
			if call < 5 {
				return storage.ErrUnavailable
			}
			return nil
		}}
		c := f.committer(nil)
		_, err := c.Submit(t.Context(), 1, 1)
		require.NoError(t, err)
		f.act = func(int, []int) error { return storage.ErrUnavailable }
		start := time.Now()
		_, err = c.Submit(t.Context(), 1, 1)
		require.ErrorIs(t, err, ErrBusy)
		require.ErrorIs(t, err, storage.ErrUnavailable)
		require.Equal(t, defaultWait, time.Since(start))
		c.Close()
	})
}
