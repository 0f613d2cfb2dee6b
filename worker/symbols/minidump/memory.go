package minidump

import (
	"cmp"
	"slices"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// memoryRange is memory of the process in the file.
type memoryRange struct {
	start uint64
	location
}

// memoryReader reads the memory.
type memoryReader struct {
	*file
	ranges []memoryRange
}

// Bounds of the memory that is kept for the walk. An ordinary dump has less than a
// megabyte; one with all memory of a process is read around the stack pointers.
const (
	maxMemory = 16 << 20
	maxStack  = 512 << 10 // 1,024 frames of 512 bytes
	belowSP   = 256       // the red zone, and what was just popped
)

// addRange notes a range whose bytes are in the file; false if they are not.
func (x *memoryReader) addRange(r memoryRange) bool {
	if r.offset < headerSize || r.offset >= x.size || len(x.ranges) >= maxRanges {
		return false
	}
	if r.size > x.size-r.offset {
		x.warn("%d bytes of memory at 0x%x are cut off", r.size, r.start)
		r.size = x.size - r.offset
	}
	if r.start+r.size < r.start {
		x.warn("%d bytes of memory at 0x%x reach over the end of all memory", r.size, r.start)
		return false
	}
	x.ranges = append(x.ranges, r)
	return true
}

// read loads the memory: all when it is little, else what is around the stack
// pointers, that of the thread that crashed first.
func (x *memoryReader) read() {
	x.memoryLists()
	slices.SortFunc(x.ranges, func(a, b memoryRange) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
	})
	x.ranges = slices.Compact(x.ranges) // stacks are in the list of threads and in that of memory
	total := uint64(0)
	for _, r := range x.ranges {
		total += min(r.size, maxMemory+1)
	}
	left := uint64(maxMemory)
	if total <= maxMemory {
		for _, r := range x.ranges {
			x.load(r, &left)
		}
	} else {
		x.warn("the dump holds more than %d bytes of memory; the stacks are read", maxMemory)
		x.loadStacks(&left)
	}
	x.d.SortMemory()
}

func (x *memoryReader) loadStacks(left *uint64) {
	order := make([]int, 0, len(x.d.Threads))
	if x.d.Main >= 0 {
		order = append(order, x.d.Main)
	}
	for i := range x.d.Threads {
		if i != x.d.Main {
			order = append(order, i)
		}
	}
	for _, i := range order {
		if sp, ok := stackPointer(x.d.Threads[i].Registers); ok {
			x.loadAround(sp, left)
		}
	}
}

// loadAround loads the memory from a little below a stack pointer to maxStack above.
// The ranges of the file are looked up, not walked: there may be many of each.
func (x *memoryReader) loadAround(sp uint64, left *uint64) {
	from := sp - min(sp, belowSP)
	to := sp + min(maxStack, -sp-1)
	i, _ := slices.BinarySearchFunc(x.ranges, from, func(r memoryRange, address uint64) int {
		return cmp.Compare(r.start, address)
	})
	i = max(i-1, 0)
	for loaded := 0; i < len(x.ranges) && x.ranges[i].start < to && loaded < 64; i++ {
		r := x.ranges[i]
		begin, end := max(r.start, from), min(r.start+r.size, to)
		if begin >= end {
			continue
		}
		loaded++
		x.load(memoryRange{begin, location{r.offset + begin - r.start, end - begin}}, left)
	}
}

func (x *memoryReader) load(r memoryRange, left *uint64) {
	r.size = min(r.size, *left)
	if b, ok := x.bytes(r.location); ok && len(b) > 0 {
		*left -= r.size
		x.d.Memory = append(x.d.Memory, dump.Region{Start: r.start, Data: b})
	}
}

// memoryLists reads the ranges of MemoryList and Memory64List.
func (x *memoryReader) memoryLists() {
	b, n := x.list(streamMemoryList, 16, maxRanges)
	for i := range n {
		e := b[i*16:]
		x.addRange(memoryRange{x.order.Uint64(e), x.locate(e[8:])})
	}
	b, ok := x.stream(streamMemory64List, 16, maxList)
	if !ok {
		return
	}
	claimed, at := x.order.Uint64(b), x.order.Uint64(b[8:])
	b = b[16:]
	n = x.count(streamMemory64List, int(min(claimed, 1<<32)), len(b)/16, maxRanges)
	for i := range n {
		e := b[i*16:]
		size := x.order.Uint64(e[8:])
		if at > x.size {
			x.warn("stream %s points behind the end of the file", streamName(streamMemory64List))
			return
		}
		x.addRange(memoryRange{x.order.Uint64(e), location{at, size}})
		at += min(size, x.size+1)
	}
}

// maxExecutable bounds the ranges of code that are kept. A browser has some hundred.
const maxExecutable = 16 << 10

// executable reads where code was mapped, from MemoryInfoList, else from Linux' maps.
func (x *memoryReader) executable() {
	if b, ok := x.stream(streamMemoryInfo, 16, maxList); ok {
		x.memoryInfoList(b)
	} else if b, ok := x.stream(streamLinuxMaps, 1, maxText); ok {
		x.executableMaps(b)
	}
	x.d.SortExecutable()
}

func (x *memoryReader) memoryInfoList(b []byte) {
	head, entry := uint64(x.order.Uint32(b)), uint64(x.order.Uint32(b[4:]))
	if entry < 48 || head < 16 || head > uint64(len(b)) {
		x.warn("stream %s has entries of %d bytes", streamName(streamMemoryInfo), entry)
		return
	}
	claimed := int(min(x.order.Uint64(b[8:]), 1<<32))
	b = b[head:]
	for i := range x.count(streamMemoryInfo, claimed, len(b)/int(entry), maxRanges) {
		e := b[uint64(i)*entry:]
		const committed, executable = 0x1000, 0xf0
		start, size := x.order.Uint64(e), x.order.Uint64(e[24:])
		if x.order.Uint32(e[32:]) != committed || x.order.Uint32(e[36:])&executable == 0 || start+size <= start {
			continue
		}
		if len(x.d.Executable) == maxExecutable {
			x.d.Executable = nil // better none than a part
			x.warn("stream %s has more than %d ranges of code", streamName(streamMemoryInfo), maxExecutable)
			return
		}
		x.d.Executable = append(x.d.Executable, dump.Range{Start: start, End: start + size})
	}
}

// stackPointer returns the stack pointer of any architecture.
func stackPointer(registers map[string]uint64) (uint64, bool) {
	for _, name := range []string{"rsp", "esp", "sp"} {
		if v, ok := registers[name]; ok {
			return v, true
		}
	}
	return 0, false
}
