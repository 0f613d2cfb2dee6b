package walk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// memoryAt is memory in which each word holds its address plus one.
func memoryAt(address uint64) (uint64, bool) { return address + 1, address < 0x1000 }

func TestRules(t *testing.T) {
	t.Parallel()
	registers := map[string]uint64{"$rsp": 0x100, "rbp": 0x200}
	for _, c := range []struct {
		text    string
		want    outcome
		cfa, ra uint64
		others  map[string]uint64
	}{
		{".cfa: $rsp 8 + .ra: .cfa 8 - ^", evaluated, 0x108, 0x101, nil},
		{".cfa: 7 .ra: 9", evaluated, 7, 9, nil},
		{".ra: .cfa .cfa: 16", evaluated, 16, 16, nil}, // the CFA comes first, wherever it stands
		{".cfa: $rsp -8 + .ra: 1 2 - 1 +", evaluated, 0xf8, 0, nil},
		{".cfa: 100 7 / .ra: 100 7 %", evaluated, 14, 2, nil},
		{".cfa: $rsp 3 + 16 @ .ra: rbp ^", evaluated, 0x100, 0x201, nil},
		{".cfa: 3 5 * .ra: 1 rbx: .cfa 1 + $r12: .undef $r13: $nothing r14: 1 2", evaluated, 15, 1, map[string]uint64{"rbx": 16}},
		{".cfa: 1 .cfa: 2 .ra: 3", evaluated, 2, 3, nil}, // the later one counts
		{".cfa: 1 .ra: .undef", outermost, 1, 0, nil},
		{".cfa: .cfa .ra: 1", failed, 0, 0, nil},
		{".cfa: 1 0 / .ra: 1", failed, 0, 0, nil},
		{".cfa: 1 0 % .ra: 1", failed, 0, 0, nil},
		{".cfa: 8 3 @ .ra: 1", failed, 0, 0, nil},
		{".cfa: 4096 ^ .ra: 1", failed, 0, 0, nil},
		{".cfa: 1 2 .ra: 1", failed, 0, 0, nil},
		{".cfa: .ra: 1", failed, 0, 0, nil},
		{".cfa: 1x .ra: 1", failed, 0, 0, nil},
		{"$rsp .cfa: 1 .ra: 1", failed, 0, 0, nil},
		{"", failed, 0, 0, nil},
		{".cfa: 99999999999999999999999 .ra: 1", failed, 0, 0, nil},
		{".cfa: 18446744073709551615 .ra: 1", evaluated, ^uint64(0), 1, nil},
		{".cfa:" + strings.Repeat(" 1", 2*maxDepth) + " .ra: 1", failed, 0, 0, nil},
		{".cfa: 1 .ra: 1 " + strings.Repeat("a", maxRule), failed, 0, 0, nil},
	} {
		e := evaluator{width: 8, load: memoryAt, register: func(name string) (uint64, bool) {
			v, ok := registers[name]
			return v, ok
		}}
		values, got := e.rules(c.text)
		require.Equal(t, c.want, got, c.text)
		if got != failed {
			require.Equal(t, c.cfa, e.cfa, c.text)
			require.Equal(t, c.ra, e.ra, c.text)
		}
		if c.others != nil {
			require.Equal(t, c.others, values, c.text)
			require.Equal(t, map[string]bool{"r12": true, "r13": true, "r14": true}, e.undefined)
		}
	}
}

// Numbers of 32 bits wrap there.
func TestRulesWidth(t *testing.T) {
	t.Parallel()
	e := evaluator{width: 4, load: memoryAt, register: func(string) (uint64, bool) { return 0xffffffff, true }}
	_, got := e.rules(".cfa: $eax 2 + .ra: 0 1 -")
	require.Equal(t, evaluated, got)
	require.EqualValues(t, 1, e.cfa)
	require.EqualValues(t, 0xffffffff, e.ra)
}

// windows returns a rule of STACK WIN for the program.
func windows(text string) fakeSymbols {
	return fakeSymbols{rules: map[int][]native.Unwind{0: {{Start: 0, End: 0x10000, Windows: text}}}}
}

