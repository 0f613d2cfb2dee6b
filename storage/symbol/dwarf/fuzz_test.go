package dwarf

import (
	"flag"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// parts are the sections that a fuzzed input is cut into: each has its size in
// two bytes before it.
var parts = []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges", ".debug_rnglists",
	".debug_addr", ".debug_str_offsets", ".debug_line_str", ".debug_info.dwo", ".debug_abbrev.dwo", ".debug_str.dwo",
	".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_cu_index"}

func packed(h held) []byte {
	var all []byte
	for _, name := range parts {
		p := h[name]
		all = append(append(all, byte(len(p)), byte(len(p)>>8)), p...)
	}
	return all
}

func unpacked(p []byte) held {
	h := held{}
	for _, name := range parts {
		if len(p) < 2 {
			break
		}
		n := min(int(p[0])|int(p[1])<<8, len(p)-2)
		h[name], p = p[2:2+n], p[2+n:]
	}
	return h
}

// nothing takes what is reported; it checks only what the reader promises.
type nothing struct{ t *testing.T }

func (n nothing) Function(f *native.Function) error {
	if f.End <= f.Start {
		n.t.Errorf("a function from %#x to %#x", f.Start, f.End)
	}
	for i := range f.Lines {
		if i > 0 && f.Lines[i].Address < f.Lines[i-1].Address {
			n.t.Errorf("lines at %#x and %#x", f.Lines[i-1].Address, f.Lines[i].Address)
		}
	}
	depth := -1
	for _, x := range f.Inlines {
		if x.Depth > depth+1 {
			n.t.Errorf("depth %d below %d", x.Depth, depth)
		}
		depth = x.Depth
	}
	return nil
}

func (nothing) Public(native.Public) error { return nil }

func (nothing) Unwind(native.Unwind) error { return nil }

// Whatever the sections hold, reading them ends, in an error or with functions that
// make sense.
func FuzzRead(f *testing.F) {
	f.Add(packed(held{".debug_info": unit4(join4(rootEntry(), functionEntry("f", 0x1000, 8), []byte{4, 20, 0, 0, 0},
		u64(0x1000), u64(4), []byte{9, 0, 0, 0})...),
		".debug_abbrev": abbrevs4, ".debug_line": lines4(join4([]byte{0, 9, 2}, u64(0x1000), []byte{3, 4, 1, 2, 8, 0, 1, 1})...)}))
	if worker := flag.Lookup("test.fuzzworker"); worker == nil || worker.Value.String() != "true" {
		addCompiled(f) // a worker gets them from who started it
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		h := unpacked(p)
		o := Options{Supplementary: h, Split: func(string, uint64) (Sections, error) { return h, nil }}
		_, _ = Read(h, nothing{t}, o)
	})
}

// addCompiled adds what compilers write, where they are installed.
func addCompiled(f *testing.F) {
	dir := f.TempDir()
	for i, flags := range [][]string{{"-gdwarf-2"}, {"-gdwarf-4"}, {"-gdwarf-5"}, {"-gdwarf-5", "-gdwarf64"},
		{"-gdwarf-4", "-gsplit-dwarf"}, {"-gdwarf-5", "-gsplit-dwarf"}} {
		for _, compiler := range []string{"gcc", "clang"} {
			if _, err := exec.LookPath(compiler); err != nil {
				continue
			}
			name := compiler + string(rune('a'+i))
			run(f, dir, compiler, append(flags, "-O2", "-shared", "-nostdlib", "-fPIC", "-o", name, source(f, "alone.c"))...)
			x := openELF(f, filepath.Join(dir, name))
			split, _ := filepath.Glob(filepath.Join(dir, name+"*.dwo"))
			for _, dwo := range split {
				for section, data := range openELF(f, dwo).sections {
					if x.sections[section] == nil {
						x.sections[section] = data
					}
				}
			}
			f.Add(packed(x.sections))
		}
	}
}
