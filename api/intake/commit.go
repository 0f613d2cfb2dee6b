package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
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
	// commitLanes commits run at once: while one waits for the disk, the next
	// ones fill.
	commitLanes = 4
	// commitWait is how long a report may wait for its commit before the client
	// hears 503; the database may restart in this time.
	commitWait = 10 * time.Second
)

// errBusy says that a report could not be committed in time.
var errBusy = errors.New("not committed in time")

// Accepter stores reports; storage/crash's Store is the one.
type Accepter interface {
	Accept(ctx context.Context, in []crash.Incoming, task crash.TaskOf) ([]crash.Receipt, []*ledger.NewTask, error)
	Accepted(ctx context.Context, in []crash.Incoming, receipts []crash.Receipt) (bool, error)
}

// Committer lets requests in flight share commits: a report is answered when the
// transaction that holds it is durable.
//
// When the database is away, a commit is tried again until its reports have
// waited commitWait. When the connection broke while committing, the rows are
// read again by uuid before anything is said. When the database refuses the
// data of a commit, it is halved until the bad report stands alone.
type Committer struct {
	store Accepter
	queue *dispatch.Enqueuer // nil leaves the delivery to the relay
	log   *slog.Logger

	incoming chan *waiting
	lanes    chan struct{}
	stop     chan struct{}
	done     sync.WaitGroup
	inside   atomic.Int64 // reports in Submit
	crowd    atomic.Int64 // their smoothed number; only collect writes it
}

// waiting is a report that waits for its commit.
type waiting struct {
	report   crash.Incoming
	deadline time.Time
	answer   chan answer // one place: the committer never blocks on it
}

type answer struct {
	receipt crash.Receipt
	err     error
}

// NewCommitter returns a committer and starts it; Close ends it.
func NewCommitter(store Accepter, queue *dispatch.Enqueuer, log *slog.Logger) *Committer {
	c := &Committer{store: store, queue: queue, log: log,
		incoming: make(chan *waiting, 4*commitMost), lanes: make(chan struct{}, commitLanes),
		stop: make(chan struct{})}
	c.done.Go(c.collect)
	return c
}

// Submit stores a report and returns once it is durable. errBusy, or the
// database's error, means that it is not known to be stored: the client may send
// it again, and a uuid that did get stored is then a resend.
func (c *Committer) Submit(ctx context.Context, r crash.Incoming) (crash.Receipt, error) {
	w := &waiting{report: r, deadline: time.Now().Add(commitWait), answer: make(chan answer, 1)}
	c.inside.Add(1)
	defer c.inside.Add(-1)
	select {
	case <-c.stop:
		return crash.Receipt{}, errBusy
	default: // the collector sees this report inside, and stays until it is answered
	}
	timer := time.NewTimer(commitWait)
	defer timer.Stop()
	select {
	case c.incoming <- w:
	case <-ctx.Done():
		return crash.Receipt{}, ctx.Err()
	case <-timer.C:
		return crash.Receipt{}, errBusy
	case <-c.stop:
		return crash.Receipt{}, errBusy
	}
	// From here on the report may be stored whatever the client does, so the
	// answer is waited for; the lanes keep to the deadline.
	a := <-w.answer
	return a.receipt, a.err
}

// Crowd returns how many reports wait for their commit, smoothed over the last ten
// commits, and 0 when none waits now: the measure of a storm by which work that
// can wait leaves the machine to the receiver.
func (c *Committer) Crowd() int {
	if c.inside.Load() == 0 {
		return 0
	}
	return int(c.crowd.Load() / crowdUnit)
}

// crowdUnit is one report in crowd, which is a fixed-point number.
const crowdUnit = 1 << 10

// Close commits what waits and ends the committer. Reports submitted from now on
// are refused with errBusy.
func (c *Committer) Close() {
	close(c.stop)
	c.done.Wait()
}

// collect gathers reports into commits.
func (c *Committer) collect() {
	var pending []*waiting
	bytes := 0
	linger := time.NewTimer(time.Hour)
	linger.Stop()
	flush := func() {
		linger.Stop()
		if len(pending) == 0 {
			return
		}
		c.crowd.Store((9*c.crowd.Load() + c.inside.Load()*crowdUnit) / 10)
		c.lanes <- struct{}{} // waits while all lanes are busy
		members := pending
		pending, bytes = nil, 0
		c.done.Go(func() {
			defer func() { <-c.lanes }()
			c.commit(members)
		})
	}
	take := func(w *waiting) {
		size := len(w.report.Document)
		if bytes+size > commitBytes {
			flush()
		}
		if len(pending) == 0 {
			linger.Reset(commitLinger)
		}
		pending = append(pending, w)
		bytes += size
		if len(pending) >= commitMost {
			flush()
		}
	}
	for {
		select {
		case w := <-c.incoming:
			take(w)
		case <-linger.C:
			flush()
		case <-c.stop:
			for c.inside.Load() > 0 {
				select {
				case w := <-c.incoming:
					take(w)
				case <-time.After(time.Millisecond):
					flush()
				}
			}
			return
		}
	}
}

// commit stores reports and responds to their requests.
func (c *Committer) commit(members []*waiting) {
	in := make([]crash.Incoming, len(members))
	deadline := members[0].deadline
	for i, w := range members {
		in[i] = w.report
		if w.deadline.Before(deadline) {
			deadline = w.deadline
		}
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	receipts, err := c.acceptSafely(ctx, in)
	if storage.IsData(err) && len(members) > 1 {
		half := len(members) / 2
		c.commit(members[:half])
		c.commit(members[half:])
		return
	}
	for i, w := range members {
		if err != nil {
			w.answer <- answer{err: err}
		} else {
			w.answer <- answer{receipt: receipts[i]}
		}
	}
}

// acceptSafely keeps a panic from ending the process and its clients' other
// reports with it.
func (c *Committer) acceptSafely(ctx context.Context, in []crash.Incoming) (receipts []crash.Receipt, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("commit of crash reports panicked", "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("commit: panic: %v", v)
		}
	}()
	return c.accept(ctx, in)
}

// accept tries until the deadline while the database is away.
func (c *Committer) accept(ctx context.Context, in []crash.Incoming) ([]crash.Receipt, error) {
	wait := 20 * time.Millisecond
	said := make([]map[uuid.UUID]crash.Outcome, len(in)) // by commits with an unknown outcome
	var unsure error                                     // the first of them: the reports may be stored
	for {
		receipts, made, err := c.store.Accept(ctx, in, c.task)
		var unknown *storage.UnknownOutcomeError
		if errors.As(err, &unknown) {
			for i, r := range receipts {
				if said[i] == nil {
					said[i] = map[uuid.UUID]crash.Outcome{}
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
				if first, ok := said[i][receipts[i].ID]; ok && receipts[i].Outcome == crash.Resent {
					receipts[i].Outcome = first
				}
			}
			return receipts, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(errBusy, err, unsure)
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			return nil, errors.Join(err, unsure)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(errBusy, err, unsure)
		case <-time.After(wait):
		}
		wait = min(wait*2, 500*time.Millisecond)
	}
}

// took finds out whether a transaction took effect. While the database cannot be
// asked, it asks again; past the deadline it answers no, the client hears 503,
// and its resend finds out.
func (c *Committer) took(ctx context.Context, in []crash.Incoming, receipts []crash.Receipt) bool {
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
