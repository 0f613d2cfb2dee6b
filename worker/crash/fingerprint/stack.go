package fingerprint

import (
	"hash/maphash"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/noise"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
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
)

// analysis is the state of a stack while the rules are applied.
type analysis struct {
	family language.Family
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
	family language.Family
	system bool
	// library is set with system where the frame counts when no other says where the error is.
	library bool
	// absolute is set when the frame has only an address that no module explains.
	absolute bool
}

func analyse(r *report.Report, libraries Libraries) *analysis {
	a := &analysis{family: language.OfReport(r.Lang, r.Agent), v8: naming.IsV8(r.Lang, r.Agent), libraries: libraries}
	t := r.FaultThread()
	if t == nil || len(t.Frames) == 0 {
		return a
	}
	a.thread = scan.OneLine(t.ID, maxTitle)
	a.depth = len(t.Frames)
	considered := a.selectFrames(t.Frames)
	a.normalize(t.Frames, considered, &modules{list: r.Modules})
	if a.family == language.Unknown {
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
	if overflow || a.depth >= minOpen && a.family.IsNative() {
		counts = a.recurrence()
	}
	a.collapse(overflow)
	if len(a.order) > maxKept {
		a.drop(a.order[maxKept:], rule.FrameLimit)
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
		if naming.IsPlaceholder(text) {
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
	n := naming.New(a.v8)
	var file fileInfo
	for k, i := range considered {
		raw := &frames[i]
		s, f := &a.states[k], &a.frames[k]
		a.order[k] = int32(k)
		f.Index = int(i)
		f.Function = scan.Truncate(raw.Function, naming.MaxFunction)
		s.raw = raw
		file.reset(raw.Path, raw.Library)
		s.family = language.OfFrame(a.family, file.family, raw.Function)
		name := raw.Function
		if s.family == language.Go {
			var qualified bool
			if name, qualified = naming.QualifyGo(raw); qualified {
				f.Rules.Add(rule.GoQualified)
			}
		}
		if text := naming.LoadOffset(name, raw.Library); text != "" {
			f.Text = text // Apple's reports have this where a name would be
			f.Rules.Add(rule.ModuleOffset)
			continue
		}
		if !naming.IsPlaceholder(strings.TrimSpace(scan.Truncate(name, naming.MaxFunction))) {
			text, rules := n.Normalize(s.family, name)
			s.text = text
			f.Rules.Join(rules)
		}
		f.Text = s.text
		s.system = noise.IsSystemName(s.family, s.text) || file.isSystem(s.family)
		if !s.system && a.isLibrary(s) {
			s.system, s.library = true, true
		}
		switch {
		case s.family.WithFiles() && filename.Location(raw.Path, raw.Library) != "" && (s.text != "" || raw.Address == "" || raw.Path != ""):
			name, rules := file.fileName()
			f.Rules.Join(rules)
			if s.text == "" {
				f.Text = "(" + name + ")"
			} else {
				f.Text = s.text + " (" + name + ")"
			}
		case s.family.IsNative() && strings.HasPrefix(s.text, language.WasmFunction):
			if module := naming.WasmModule(filename.Location(raw.Path, raw.Library)); module != "" {
				f.Text = s.text + " (" + module + ")"
			}
		case s.family.IsNative() && s.text != "" && isNamedByFile(filename.Location(raw.Path, raw.Library)):
			name, rules := file.fileName()
			f.Rules.Join(rules)
			f.Text = s.text + " (" + name + ")"
		case s.family.IsNative() && nativePlace(s) != "":
			f.Text = s.text + " (" + nativePlace(s) + ")"
		case s.family == language.Go && strings.HasPrefix(s.text, "main.") && raw.Path != "":
			f.Text = s.text + " (" + naming.GoPlace(raw.Path) + ")"
		case s.text == "":
			text, applied := m.addressText(raw)
			f.Text, s.absolute = text, applied == rule.AbsoluteAddress
			if text != "" {
				f.Rules.Add(applied)
			}
		}
	}
}
