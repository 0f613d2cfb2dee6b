package native

import "container/heap"

// maxActive bounds the ranges that cover one address: files that were not made to do
// harm have a few. Those above it are dropped and counted.
const maxActive = 1 << 16

// span is a range of addresses and what is said about it.
type span struct {
	start, end uint64
	// class orders spans that cover one address: the lowest wins, then the shortest, then
	// the first.
	class uint8
	// What the table keeps: the meaning is the table's.
	v1, v2 uint64
	order  uint64
}

// flatten turns spans that may overlap, in the order of their starts, into segments
// that do not: each address belongs to the one that wins there.
type flatten struct {
	emit    func(start, end uint64, s *span) error
	active  actives
	at      uint64 // all before it is settled
	order   uint64
	pending span   // the last segment, which may go on
	from    uint64 // where it begins
	to      uint64 // where it ends; from == to: there is none
	dropped int64
	skip    int // spans to take before expired ones are looked for again
}

func (f *flatten) add(s span) error {
	if err := f.advance(s.start); err != nil {
		return err
	}
	if len(f.active) >= maxActive {
		f.dropped++
		return nil
	}
	s.order = f.order
	f.order++
	heap.Push(&f.active, s)
	return nil
}

// advance settles the addresses before to.
func (f *flatten) advance(to uint64) error {
	for f.at < to && len(f.active) > 0 {
		top := f.active[0]
		if top.end <= f.at {
			heap.Pop(&f.active)
			continue
		}
		end := min(top.end, to)
		if err := f.settle(f.at, end, &top); err != nil {
			return err
		}
		f.at = end
	}
	f.at = max(f.at, to)
	if f.skip--; len(f.active) >= maxActive && f.skip <= 0 {
		f.expire()
	}
	return nil
}

// expire removes spans that ended below one that won over them. Each time costs as much
// as there are, so it is done once for many spans.
func (f *flatten) expire() {
	f.skip = maxActive / 2
	kept := f.active[:0]
	for _, s := range f.active {
		if s.end > f.at {
			kept = append(kept, s)
		}
	}
	f.active = kept
	heap.Init(&f.active)
}

func (f *flatten) settle(start, end uint64, s *span) error {
	if f.from < f.to && f.to == start && f.pending.order == s.order {
		f.to = end
		return nil
	}
	if err := f.flush(); err != nil {
		return err
	}
	f.pending, f.from, f.to = *s, start, end
	return nil
}

func (f *flatten) flush() error {
	if f.from == f.to {
		return nil
	}
	from, to := f.from, f.to
	f.from = f.to
	return f.emit(from, to, &f.pending)
}

// close settles all that is left.
func (f *flatten) close() error {
	if err := f.advance(^uint64(0)); err != nil {
		return err
	}
	return f.flush()
}

// actives is a heap of the spans that may cover the address.
type actives []span

func (a actives) Len() int { return len(a) }

func (a actives) Less(i, j int) bool {
	x, y := &a[i], &a[j]
	if x.class != y.class {
		return x.class < y.class
	}
	if n, m := x.end-x.start, y.end-y.start; n != m {
		return n < m
	}
	return x.order < y.order
}

func (a actives) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

func (a *actives) Push(x any) { *a = append(*a, x.(span)) }

func (a *actives) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
