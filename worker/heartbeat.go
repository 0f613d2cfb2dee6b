package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// Reasons why a handler's context ended early.
var (
	errCancelled = errors.New("cancelled")
	errLost      = errors.New("claim lost to another worker")
)

// heartbeats keeps the claims of a process alive, with one statement for all.
type heartbeats struct {
	ledger *ledger.Store
	every  time.Duration // ledger.HeartbeatEvery
	log    *slog.Logger

	mu    sync.Mutex
	tasks map[uuid.UUID]activeClaim
}

type activeClaim struct {
	token ledger.Token
	stop  context.CancelCauseFunc
}

func newHeartbeats(store *ledger.Store, every time.Duration, log *slog.Logger) *heartbeats {
	return &heartbeats{ledger: store, every: every, log: log, tasks: map[uuid.UUID]activeClaim{}}
}

func (b *heartbeats) add(tokens []ledger.Token, stop context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tokens {
		b.tasks[t.ID] = activeClaim{t, stop}
	}
}

// remove forgets claims; one that has been claimed again by this process since
// stays.
func (b *heartbeats) remove(tokens []ledger.Token) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tokens {
		if b.tasks[t.ID].token == t {
			delete(b.tasks, t.ID)
		}
	}
}

func (b *heartbeats) run(ctx context.Context) {
	tick := time.NewTicker(b.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.once(ctx)
		}
	}
}

func (b *heartbeats) once(ctx context.Context) {
	b.mu.Lock()
	tokens := make([]ledger.Token, 0, len(b.tasks))
	for _, c := range b.tasks {
		tokens = append(tokens, c.token)
	}
	b.mu.Unlock()
	if len(tokens) == 0 {
		return
	}
	// Where heartbeats are short, a database that needs longer is none that is away.
	bounded, cancel := context.WithTimeout(ctx, max(b.every, time.Second))
	defer cancel()
	cancelled, lost, err := b.ledger.Heartbeat(bounded, tokens)
	if err != nil && ctx.Err() != nil {
		return // the worker stops: the database did not fail
	}
	if err != nil {
		b.log.WarnContext(ctx, "heartbeat failed", "error", err, "tasks", len(tokens))
		return
	}
	b.end(tokens, cancelled, errCancelled)
	b.end(tokens, lost, errLost)
}

// end stops the handlers of some of the tokens. A task that finished while the
// heartbeat was under way is not in the map any more; one that was claimed anew has
// another token and goes on.
func (b *heartbeats) end(tokens []ledger.Token, ids []uuid.UUID, why error) {
	if len(ids) == 0 {
		return
	}
	asked := map[uuid.UUID]ledger.Token{}
	for _, t := range tokens {
		asked[t.ID] = t
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if c, ok := b.tasks[id]; ok && c.token == asked[id] {
			c.stop(why)
		}
	}
}
