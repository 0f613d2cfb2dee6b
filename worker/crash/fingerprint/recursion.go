package fingerprint

// maxPeriod is the longest cycle of calls that counts as mutual recursion.
// Recursive descent over a grammar has cycles of about ten functions.
const maxPeriod = 16

// repetition is a part of a stack that repeats.
type repetition struct {
	first  int32 // the element of order for the first kept frame
	period int
	length int  // frames before it was collapsed
	open   bool // it reaches the end of the stack: nothing encloses it
}

// collapse removes repetitions from a stack. ids are equal for equal frames,
// order contains their positions; both are changed in place, and the shorter
// slices are returned, with the longest repetition that was collapsed. Its
// outermost period stays, so that the point at which it was entered counts and
// the depth does not. dropped is called for each frame that is removed.
//
// It takes time linear in the stack for each of maxPeriod periods.
func collapse(ids []uint64, order []int32, dropped func(int32)) ([]uint64, []int32, repetition) {
	var longest repetition
	for range 3 { // a collapsed cycle can stand beside its own frame again
		n := len(ids)
		for p := 1; p <= maxPeriod && 2*p <= len(ids); p++ {
			ids, order = collapsePeriod(ids, order, p, dropped, &longest)
		}
		if len(ids) == n {
			break
		}
	}
	return ids, order, longest
}

func collapsePeriod(ids []uint64, order []int32, p int, dropped func(int32), longest *repetition) ([]uint64, []int32) {
	w, n := 0, len(ids)
	move := func(i int) {
		ids[w], order[w] = ids[i], order[i]
		w++
	}
	for i := 0; i < n; {
		j := i
		for j+p < n && ids[j] == ids[j+p] {
			j++
		}
		if j-i < p {
			// No repetition begins in i..j: each would end at j too.
			for ; i <= j; i++ {
				move(i)
			}
			continue
		}
		if length := j - i + p; length > longest.length {
			*longest = repetition{first: order[j], period: p, length: length, open: j+p == n}
		}
		for ; i < j; i++ {
			dropped(order[i])
		}
		for ; i < j+p && i < n; i++ {
			move(i)
		}
	}
	return ids[:w], order[:w]
}

// rotate rotates a cycle that nothing encloses so that its least frame comes
// first: the stack was cut off somewhere inside the recursion, and where is random.
func rotate(order []int32, text func(int32) string) {
	least := 0
	for k := 1; k < len(order); k++ {
		if lessRotation(order, k, least, text) {
			least = k
		}
	}
	if least > 0 {
		turned := append(append(make([]int32, 0, len(order)), order[least:]...), order[:least]...)
		copy(order, turned)
	}
}

func lessRotation(order []int32, a, b int, text func(int32) string) bool {
	n := len(order)
	for k := range n {
		x, y := text(order[(a+k)%n]), text(order[(b+k)%n])
		if x != y {
			return x < y
		}
	}
	return false
}
