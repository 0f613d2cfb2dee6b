package minidump

import (
	"strconv"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/reason"
)

const (
	threadSize   = 48
	threadExSize = 64 // with the backing store of IA-64, which is not read
)

// threadList reads ThreadList, else ThreadExList.
func (x *reader) threadList() {
	kind, size := uint32(streamThreadList), threadSize
	if _, ok := x.dir[kind]; !ok {
		kind, size = streamThreadExList, threadExSize
	}
	b, n := x.list(kind, size, maxThreads)
	for i := range n {
		if x.err != nil {
			return
		}
		e := b[i*size:]
		t := dump.Thread{ID: uint64(x.order.Uint32(e))}
		stack := memoryRange{start: x.order.Uint64(e[24:]), location: x.locate(e[32:])}
		if stack.size > 0 && x.stacks.addRange(stack) {
			t.StackStart, t.StackEnd = stack.start, stack.start+stack.size
		}
		if x.hasWriter && t.ID == x.writer {
			t.Skip = "this thread wrote the dump"
		}
		t.Registers = x.registers(x.locate(e[40:]), "thread "+strconv.FormatUint(t.ID, 10))
		x.d.Threads = append(x.d.Threads, t)
	}
}

// threadNames reads the names. Their offsets have 64 bits.
func (x *reader) threadNames() {
	b, n := x.list(streamThreadNames, 12, maxThreads)
	names := make(map[uint64]uint64, n)
	for i := range n {
		names[uint64(x.order.Uint32(b[i*12:]))] = x.order.Uint64(b[i*12+4:])
	}
	for i := range x.d.Threads {
		if offset, ok := names[x.d.Threads[i].ID]; ok && offset <= x.size {
			x.d.Threads[i].Name = x.text16(offset, "name of a thread")
		}
	}
}

// threadInfo reads where the threads began: it marks one that ended.
func (x *reader) threadInfo() {
	b, ok := x.stream(streamThreadInfo, 12, maxList)
	if !ok {
		return
	}
	head, entry := uint64(x.order.Uint32(b)), uint64(x.order.Uint32(b[4:]))
	if entry < 64 || head < 12 || head > uint64(len(b)) {
		x.warn("stream %s has entries of %d bytes", streamName(streamThreadInfo), entry)
		return
	}
	claimed := int(x.order.Uint32(b[8:]))
	b = b[head:]
	byID := make(map[uint64]int, len(x.d.Threads))
	for i := range x.d.Threads {
		byID[x.d.Threads[i].ID] = i
	}
	for i := range x.count(streamThreadInfo, claimed, len(b)/int(entry), maxThreads) {
		e := b[uint64(i)*entry:]
		const writingThread = 0x2
		if t, ok := byID[uint64(x.order.Uint32(e))]; ok && x.order.Uint32(e[4:])&writingThread != 0 && !x.hasCrashed {
			x.d.Threads[t].Skip = "this thread wrote the dump"
		}
	}
}

// exception reads why the process ended, and the registers of that moment.
func (x *reader) exception() {
	b, ok := x.stream(streamException, 40, 168)
	if !ok {
		return
	}
	x.crashed, x.hasCrashed = uint64(x.order.Uint32(b)), true
	e := reason.Exception{
		Code: x.order.Uint32(b[8:]), Flags: x.order.Uint32(b[12:]), Address: x.order.Uint64(b[24:]),
		OS: x.d.System.OS, Arch: x.d.System.Arch,
	}
	count := min(x.order.Uint32(b[32:]), 15)
	for i := range int(count) {
		if at := 40 + 8*i; at+8 <= min(len(b), 160) {
			e.Parameters = append(e.Parameters, x.order.Uint64(b[at:]))
		}
	}
	address, has := e.FaultAddress()
	x.d.Reason = &dump.Reason{Name: e.Name(), Address: address, HasAddress: has}
	if len(b) >= 168 {
		x.context = x.registers(x.locate(b[160:]), "exception")
	}
}

// finishThreads finds the thread that crashed, which has the registers of the
// exception: its own are those of the handler. It comes from the exception alone when
// the list lacks it.
func (x *reader) finishThreads() {
	d := x.d
	for i := range d.Threads {
		if x.hasCrashed && d.Threads[i].ID == x.crashed {
			d.Main = i
			break
		}
	}
	if d.Main < 0 && x.hasCrashed && x.context != nil {
		x.warn("thread %d, which crashed, is not in the list of threads", x.crashed)
		d.Main = len(d.Threads)
		d.Threads = append(d.Threads, dump.Thread{ID: x.crashed})
	}
	if d.Main < 0 && len(d.Threads) > 0 {
		d.Main = 0
	}
	if d.Main < 0 {
		return
	}
	main := &d.Threads[d.Main]
	if d.Reason != nil {
		main.Skip = ""
		if x.context != nil && main.ID == x.crashed {
			main.Registers = x.context
		}
	}
}
