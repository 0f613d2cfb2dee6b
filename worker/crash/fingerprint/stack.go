package fingerprint

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
)

// Bounds of one stack.
const (
	// maxFrames is how many frames are normalized and listed: they include the
	// application's frames of every usual stack, and several periods (maxPeriod)
	// of an endless recursion. A deeper stack first loses its exact repetitions.
	maxFrames = 256
	// maxRead is how many frames of a deeper stack are searched for those.
	maxRead = 1 << 17
	// maxKept is how many frames the material has. Frames further out show how the
	// program got there, and differ between callers of one faulty function.
	maxKept = 32
	// maxErrorBoundary is how many frames the reaction to an error may have:
	// handlers log, unwind and symbolize.
	maxErrorBoundary = 64
	// maxFunction bounds the submitted name in the explanation.
	maxFunction = 256
	// minOverflow is the length of a recursion that can have used up a stack.
	minOverflow = 16
)

// analysis is the state of a stack while the rules are applied.
type analysis struct {
	family  family
	thread  string
	frames  []Frame
	skipped int
	// order lists the kept frames as they go into the material.
	order []int32
	// hasNames is set when some kept frame has a function name or an address.
	hasNames        bool
	culprit         string
	culpritFunction string

	states  []frameState
	deepest repetition // the longest exact repetition of a deep stack
}

// frameState is what the rules know about a frame besides its explanation.
type frameState struct {
	raw    *report.Frame
	text   string // the function's normalized name, "" when it has none
	family family
	system bool
}

func analyse(r *report.Report) *analysis {
	a := &analysis{family: reportFamily(r.Lang, r.Agent)}
	t := r.FaultThread()
	if t == nil || len(t.Frames) == 0 {
		return a
	}
	a.thread = oneLine(t.ID, maxTitle)
	considered := a.selectFrames(t.Frames)
	a.normalize(t.Frames, considered, &modules{list: r.Modules})
	if a.family == familyUnknown {
		a.family = a.states[0].family
	}
	a.dropNoise()
	a.trimTop()
	a.trimBottom()
	a.preferApplication()
	a.collapse(isStackOverflow(r))
	if len(a.order) > maxKept {
		a.drop(a.order[maxKept:], RuleFrameLimit)
		a.order = a.order[:maxKept]
	}
	for _, i := range a.order {
		a.frames[i].Kept = true
		a.hasNames = a.hasNames || a.states[i].text != "" || a.states[i].raw.Address != ""
	}
	a.setCulprit()
	return a
}

// selectFrames returns the positions of the frames that are analysed: all, or of
// a deep stack the first maxFrames that are left when exact repetitions are
// collapsed.
func (a *analysis) selectFrames(frames []report.Frame) []int32 {
	if len(frames) <= maxFrames {
		order := make([]int32, len(frames))
		for i := range order {
			order[i] = int32(i)
		}
		return order
	}
	n := min(len(frames), maxRead)
	seed := maphash.MakeSeed()
	ids, order := make([]uint64, n), make([]int32, n)
	for i := range n {
		f := &frames[i]
		text := f.Function
		if isPlaceholder(text) {
			text = f.Address
		}
		ids[i], order[i] = maphash.String(seed, text)^maphash.String(seed, location(f.Path, f.Library))<<1, int32(i)
	}
	_, order, a.deepest = collapse(ids, order, func(int32) {})
	order = order[:min(len(order), maxFrames)]
	a.skipped = len(frames) - len(order)
	return order
}

