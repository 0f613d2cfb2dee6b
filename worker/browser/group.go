package browser

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// group is the browsers of one kind, and the leases that wait for one.
type group struct {
	key     string
	kind    kind
	ready   []*local
	pending int // browsers that start or are reset
	leased  int
	waiting []chan delivery
}

// delivery is what a waiting lease receives: a browser, or why there is none.
type delivery struct {
	local *local
	warm  bool
	err   error
}

func (p *Pool) plainKey() string { return plainKind().key() }

// group returns the group of a kind. The caller holds the lock.
func (p *Pool) group(k kind) *group {
	key := k.key()
	g := p.groups[key]
	if g == nil {
		g = &group{key: key, kind: k}
		p.groups[key] = g
	}
	return g
}

// removeIfEmpty removes a group without browsers and leases. The caller holds the
// lock.
func (p *Pool) removeIfEmpty(g *group) {
	if len(g.ready)+g.pending+g.leased+len(g.waiting) == 0 {
		delete(p.groups, g.key)
	}
}

// idle counts the browsers of a group that no lease uses or waits for. The caller
// holds the lock.
func (g *group) idle() int { return len(g.ready) + max(0, g.pending-len(g.waiting)) }

// makeRoomFor reports whether one more browser may become idle, in a group: of all
// kinds together one more than the warm ones, for each needs some hundred MiB. The
// browsers with custom options that are idle for longest end to make room. The caller
// holds the lock, and removes its group if it is empty.
func (p *Pool) makeRoomFor(here *group) bool {
	for {
		idle := 0
		var oldest *group
		for _, g := range p.groups {
			idle += g.idle()
			if len(g.ready) > 0 && g.key != p.plainKey() && (oldest == nil || g.ready[0].idle.Before(oldest.ready[0].idle)) {
				oldest = g
			}
		}
		if idle <= p.cfg.Warm {
			return true
		}
		if oldest == nil {
			return false
		}
		p.endLocked(oldest.ready[0])
		oldest.ready = oldest.ready[1:]
		if oldest != here {
			p.removeIfEmpty(oldest)
		}
	}
}

// startFor starts a browser for a group in the background. The caller holds the lock.
func (p *Pool) startFor(g *group) {
	g.pending++
	p.backgroundLocked(func() {
		l, err := p.startBrowser(g.kind)
		if p.deliver(g, delivery{local: l, err: err}) {
			return
		}
		p.end(l)
	})
}

// checkOut returns a browser for a lease: a warm one, one that is just being reset,
// or a new one, whichever comes first.
func (p *Pool) checkOut(ctx context.Context, k kind) (l *local, warm bool, err error) {
	for {
		p.mu.Lock()
		if p.closed || p.life.Err() != nil {
			p.mu.Unlock()
			return nil, false, errClosed()
		}
		g := p.group(k)
		if n := len(g.ready); n > 0 {
			l := g.ready[n-1]
			g.ready = g.ready[:n-1]
			g.leased++
			p.mu.Unlock()
			if !l.spent() && l.check(ctx) == nil {
				l.leases++
				return l, true, nil
			}
			p.checkIn(l, true)
			continue
		}
		arrived := make(chan delivery, 1)
		g.waiting = append(g.waiting, arrived)
		if g.pending < len(g.waiting) {
			p.startFor(g)
		}
		p.mu.Unlock()
		select {
		case h := <-arrived:
			return h.local, h.warm, h.err
		case <-ctx.Done():
			p.cancelWait(g, arrived)
			return nil, false, ctx.Err()
		}
	}
}

// cancelWait ends the waiting of a lease. What has been delivered in the meantime is
// checked in for another.
func (p *Pool) cancelWait(g *group, arrived chan delivery) {
	p.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(c chan delivery) bool { return c == arrived })
	p.removeIfEmpty(g)
	p.mu.Unlock()
	select {
	case h := <-arrived:
		if h.local != nil {
			p.checkIn(h.local, false)
		}
	default:
	}
}

// deliver sends a browser that is ready, or the reason why there is none, to the
// first lease that waits, or keeps it idle. It returns false for a browser that is
// one too many, which the caller ends.
func (p *Pool) deliver(g *group, h delivery) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.removeIfEmpty(g)
	g.pending--
	switch {
	case h.err != nil && len(g.waiting) > 0 && !h.warm:
		g.waiting[0] <- delivery{err: fmt.Errorf("browser: start: %w", h.err)}
		g.waiting = g.waiting[1:]
	case h.err != nil && len(g.waiting) > 0 && p.life.Err() == nil: // the reset of a former browser failed
		p.startFor(g)
	case h.err != nil:
		if p.life.Err() == nil { // at the end none is needed
			p.cfg.Log.Warn("a browser did not become ready", "error", codeOf(h.err))
		}
	case len(g.waiting) > 0:
		g.leased++
		h.local.leases++
		g.waiting[0] <- h
		g.waiting = g.waiting[1:]
	case p.life.Err() != nil || len(g.ready) >= p.cfg.Warm || !p.makeRoomFor(g):
		return false
	default:
		h.local.idle = time.Now()
		g.ready = append(g.ready, h.local)
	}
	return true
}

// checkIn takes a browser back from its lease.
func (p *Pool) checkIn(l *local, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.group(l.kind)
	g.leased--
	gone := broken || l.spent() || p.life.Err() != nil
	if !gone && len(g.waiting) == 0 {
		gone = len(g.ready)+g.pending >= p.cfg.Warm || !p.makeRoomFor(g)
	}
	if gone {
		if len(g.waiting) > g.pending && p.life.Err() == nil {
			p.startFor(g)
		}
		p.endLocked(l)
		p.removeIfEmpty(g)
		return
	}
	g.pending++
	p.backgroundLocked(func() {
		err := p.resetBrowser(p.life, l)
		if !p.deliver(g, delivery{local: l, warm: true, err: err}) || err != nil {
			p.end(l)
		}
	})
}
