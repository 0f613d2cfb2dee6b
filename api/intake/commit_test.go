package intake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/groupcommit"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// fakeAccepter records the sizes of commits; each Accept asks act what happens.
type fakeAccepter struct {
	mu       sync.Mutex
	commits  []int
	act      func(call int, in []received.Incoming, receipts []received.Receipt) error
	accepted func(call int) (bool, error)
	asked    int
}

func (f *fakeAccepter) Accept(_ context.Context, in []received.Incoming,
	task received.TaskOf) ([]received.Receipt, []*ledger.NewTask, error) {
	f.mu.Lock()
	f.commits = append(f.commits, len(in))
	call := len(f.commits)
	f.mu.Unlock()
	receipts := make([]received.Receipt, len(in))
	for i := range receipts {
		receipts[i].ID = in[i].UUID // so that a test can tell whose receipt it has
	}
	if f.act != nil {
		if err := f.act(call, in, receipts); err != nil {
			return receipts, nil, err
		}
	}
	return receipts, []*ledger.NewTask{task(1, uuid.New(), 100)}, nil
}

func (f *fakeAccepter) Accepted(context.Context, []received.Incoming, []received.Receipt) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.accepted(f.asked)
}

type submitted struct {
	id      uuid.UUID
	receipt received.Receipt
	err     error
	took    time.Duration
}

// submitAll submits the documents at once and waits for all answers.
func submitAll(t *testing.T, store Accepter, documents ...string) []submitted {
	t.Helper()
	c := NewCommitter(store, nil, slog.New(slog.DiscardHandler))
	defer c.Close()
	out := make([]submitted, len(documents))
	var all sync.WaitGroup
	start := time.Now()
	for i, doc := range documents {
		all.Go(func() {
			s := &out[i]
			s.id = uuid.New()
			s.receipt, s.err = c.Submit(t.Context(), received.Incoming{UUID: s.id, Document: []byte(doc)})
			s.took = time.Since(start)
		})
	}
	all.Wait()
	return out
}

func many(n int, doc string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = doc
	}
	return out
}

func requireStored(t *testing.T, s submitted) {
	t.Helper()
	require.NoError(t, s.err)
	require.Equal(t, s.id, s.receipt.ID, "everyone has the receipt of the own report")
	require.Equal(t, received.First, s.receipt.Outcome)
}

func TestCommitsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeAccepter{}
		for _, s := range submitAll(t, f, many(10, "x")...) {
			requireStored(t, s)
			require.Equal(t, commitLinger, s.took)
		}
		require.Equal(t, []int{10}, f.commits)

		f = &fakeAccepter{}
		for _, s := range submitAll(t, f, many(2*commitMost, "x")...) {
			requireStored(t, s)
			require.Zero(t, s.took, "a full commit does not linger")
		}
		require.Equal(t, []int{commitMost, commitMost}, f.commits)

		f = &fakeAccepter{}
		submitAll(t, f, many(3, string(make([]byte, commitBytes/2+1)))...)
		require.Equal(t, []int{1, 1, 1}, f.commits, "the documents of a commit are bounded")
	})
}

func TestBadReportStandsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := &pq.Error{Code: "22P05"}
		f := &fakeAccepter{act: func(_ int, in []received.Incoming, _ []received.Receipt) error {
			for i := range in {
				if string(in[i].Document) == "bad" {
					return bad
				}
			}
			return nil
		}}
		documents := many(8, "good")
		documents[5] = "bad"
		for i, s := range submitAll(t, f, documents...) {
			if i == 5 {
				require.ErrorIs(t, s.err, bad)
			} else {
				requireStored(t, s)
			}
		}
	})
}

func TestDatabaseAwayAndBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeAccepter{act: func(call int, _ []received.Incoming, _ []received.Receipt) error {
			if call < 5 {
				return storage.ErrUnavailable
			}
			return nil
		}}
		for _, s := range submitAll(t, f, "a", "b") {
			requireStored(t, s)
		}
		require.Len(t, f.commits, 5)
	})
}

func TestCommitDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeAccepter{act: func(int, []received.Incoming, []received.Receipt) error { return storage.ErrUnavailable }}
		for _, s := range submitAll(t, f, "a", "b") {
			require.ErrorIs(t, s.err, groupcommit.ErrBusy)
			require.ErrorIs(t, s.err, storage.ErrUnavailable)
			require.Equal(t, 10*time.Second, s.took)
		}
		other := &fakeAccepter{act: func(int, []received.Incoming, []received.Receipt) error { return errBroken }}
		s := submitAll(t, other, "a")[0]
		require.ErrorIs(t, s.err, errBroken)
		require.Len(t, other.commits, 1, "an error that no time heals is not tried again")
	})
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	unknown := &storage.UnknownOutcomeError{Err: io.EOF}
	once := func(call int, _ []received.Incoming, _ []received.Receipt) error {
		if call == 1 {
			return unknown
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		took := &fakeAccepter{act: once, accepted: func(call int) (bool, error) {
			if call < 3 {
				return false, storage.ErrUnavailable
			}
			return true, nil
		}}
		requireStored(t, submitAll(t, took, "a")[0])
		require.Len(t, took.commits, 1)

		lost := &fakeAccepter{act: once, accepted: func(int) (bool, error) { return false, nil }}
		requireStored(t, submitAll(t, lost, "a")[0])
		require.Len(t, lost.commits, 2, "what did not take effect is committed again")

		// The server was still committing when it was asked: the second commit
		// finds the report as a resend of itself.
		slow := &fakeAccepter{accepted: func(int) (bool, error) { return false, nil },
			act: func(call int, _ []received.Incoming, receipts []received.Receipt) error {
				if call == 1 {
					return unknown
				}
				receipts[0].Outcome = received.Resent
				return nil
			}}
		requireStored(t, submitAll(t, slow, "a")[0])

		// What the first commit said of it holds: a conflict, or a resend of an
		// earlier report.
		for _, first := range []received.Outcome{received.Conflict, received.Resent} {
			again := &fakeAccepter{accepted: func(int) (bool, error) { return false, nil },
				act: func(call int, _ []received.Incoming, receipts []received.Receipt) error {
					receipts[0].Outcome = received.Resent
					if call == 1 {
						receipts[0].Outcome = first
					}
					if call < 3 {
						return unknown
					}
					return nil
				}}
			s := submitAll(t, again, "a")[0]
			require.NoError(t, s.err)
			require.Equal(t, first, s.receipt.Outcome)
			require.Len(t, again.commits, 3)
		}

		never := &fakeAccepter{act: once, accepted: func(int) (bool, error) { return false, storage.ErrUnavailable }}
		s := submitAll(t, never, "a")[0]
		require.ErrorIs(t, s.err, groupcommit.ErrBusy)
		require.True(t, errors.As(s.err, new(*storage.UnknownOutcomeError)), "the files of the report must be kept")
	})
}

func TestClientGoneBeforeTheCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		f := &fakeAccepter{act: func(int, []received.Incoming, []received.Receipt) error { <-block; return nil }}
		c := NewCommitter(f, nil, slog.New(slog.DiscardHandler))
		var all sync.WaitGroup
		for range commitMost * (4 + 1 + 4) { // lanes, one group, the queue
			all.Go(func() { _, _ = c.Submit(t.Context(), received.Incoming{UUID: uuid.New()}) })
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Submit(ctx, received.Incoming{})
		require.ErrorIs(t, err, context.Canceled)
		close(block)
		all.Wait()
		c.Close()
	})
}
