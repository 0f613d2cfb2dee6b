// Package walk finds the callers of a thread of a dump: frame by frame, from the
// registers and the memory of its stack.
//
// Each caller is found by the first of these that works:
//
//   - the unwind rule of the symbols for the address (cfi): STACK CFI in postfix
//     notation, for x86 also STACK WIN with its programs and FPO data
//     (https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md);
//   - the chain of frame pointers (frame_pointer), where the system's calling
//     convention has one: not on Windows for x86-64, of ARM on iOS only;
//   - the next word on the stack that looks like a return address (scan): it lies in a
//     module, where code was mapped, and in a function of it, as far as the dump and the
//     symbols know.
//
// The order, the distances and the conditions are those of Breakpad and of
// minidump-processor, so that the frames agree with those that developers know.
//
// A walk ends where the stack does: at an instruction pointer of the first page, at a
// rule that says so, or where the stack pointer does not grow. It is bounded in any
// case: frames for each thread, for all threads, and words for each scan; a rule is
// bounded in its length. Dumps and rules from outside are hostile; the worst that they
// reach is a wrong stack.
//
// Inlined functions are no frames here: the symbolicator adds them.
package walk

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// Bounds of a walk.
const (
	// MaxFrames of a thread: recursion without end fills a stack with more, all alike.
	MaxFrames = 1024
	// maxTotal bounds the frames of all threads: a report of some megabytes.
	maxTotal = 20_000
)

// Symbols is what a walk needs of the symbols of the modules of a dump. A module is
// named by its index in the dump, an address is relative to the module's start.
type Symbols interface {
	// Unwind returns the rule to unwind at an address; false when there is none. An error
	// ends the walk.
	Unwind(module int, address uint64) (native.Unwind, bool, error)
	// Covers reports whether an address lies in a function; known is false when the
	// module has no symbols that say so.
	Covers(module int, address uint64) (covered, known bool)
}

// Walk fills in the frames of all threads, those of the main thread first, so that it
// has room. symbols may be nil. An error comes from symbols or ctx; the frames found
// until then stay.
func Walk(ctx context.Context, d *dump.Dump, symbols Symbols) error {
	m, ok := machines()[d.System.Arch]
	if !ok {
		return nil
	}
	left := maxTotal
	order := make([]int, 0, len(d.Threads))
	if d.Main >= 0 && d.Main < len(d.Threads) {
		order = append(order, d.Main)
	}
	for i := range d.Threads {
		if i != d.Main {
			order = append(order, i)
		}
	}
	for _, i := range order {
		t := &d.Threads[i]
		if t.Registers == nil || t.Skip != "" || len(t.Frames) > 0 {
			continue
		}
		w := walker{ctx: ctx, d: d, symbols: symbols, machine: m, thread: t, mask: addressMask(d)}
		if err := w.walk(&left); err != nil {
			return fmt.Errorf("walk thread %d: %w", t.ID, err)
		}
	}
	return nil
}

// walker walks one thread.
type walker struct {
	machine
	ctx     context.Context
	d       *dump.Dump
	symbols Symbols
	thread  *dump.Thread
	mask    uint64
	err     error
}

// frame is a frame whose caller is looked for.
type frame struct {
	registers map[string]uint64
	trust     string
	// address is the instruction pointer, lookup that of the call in it.
	address, lookup uint64
	// parameters is the size of what the callers pushed for it, in bytes (STACK WIN).
	parameters uint64
}

func (f *frame) sp(m *machine) (uint64, bool) {
	v, ok := f.registers[m.sp]
	return v, ok
}

