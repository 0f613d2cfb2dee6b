package worker

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// slots are those of one pool.
type slots struct {
	*Worker
	number int
	queues []string // most urgent first
	busy   atomic.Int32
}

func newSlots(w *Worker, p Pool) *slots {
	s := &slots{Worker: w, number: p.Slots}
	for q := range p.Queues {
		s.queues = append(s.queues, q)
	}
	slices.SortFunc(s.queues, func(a, b string) int { return p.Queues[b] - p.Queues[a] })
	return s
}

// receive takes one delivery. It always returns nil: whatever went wrong, the
// ledger knows, and the relay delivers again what is due.
func (s *slots) receive(ctx context.Context, t *asynq.Task) error {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	if kind, ok := dispatch.TriggeredKind(t.Type()); ok {
		s.receiveTrigger(kind)
		return nil
	}
	queue, _ := asynq.GetQueueName(ctx)
	turns, ok := s.turns[queue]
	m, err := dispatch.ParseMessage(t.Payload())
	if err != nil || !ok {
		s.cfg.Log.ErrorContext(ctx, "delivery cannot be read", "queue", queue, "error", err)
		return nil
	}
	if m.Known {
		turns.add(m.OrganizationID)
	}
	s.workNext(ctx, queue, search{named: m.Known, delivery: &delivery{task: m.TaskID, result: t.ResultWriter()}})
	return nil
}

// delivery is what asynq knows of a task that is worked on.
type delivery struct {
	task   uuid.UUID           // the one it was made for, zero by an older program
	result *asynq.ResultWriter // nil in tests
}

const (
	// claimTries bounds the organizations that one delivery asks for a task in vain:
	// others have claimed what the last look saw.
	claimTries = 32
	// spareEvery is how often a pool without a free slot looks for an organization that
	// has nothing running.
	spareEvery = 500 * time.Millisecond
)

// search is how the next task of a queue is looked for.
type search struct {
	// fresh: of an organization that has nothing of the queue running.
	fresh bool
	// named: for a delivery that named its organization. When the tasks of that one were
	// merged into another claim, most of a storm's are, there is nothing more to look for:
	// others have deliveries of their own, and the relay makes more while tasks are due.
	named bool
	// delivery is nil where none was taken.
	delivery *delivery
}

// workNext works on the next task of a queue. It reports whether there was one.
func (w *Worker) workNext(ctx context.Context, queue string, how search) bool {
	turns := w.turns[queue]
	for range claimTries {
		looked, err := turns.refresh(ctx, time.Now(), how.named)
		if err != nil {
			w.failed(ctx, "waiting organizations not read", err, "queue", queue)
			return false
		}
		organization, ok := turns.take(how.fresh)
		if !ok {
			if looked || how.fresh || how.named {
				return false
			}
			continue
		}
		claimed, err := w.claimNext(ctx, queue, organization, how.named)
		if err != nil {
			turns.done(organization)
			w.failed(ctx, "claim failed", err, "queue", queue, "organization_id", organization)
			return false
		}
		if len(claimed) == 0 {
			turns.none(organization)
			continue
		}
		w.runClaimed(ctx, claimed, how.delivery)
		turns.done(organization)
		return true
	}
	return false
}

// headTries bounds the tasks of an organization that a claim passes over: those whose
// concurrency key is full are put off one by one.
const headTries = 4

// claimNext claims the next task of an organization, with those that its kind merges.
func (w *Worker) claimNext(ctx context.Context, queue string, organization int64, named bool) ([]ledger.Task, error) {
	s := w.special[queue]
	if s.merged != "" {
		// The next task is one of the only kind: it need not be looked for first.
		c := w.claimRequest(ledger.Head{Kind: s.merged}, organization)
		c.NoWait = true
		if claimed, err := w.cfg.Ledger.Claim(ctx, c); err != nil || len(claimed) > 0 || named {
			return claimed, err
		}
	}
	for range headTries {
		// One statement, and one that others at the same queue do not run into.
		if !s.all {
			claimed, err := w.cfg.Ledger.ClaimFirst(ctx, queue, organization, w.name, s.kinds)
			if err != nil || len(claimed) > 0 || len(s.kinds) == 0 {
				return claimed, err
			}
		}
		head, err := w.cfg.Ledger.First(ctx, queue, organization)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		claimed, err := w.cfg.Ledger.Claim(ctx, w.claimRequest(head, organization))
		if err != nil || len(claimed) > 0 {
			return claimed, err
		}
	}
	return nil, nil
}

func (w *Worker) claimRequest(head ledger.Head, organization int64) ledger.ClaimRequest {
	kind, handler := w.kinds[head.Kind], w.cfg.Handlers[head.Kind]
	c := ledger.ClaimRequest{ID: head.ID, Kind: head.Kind, OrganizationID: organization, Worker: w.name}
	if handler == nil {
		return c
	}
	c.Batch, c.MaxWeight, c.KeyLimit = kind.Batch, kind.MaxWeight, w.keyLimit(kind)
	if s, ok := handler.(Sizer); ok {
		c.MaxWeight = s.ClaimWeight(kind.MaxWeight)
	}
	return c
}

// runClaimed works on a claim. Tasks of a kind that this program does not have, an older
// worker among newer ones or after a step back, are put off.
func (w *Worker) runClaimed(ctx context.Context, claimed []ledger.Task, from *delivery) {
	name := claimed[0].Kind
	if w.cfg.Handlers[name] != nil {
		w.run(claimed, from)
		return
	}
	_, err := w.cfg.Ledger.Release(ctx, []ledger.Token{claimed[0].Token()}, unknownDelay)
	w.cfg.Log.ErrorContext(ctx, "no handler for this kind, put off", "kind", name, "task_id", claimed[0].ID, "error", err)
}

// spare works, while all slots are taken, on tasks of organizations that have nothing of
// their queue running, one at a time: nobody's long tasks keep others from beginning.
func (s *slots) spare(ctx context.Context) {
	tick := time.NewTicker(spareEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, queue := range s.queues {
			if int(s.busy.Load()) < s.number || ctx.Err() != nil {
				break
			}
			s.workNext(s.base, queue, search{fresh: true})
		}
	}
}

// specialKinds are the kinds of a queue that merge tasks or bound a concurrency key.
type specialKinds struct {
	kinds  []string
	all    bool   // the queue has no others
	merged string // the only kind of the queue, when it merges tasks and bounds no key
}

func (w *Worker) specialQueues() map[string]specialKinds {
	of := map[string]specialKinds{}
	for _, q := range tasks.Queues() {
		s := specialKinds{all: true}
		for _, k := range w.kinds {
			switch {
			case k.Queue != q:
			case k.Batch > 1 || w.keyLimit(k) > 0:
				s.kinds = append(s.kinds, k.Name)
			default:
				s.all = false
			}
		}
		if s.all && len(s.kinds) == 1 {
			if k := w.kinds[s.kinds[0]]; k.Batch > 1 && w.keyLimit(k) == 0 && w.cfg.Handlers[k.Name] != nil {
				s.merged = k.Name
			}
		}
		of[q] = s
	}
	return of
}
