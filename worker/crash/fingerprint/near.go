package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/noise"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// maxSections is how many offsets in a section together name a place: the first may be the
// function of the runtime that throws.
const maxSections = 2

// selectNear sets near: the application's frames from the error outwards until one
// is telling, at most maxNear. Helpers of the application are left out: a
// compiler may have inlined them, and they are the same for many errors.
// When only system frames are left, all count: no one of them says more than the
// others.
func (a *analysis) selectNear() {
	if a.systemOnly {
		a.near = append(a.near, a.order...)
		return
	}
	helpers, sections := 0, 0
	for k, i := range a.order {
		if a.telling || len(a.near) == maxNear {
			a.frames[i].Rules.Add(rule.BeyondTelling)
			continue
		}
		s := &a.states[i]
		if isHelperFrame(s) {
			a.helperOnTop = a.helperOnTop || k == 0
			a.frames[i].Rules.Add(rule.Helper)
			helpers++
			continue
		}
		a.near = append(a.near, i)
		a.telling = isTellingFrame(s)
		if naming.IsSectionOffset(s.text) {
			sections++
			a.telling = a.telling || sections == maxSections
		}
	}
	if len(a.near) == 0 {
		a.near = append(a.near, a.order[:min(helpers, maxNear)]...)
	}
}

// isHelperFrame reports whether a frame only checks, logs or raises.
func isHelperFrame(s *frameState) bool {
	if s.text == "" {
		return false
	}
	if s.family.IsNative() {
		return noise.IsNativeHelper(s.text)
	}
	return noise.IsHelper(s.family, s.text)
}

// isTellingFrame reports whether a frame names the place of an error by itself. A
// file without a function does not, nor an address that no module explains; an
// offset in a module does.
func isTellingFrame(s *frameState) bool {
	switch {
	case s.text == naming.Unreadable, s.absolute, naming.IsSectionOffset(s.text):
		return false // a frame of such offsets is as often the function that throws
	case s.text == "":
		return !s.family.WithFiles()
	case s.family.IsNative():
		return isNativeTelling(s.text)
	}
	return noise.IsTelling(s.family, s.text)
}

// isNativeTelling reports whether a native name says where the error is: not an
// entry point, and not a lambda whose container is missing.
func isNativeTelling(name string) bool {
	switch name {
	case "wmain", "_main", "WinMain", "wWinMain", "SDL_main", "__main_void", "{anon}", "lambda::operator()", "operator()", "__invoke":
		return false
	}
	// An accessor of a handle fails for whoever holds it.
	if scan.HasSuffixAny(name, "::operator->", "::operator*", "::deref", "::deref_mut") {
		return false
	}
	return !noise.IsEmptyName(name)
}

// nativePlace returns the library of a native function whose name has no content,
// as every program has one of that name.
func nativePlace(s *frameState) string {
	if s.text == "" || s.raw.Library == "" || s.system || isNativeTelling(s.text) {
		return ""
	}
	name := filename.Library(s.raw.Library)
	for _, ext := range [...]string{".so", ".exe", ".dll", ".dylib"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// findSystemCall sets call: of the system frames between the error and the
// innermost frame of the application the outermost that stands for a public
// function. What a compiler inlines (templates of the standard library) stands
// for none.
func (a *analysis) findSystemCall() {
	if len(a.order) == 0 || a.systemOnly || !a.states[a.order[0]].family.IsNative() {
		return
	}
	if a.recurs(a.order[0]) {
		return // where the stack of a recursion ends is chance
	}
	for i := a.order[0] - 1; i >= 0; i-- {
		s := &a.states[i]
		if s.text == "" || s.library || !s.family.IsNative() {
			return // what a library calls, and how, changes with it
		}
		if noise.IsErrorBoundary(s.family, s.text) || !s.system && !noise.IsErrorFrame(s.family, s.text) {
			return // what is further in reacts to the error
		}
		if call := noise.SystemCall(s.text); call != "" {
			a.call = call
			return
		}
	}
}

// minRecursive is how often the function nearest the error stands in a stack of a recursion.
const minRecursive = 3

// recurs reports whether a frame's function is on the stack again and again.
func (a *analysis) recurs(frame int32) bool {
	count := 0
	for i := range a.states {
		if a.states[i].text == a.states[frame].text {
			count++
		}
	}
	return a.states[frame].text != "" && count >= minRecursive
}

// setCulprit sets the culprit: the telling frame, else the first frame of near by
// its position in the stack.
func (a *analysis) setCulprit() {
	if len(a.near) == 0 {
		return
	}
	first := a.near[len(a.near)-1]
	if !a.telling || a.endless {
		for _, i := range a.near {
			first = min(first, i)
		}
	}
	s := &a.states[first]
	file := filename.Title(s.raw.Path)
	if file == "" && s.family != language.Go {
		file = filename.Title(filename.Library(s.raw.Library))
		if s.family.WithFiles() {
			file = filename.Title(s.raw.Library)
		}
	}
	switch {
	case s.text == "":
		a.culprit = a.frames[first].Text
	case file == "":
		a.culprit = s.text
	default:
		a.culprit = s.text + " (" + file + ")"
	}
	a.culpritFunction = a.culprit
	if s.text != "" {
		a.culpritFunction = s.text
	}
}
