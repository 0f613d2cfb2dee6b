package proguard

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// nameRow is the row of a name in the record of a class.
type nameRow [nameSize]uint32

// methodNames writes the overloads of the class and returns the rows of their names.
func (b *builder) methodNames() ([]nameRow, error) {
	c := &b.class
	b.order = b.order[:0]
	for i := range c.rows {
		b.order = append(b.order, int32(i))
	}
	slices.SortStableFunc(b.order, func(i, j int32) int { return cmp.Compare(c.rows[i].name, c.rows[j].name) })
	var names []nameRow
	for from := 0; from < len(b.order); {
		name := c.rows[b.order[from]].name
		to := from
		for to < len(b.order) && c.rows[b.order[to]].name == name {
			to++
		}
		overloads, err := b.overloads(b.order[from:to])
		if err != nil {
			return nil, err
		}
		if len(overloads) > maxOverloads*overloadSize {
			return nil, symbol.Invalid(symbol.TooLarge, "class %q of the mapping has more than %d methods that are all named %q",
				excerpt([]byte(b.text(c.original))), maxOverloads, excerpt([]byte(b.text(name))))
		}
		at, err := b.writeNumbers(overloads)
		if err != nil {
			return nil, err
		}
		names = append(names, nameRow{uint32(hash(b.text(name))), name, at, uint32(len(overloads) / overloadSize)})
		from = to
	}
	sortNames(names)
	return names, nil
}

func sortNames(names []nameRow) {
	slices.SortFunc(names, func(x, y nameRow) int { return cmp.Compare(x[0], y[0]) })
}

// fieldNames writes the fields of the class and returns the rows of their names.
func (b *builder) fieldNames() ([]nameRow, error) {
	fields := b.class.fields
	slices.SortStableFunc(fields, func(x, y field) int { return cmp.Compare(x.name, y.name) })
	var names []nameRow
	for from := 0; from < len(fields); {
		name := fields[from].name
		var numbers []uint32
		to := from
		for ; to < len(fields) && fields[to].name == name; to++ {
			flags := uint32(0)
			if fields[to].synthetic {
				flags = flagSynthetic
			}
			numbers = append(numbers, fields[to].signature, flags, fields[to].residual)
		}
		at, err := b.writeNumbers(numbers)
		if err != nil {
			return nil, err
		}
		names = append(names, nameRow{uint32(hash(b.text(name))), name, at, uint32(to - from)})
		from = to
	}
	sortNames(names)
	return names, nil
}

// overloads divides the rows of a name into methods and writes their rows. Rows belong to
// one method while the outermost of each frame has the same signature, and all do when
// the first has that of the last.
func (b *builder) overloads(rows []int32) ([]uint32, error) {
	all := b.class.rows
	var numbers []uint32
	frameEnd := func(i int) int {
		for i+1 < len(rows) && all[rows[i]].lines.exists() && all[rows[i]].lines == all[rows[i+1]].lines {
			i++
		}
		return i
	}
	last := frameEnd(0)
	if all[rows[last]].signature == all[rows[len(rows)-1]].signature {
		return b.overload(numbers, rows)
	}
	from := 0
	for last+1 < len(rows) {
		next := frameEnd(last + 1)
		if all[rows[next]].signature != all[rows[last]].signature {
			var err error
			if numbers, err = b.overload(numbers, rows[from:last+1]); err != nil {
				return nil, err
			}
			from = last + 1
		}
		last = next
	}
	return b.overload(numbers, rows[from:])
}

// overload writes the rows of a method and adds its numbers.
func (b *builder) overload(numbers []uint32, rows []int32) ([]uint32, error) {
	all := b.class.rows
	last := &all[rows[len(rows)-1]]
	residual, err := b.rowResidual(last)
	if err != nil {
		return nil, err
	}
	flags, original := uint32(0), last.signature
	if at, ok := b.class.byResidual[residual]; ok {
		m := &b.class.members[at]
		flags, original = memberKnown, m.signature
		if m.synthetic {
			flags |= memberSynthetic
		}
		if m.outline {
			flags |= memberOutline
		}
	}
	plain := slices.IndexFunc(rows, func(i int32) bool { return !all[i].lines.exists() })
	if plain < 0 {
		plain = len(rows)
	}
	values := make([]uint32, 0, len(rows)*rowSize)
	for _, i := range rows {
		r := &all[i]
		values = append(values, uint32(r.lines.from), uint32(r.lines.to), uint32(r.original.from), uint32(r.original.to), r.signature, r.info)
	}
	at, err := b.writeNumbers(values)
	if err != nil {
		return nil, err
	}
	segments, segmentCount := uint32(0), 0
	if found := b.segments(rows); found != nil {
		segmentCount = len(found) / segmentSize
		if segments, err = b.writeNumbers(found); err != nil {
			return nil, err
		}
	}
	return append(numbers, flags, at, uint32(len(rows)), segments, uint32(segmentCount), uint32(plain), residual, original), nil
}

// segments returns which row is the first to contain a line, for all lines; nil when a
// search in the rows finds it as well.
func (b *builder) segments(rows []int32) []uint32 {
	all := b.class.rows
	if len(rows) <= fewRows {
		return nil
	}
	var runs []int32 // the first row of each frame that has lines
	sorted := true
	for n, i := range rows {
		switch lines := all[i].lines; {
		case !lines.exists():
			sorted = false
		case n == 0 || lines != all[rows[n-1]].lines:
			sorted = sorted && (n == 0 || all[rows[n-1]].lines.to < lines.from)
			runs = append(runs, int32(n))
		}
	}
	if sorted {
		return nil
	}
	lines := func(run int) lineRange { return all[rows[runs[run]]].lines }
	bounds := make([]int64, 0, 2*len(runs))
	byStart := make([]int32, len(runs))
	for run := range runs {
		byStart[run] = int32(run)
		bounds = append(bounds, int64(lines(run).from), int64(lines(run).to)+1)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	slices.SortStableFunc(byStart, func(x, y int32) int { return cmp.Compare(lines(int(x)).from, lines(int(y)).from) })
	// Never nil: without any bound no line is contained.
	out := make([]uint32, 0, 2+len(bounds)*segmentSize)
	out = append(out, 0, noNumber)
	var waiting runHeap
	for _, bound := range bounds {
		for len(byStart) > 0 && int64(lines(int(byStart[0])).from) == bound {
			heap.Push(&waiting, byStart[0])
			byStart = byStart[1:]
		}
		for len(waiting) > 0 && int64(lines(int(waiting[0])).to) < bound {
			heap.Pop(&waiting)
		}
		first := uint32(noNumber)
		if len(waiting) > 0 {
			first = uint32(runs[waiting[0]])
		}
		switch n := len(out); {
		case int64(out[n-2]) == bound:
			out[n-1] = first
		case out[n-1] != first:
			out = append(out, uint32(bound), first)
		}
	}
	return out
}

// runHeap has the first run on top.
type runHeap []int32

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
