package intake

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// errNoRoom says that a request waited for memory in vain.
var errNoRoom = errors.New("no room in memory")

// errLimit says that a document is longer than its limit.
var errLimit = errors.New("longer than its limit")

// budget bounds what requests hold in memory at once, by tiers with a bound
// each. The size of a chunked body is known only at its end, and of any body an
// announced length is no more than a word: so a document moves up through the
// three tiers of documents as its bytes arrive, and gives back what it did not
// need once it is read. Many small reports are not stopped by a few large ones.
//
// Who waits for a place holds places of lower tiers only, in the order of the
// constants, and the highest never wait: there is no deadlock.
//
// Masking secrets copies a document, so documents may take twice their bound.
type budget struct {
	tiers  [tiers]tier
	shares shares
}

// The tiers.
const (
	tierForm      = iota // fields of dumps
	tierLargeForm        //
	tierSmall            // documents
	tierMiddle           //
	tierLarge            //
	tierHeads            // files of which the beginning is read
	tierFiles            // files, not bytes, on their way into the object store
	tierSymbols          // symbol files, likewise: they take minutes
	tierEchoes           // answers that are being written; never waited for
	tiers
)

// documentTiers are the tiers of documents, by size.
var documentTiers = [...]int{tierSmall, tierMiddle, tierLarge}

type tier struct {
	most  int64 // of one place
	share int64 // of one token
	sem   *semaphore.Weighted
}

const (
	smallMost  = 64 << 10 // nearly all reports
	middleMost = 1 << 20
	formMost   = 64 << 10 // nearly all dumps
	// filesMost files larger than a head are stored at once. They cost little
	// here, but each may hold one of the object store's large buffers.
	filesMost = 64
	headsMost = 8 * filesMost
	// symbolsMost symbol files are stored at once, beside attachments and builds.
	symbolsMost = 12
	// tokenShare is which part of a tier one token may have.
	tokenShare = 4
)

func newBudget(limits Limits) *budget {
	total, large, forms := limits.InFlight, limits.Report, limits.FieldBytes
	b := &budget{shares: shares{tokens: map[int64]*share{}}}
	for i, t := range [tiers]struct{ most, total int64 }{
		tierForm:      {formMost, max(total/8, tokenShare*formMost)},
		tierLargeForm: {forms, max(total/8, tokenShare*forms)},
		tierSmall:     {smallMost, total / 4},
		tierMiddle:    {middleMost, total / 4},
		tierLarge:     {large, total / 2},
		tierHeads:     {attachmentPeek, headsMost * attachmentPeek},
		tierFiles:     {1, filesMost},
		tierSymbols:   {1, symbolsMost},
		tierEchoes:    {large, total / 2},
	} {
		b.tiers[i] = tier{t.most, max(t.total/tokenShare, t.most), semaphore.NewWeighted(t.total)}
	}
	return b
}

// place is what a request holds of the budget; the zero value is none.
type place struct {
	budget *budget
	token  int64
	share  *share
	tier   int
	weight int64
}

func (p *place) release() {
	if p.budget != nil {
		p.budget.tiers[p.tier].sem.Release(p.weight)
		p.share.tiers[p.tier].Release(p.weight)
		p.budget.shares.leave(p.token)
		*p = place{}
	}
}

// shrink returns back what is not needed.
func (p *place) shrink(need int64) {
	if p.budget != nil && need < p.weight {
		p.budget.tiers[p.tier].sem.Release(p.weight - need)
		p.share.tiers[p.tier].Release(p.weight - need)
		p.weight = need
	}
}

// try takes a place when there is room at once.
func (b *budget) try(token int64, n int, weight int64) (place, bool) {
	s := b.shares.enter(token, b)
	if s.tiers[n].TryAcquire(weight) {
		if b.tiers[n].sem.TryAcquire(weight) {
			return place{b, token, s, n, weight}, true
		}
		s.tiers[n].Release(weight)
	}
	b.shares.leave(token)
	return place{}, false
}

