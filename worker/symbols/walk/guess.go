package walk

import (
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// How many words a scan looks at. The first frame may have much on the stack that no
// rule describes, and what lies behind a frame of known symbols may be generated code.
const (
	scanWords     = 40
	scanWordsLong = 4 * scanWords
	// maxFrameSize is what lies between two frame pointers at most, for a scan to take one
	// as such: 99.5 % of the frames of real programs are smaller.
	maxFrameSize = 128 << 10
	// maxGuard is how far below its stack a stack pointer may be when the stack overflowed.
	maxGuard = 1 << 20
)

// reach returns how many words to scan for the caller of a frame.
func (w *walker) reach(callee *frame) int {
	switch {
	case callee.trust == dump.TrustContext, callee.trust == dump.TrustCFI && w.width == 8:
		return scanWordsLong
	}
	return scanWords
}

// find returns the first place from an address on whose word looks like a return
// address, and the word.
func (w *walker) find(from uint64, words int) (at, address uint64, found bool) {
	for i := range uint64(words) {
		at = from + i*uint64(w.width)
		word, ok := w.pointer(at)
		if !ok || at < from {
			return 0, 0, false
		}
		if w.returnsTo(word) {
			return at, word, true
		}
	}
	return 0, 0, false
}

// byFramePointer follows the frame pointer: it points to the caller's frame pointer, and
// behind that is the return address.
func (w *walker) byFramePointer(callee *frame) *frame {
	name := w.fp
	switch {
	case w.arch == dump.X86_64 && w.d.System.OS == dump.Windows:
		// There the frame pointer may point anywhere into the frame.
		return nil
	case w.arch == dump.ARM && w.d.System.OS != dump.IOS:
		return nil
	case w.arch == dump.ARM:
		name = "r7"
	}
	fp, ok := callee.registers[name]
	sp, known := callee.sp(&w.machine)
	if !ok || !known || fp > ^uint64(0)-16 {
		return nil
	}
	next := &frame{trust: dump.TrustFramePointer}
	if fp == 0 && w.lr != "" {
		// The end of the chain: the frame is refused as the end of the stack.
		next.registers = map[string]uint64{w.ip: 0, w.sp: sp}
		return next
	}
	width := uint64(w.width)
	callerFP, ok := w.pointer(fp)
	ip, found := w.pointer(fp + width)
	if !ok || !found {
		return nil
	}
	callerFP, ip = callerFP&w.mask, w.clean(ip)
	callerSP := fp + 2*width
	next.registers = map[string]uint64{w.ip: ip, w.sp: callerSP, name: callerFP}
	if ip >= firstPage && !w.chained(ip, callerFP, callerSP, sp) {
		return nil
	}
	return next
}

// chained reports whether a return address and a frame pointer found on the stack can
// be such.
func (w *walker) chained(ip, fp, callerSP, sp uint64) bool {
	if !w.canonicalAddress(ip) {
		return false
	}
	if w.arch == dump.X86_64 {
		if _, ok := w.pointer(callerSP); !ok || callerSP <= sp {
			return false
		}
		if _, ok := w.pointer(fp); !ok || fp < callerSP {
			return false
		}
	}
	if w.d.ModuleAt(ip-1) >= 0 {
		return true
	}
	// Generated code is in no module; but its caller's caller is known code in the end.
	above, ok := w.pointer(fp + uint64(w.width))
	return ok && w.d.ModuleAt(w.clean(above)-1) >= 0
}

// byScan takes the next word on the stack that looks like a return address.
func (w *walker) byScan(callee *frame) *frame {
	sp, ok := callee.sp(&w.machine)
	if !ok {
		return nil
	}
	if _, ok := w.pointer(sp); !ok && callee.trust == dump.TrustContext && w.thread.StackStart > sp && w.thread.StackStart-sp <= maxGuard {
		sp = w.thread.StackStart // the stack overflowed
	}
	at, ip, found := w.find(sp, w.reach(callee))
	if !found {
		return nil
	}
	width := uint64(w.width)
	next := &frame{trust: dump.TrustScan, registers: map[string]uint64{w.ip: w.clean(ip), w.sp: at + width}}
	if w.lr == "" && at > sp {
		if fp, ok := w.guessFramePointer(callee, at); ok {
			next.registers[w.fp] = fp
		}
	}
	return next
}

// guessFramePointer finds the caller's frame pointer of x86 when the return address is at a
// place. Either the function pushed it right before, as a prologue does, or it never
// touched it.
func (w *walker) guessFramePointer(callee *frame, at uint64) (uint64, bool) {
	width := uint64(w.width)
	last, known := callee.registers[w.fp]
	saved, ok := w.pointer(at - width)
	if !ok || w.arch == dump.X86_64 && !known {
		return 0, false
	}
	pushed := saved > at && saved-(at-width) <= maxFrameSize
	if w.arch == dump.X86_64 {
		pushed = pushed && last == at-width
	}
	if pushed {
		_, ok = w.pointer(saved)
		return saved, ok
	}
	if !known || last < at+width {
		return 0, false
	}
	_, ok = w.pointer(last)
	return last, ok || w.arch == dump.X86_64
}
