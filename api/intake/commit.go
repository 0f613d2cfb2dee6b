package intake

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/groupcommit"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

const (
	// commitLinger is how long the first report of a commit waits for company.
	// One row a commit and no linger held 1.2 reports; with 5 ms the ledger
	// and the workers have an order of magnitude fewer rows to turn over.
	commitLinger = 5 * time.Millisecond
	// commitMost reports end the linger.
	commitMost = 64
	// commitBytes bounds the documents of one commit, and so what a batch
	// inflates to; a larger single report stands alone.
	commitBytes = 2 << 20
)

// Accepter stores reports; storage/crash's Store is the one.
type Accepter interface {
	Accept(ctx context.Context, in []received.Incoming, task received.TaskOf) ([]received.Receipt, []*ledger.NewTask, error)
	Accepted(ctx context.Context, in []received.Incoming, receipts []received.Receipt) (bool, error)
}

// Committer lets the reports in flight share commits (api/groupcommit). When the connection
// broke while committing, the rows are read again by uuid before anything is said.
type Committer struct {
	*groupcommit.Committer[received.Incoming, received.Receipt]
	store Accepter
	queue *dispatch.Enqueuer // nil leaves the delivery to the relay
	log   *slog.Logger
}

// NewCommitter returns a committer and starts it; Close ends it.
func NewCommitter(store Accepter, queue *dispatch.Enqueuer, log *slog.Logger) *Committer {
	c := &Committer{store: store, queue: queue, log: log}
	c.Committer = groupcommit.New(groupcommit.Config[received.Incoming, received.Receipt]{Name: "crash reports", Store: c.accept, Log: log,
		Size:   func(r received.Incoming) int { return len(r.Document) },
		Linger: commitLinger, LingerMost: commitMost, Most: commitMost, Bytes: commitBytes})
	return c
}

// Submit stores a report and returns once it is durable. groupcommit.ErrBusy, or the
// database's error, means that it is not known to be stored: the client may send
// it again, and a uuid that did get stored is then a resend.
func (c *Committer) Submit(ctx context.Context, r received.Incoming) (received.Receipt, error) {
	return c.Committer.Submit(ctx, r.OrganizationID, r)
}

// accept tries until the deadline while the database is away.
func (c *Committer) accept(ctx context.Context, in []received.Incoming) ([]received.Receipt, error) {
	wait := 20 * time.Millisecond
	said := make([]map[uuid.UUID]received.Outcome, len(in)) // by commits with an unknown outcome
	var unsure error                                        // the first of them: the reports may be stored
	for {
		receipts, made, err := c.store.Accept(ctx, in, c.task)
		var unknown *storage.UnknownOutcomeError
		if errors.As(err, &unknown) {
			for i, r := range receipts {
				if said[i] == nil {
					said[i] = map[uuid.UUID]received.Outcome{}
				}
				if _, ok := said[i][r.ID]; !ok {
					said[i][r.ID] = r.Outcome
				}
			}
			if unsure == nil {
				unsure = err
			}
			c.log.Warn("commit of crash reports: outcome unknown, reading again", "error", err, "reports", len(in))
			if c.took(ctx, in, receipts) {
				err = nil
			}
		}
		if err == nil {
			c.queue.Deliver(made...)
			for i := range receipts {
				// The server was still committing when it was asked: what looks
				// like a resend is this very report, and what that commit said
				// of it holds. Of two copies of one report in a commit, each
				// keeps its own answer.
				if first, ok := said[i][receipts[i].ID]; ok && receipts[i].Outcome == received.Resent {
					receipts[i].Outcome = first
				}
			}
			return receipts, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(groupcommit.ErrBusy, err, unsure)
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return nil, errors.Join(err, unsure)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(groupcommit.ErrBusy, err, unsure)
		case <-time.After(wait):
		}
		wait = min(wait*2, 500*time.Millisecond)
	}
}

// took finds out whether a transaction took effect. While the database cannot be
// asked, it asks again; past the deadline it answers no, the client hears 503,
// and its resend finds out.
func (c *Committer) took(ctx context.Context, in []received.Incoming, receipts []received.Receipt) bool {
	for {
		there, err := c.store.Accepted(ctx, in, receipts)
		if err == nil {
			return there
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// task returns the ledger row of a batch; accept delivers it.
func (c *Committer) task(organization int64, batch uuid.UUID, bytes int) *ledger.NewTask {
	t := tasks.NewCrashProcess(organization, batch, bytes)
	c.queue.Reserve(t)
	return t
}
