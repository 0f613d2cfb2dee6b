package plan

import "slices"

// move puts the item at From so that it stands at To, both counted before the move in
// the order as it is then.
type move struct {
	Item int // as it was numbered at first
	From int
	To   int
}

// fewestMoves returns the moves that bring items into an order: want[i] is the number of
// the item that shall stand at i. Items of a longest run that is in order already stay.
func fewestMoves(want []int) []move {
	stay := longestRise(want)
	now := make([]int, len(want))
	for i := range now {
		now[i] = i
	}
	var moves []move
	for to, item := range want {
		if stay[item] {
			continue
		}
		from := slices.Index(now, item)
		// Behind the item that precedes it in the order.
		at := 0
		if to > 0 {
			at = slices.Index(now, want[to-1]) + 1
		}
		if from < at {
			at--
		}
		if from != at {
			now = slices.Delete(now, from, from+1)
			now = slices.Insert(now, at, item)
			moves = append(moves, move{item, from, at})
		}
		stay[item] = true
	}
	return moves
}

// longestRise returns the items of a longest rising subsequence of an order.
func longestRise(want []int) map[int]bool {
	var ends []int // positions in want, by length of the sequence that ends there
	before := make([]int, len(want))
	for i, item := range want {
		n, _ := slices.BinarySearchFunc(ends, item, func(at, item int) int { return want[at] - item })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	stay := map[int]bool{}
	if len(ends) == 0 {
		return stay
	}
	for at := ends[len(ends)-1]; at >= 0; at = before[at] {
		stay[want[at]] = true
	}
	return stay
}
