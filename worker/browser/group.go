package browser

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// group is the browsers of one kind.
type group struct {
	key     string
	kind    kind
	ready   []*local
	coming  int // that start or are reset
	leased  int
	waiting []chan handed
}

// handed is what a waiting lease gets.
type handed struct {
	local *local
	warm  bool
	err   error
}

func (p *Pool) plainKey() string { return plain().key() }

// group gives the group of a kind. The caller holds the lock.
func (p *Pool) group(k kind) *group {
	key := k.key()
	g := p.groups[key]
	if g == nil {
		g = &group{key: key, kind: k}
		p.groups[key] = g
	}
	return g
}

// tidy forgets a group without browsers. The caller holds the lock.
func (p *Pool) tidy(g *group) {
	if len(g.ready)+g.coming+g.leased+len(g.waiting) == 0 {
		delete(p.groups, g.key)
	}
}

// idle counts the browsers of a group that nobody uses or waits for. The caller
// holds the lock.
func (g *group) idle() int { return len(g.ready) + max(0, g.coming-len(g.waiting)) }

// roomFor reports whether one more browser may become idle, in a group: of all
// kinds together one more than the warm ones, for each holds some hundred MiB. The
// browsers with options of their own that wait longest end to make room. The caller
// holds the lock, and tidies its group.
func (p *Pool) roomFor(here *group) bool {
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
			p.tidy(oldest)
		}
	}
}

// begin starts a browser for a group. The caller holds the lock.
func (p *Pool) begin(g *group) {
	g.coming++
	p.backgroundLocked(func() {
		l, err := p.start(g.kind)
		if p.arrive(g, handed{local: l, err: err}) {
			return
		}
		p.end(l)
	})
}

// take gives a lease its browser: a warm one, one that is just being reset, or
// a new one, whichever comes first.
func (p *Pool) take(ctx context.Context, k kind) (l *local, warm bool, err error) {
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
			p.give(l, true)
			continue
		}
		arrived := make(chan handed, 1)
		g.waiting = append(g.waiting, arrived)
		if g.coming < len(g.waiting) {
			p.begin(g)
		}
		p.mu.Unlock()
		select {
		case h := <-arrived:
			return h.local, h.warm, h.err
		case <-ctx.Done():
			p.leave(g, arrived)
			return nil, false, ctx.Err()
		}
	}
}

// leave takes back a wish that is no longer held. What has been handed over in
// the meantime goes to another.
func (p *Pool) leave(g *group, arrived chan handed) {
	p.mu.Lock()
	g.waiting = slices.DeleteFunc(g.waiting, func(c chan handed) bool { return c == arrived })
	p.tidy(g)
	p.mu.Unlock()
	select {
	case h := <-arrived:
		if h.local != nil {
			p.give(h.local, false)
		}
	default:
	}
}

// arrive hands a browser that is ready, or the reason why there is none, to the
// first who waits, or keeps it. It returns false for a browser that is one too
// many, which the caller ends.
func (p *Pool) arrive(g *group, h handed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.tidy(g)
	g.coming--
	switch {
	case h.err != nil && len(g.waiting) > 0 && !h.warm:
		g.waiting[0] <- handed{err: fmt.Errorf("browser: start: %w", h.err)}
		g.waiting = g.waiting[1:]
	case h.err != nil && len(g.waiting) > 0 && p.life.Err() == nil: // the reset of a former browser failed
		p.begin(g)
	case h.err != nil:
		if p.life.Err() == nil { // at the end none is wanted
			p.cfg.Log.Warn("a browser did not become ready", "error", codeOf(h.err))
		}
	case len(g.waiting) > 0:
		g.leased++
		h.local.leases++
		g.waiting[0] <- h
		g.waiting = g.waiting[1:]
	case p.life.Err() != nil || len(g.ready) >= p.cfg.Warm || !p.roomFor(g):
		return false
	default:
		h.local.idle = time.Now()
		g.ready = append(g.ready, h.local)
	}
	return true
}

// give takes a browser back from its lease.
func (p *Pool) give(l *local, broken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.group(l.kind)
	g.leased--
	gone := broken || l.spent() || p.life.Err() != nil
	if !gone && len(g.waiting) == 0 {
		gone = len(g.ready)+g.coming >= p.cfg.Warm || !p.roomFor(g)
	}
	if gone {
		if len(g.waiting) > g.coming && p.life.Err() == nil {
			p.begin(g)
		}
		p.endLocked(l)
		p.tidy(g)
		return
	}
	g.coming++
	p.backgroundLocked(func() {
		err := p.renew(p.life, l)
		if !p.arrive(g, handed{local: l, warm: true, err: err}) || err != nil {
			p.end(l)
		}
	})
}
