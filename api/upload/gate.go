package upload

import (
	"context"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"
)

// gate bounds what uploads that run at once may take of the process.
//
// Each of them holds a part buffer of the object store while it reads its form,
// and a symbols file inside it needs another one: fewer uploads than buffers
// means that one of them can always go on. Whoever has not shown a key yet fills
// the store with bytes that may have to go again, so these uploads have bounds of
// their own (strangers), and a rate to keep to (pace).
type gate struct {
	turns   *semaphore.Weighted
	unknown *strangers
	step    int64
	wait    time.Duration
}

func newGate(cfg *Config) *gate {
	return &gate{turns: semaphore.NewWeighted(int64(cfg.AtOnce)), wait: cfg.Wait,
		step:    min(unknownStep, max(1, cfg.UnknownBytes/int64(cfg.UnknownAtOnce))),
		unknown: newStrangers(share{cfg.UnknownAtOnce, cfg.UnknownBytes}, cfg.perAddress())}
}

// unknownStep is how many bytes of a body are allowed for at once: what a header
// announces counts as little as who sent it.
const unknownStep = 64 << 20

// pass is what one upload holds of the gate.
type pass struct {
	gate    *gate
	from    netip.Prefix
	turn    bool
	unknown bool
	held    share // while unknown
}

const (
	busyPlaces = "too many uploads without a key at once: send the key in a header, or try again later"
	busyBytes  = "too many bytes of uploads without a key at once: send the key in a header, or try again later"
)

// enter waits for a turn. known is false as long as the key has not come.
func (p *pass) enter(ctx context.Context, known bool) error {
	if p.turn {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.gate.wait)
	defer cancel()
	if !known {
		want := share{1, p.gate.step}
		if !p.gate.unknown.take(ctx, p.from, want) {
			return problemBusy(busyPlaces)
		}
		p.unknown, p.held = true, want
	}
	if p.gate.turns.Acquire(ctx, 1) != nil {
		return problemBusy("too many uploads at once: try again later")
	}
	p.turn = true
	return nil
}

// reach makes sure that so many bytes of an unknown sender are allowed for, and
// waits for them when there are none left.
func (p *pass) reach(ctx context.Context, n int64) error {
	for p.unknown && n > p.held.bytes {
		// The last step of the largest upload may be a short one.
		want := share{bytes: min(p.gate.step, p.gate.unknown.each.bytes-p.held.bytes)}
		if want.bytes <= 0 {
			return problemBusy(busyBytes)
		}
		ctx, cancel := context.WithTimeout(ctx, p.gate.wait)
		ok := p.gate.unknown.take(ctx, p.from, want)
		cancel()
		if !ok {
			return problemBusy(busyBytes)
		}
		p.held.bytes += want.bytes
	}
	return nil
}

// identified gives back what only unknown senders hold.
func (p *pass) identified() {
	if p.unknown {
		p.gate.unknown.release(p.from, p.held)
		p.unknown, p.held = false, share{}
	}
}

// leave gives everything back.
func (p *pass) leave() {
	p.identified()
	if p.turn {
		p.gate.turns.Release(1)
		p.turn = false
	}
}
