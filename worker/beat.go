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

const (
	// beatEvery renews the claims. The scheduler's rescue takes a task whose
	// heart has been silent for RescueAfter: two beats may fail.
	beatEvery = 2 * time.Second
)

// Reasons why a handler's context ended early.
var (
	errCancelled = errors.New("cancelled")
	errLost      = errors.New("claim lost to another worker")
)

// beats keeps the claims of a process alive, with one statement for all.
type beats struct {
	ledger *ledger.Store
	log    *slog.Logger

	mu    sync.Mutex
	tasks map[uuid.UUID]claim
}

type claim struct {
	token ledger.Token
	stop  context.CancelCauseFunc
}

func newBeats(store *ledger.Store, log *slog.Logger) *beats {
	return &beats{ledger: store, log: log, tasks: map[uuid.UUID]claim{}}
}

func (b *beats) add(tokens []ledger.Token, stop context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tokens {
		b.tasks[t.ID] = claim{t, stop}
	}
}

// remove forgets claims; one that has been claimed again by this process since
// stays.
func (b *beats) remove(tokens []ledger.Token) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range tokens {
		if b.tasks[t.ID].token == t {
			delete(b.tasks, t.ID)
		}
	}
}

func (b *beats) run(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
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

func (b *beats) once(ctx context.Context) {
	b.mu.Lock()
	tokens := make([]ledger.Token, 0, len(b.tasks))
	for _, c := range b.tasks {
		tokens = append(tokens, c.token)
	}
	b.mu.Unlock()
	if len(tokens) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatEvery)
	defer cancel()
	cancelled, lost, err := b.ledger.Beat(ctx, tokens)
	if err != nil {
		b.log.WarnContext(ctx, "heartbeat failed", "error", err, "tasks", len(tokens))
		return
	}
	b.end(tokens, cancelled, errCancelled)
	b.end(tokens, lost, errLost)
}

// end stops the handlers of some of the tokens. A task that finished while the
// beat was under way is not in the map any more; one that was claimed anew has
// another token and goes on.
func (b *beats) end(tokens []ledger.Token, ids []uuid.UUID, why error) {
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