// A program of STACK WIN (type 4), as compilers write it for a function with a frame
// pointer: $T0 is ebp, the return address behind it.
func TestWindowsProgram(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"4 1 0 8 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =",
		"4 1 0 8 0 0 0 1 $T0 $ebp =$eip $T0 4 + ^ =$ebp $T0 ^ =$esp $T0 8 + =",
	} {
		d := process(dump.X86, dump.Windows, map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": stack + 8, "ebx": 5, "esi": 6},
			1, 2, stack+24, library+0x20, 3, 4, 0, 0)
		require.Equal(t, []string{"400010 context 800000", "500020 cfi 800010"}, found(t, d, windows(text)))
		require.Equal(t, map[string]uint64{"eip": library + 0x20, "esp": stack + 16, "ebp": stack + 24, "ebx": 5, "esi": 6},
			d.Threads[0].Frames[1].Registers)
	}
}

// FPO data (type 0): the return address is behind the locals and the saved registers, and
// behind what was pushed for the function that this one called.
func TestWindowsFPO(t *testing.T) {
	t.Parallel()
	registers := map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": stack + 32}
	d := process(dump.X86, dump.Windows, registers, 1, 2, 3, library+0x20, 4, 5, 6, 7, 0, 0)
	require.Equal(t, []string{"400010 context 800000", "500020 cfi 800010"}, found(t, d, windows("0 1 0 0 4 8 0 0 0")))
	require.EqualValues(t, stack+32, d.Threads[0].Frames[1].Registers["ebp"], "it is not touched")

	// ebp is used for something else, and saved above the locals: esp + saved registers - 8.
	d = process(dump.X86, dump.Windows, registers, stack+32, 2, 3, library+0x20, 4, 5, 6, 7, 0, 0)
	require.Equal(t, []string{"400010 context 800000", "500020 cfi 800010"}, found(t, d, windows("0 1 0 0 8 4 0 0 1")))
	require.EqualValues(t, stack+32, d.Threads[0].Frames[1].Registers["ebp"])

	// Two of them: the first takes 8 bytes of parameters, which lie between.
	s := fakeSymbols{rules: map[int][]native.Unwind{0: {
		{Start: 0, End: 0x100, Windows: "0 1 0 8 0 4 0 0 0"}, {Start: 0x100, End: 0x200, Windows: "0 1 0 0 0 4 0 0 0"}}}}
	d = process(dump.X86, dump.Windows, registers, 1, program+0x120, 0x11, 0x12, 2, library+0x20, 3)
	require.Equal(t, []string{"400010 context 800000", "400120 cfi 800008", "500020 cfi 800018"}, found(t, d, s)[:3])
}

// The program's return address is in no module: the stack is searched near it.
func TestWindowsScan(t *testing.T) {
	t.Parallel()
	d := process(dump.X86, dump.Windows, map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": stack + 4},
		1, 2, 3, 4, 5, 6, library+0x20, 7, 8)
	got := found(t, d, windows("4 1 0 0 0 0 0 1 $eip 305419896 = $esp .raSearchStart 4 + ="))
	require.Equal(t, []string{"400010 context 800000", "500020 cfi_scan 80001c"}, got)
	require.True(t, d.Threads[0].Frames[1].Guessed())
}

func TestWindowsEnd(t *testing.T) {
	t.Parallel()
	d := process(dump.X86, dump.Windows, map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": stack}, 0, 0, program+0x20)
	require.Len(t, found(t, d, windows("4 1 0 0 0 0 0 1 $eip 0 = $ebp 0 = $esp 8 =")), 1)
}

func TestWindowsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"4 1 0 0 0 0 0 1 $eip", "4 1 0 0 0 0 0 1 = = =", "4 1 0 0 0 0 0 1 1 2 =",
		"4 1 0 0 0 0 0 1 $eip $none =", "4 x", "",
		"4 1 0 0 0 0 0 1", "4 1 0 0 0 0 0 1 " + strings.Repeat("1 ", maxRule), "4 1 0 0 0 0 0 1 .cbParams 1 ="} {
		d := process(dump.X86, dump.Windows, map[string]uint64{"eip": program + 0x10, "esp": stack, "ebp": 0}, 1, library+0x20)
		require.Equal(t, []string{"400010 context 800000", "500020 scan 800008"}, found(t, d, windows(text)), text)
	}
}
