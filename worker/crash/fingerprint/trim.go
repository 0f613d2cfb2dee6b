package fingerprint

import (
	"slices"
	"strings"
)

// drop marks frames as left out by a rule.
func (a *analysis) drop(frames []int32, reason Rule) {
	for _, i := range frames {
		a.frames[i].Rules.add(reason)
	}
}

// filter keeps the frames for which reason returns no rule; when that would leave
// none, all stay.
func (a *analysis) filter(reason func(i int32) (Rule, bool)) {
	var (
		rules [maxFrames]Rule
		outs  [maxFrames]bool
	)
	left := 0
	for k, i := range a.order {
		if rules[k], outs[k] = reason(i); !outs[k] {
			left++
		}
	}
	if left == 0 || left == len(a.order) {
		return
	}
	kept := a.order[:0]
	for k, i := range a.order {
		if outs[k] {
			a.frames[i].Rules.add(rules[k])
		} else {
			kept = append(kept, i)
		}
	}
	a.order = kept
}

// dropNoise removes frames that are no calls of the program.
func (a *analysis) dropNoise() {
	kept := a.order[:0]
	for _, i := range a.order {
		if a.frames[i].Text == "" {
			a.frames[i].Rules.add(RuleNoName)
		} else {
			kept = append(kept, i)
		}
	}
	a.order = kept
	isAsync := func(s *frameState) bool {
		return isAsyncFrame(s.family, s.raw.Function) && !isErrorBoundary(s.family, s.raw.Function)
	}
	// Who awaited is dropped, unless nothing else is the application's.
	called := slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].system && !isAsync(&a.states[i]) })
	a.filter(func(i int32) (Rule, bool) {
		s := &a.states[i]
		switch {
		case isAsync(s):
			return RuleAsyncFrame, called || s.system
		case s.family == familyJS && isEngineFrame(s.text, location(s.raw.Path, s.raw.Library)):
			return RuleSystemFrame, true
		case s.family == familyPython && isComprehension(s.text):
			return RuleComprehension, true
		case s.family == familyJVM && isSynthetic(s.text):
			return RuleAccessor, true
		case s.family == familyDart && a.isDartAccessor(i):
			return RuleAccessor, true
		}
		return 0, false
	})
}

// trimTop removes the frames that raise, catch or report the error.
func (a *analysis) trimTop() {
	boundary := -1
	for k, i := range a.order[:min(len(a.order), maxErrorBoundary)] {
		if isErrorBoundary(a.states[i].family, a.states[i].text) {
			boundary = k
		}
	}
	top := boundary + 1
	for top < len(a.order) && isErrorFrame(a.states[a.order[top]].family, a.states[a.order[top]].text) {
		top++
	}
	if top == len(a.order) {
		return
	}
	if boundary > 0 {
		a.drop(a.order[:boundary], RuleAboveError)
	}
	a.drop(a.order[max(boundary, 0):top], RuleErrorFrame)
	a.order = a.order[top:]
}

// trimBottom removes the frames that start the thread.
func (a *analysis) trimBottom() {
	end := len(a.order)
	for end > 0 && isThreadStart(a.states[a.order[end-1]].family, a.states[a.order[end-1]].text) {
		end--
	}
	if end == 0 {
		return
	}
	a.drop(a.order[end:], RuleThreadStart)
	a.order = a.order[:end]
}

// dropAddresses removes the absolute addresses when another frame has a name, be it
// a library's: they move with each start of the program.
func (a *analysis) dropAddresses() {
	named := false
	for _, i := range a.order {
		s := &a.states[i]
		named = named || s.text != "" && !isErrorFrame(s.family, s.text) && !isThreadStart(s.family, s.text)
	}
	if !named {
		return
	}
	library := int32(-1)
	if !slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].absolute && !a.states[i].system }) {
		library = a.nearestLibrary()
	}
	a.filter(func(i int32) (Rule, bool) { return RuleAbsoluteAddress, a.states[i].absolute && i != library })
}

// nearestLibrary returns the first frame with an absolute address that is in a
// library of the application, or -1. Its text becomes the library's name: where
// only the system's functions have names, which library called them is what is
// known of the application.
func (a *analysis) nearestLibrary() int32 {
	for _, i := range a.order {
		s := &a.states[i]
		name := libraryName(s.raw.Library)
		if !s.absolute || s.system || !hasSuffixAny(strings.ToLower(name), ".so", ".dll", ".exe", ".dylib") {
			continue
		}
		a.frames[i].Text = name
		a.frames[i].Rules.add(RuleAbsoluteAddress)
		return i
	}
	return -1
}

// preferApplication removes the frames of libraries when the application has
// frames, and those that the stack walker guessed when it is sure of others of the
// same kind: a guess is as often what an old call left on the stack.
func (a *analysis) preferApplication() {
	a.systemOnly = !slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].system })
	a.filter(func(i int32) (Rule, bool) { return RuleSystemFrame, a.states[i].system })
	a.filter(func(i int32) (Rule, bool) { return RuleGuessedFrame, a.states[i].raw.Guessed })
}
