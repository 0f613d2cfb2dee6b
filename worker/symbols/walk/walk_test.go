package walk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// fakeSymbols are rules and functions by module and address.
type fakeSymbols struct {
	rules     map[int][]native.Unwind
	functions map[int][]native.Range
	err       error
}

func (s fakeSymbols) Unwind(module int, address uint64) (native.Unwind, bool, error) {
	for _, u := range s.rules[module] {
		if address >= u.Start && address < u.End {
			return u, true, s.err
		}
	}
	return native.Unwind{}, false, s.err
}

func (s fakeSymbols) Covers(module int, address uint64) (covered, known bool) {
	functions, known := s.functions[module]
	for _, f := range functions {
		covered = covered || address >= f.Start && address < f.End
	}
	return covered, known
}

// Two modules and a stack are in each dump of these tests.
const (
	program = 0x400000
	library = 0x500000
	stack   = 0x800000
)

// process returns a dump with one thread. The words stand on the stack one after another;
// an address of a code is program+n or library+n.
func process(arch, os string, registers map[string]uint64, words ...uint64) *dump.Dump {
	d := &dump.Dump{System: dump.System{Arch: arch, OS: os},
		Modules: []dump.Module{{Start: program, Size: 0x10000}, {Start: library, Size: 0x10000}},
		Threads: []dump.Thread{{ID: 1, Registers: registers}}}
	var data []byte
	for _, w := range words {
		if arch == dump.X86 || arch == dump.ARM {
			data = binary.LittleEndian.AppendUint32(data, uint32(w))
		} else {
			data = binary.LittleEndian.AppendUint64(data, w)
		}
	}
	d.Memory = []dump.Region{{Start: stack, Data: data}}
	d.Threads[0].StackStart, d.Threads[0].StackEnd = stack, stack+uint64(len(data))
	return d
}

// found writes the frames as "address trust", the stack pointer behind it.
func found(t *testing.T, d *dump.Dump, s Symbols) []string {
	t.Helper()
	require.NoError(t, Walk(context.Background(), d, s))
	var out []string
	for _, f := range d.Threads[0].Frames {
		sp := f.Registers["esp"] | f.Registers["rsp"] | f.Registers["sp"]
		out = append(out, fmt.Sprintf("%x %s %x", f.Address, f.Trust, sp))
	}
	return out
}

// rule is an unwind rule for a whole module.
func rule(text string) []native.Unwind { return []native.Unwind{{Start: 0, End: 0x10000, Rules: text}} }

// Two functions of the program with frame pointers, called from the library. The frames
// are worked out by hand: *(ebp+4) is the return address, ebp+8 the caller's esp.
func TestFramePointerX86(t *testing.T) {
	t.Parallel()
	d := process(dump.X86, dump.Windows, map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": stack + 8},
		1, 2, stack+24, program+0x20, 3, 4, stack+40, library+0x30, 5, 6, 0, 0)
	require.Equal(t, []string{"400010 context 800000", "400020 frame_pointer 800010", "500030 frame_pointer 800020"}, found(t, d, nil))
}

func TestFramePointerAMD64(t *testing.T) {
	t.Parallel()
	words := []uint64{1, 2, stack + 0x30, program + 0x20, 3, 4, stack + 0x50, library + 0x30, 5, 6, 0, 0, 7, 8}
	registers := func() map[string]uint64 {
		return map[string]uint64{"rip": program + 0x10, "rsp": stack, "rbp": stack + 0x10}
	}
	require.Equal(t, []string{"400010 context 800000", "400020 frame_pointer 800020", "500030 frame_pointer 800040"},
		found(t, process(dump.X86_64, dump.Linux, registers(), words...), nil))
	// On Windows a frame pointer may point anywhere into the frame: the stack is scanned.
	require.Equal(t, []string{"400010 context 800000", "400020 scan 800020", "500030 scan 800040"},
		found(t, process(dump.X86_64, dump.Windows, registers(), words...), nil))
}

// The chain of ARM64, whose return addresses are signed in the upper bits.
func TestFramePointerARM64(t *testing.T) {
	t.Parallel()
	const signed = 0x7a3f << 48
	d := process(dump.ARM64, dump.IOS, map[string]uint64{"pc": program + 0x10, "sp": stack, "fp": stack + 0x10, "lr": program + 0x99},
		1, 2, signed|(stack+0x30), signed|(program+0x20), 3, 4, 0, signed|(library+0x30), 5)
	require.Equal(t, []string{"400010 context 800000", "400020 frame_pointer 800020", "500030 frame_pointer 800040"}, found(t, d, nil))
}

