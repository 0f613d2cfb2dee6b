package fingerprint

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Bounds of a recursion that counts as endless.
const (
	// minOverflow is the length of a recursion that can have used up a stack, when
	// the error says that one was: JavaScript's engines submit ten frames, and
	// some clients fewer.
	minOverflow = 4
	// minDeep is that length when the error is a memory fault, as which native
	// code shows it: no usual stack of other errors is as deep.
	minDeep = 200
	// minOpen is the same for a stack that ends inside the recursion: the client
	// cut it off.
	minOpen = 48
)

// collapse removes repeated calls. When the error is an overflow of the stack,
// what is above the recursion is random and is removed too.
func (a *analysis) collapse(overflow bool) {
	seed := maphash.MakeSeed()
	ids := make([]uint64, len(a.order))
	for k, i := range a.order {
		ids[k] = maphash.String(seed, a.frames[i].Text)
	}
	var longest repetition
	_, a.order, longest = collapse(ids, a.order, func(i int32) { a.frames[i].Rules.Add(rule.Recursion) })
	start := slices.Index(a.order, longest.first)
	if a.deepest.length > longest.length {
		longest = a.deepest
		start = slices.IndexFunc(a.order, func(i int32) bool { return a.frames[i].Index >= int(longest.first) })
	}
	if longest.length == 0 || start < 0 {
		return
	}
	if longest.open {
		rotate(a.order[start:], func(i int32) string { return a.frames[i].Text })
	}
	if overflow && longest.length >= minOverflow {
		a.drop(a.order[:start], rule.StackOverflow)
		a.order = a.order[start:]
	}
}

// isStackOverflow reports whether the error's class or message has one of the
// words that language runtimes use for it.
func isStackOverflow(r *report.Report) bool {
	words := [...]string{"StackOverflow", "stack overflow", "RecursionError", "maximum recursion depth", "Maximum call stack",
		"too much recursion", "SystemStackError", "stack level too deep", "InsufficientExecutionStack", "goroutine stack exceeds",
		"EXC_STACK", "STACK_OVERFLOW"}
	if len(r.Classifiers) > 0 && scan.ContainsAny(scan.Truncate(r.Classifiers[0], maxTitle), words[:]...) {
		return true
	}
	return scan.ContainsAny(scan.Truncate(errorMessage(r), maxTitle), words[:]...)
}

// recurrence is how often the frames of a stack occur in it, by their text.
type recurrence map[string]int

// recurrence counts the frames before repetitions are collapsed.
func (a *analysis) recurrence() recurrence {
	counts := make(recurrence, len(a.order))
	for _, i := range a.order {
		counts[a.frames[i].Text]++
	}
	return counts
}

// endlessRecursion reports whether the error is a recursion without end, and if it
// is sets near to the functions that recur, each once and in the order of their
// names: at which of them the stack ran out is random, and so is where the
// client cut the stack off. overflow is set when the error says that the stack
// ran out.
func (a *analysis) endlessRecursion(counts recurrence, overflow bool) bool {
	if len(a.order) == 0 {
		return false
	}
	repeated, most := a.deepest.length, 0
	sum := 0
	for _, n := range counts {
		if n > 1 {
			sum += n
		}
		most = max(most, n)
	}
	repeated = max(repeated, sum)
	open := a.deepest.open || counts[a.frames[a.order[len(a.order)-1]].Text] > 1
	switch {
	case overflow && repeated >= minOverflow:
	case !overflow && 5*repeated >= 4*a.depth && (repeated >= minDeep || open && repeated >= minOpen):
	default:
		return false
	}
	from, to := 0, 0 // of the repetition that was collapsed before the names were known
	if a.deepest.length > 0 {
		from, to = int(a.deepest.first), int(a.deepest.first)+a.deepest.period
	}
	seen := make(map[string]bool, len(counts))
	for _, i := range a.order {
		f := &a.frames[i]
		inRange := f.Index >= from && f.Index < to
		if seen[f.Text] || !inRange && (counts[f.Text] < 2 || 4*counts[f.Text] < most) {
			continue
		}
		seen[f.Text] = true
		a.near = append(a.near, i)
	}
	a.dropInner()
	slices.SortFunc(a.near, func(x, y int32) int { return strings.Compare(a.frames[x].Text, a.frames[y].Text) })
	a.near = a.near[:min(len(a.near), maxPeriod)]
	a.endless = len(a.near) > 0
	a.telling = a.endless
	return a.endless
}

// dropInner removes from the functions that recur those that only lead from one to the next, where
// others are left: helpers, and blocks of a function that recurs too. A stack that is printed in
// part has some of them twice and others once.
func (a *analysis) dropInner() {
	names := make(map[string]bool, len(a.near))
	for _, i := range a.near {
		names[a.frames[i].Text] = true
	}
	kept := make([]int32, 0, len(a.near))
	for _, i := range a.near {
		outer, block := strings.CutPrefix(a.frames[i].Text, "block in ")
		if !isHelperFrame(&a.states[i]) && !(block && names[outer]) {
			kept = append(kept, i)
		}
	}
	if len(kept) > 0 {
		a.near = kept
	}
}
