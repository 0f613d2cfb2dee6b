package crash

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// A claim commits in parts: reports that are quick to read do not wait for those of the same
// claim that are slow. Each part ends its tasks with its own transaction. After a kill the
// tasks of the parts that were not committed are claimed again, and only these.
const (
	// partReports and partKilobytes bound a part; a batch is not divided.
	partReports   = 1024
	partKilobytes = 8 << 10
	// partTime is how long the reading of a part may take, as that of the last one did. Of
	// few reports the transaction would cost more than the reading.
	partTime       = 200 * time.Millisecond
	partReportsMin = 64
	// yieldEvery is after how many reports those who wait for a processor go first: some
	// hundred microseconds.
	yieldEvery = 8
	// claimTime is how long parts are read of one claim: what is left then is queued again,
	// where organizations have their turns.
	claimTime = 10 * time.Second
)

// batchTask is a task with the batch that it processes.
type batchTask struct {
	task  *ledger.Task
	batch uuid.UUID
}

// claimed is a claim that is worked off in parts.
type claimed struct {
	*worker.Claim
	rest   []batchTask                   // those that are not processed
	loaded int                           // the batches of so many of rest have been read
	read   map[uuid.UUID]*received.Batch // these, as far as they are there
	looks  *looks                        // of the part before; nil: there was none
	began  time.Time
	waited time.Duration // the oldest report, until the claim
}

func newClaimed(claim *worker.Claim) (*claimed, error) {
	c := &claimed{Claim: claim, read: map[uuid.UUID]*received.Batch{}, began: time.Now(), waited: longestWait(claim)}
	for i := range claim.Tasks {
		payload, err := worker.Payload[tasks.CrashProcessPayload](claim.Tasks[i])
		if err != nil {
			return nil, err
		}
		c.rest = append(c.rest, batchTask{&claim.Tasks[i], payload.BatchID})
	}
	return c, nil
}

// age is how long the oldest report of a claim has waited by now.
func (c *claimed) age() time.Duration { return c.waited + time.Since(c.began) }

// Handle processes the batches of a claim.
func (p *Process) Handle(ctx context.Context, claim *worker.Claim) error {
	c, err := newClaimed(claim)
	if err != nil {
		return err
	}
	r := &reader{symbols: p.Symbols, log: p.Log}
	for {
		if err := p.handlePart(ctx, c, r); err != nil || len(c.rest) == 0 {
			return err
		}
		if time.Since(c.began) > claimTime {
			return &tasks.SnoozeError{}
		}
	}
}

// handlePart processes the next batches.
func (p *Process) handlePart(ctx context.Context, c *claimed, r *reader) error {
	release, err := p.Throttle.acquire(ctx, c.age())
	if err != nil {
		return err
	}
	defer release()
	part, err := p.nextPart(ctx, c)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := c.look(ctx, r); err != nil {
		return err
	}
	crashes, err := p.readPart(ctx, c, part, r)
	if err != nil {
		return err
	}
	if len(crashes) > 0 {
		p.cost.Store(int64(time.Since(start)) / int64(len(crashes)))
	}
	if err := p.commit(ctx, c, part, crashes); err != nil {
		return err
	}
	for _, t := range part {
		delete(c.read, t.batch)
	}
	c.rest, c.loaded = c.rest[len(part):], c.loaded-len(part)
	p.Store.Committed(crashes)
	p.observe(crashes)
	return nil
}

// look begins to look for the symbols of a part. Each part asks for the generations of symbol
// files: while they stand, what the part before has found holds.
func (c *claimed) look(ctx context.Context, r *reader) (err error) {
	if c.looks != nil {
		return c.looks.refresh(ctx)
	}
	c.looks, err = r.look(ctx, c.OrganizationID())
	return err
}

// nextPart returns the tasks that are processed next, and reads their batches.
func (p *Process) nextPart(ctx context.Context, c *claimed) ([]batchTask, error) {
	if c.loaded == 0 {
		if err := p.load(ctx, c); err != nil {
			return nil, err
		}
	}
	most := partReports
	if cost := p.cost.Load(); cost > 0 {
		most = int(min(max(int64(cmp.Or(p.PartTime, partTime))/cost, partReportsMin), partReports))
	}
	n, reports := 0, 0
	for n < c.loaded {
		here := 0
		if b := c.read[c.rest[n].batch]; b != nil {
			here = len(b.Entries)
		}
		if n > 0 && reports+here > most {
			break
		}
		n, reports = n+1, reports+here
	}
	return c.rest[:n], nil
}

