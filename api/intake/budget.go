package intake

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"strconv"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/tasks/admission"
)

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
//
// Every tier is a room that organizations share, and the tokens of each.
type budget struct{ tiers [tiers]tier }

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
	most int64 // of one place
	room *admission.Room
}

const (
	smallMost  = 64 << 10 // nearly all reports
	middleMost = 1 << 20
	formMost   = 64 << 10 // nearly all dumps
	// filesMost files larger than a head are stored at once: each may hold one of the
	// object store's large buffers, of which uploads need the others.
	filesMost = 10
	headsMost = 512
	// symbolsMost symbol files are stored at once, beside attachments and builds.
	symbolsMost = 4
)

func newBudget(limits Limits, wait time.Duration) *budget {
	total, large, forms := limits.InFlight, limits.Report, limits.FieldBytes
	b := &budget{}
	for i, t := range [tiers]struct {
		name        string
		most, total int64
	}{
		tierForm:      {"fields", formMost, max(total/8, 4*formMost)},
		tierLargeForm: {"many fields", forms, max(total/8, 4*forms)},
		tierSmall:     {"small documents", smallMost, total / 4},
		tierMiddle:    {"documents", middleMost, total / 4},
		tierLarge:     {"large documents", large, total / 2},
		tierHeads:     {"beginnings of files", attachmentPeek, headsMost * attachmentPeek},
		tierFiles:     {"attachments", 1, filesMost},
		tierSymbols:   {"symbol files", 1, symbolsMost},
		tierEchoes:    {"answers", large, total / 2},
	} {
		headroom := max(t.total/8, t.most)
		if i == tierFiles {
			headroom = 2
		}
		b.tiers[i] = tier{t.most, admission.New(admission.Config{Name: "crash " + t.name, Capacity: t.total, Headroom: headroom, Wait: wait})}
	}
	return b
}

// callerOf returns who the rooms take a request for.
func callerOf(t *crash.Token) admission.Caller {
	return admission.Caller{Organization: t.OrganizationID, Key: strconv.FormatInt(t.ID, 10)}
}

// places are those that one request takes of the budget.
type places struct {
	r        *Receiver
	caller   admission.Caller
	arriving *pace.Body
}

// take waits for a place of a tier. While the body arrives, it can be evicted for others.
func (h *places) take(ctx context.Context, n int, weight int64) (*admission.Place, error) {
	p, err := h.r.memory.tiers[n].room.Enter(ctx, h.caller, weight)
	if err == nil {
		h.arriving.Hold(p)
	}
	return p, err
}

// leave returns a place of take.
func (h *places) leave(p *admission.Place) {
	h.arriving.Free(p)
	p.Leave()
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
	place *admission.Place
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
	b.place.Leave()
	b.place = nil
	c := class(cap(b.b) - slack)
	if c > maxClass || cap(b.b) != 1<<c+slack {
		return
	}
	b.b = b.b[:0]
	p.classes[c].Put(b)
}

// read reads a document of at most limit bytes (errLimit), size being its length or -1.
// What it takes of memory follows what has arrived: a length is believed for the next
// tier only.
func (h *places) read(ctx context.Context, src io.Reader, size, limit int64) (*buffer, error) {
	if size > limit {
		return nil, errLimit
	}
	r, buf := h.r, &buffer{}
	for _, n := range documentTiers {
		most := min(r.memory.tiers[n].most, limit)
		weight := most
		if size >= 0 {
			weight = min(1<<class(int(size)), most)
		}
		at, err := h.take(ctx, n, weight)
		if err != nil {
			r.buffers.put(buf)
			return nil, err
		}
		h.leave(buf.place)
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
			buf.place.Shrink(int64(cap(buf.b) - slack))
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
	next.place, b.place = b.place, nil
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
			next.place, b.place = b.place, nil
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