// normalize fills frames and states.
func (a *analysis) normalize(frames []report.Frame, considered []int32, m *modules) {
	a.frames = make([]Frame, len(considered))
	a.states = make([]frameState, len(considered))
	a.order = make([]int32, len(considered))
	n := namer{out: make([]byte, 0, 256)}
	var file fileInfo
	for k, i := range considered {
		raw := &frames[i]
		s, f := &a.states[k], &a.frames[k]
		a.order[k] = int32(k)
		f.Index = int(i)
		f.Function = truncate(raw.Function, maxFunction)
		s.raw = raw
		file.reset(raw.Path, raw.Library)
		s.family = frameFamily(a.family, file.family, raw.Function)
		if !isPlaceholder(strings.TrimSpace(truncate(raw.Function, maxFunction))) {
			s.text, f.Rules = n.normalize(s.family, raw.Function)
		}
		f.Text = s.text
		s.system = isSystemName(s.family, s.text) || file.isSystem(s.family)
		switch {
		case s.family.withFiles() && location(raw.Path, raw.Library) != "" && (s.text != "" || raw.Address == "" || raw.Path != ""):
			name, rules := file.fileName()
			f.Rules |= rules
			if s.text == "" {
				f.Text = "(" + name + ")"
			} else {
				f.Text = s.text + " (" + name + ")"
			}
		case s.text == "":
			text, rules := m.addressText(raw)
			f.Text, f.Rules = text, f.Rules|rules
		}
	}
}

// drop marks frames as left out by a rule.
func (a *analysis) drop(frames []int32, reason Rule) {
	for _, i := range frames {
		a.frames[i].Rules |= 1 << reason
	}
}

// filter keeps the frames for which reason returns no rule; when that would leave
// none, all stay.
func (a *analysis) filter(reason func(i int32) (Rule, bool)) {
	left := 0
	for _, i := range a.order {
		if _, out := reason(i); !out {
			left++
		}
	}
	if left == 0 || left == len(a.order) {
		return
	}
	kept := a.order[:0]
	for _, i := range a.order {
		if rule, out := reason(i); out {
			a.frames[i].Rules |= 1 << rule
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
			a.frames[i].Rules |= rulesOf(RuleNoName)
		} else {
			kept = append(kept, i)
		}
	}
	a.order = kept
	a.filter(func(i int32) (Rule, bool) {
		s := &a.states[i]
		switch {
		case isAsyncFrame(s.family, s.raw.Function):
			return RuleAsyncFrame, !isErrorBoundary(s.family, s.raw.Function)
		case s.family == familyPython && isComprehension(s.text):
			return RuleComprehension, true
		case s.family == familyJVM && strings.HasSuffix(s.text, ".access$"):
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

// preferApplication removes the frames of libraries when the application has
// frames, and those that the stack walker guessed when it is sure of others of the
// same kind: a guess is as often what an old call left on the stack.
func (a *analysis) preferApplication() {
	a.filter(func(i int32) (Rule, bool) { return RuleSystemFrame, a.states[i].system })
	a.filter(func(i int32) (Rule, bool) { return RuleGuessedFrame, a.states[i].raw.Guessed })
}

// collapse removes repeated calls. When the error is an overflow of the stack,
// what is above the recursion is random and is removed too.
func (a *analysis) collapse(overflow bool) {
	seed := maphash.MakeSeed()
	ids := make([]uint64, len(a.order))
	for k, i := range a.order {
		ids[k] = maphash.String(seed, a.frames[i].Text)
	}
	var longest repetition
	_, a.order, longest = collapse(ids, a.order, func(i int32) { a.frames[i].Rules |= rulesOf(RuleRecursion) })
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
		a.drop(a.order[:start], RuleStackOverflow)
		a.order = a.order[start:]
	}
}

// isStackOverflow reports whether the error's class or message has one of the
// words that language runtimes use for it.
func isStackOverflow(r *report.Report) bool {
	words := []string{"StackOverflow", "stack overflow", "RecursionError", "maximum recursion depth", "Maximum call stack", "too much recursion", "SystemStackError", "stack level too deep", "InsufficientExecutionStack", "goroutine stack exceeds", "EXC_STACK", "STACK_OVERFLOW"}
	if len(r.Classifiers) > 0 && containsAny(truncate(r.Classifiers[0], maxTitle), words...) {
		return true
	}
	return containsAny(truncate(errorMessage(r), maxTitle), words...)
}

// setCulprit sets the culprit: the first kept frame, by its position in the stack.
func (a *analysis) setCulprit() {
	if len(a.order) == 0 {
		return
	}
	first := a.order[0]
	for _, i := range a.order {
		first = min(first, i)
	}
	s := &a.states[first]
	file := fileTitle(s.raw.Path)
	if file == "" {
		file = fileTitle(libraryName(s.raw.Library))
		if s.family.withFiles() {
			file = fileTitle(s.raw.Library)
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