// load reads the batches of the next tasks, up to some megabytes: a claim made beside a quiet
// receiver is divided when it becomes busy.
func (p *Process) load(ctx context.Context, c *claimed) error {
	most, weight := p.Throttle.claimWeight(partKilobytes), 0
	var ids []uuid.UUID
	for _, t := range c.rest {
		if weight += t.task.Weight; len(ids) > 0 && weight > most {
			break
		}
		ids = append(ids, t.batch)
	}
	batches, err := p.Store.Batches(ctx, ids)
	if err != nil {
		return err
	}
	for _, b := range batches {
		c.read[b.ID] = b
	}
	c.loaded = len(ids)
	return nil
}

// readPart reads the reports of a part. The error is that of the context: a report that cannot
// be read fails alone.
func (p *Process) readPart(ctx context.Context, c *claimed, part []batchTask, r *reader) ([]crash.Crash, error) {
	l := c.looks
	var crashes []crash.Crash
	for _, t := range part {
		b := c.read[t.batch]
		if b == nil {
			continue
		}
		for n := range b.Entries {
			if b.Entries[n].Deleted {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			one := r.parse(b, n)
			crashes = append(crashes, one.crash)
			if one.report != nil {
				at := len(crashes) - 1
				l.add(ctx, b.OrganizationID, &one.crash, one.report, one.doc, func(found *symbolicate.Result, err error) {
					crashes[at] = r.grouped(ctx, &one, found, err)
				})
			}
			// A part occupies a processor for some tens of milliseconds; requests
			// that became ready meanwhile go first. All that are ready: a report that
			// waited for them each time would take as long as they do.
			if len(crashes)%yieldEvery == 0 {
				runtime.Gosched()
			}
		}
	}
	l.end(ctx)
	for i := range crashes {
		crashes[i].Duplicates = min(crashes[i].Duplicates, cmp.Or(p.Duplicates, DefaultDuplicates))
	}
	return crashes, ctx.Err()
}

// ruled are the batches of a part for which rules are evaluated.
func (c *claimed) ruled(part []batchTask) (ids []uuid.UUID) {
	for _, t := range part {
		if b := c.read[t.batch]; b != nil && b.Ruled {
			ids = append(ids, t.batch)
		}
	}
	return ids
}

// commit writes the crashes of a part and ends its tasks.
func (p *Process) commit(ctx context.Context, c *claimed, part []batchTask, crashes []crash.Crash) error {
	organization := c.OrganizationID()
	explanations := p.Store.PackExplanations(crashes)
	p.Store.PackSymbolications(crashes)
	crash.Facets(organization, crashes)
	return c.FinishPart(ctx, len(part), func(tx *storage.Tx) error {
		// A commit that the database loses, when its machine dies within the second,
		// takes the end of the tasks along: they are rescued and done again. So nobody
		// waits for the disk while the locks of the groups are held.
		if err := tx.CommitLater(ctx); err != nil {
			return err
		}
		if err := crash.Lock(ctx, tx, crashes); err != nil {
			return err
		}
		if err := crash.RecordExplanations(ctx, tx, explanations); err != nil {
			return err
		}
		if err := p.record(ctx, tx, organization, crashes); err != nil {
			return err
		}
		if err := insertFollowing(ctx, tx, organization, crashes, c.ruled(part)); err != nil {
			return err
		}
		if err := recordResults(ctx, tx, part, crashes); err != nil {
			return err
		}
		return crash.Emit(ctx, tx, organization, crashes)
	})
}

// longestWait returns how long the oldest task of a claim was due before it was
// claimed.
func longestWait(claim *worker.Claim) (longest time.Duration) {
	for i := range claim.Tasks {
		t := &claim.Tasks[i]
		if t.StartedAt != nil {
			longest = max(longest, t.StartedAt.Sub(t.RunAt))
		}
	}
	return longest
}