// ARM has a chain on iOS only (r7); elsewhere the stack is scanned. Bit 0 marks Thumb.
func TestFramePointerARM(t *testing.T) {
	t.Parallel()
	words := []uint64{1, 2, stack + 24, program + 0x21, 3, 4, 0, library + 0x31, 5}
	registers := func() map[string]uint64 {
		return map[string]uint64{"pc": program + 0x10, "sp": stack, "r7": stack + 8, "fp": 0}
	}
	require.Equal(t, []string{"400010 context 800000", "400020 frame_pointer 800010", "500030 frame_pointer 800020"},
		found(t, process(dump.ARM, dump.IOS, registers(), words...), nil))
	require.Equal(t, []string{"400010 context 800000", "400020 scan 800010", "500030 scan 800020"},
		found(t, process(dump.ARM, dump.Android, registers(), words...), nil))
}

// Without a frame pointer the words on the stack are looked at, and functions of known
// modules only are taken.
func TestScan(t *testing.T) {
	t.Parallel()
	dumped := func() *dump.Dump {
		return process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack, "rbp": 7},
			1, library+0x4000, program+0x20, 0, 0x123456789, program+0x200, 5)
	}
	require.Equal(t, []string{"400010 context 800000", "504000 scan 800010", "400020 scan 800018", "400200 scan 800030"},
		found(t, dumped(), nil))
	known := fakeSymbols{functions: map[int][]native.Range{0: {{Start: 0, End: 0x100}}, 1: {}}}
	require.Equal(t, []string{"400010 context 800000", "400020 scan 800018"}, found(t, dumped(), known))
	// Data of a module is no code, as far as the dump says where code was.
	mapped := dumped()
	mapped.Executable = []dump.Range{{Start: program, End: program + 0x10000}}
	require.Equal(t, []string{"400010 context 800000", "400020 scan 800018", "400200 scan 800030"}, found(t, mapped, nil))
}

// A return address may be the first byte behind a function that ends in a call.
func TestScanBehindFunction(t *testing.T) {
	t.Parallel()
	d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, program+0x100, 0)
	known := fakeSymbols{functions: map[int][]native.Range{0: {{Start: 0, End: 0x100}}}}
	require.Len(t, found(t, d, known), 2)
}

// The scan is bounded: 160 words from the registers, 40 from a guessed frame.
func TestScanReach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		distance, frames int
	}{{159, 2}, {160, 1}} {
		words := make([]uint64, 200)
		words[c.distance] = program + 0x20
		require.Len(t, found(t, process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program, "rsp": stack}, words...), nil), c.frames)
	}
	words := make([]uint64, 200)
	words[0], words[40], words[81] = program+0x20, program+0x30, program+0x40
	require.Len(t, found(t, process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program, "rsp": stack}, words...), nil), 3)
}

// The stack overflowed: the stack pointer is below its memory.
func TestStackOverflow(t *testing.T) {
	t.Parallel()
	d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack - 0x1000}, 0, program+0x20, 1)
	require.Equal(t, []string{"400010 context 7ff000", "400020 scan 800010"}, found(t, d, nil))
}

// Rules for x86-64: the CFA, a saved register, and those that are kept.
func TestRuleAMD64(t *testing.T) {
	t.Parallel()
	d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack, "rbx": 42, "rbp": 43, "rax": 44},
		1, 77, program+0x20, 2, 3, library+0x30, 4)
	s := fakeSymbols{rules: map[int][]native.Unwind{
		0: rule(".cfa: $rsp 24 + .ra: .cfa 8 - ^ $rbx: .cfa 16 - ^"),
		1: rule(".cfa: $rsp 8 + .ra: .undef"),
	}}
	require.Equal(t, []string{"400010 context 800000", "400020 cfi 800018", "500030 cfi 800030"}, found(t, d, s))
	frames := d.Threads[0].Frames
	require.Equal(t, map[string]uint64{"rip": program + 0x20, "rsp": stack + 24, "rbx": 77, "rbp": 43}, frames[1].Registers,
		"rbx was saved, rbp was not touched, rax is lost")
	require.Equal(t, []int{0, 0, 1}, []int{frames[0].Module, frames[1].Module, frames[2].Module})
	require.False(t, frames[1].Guessed())
}

// A leaf function of ARM64 keeps the return address in a register; its stack pointer stays.
func TestRuleARM64Leaf(t *testing.T) {
	t.Parallel()
	d := process(dump.ARM64, dump.Android, map[string]uint64{"pc": program + 0x10, "sp": stack, "lr": program + 0x1024, "fp": 9, "x19": 5},
		1, 6, library+0x30, 3)
	s := fakeSymbols{rules: map[int][]native.Unwind{
		0: {{Start: 0, End: 0x100, Rules: ".cfa: sp 0 + .ra: x30"}, {Start: 0x1000, End: 0x2000,
			Rules: ".cfa: sp 24 + .ra: .cfa 8 - ^ x19: .cfa 16 - ^ x29: .cfa 24 - ^"}},
		1: rule(".cfa: sp 0 + .ra: x30"),
	}}
	require.Equal(t, []string{"400010 context 800000", "401024 cfi 800000", "500030 cfi 800018"}, found(t, d, s))
	require.Equal(t, uint64(6), d.Threads[0].Frames[2].Registers["x19"])
	require.Equal(t, uint64(1), d.Threads[0].Frames[2].Registers["fp"])
}

