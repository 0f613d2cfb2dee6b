package fingerprint

import (
	"hash/maphash"
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
	// maxKept is how many frames the whole stack has in its key.
	maxKept = 32
	// maxNear is how many frames are read for Key until one is telling: further
	// out they show how the program got there, and differ between callers of one
	// faulty function.
	maxNear = 4
	// maxErrorBoundary is how many frames the reaction to an error may have:
	// handlers log, unwind and symbolize.
	maxErrorBoundary = 64
	// maxFunction bounds the submitted name in the explanation.
	maxFunction = 256
)

// analysis is the state of a stack while the rules are applied.
type analysis struct {
	family family
	v8     bool // JavaScript's names are all in V8's form
	// libraries are those of the crash project.
	libraries Libraries
	thread    string
	frames    []Frame
	skipped   int
	// order lists the frames of the whole stack as they go into StackKey, near
	// those that go into Key.
	order, near []int32
	// systemOnly is set when no frame is the application's, telling when some
	// frame of near names the place of the error by itself, helperOnTop when the
	// error was raised or reported through a helper of the application, endless
	// when the error is a recursion without end.
	systemOnly, telling, helperOnTop, endless bool
	// call is the function of the system that the application called last.
	call            string
	culprit         string
	culpritFunction string

	states  []frameState
	deepest repetition // the longest exact repetition of a deep stack
	depth   int        // frames of the stack as submitted
}

// frameState is what the rules know about a frame besides its explanation.
type frameState struct {
	raw    *report.Frame
	text   string // the function's normalized name, "" when it has none
	family family
	system bool
	// library is set with system where the frame counts when no other says where the error is.
	library bool
	// absolute is set when the frame has only an address that no module explains.
	absolute bool
}

func analyse(r *report.Report, libraries Libraries) *analysis {
	a := &analysis{family: reportFamily(r.Lang, r.Agent), v8: isV8(r.Lang, r.Agent), libraries: libraries}
	t := r.FaultThread()
	if t == nil || len(t.Frames) == 0 {
		return a
	}
	a.thread = oneLine(t.ID, maxTitle)
	a.depth = len(t.Frames)
	considered := a.selectFrames(t.Frames)
	a.normalize(t.Frames, considered, &modules{list: r.Modules})
	if a.family == familyUnknown {
		a.family = a.states[0].family
	}
	a.promoteLibraries()
	a.dropNoise()
	a.dropAddresses()
	a.trimTop()
	a.trimBottom()
	a.preferApplication()
	a.findSystemCall()
	overflow := isStackOverflow(r)
	var counts recurrence
	if overflow || a.depth >= minOpen && a.family.isNative() {
		counts = a.recurrence()
	}
	a.collapse(overflow)
	if len(a.order) > maxKept {
		a.drop(a.order[maxKept:], RuleFrameLimit)
		a.order = a.order[:maxKept]
	}
	if counts == nil || !a.endlessRecursion(counts, overflow) {
		a.selectNear()
	}
	for _, i := range a.order {
		a.frames[i].Stack = true
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
		ids[i], order[i] = maphash.String(seed, text)^maphash.String(seed, f.Path)<<1^maphash.String(seed, f.Library)<<2, int32(i)
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
	n := namer{out: make([]byte, 0, 256), receivers: a.v8}
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
		name := raw.Function
		if s.family == familyGo {
			var qualified bool
			if name, qualified = qualifyGo(raw); qualified {
				f.Rules.add(RuleGoQualified)
			}
		}
		if text := loadOffset(name, raw.Library); text != "" {
			f.Text = text // Apple's reports have this where a name would be
			f.Rules.add(RuleModuleOffset)
			continue
		}
		if !isPlaceholder(strings.TrimSpace(truncate(name, maxFunction))) {
			text, rules := n.normalize(s.family, name)
			s.text = text
			f.Rules.join(rules)
		}
		f.Text = s.text
		s.system = isSystemName(s.family, s.text) || file.isSystem(s.family)
		if !s.system && a.isLibrary(s) {
			s.system, s.library = true, true
		}
		switch {
		case s.family.withFiles() && location(raw.Path, raw.Library) != "" && (s.text != "" || raw.Address == "" || raw.Path != ""):
			name, rules := file.fileName()
			f.Rules.join(rules)
			if s.text == "" {
				f.Text = "(" + name + ")"
			} else {
				f.Text = s.text + " (" + name + ")"
			}
		case s.family.isNative() && strings.HasPrefix(s.text, wasmFunction):
			if module := wasmModule(location(raw.Path, raw.Library)); module != "" {
				f.Text = s.text + " (" + module + ")"
			}
		case s.family.isNative() && s.text != "" && isNamedByFile(location(raw.Path, raw.Library)):
			name, rules := file.fileName()
			f.Rules.join(rules)
			f.Text = s.text + " (" + name + ")"
		case s.family.isNative() && nativePlace(s) != "":
			f.Text = s.text + " (" + nativePlace(s) + ")"
		case s.family == familyGo && strings.HasPrefix(s.text, "main.") && raw.Path != "":
			f.Text = s.text + " (" + goPlace(raw.Path) + ")"
		case s.text == "":
			text, rule := m.addressText(raw)
			f.Text, s.absolute = text, rule == RuleAbsoluteAddress
			if text != "" {
				f.Rules.add(rule)
			}
		}
	}
}
