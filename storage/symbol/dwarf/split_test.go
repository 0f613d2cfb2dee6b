package dwarf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// beside opens the .dwo files where the compiler left them.
func beside(t testing.TB) func(string, uint64) (Sections, error) {
	return func(name string, _ uint64) (Sections, error) {
		if _, err := os.Stat(name); err != nil {
			return nil, nil
		}
		return openELF(t, name).sections, nil
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"g++ -gdwarf-4 -O2 -gsplit-dwarf", "g++ -gdwarf-5 -O2 -gsplit-dwarf", "clang++ -gdwarf-4 -O2 -gsplit-dwarf",
		"clang++ -gdwarf-5 -O2 -gsplit-dwarf", "clang++ -gdwarf-5 -O2 -gsplit-dwarf=single",
		"clang++ -gdwarf-5 -O1 -gsplit-dwarf -fsplit-dwarf-inlining"} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := strings.Fields(c)
			objects := []string{}
			for _, name := range []string{"main.cc", "lib.cc"} {
				object := strings.TrimSuffix(name, ".cc") + ".o"
				run(t, dir, args[0], append(args[1:len(args):len(args)], "-c", source(t, name), "-o", object)...)
				objects = append(objects, object)
			}
			run(t, dir, "gcc", "-O2", "-c", source(t, "plain.c"), "-o", "plain.o")
			run(t, dir, args[0], append(append(args[1:len(args):len(args)], objects...), "plain.o", "-o", "program")...)
			object := filepath.Join(dir, "program")
			x := openELF(t, object)
			index, s := indexed(t, x, Options{Split: beside(t)})
			require.Empty(t, s.Warnings)
			compare(t, x, index, object, everySeventh(x, 5000), splitOracle())

			run(t, dir, "llvm-dwp", "-e", "program", "-o", "program.dwp")
			packed := openELF(t, object+".dwp").sections
			index, s = indexed(t, x, Options{Split: func(string, uint64) (Sections, error) { return packed, nil }})
			require.Empty(t, s.Warnings)
			compare(t, x, index, object, everySeventh(x, 5000), splitOracle())

			_, s = indexed(t, x, Options{})
			require.Positive(t, s.Missing)
			require.NotEmpty(t, s.Warnings)
		})
	}
}

// dwz moves what units have in common into units of their own, and what files have in common
// into a file of its own.
func TestDWZ(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			object := compiled(t, dir, "g++", version, "-O2")
			addresses := everySeventh(openELF(t, object), 5000)
			require.NoError(t, os.Rename(object, filepath.Join(dir, "plain")))
			compiled(t, dir, "g++", version, "-O2", "-DMAIN2")
			run(t, dir, "cp", "plain", "alone")
			run(t, dir, "dwz", "alone")
			x := openELF(t, filepath.Join(dir, "alone"))
			index, s := indexed(t, x, Options{})
			require.Empty(t, s.Warnings)
			compare(t, x, index, filepath.Join(dir, "plain"), addresses, llvmOracle())

			run(t, dir, "cp", "plain", "second")
			run(t, dir, "dwz", "-m", "common", "second", "program")
			x = openELF(t, filepath.Join(dir, "second"))
			common := openELF(t, filepath.Join(dir, "common"))
			index, s = indexed(t, x, Options{Supplementary: common.sections})
			require.Empty(t, s.Warnings)
			compare(t, x, index, filepath.Join(dir, "plain"), addresses, llvmOracle())
		})
	}
}

// The ids in a .dwo or .dwp file are those that the skeletons lack without it.
func TestSplitUnits(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var ids []uint64
			for _, name := range []string{"main", "lib"} {
				run(t, dir, "g++", version, "-O2", "-gsplit-dwarf", "-c", source(t, name+".cc"), "-o", name+".o")
				one, err := SplitUnits(openELF(t, filepath.Join(dir, name+".dwo")).sections, nil)
				require.NoError(t, err)
				require.Len(t, one, 1)
				ids = append(ids, one...)
			}
			run(t, dir, "gcc", "-O2", "-c", source(t, "plain.c"), "-o", "plain.o")
			run(t, dir, "g++", "main.o", "lib.o", "plain.o", "-o", "program")
			x := openELF(t, filepath.Join(dir, "program"))
			_, s := indexed(t, x, Options{})
			require.ElementsMatch(t, ids, s.MissingUnits)
			none, err := SplitUnits(x.sections, nil)
			require.NoError(t, err)
			require.Empty(t, none)
			run(t, dir, "llvm-dwp", "-e", "program", "-o", "program.dwp")
			packed, err := SplitUnits(openELF(t, filepath.Join(dir, "program.dwp")).sections, nil)
			require.NoError(t, err)
			require.ElementsMatch(t, ids, packed)
			require.IsIncreasing(t, packed)
		})
	}
}

// A supplementary file that cannot be read is as good as none.
func TestBrokenSupplementary(t *testing.T) {
	t.Parallel()
	object := compiled(t, t.TempDir(), "g++", "-gdwarf-5", "-O2")
	x := openELF(t, object)
	_, s := indexed(t, x, Options{Supplementary: held{".debug_info": []byte{1, 2, 3}}})
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0], "supplementary file")
	require.Positive(t, s.Functions)
}