// take waits until the token's share and the tier have room: the share first, so
// that a token waits for itself and not in front of others.
func (b *budget) take(ctx context.Context, token int64, n int, weight int64, deadline time.Time) (place, error) {
	if p, ok := b.try(token, n, weight); ok {
		return p, nil
	}
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	s := b.shares.enter(token, b)
	err := s.tiers[n].Acquire(waiting, weight)
	if err == nil {
		if err = b.tiers[n].sem.Acquire(waiting, weight); err == nil {
			return place{b, token, s, n, weight}, nil
		}
		s.tiers[n].Release(weight)
	}
	b.shares.leave(token)
	if ctx.Err() != nil {
		return place{}, ctx.Err()
	}
	return place{}, errNoRoom
}

// buffers pools byte slices by size: powers of two, each with a little room for
// the members that the answer adds.
type buffers struct {
	classes [maxClass + 1]sync.Pool // *buffer
}

const (
	minClass = 12 // 4 KiB
	maxClass = 24 // 16 MiB; larger ones are left to the collector
	slack    = 128
)

// buffer is a document in memory and its place in the budget.
type buffer struct {
	b     []byte
	place place
}

func newBuffers() *buffers { return &buffers{} }

func class(size int) int { return max(minClass, bits.Len(uint(max(size-1, 0)))) }

// get returns an empty buffer with room for size bytes and the slack.
func (p *buffers) get(size int) *buffer {
	c := class(size)
	if c > maxClass {
		return &buffer{b: make([]byte, 0, size+slack)}
	}
	if b, ok := p.classes[c].Get().(*buffer); ok {
		return b
	}
	return &buffer{b: make([]byte, 0, 1<<c+slack)}
}

// put takes a buffer back; nil is none.
func (p *buffers) put(b *buffer) {
	if b == nil {
		return
	}
	b.place.release()
	c := class(cap(b.b) - slack)
	if c > maxClass || cap(b.b) != 1<<c+slack {
		return
	}
	b.b = b.b[:0]
	p.classes[c].Put(b)
}

// read reads a document of at most limit bytes (errLimit) for a token, size being
// its length or -1. What it takes of memory follows what has arrived: a length is
// believed for the next tier only.
func (r *Receiver) read(ctx context.Context, token int64, src io.Reader, size, limit int64) (*buffer, error) {
	if size > limit {
		return nil, errLimit
	}
	deadline := time.Now().Add(r.cfg.Wait)
	buf := &buffer{}
	for _, n := range documentTiers {
		most := min(r.memory.tiers[n].most, limit)
		weight := most
		if size >= 0 {
			weight = min(1<<class(int(size)), most)
		}
		at, err := r.memory.take(ctx, token, n, weight, deadline)
		if err != nil {
			r.buffers.put(buf)
			return nil, err
		}
		buf.place.release()
		buf.place = at
		var whole bool
		if size >= 0 {
			whole, err = r.part(&buf, src, int(size), int(most))
		} else {
			whole, err = r.fill(&buf, src, int(most))
		}
		if err != nil {
			r.buffers.put(buf)
			return nil, err
		}
		if whole {
			buf.place.shrink(int64(cap(buf.b) - slack))
			return buf, nil
		}
		if most == limit {
			break
		}
	}
	r.buffers.put(buf)
	return nil, errLimit
}

// part reads on to the size (true), or to most bytes of it.
func (r *Receiver) part(buf **buffer, src io.Reader, size, most int) (bool, error) {
	want := min(size, most)
	next := r.buffers.get(want)
	b := *buf
	next.place, b.place = b.place, place{}
	next.b = append(next.b, b.b...)
	r.buffers.put(b)
	*buf = next
	have := len(next.b)
	next.b = next.b[:want]
	_, err := io.ReadFull(src, next.b[have:])
	return want == size, err
}

// fill reads on until the end of src (true) or until more than most bytes are
// there; the buffer doubles as it fills, its place being taken already.
func (r *Receiver) fill(buf **buffer, src io.Reader, most int) (bool, error) {
	for {
		b := *buf
		if len(b.b) > most {
			return false, nil
		}
		if room := cap(b.b); len(b.b) == room || room == 0 {
			next := r.buffers.get(min(max(2*(room-slack), 16<<10), max(most, len(b.b)+1)))
			next.place, b.place = b.place, place{}
			next.b = append(next.b, b.b...)
			r.buffers.put(b)
			*buf, b = next, next
		}
		n, err := src.Read(b.b[len(b.b):min(cap(b.b), most+1)])
		b.b = b.b[:len(b.b)+n]
		if err == io.EOF {
			return len(b.b) <= most, nil
		}
		if err != nil {
			return false, err
		}
	}
}