func (w *walker) walk(left *int) error {
	callee := &frame{registers: w.thread.Registers, trust: dump.TrustContext}
	callee.address = w.thread.Registers[w.ip]
	callee.lookup = callee.address
	var grand *frame
	for n := 0; callee != nil; n++ {
		if n == MaxFrames || *left <= 0 {
			w.thread.Cut = true
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		*left--
		w.thread.Frames = append(w.thread.Frames, dump.Frame{Address: callee.address, Module: w.d.ModuleAt(callee.lookup),
			Trust: callee.trust, Registers: callee.registers})
		caller := w.caller(callee, grand)
		if w.err != nil {
			return w.err
		}
		grand, callee = callee, caller
	}
	return nil
}

// caller returns the caller of a frame; nil at the end of the stack.
func (w *walker) caller(callee, grand *frame) *frame {
	next, end := w.byRule(callee, grand)
	if end || w.err != nil {
		return nil
	}
	if next == nil {
		next = w.byFramePointer(callee)
	}
	if next == nil {
		next = w.byScan(callee)
	}
	if next == nil || !w.plausible(callee, next) {
		return nil
	}
	return next
}

// firstPage is where no code is: an instruction pointer below it marks the end.
const firstPage = 4096

// plausible sets the addresses of a caller, and reports whether the walk goes on with it.
func (w *walker) plausible(callee, next *frame) bool {
	next.address = w.clean(next.registers[w.ip])
	next.registers[w.ip] = next.address
	if next.address < firstPage {
		return false
	}
	next.lookup = next.address - w.before
	sp, ok := next.sp(&w.machine)
	last, known := callee.sp(&w.machine)
	if !ok || known && sp < last {
		return false
	}
	// A leaf function of ARM need not use the stack: its caller is in the link register.
	if known && sp == last && (w.lr == "" || callee.trust != dump.TrustContext) {
		return false
	}
	return true
}

// byRule finds the caller by the rule of the symbols; end says that the rule says that
// there is none.
func (w *walker) byRule(callee, grand *frame) (next *frame, end bool) {
	module := w.d.ModuleAt(callee.lookup)
	if module < 0 || w.symbols == nil {
		return nil, false
	}
	rule, ok, err := w.symbols.Unwind(module, callee.lookup-w.d.Modules[module].Start)
	if err != nil || !ok {
		w.err = err
		return nil, false
	}
	if rule.Windows != "" {
		if w.arch != dump.X86 {
			return nil, false
		}
		return w.byWindowsRule(rule.Windows, callee, grand)
	}
	e := evaluator{width: w.width, load: w.pointer, register: func(name string) (uint64, bool) {
		v, ok := callee.registers[w.canonical(name)]
		return v, ok
	}}
	values, result := e.rules(rule.Rules)
	if result != evaluated {
		return nil, result == outermost
	}
	next = &frame{registers: map[string]uint64{}, trust: dump.TrustCFI}
	for _, name := range w.saved {
		if v, ok := callee.registers[name]; ok && !e.undefined[name] {
			next.registers[name] = v
		}
	}
	next.registers[w.sp] = e.cfa
	for name, v := range values {
		next.registers[w.canonical(name)] = v
	}
	for name := range e.undefined {
		delete(next.registers, w.canonical(name))
	}
	next.registers[w.ip] = w.clean(e.ra)
	for _, name := range []string{w.fp, w.lr} {
		if v, ok := next.registers[name]; ok {
			next.registers[name] = v & w.mask
		}
	}
	return next, false
}

func (w *walker) pointer(address uint64) (uint64, bool) { return w.d.Pointer(address, w.width) }

// clean removes from an instruction pointer what is no address: the bits of pointer
// authentication, and the mark of Thumb.
func (w *walker) clean(address uint64) uint64 {
	if w.arch == dump.ARM {
		return address &^ 1
	}
	return address & w.mask
}

// returnsTo reports whether a word looks like a return address: the call before it lies
// in a module, and in a function of it as far as the symbols know.
func (w *walker) returnsTo(address uint64) bool {
	address = w.clean(address)
	if address < firstPage || !w.canonicalAddress(address) {
		return false
	}
	module := w.d.ModuleAt(address - 1)
	if module < 0 || !w.d.MayExecute(address-1) {
		return false
	}
	if w.symbols == nil {
		return true
	}
	covered, known := w.symbols.Covers(module, address-1-w.d.Modules[module].Start)
	return covered || !known
}