// Rules of ARM name registers with and without numbers.
func TestRuleARM(t *testing.T) {
	t.Parallel()
	d := process(dump.ARM, dump.Android, map[string]uint64{"pc": program + 0x10, "sp": stack, "lr": program + 0x1025, "fp": 0, "r4": 3},
		1, 2, library+0x31, 4, 5)
	s := fakeSymbols{rules: map[int][]native.Unwind{0: {{Start: 0, End: 0x100, Rules: ".cfa: r13 .ra: lr"},
		{Start: 0x1000, End: 0x2000, Rules: ".cfa: sp 12 + .ra: .cfa -4 + ^ r11: .cfa 8 - ^ r4: .undef"}}}}
	require.Equal(t, []string{"400010 context 800000", "401024 cfi 800000", "500030 cfi 80000c"}, found(t, d, s)[:3])
	require.Equal(t, uint64(2), d.Threads[0].Frames[2].Registers["fp"])
	require.NotContains(t, d.Threads[0].Frames[2].Registers, "r4")
}

// A rule that cannot be evaluated leaves the caller to the other ways.
func TestRuleFails(t *testing.T) {
	t.Parallel()
	for _, text := range []string{".cfa: $rsp 8 +", ".cfa: $none .ra: .cfa ^", ".cfa: $rsp .ra: 0 ^", ": :", "x", ".cfa: + .ra: +"} {
		d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, 1, library+0x20, 2)
		require.Equal(t, []string{"400010 context 800000", "500020 scan 800010"},
			found(t, d, fakeSymbols{rules: map[int][]native.Unwind{0: rule(text)}}), text)
	}
}

// A walk that goes in circles, or never ends, ends.
func TestBounds(t *testing.T) {
	t.Parallel()
	// The rule finds the same frame again: the stack pointer does not grow.
	d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, 1, program+0x20)
	require.Len(t, found(t, d, fakeSymbols{rules: map[int][]native.Unwind{0: rule(".cfa: $rsp .ra: $rsp 8 + ^")}}), 1)

	words := make([]uint64, 5000)
	for i := range words {
		words[i] = program + 0x20
	}
	d = process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, words...)
	require.Len(t, found(t, d, nil), MaxFrames)
	require.True(t, d.Threads[0].Cut)

	d = process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, words...)
	for range 50 {
		d.Threads = append(d.Threads, dump.Thread{Registers: d.Threads[0].Registers})
	}
	require.NoError(t, Walk(context.Background(), d, nil))
	total := 0
	for _, thread := range d.Threads {
		total += len(thread.Frames)
	}
	require.Equal(t, maxTotal, total)

	// The same rule in all forms that hostile symbols may have.
	for _, text := range []string{".cfa: $rsp 8 + .ra: $rip", ".cfa: $rsp 18446744073709551615 * .ra: $rip", ".cfa: $rsp 1 + .ra: $rip"} {
		d = process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, words[:8]...)
		require.LessOrEqual(t, len(found(t, d, fakeSymbols{rules: map[int][]native.Unwind{0: rule(text)}})), MaxFrames)
	}
}

// The symbols cannot be read: the error is returned, the frames stay.
func TestSymbolsFail(t *testing.T) {
	t.Parallel()
	d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program + 0x10, "rsp": stack}, 1)
	away := errors.New("the store is away")
	require.ErrorIs(t, Walk(context.Background(), d, fakeSymbols{err: away}), away)
	require.Len(t, d.Threads[0].Frames, 1)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, Walk(ctx, process(dump.X86, "", map[string]uint64{"eip": program}), nil), context.Canceled)
}

// What is not walked: another architecture, no registers, the thread that wrote the dump.
func TestNotWalked(t *testing.T) {
	t.Parallel()
	d := process("mips", dump.Linux, map[string]uint64{"pc": program})
	require.Empty(t, found(t, d, nil))
	d = process(dump.X86, dump.Linux, nil)
	require.Empty(t, found(t, d, nil))
	d = process(dump.X86, dump.Linux, map[string]uint64{"eip": program})
	d.Threads[0].Skip = "it wrote the dump"
	require.Empty(t, found(t, d, nil))
}
