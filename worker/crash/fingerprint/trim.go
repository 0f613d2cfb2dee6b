package fingerprint

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/noise"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// drop marks frames as left out by a rule.
func (a *analysis) drop(frames []int32, reason rule.Rule) {
	for _, i := range frames {
		a.frames[i].Rules.Add(reason)
	}
}

// filter keeps the frames for which reason returns no rule; when that would leave
// none, all stay.
func (a *analysis) filter(reason func(i int32) (rule.Rule, bool)) {
	var (
		rules [maxFrames]rule.Rule
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
			a.frames[i].Rules.Add(rules[k])
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
			a.frames[i].Rules.Add(rule.NoName)
		} else {
			kept = append(kept, i)
		}
	}
	a.order = kept
	isAsync := func(s *frameState) bool {
		return naming.IsAsyncFrame(s.family, s.raw.Function) && !noise.IsErrorBoundary(s.family, s.raw.Function)
	}
	// Who awaited is dropped, unless nothing else is the application's.
	called := slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].system && !isAsync(&a.states[i]) })
	a.filter(func(i int32) (rule.Rule, bool) {
		s := &a.states[i]
		switch {
		case isAsync(s):
			return rule.AsyncFrame, called || s.system
		case s.family == language.JS && noise.IsEngineFrame(s.text, filename.Location(s.raw.Path, s.raw.Library)):
			return rule.SystemFrame, true
		case s.family == language.Python && naming.IsComprehension(s.text):
			return rule.Comprehension, true
		case s.family == language.JVM && naming.IsSynthetic(s.text):
			return rule.Accessor, true
		case s.family == language.Dart && a.isDartAccessor(i):
			return rule.Accessor, true
		}
		return 0, false
	})
}

// trimTop removes the frames that raise, catch or report the error.
func (a *analysis) trimTop() {
	boundary := -1
	for k, i := range a.order[:min(len(a.order), maxErrorBoundary)] {
		if noise.IsErrorBoundary(a.states[i].family, a.states[i].text) {
			boundary = k
		}
	}
	top := boundary + 1
	for top < len(a.order) && noise.IsErrorFrame(a.states[a.order[top]].family, a.states[a.order[top]].text) {
		top++
	}
	if top == len(a.order) {
		return
	}
	if boundary > 0 {
		a.drop(a.order[:boundary], rule.AboveError)
	}
	a.drop(a.order[max(boundary, 0):top], rule.ErrorFrame)
	a.order = a.order[top:]
}

// trimBottom removes the frames that start the thread.
func (a *analysis) trimBottom() {
	end := len(a.order)
	for end > 0 && noise.IsThreadStart(a.states[a.order[end-1]].family, a.states[a.order[end-1]].text) {
		end--
	}
	if end == 0 {
		return
	}
	a.drop(a.order[end:], rule.ThreadStart)
	a.order = a.order[:end]
}

// dropAddresses removes the absolute addresses when another frame has a name, be it
// a library's: they move with each start of the program.
func (a *analysis) dropAddresses() {
	named := false
	for _, i := range a.order {
		s := &a.states[i]
		named = named || s.text != "" && !noise.IsErrorFrame(s.family, s.text) && !noise.IsThreadStart(s.family, s.text)
	}
	if !named {
		return
	}
	library := int32(-1)
	if !slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].absolute && !a.states[i].system }) {
		library = a.nearestLibrary()
	}
	a.filter(func(i int32) (rule.Rule, bool) { return rule.AbsoluteAddress, a.states[i].absolute && i != library })
}

// nearestLibrary returns the first frame with an absolute address that is in a
// library of the application, or -1. Its text becomes the library's name: where
// only the system's functions have names, which library called them is what is
// known of the application.
func (a *analysis) nearestLibrary() int32 {
	for _, i := range a.order {
		s := &a.states[i]
		name := filename.Library(s.raw.Library)
		if !s.absolute || s.system || !scan.HasSuffixAny(strings.ToLower(name), ".so", ".dll", ".exe", ".dylib") {
			continue
		}
		a.frames[i].Text = name
		a.frames[i].Rules.Add(rule.AbsoluteAddress)
		return i
	}
	return -1
}

// preferApplication removes the frames of libraries when the application has
// frames, and those that the stack walker guessed when it is sure of others of the
// same kind: a guess is as often what an old call left on the stack.
func (a *analysis) preferApplication() {
	a.systemOnly = !slices.ContainsFunc(a.order, func(i int32) bool { return !a.states[i].system })
	a.filter(func(i int32) (rule.Rule, bool) { return rule.SystemFrame, a.states[i].system })
	a.filter(func(i int32) (rule.Rule, bool) { return rule.GuessedFrame, a.states[i].raw.Guessed })
}

// isDartAccessor reports whether a frame is a getter that the compiler wrote for a private late
// field: it has a file and no line, and its caller in the same file has one.
func (a *analysis) isDartAccessor(i int32) bool {
	if int(i)+1 >= len(a.states) {
		return false
	}
	s, caller := &a.states[i], &a.states[i+1]
	_, name := noise.SplitScope(language.Dart, s.text)
	return strings.HasPrefix(name, "_") && s.raw.Path != "" && s.raw.Line == 0 && caller.raw.Line > 0 && caller.raw.Path == s.raw.Path
}
