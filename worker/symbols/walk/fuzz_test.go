package walk

import (
	"context"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

func FuzzRules(f *testing.F) {
	for _, text := range []string{".cfa: $rsp 8 + .ra: .cfa 8 - ^ $rbx: .cfa 16 - ^", ".cfa: 1 2 3 * - .ra: 7 2 % 16 @",
		".cfa: $rsp .ra: .undef",
		"4 1 0 8 4 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", "0 1 0 0 4 8 0 0 1"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, windows bool) {
		words := []uint64{1, library + 4, stack + 16, program + 8, stack, 7, 8, 9}
		d := process(dump.X86_64, dump.Linux, map[string]uint64{"rip": program, "rsp": stack, "rbp": stack + 8}, words...)
		s := fakeSymbols{rules: map[int][]native.Unwind{0: rule(text), 1: rule(text)}}
		if windows {
			d = process(dump.X86, dump.Windows, map[string]uint64{"eip": program, "esp": stack, "ebp": stack + 8, "ebx": 3}, words...)
			s = windowsRules(text)
		}
		if err := Walk(context.Background(), d, s); err != nil {
			t.Fatal(err)
		}
		if n := len(d.Threads[0].Frames); n == 0 || n > MaxFrames {
			t.Fatalf("%d frames", n)
		}
	})
}

// windowsRules has the same rule of STACK WIN in both modules.
func windowsRules(text string) fakeSymbols {
	u := []native.Unwind{{Start: 0, End: 0x10000, Windows: text}}
	return fakeSymbols{rules: map[int][]native.Unwind{0: u, 1: u}}
}
