package binary

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// machImage links the program for macOS, without the system's libraries.
func machImage(t testing.TB, arch string) string {
	t.Helper()
	tool(t, "ld64.lld")
	dir := t.TempDir()
	text := strings.Replace(program, "#include <stdlib.h>\n", "", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.c"), []byte(text), 0o600))
	run(t, dir, "clang", "-target", arch+"-apple-macos11", "-g", "-O1", "-c", "p.c", "-o", "p.o")
	run(t, dir, "ld64.lld", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-dylib", "-undefined",
		"dynamic_lookup", "p.o", "-o", "p")
	return filepath.Join(dir, "p")
}

func TestMachO(t *testing.T) {
	t.Parallel()
	for _, arch := range []string{"x86_64", "arm64"} {
		path := machImage(t, arch)
		f := opened(t, path)
		require.Equal(t, symbol.MachO, f.Kind)
		require.Equal(t, arch, f.Arch)
		require.Equal(t, Library, f.Type)
		uuid := regexp.MustCompile(`UUID: ([0-9A-F-]+)`).FindStringSubmatch(run(t, ".", "llvm-dwarfdump", "--uuid", path))[1]
		plain := strings.ReplaceAll(uuid, "-", "")
		require.Equal(t, []string{plain + "0", strings.ToLower(plain), ""}, []string{f.DebugID, f.CodeID, f.BuildID})
		got := reported(t, f)
		require.NotZero(t, got["visible"].Size)
		require.NotZero(t, got["inner"].Size, "a local symbol")
		require.Contains(t, got, "main")
		for line := range strings.Lines(run(t, ".", "llvm-nm", path)) {
			if fields := strings.Fields(line); len(fields) == 3 && strings.EqualFold(fields[1], "t") {
				require.Contains(t, got, strings.TrimPrefix(fields[2], "_"))
			}
		}

		run(t, filepath.Dir(path), "dsymutil", "p", "-o", "p.dSYM", "--flat")
		d := opened(t, path+".dSYM")
		require.Equal(t, Debug, d.Type)
		require.Equal(t, []string{f.DebugID, f.CodeID, f.Arch}, []string{d.DebugID, d.CodeID, d.Arch})
		require.Equal(t, f.Base, d.Base)
		require.True(t, d.HasDebug())
		require.NotEmpty(t, bytesOf(t, d, ".debug_info"))
		require.Empty(t, bytesOf(t, d, "__text"), "its code is elsewhere")
		s, ok := d.Header(".debug_line")
		require.True(t, ok)
		require.Equal(t, "__DWARF", s.Segment)
	}
}

func TestFatMachO(t *testing.T) {
	t.Parallel()
	first, second := machImage(t, "x86_64"), machImage(t, "arm64")
	fat := first + ".fat"
	run(t, ".", "llvm-lipo", "-create", first, second, "-output", fat)
	p, err := os.ReadFile(fat)
	require.NoError(t, err)
	files, err := OpenAll(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for i, path := range []string{first, second} {
		want := opened(t, path)
		require.Equal(t, want.DebugID, files[i].DebugID)
		require.Equal(t, bytesOf(t, want, "__text"), bytesOf(t, files[i], "__text"))
		require.NotZero(t, files[i].Offset)
	}
	_, err = Open(bytes.NewReader(p), int64(len(p)))
	require.ErrorContains(t, err, "2 slices")

	binary.BigEndian.PutUint32(p[8+8+20:], binary.BigEndian.Uint32(p[8+8:])) // the second where the first is
	_, err = OpenAll(bytes.NewReader(p), int64(len(p)))
	require.ErrorContains(t, err, "overlap")
}

func TestFat64(t *testing.T) {
	t.Parallel()
	thin, err := os.ReadFile(machImage(t, "arm64"))
	require.NoError(t, err)
	head := append([]byte(fatMagic64), 0, 0, 0, 1)
	head = binary.BigEndian.AppendUint32(head, 0x0100000c)
	head = binary.BigEndian.AppendUint32(head, 0)
	head = binary.BigEndian.AppendUint64(head, 64)
	head = binary.BigEndian.AppendUint64(head, uint64(len(thin)))
	fat := append(append(head, make([]byte, 64-len(head))...), thin...)
	f, err := Open(bytes.NewReader(fat), int64(len(fat)))
	require.NoError(t, err)
	require.EqualValues(t, 64, f.Offset)
	require.Equal(t, "arm64", f.Arch)
}

// windowsImage links a PE and a PDB.
func windowsImage(t testing.TB, target string) string {
	t.Helper()
	tool(t, "lld-link")
	dir := t.TempDir()
	text := strings.Replace(program, "#include <stdlib.h>\n", "", 1)
	text = strings.Replace(text, "int visible", "__declspec(dllexport) int visible", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.c"), []byte(text), 0o600))
	run(t, dir, "clang", "-target", target, "-g", "-gcodeview", "-O1", "-c", "p.c", "-o", "p.obj")
	run(t, dir, "lld-link", "/debug", "/nodefaultlib", "/entry:main", "/subsystem:console", "/out:p.exe", "p.obj", "/pdb:p.pdb")
	return filepath.Join(dir, "p.exe")
}

func TestPE(t *testing.T) {
	t.Parallel()
	for target, arch := range map[string]string{"x86_64-pc-windows-msvc": "x86_64", "i686-pc-windows-msvc": "x86",
		"aarch64-pc-windows-msvc": "arm64"} {
		path := windowsImage(t, target)
		f := opened(t, path)
		require.Equal(t, symbol.PE, f.Kind)
		require.Equal(t, []string{arch, string(Executable)}, []string{f.Arch, string(f.Type)})
		dump := run(t, ".", "llvm-readobj", "--file-headers", "--coff-debug-directory", path)
		found := regexp.MustCompile(`PDBGUID: [({]([0-9A-F -]+)[)}]`).FindStringSubmatch(dump)
		require.Len(t, found, 2, dump)
		guid, err := hex.DecodeString(strings.ReplaceAll(found[1], " ", ""))
		if strings.Contains(found[1], " ") { // the bytes as they are stored
			require.NoError(t, err)
			found[1] = guidText([16]byte(guid))
		}
		require.Equal(t, strings.ToUpper(strings.ReplaceAll(found[1], "-", ""))+"1", f.DebugID)
		stamp := regexp.MustCompile(`TimeDateStamp:.*\(0x([0-9A-F]+)\)`).FindStringSubmatch(dump)[1]
		size := regexp.MustCompile(`SizeOfImage: (\d+)`).FindStringSubmatch(dump)[1]
		image, err := strconv.Atoi(size)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%08s%x", strings.ToLower(stamp), image), f.CodeID)
		require.Equal(t, "p.pdb", f.DebugFile)
		s, ok := reported(t, f)["visible"]
		require.True(t, ok, "an export")
		require.NotZero(t, s.Address)
	}
}

func TestPEOfMinGW(t *testing.T) {
	t.Parallel()
	path := built(t, "x86_64-w64-mingw32-gcc", "-Wl,--build-id")
	if _, err := os.Stat(path + ".exe"); err == nil {
		path += ".exe"
	}
	f := opened(t, path)
	require.True(t, f.HasDebug())
	require.NotEmpty(t, f.DebugID)
	got := reported(t, f)
	for name, at := range mingwFunctions(t, path) {
		require.Contains(t, got, name)
		require.Equal(t, at-f.Base, got[name].Address, name)
	}
	require.NotZero(t, got["inner"].Size)

	debug := path + ".debug"
	run(t, ".", "objcopy", "--only-keep-debug", path, debug)
	d := opened(t, debug)
	require.Equal(t, Debug, d.Type)
	require.Equal(t, bytesOf(t, f, ".debug_info"), bytesOf(t, d, ".debug_info"))
}

func TestNamesOfSections(t *testing.T) {
	t.Parallel()
	for kind, names := range map[symbol.Kind]map[string]string{
		symbol.PE:    {".eh_frame": ".eh_fram"},
		symbol.MachO: {".debug_str_offsets": "__debug_str_offs", ".eh_frame": "__eh_frame", ".debug_info": "__zdebug_info"},
		symbol.ELF:   {".debug_info": ".zdebug_info", ".text": ".text"},
	} {
		for asked, name := range names {
			f := &File{Kind: kind, names: map[string]int{}}
			f.add(Section{Name: name, stored: 4})
			s, ok := f.Header(asked)
			require.True(t, ok, "%s %s", kind, asked)
			require.Equal(t, name, s.Name)
			_, ok = f.Header(".other")
			require.False(t, ok)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	f := opened(t, built(t, "gcc", "-gz=zlib"))
	text, ok := f.Header(".text")
	require.True(t, ok)
	want := bytesOf(t, f, ".text")
	for range 2 {
		got, err := f.Bytes(text.Address+8, 16)
		require.NoError(t, err)
		require.Equal(t, want[8:24], got)
		got, err = f.Bytes(text.Address+text.Size-3, 16)
		require.NoError(t, err)
		require.Equal(t, want[len(want)-3:], got, "up to the end of the section")
		got, err = f.Bytes(1<<60, 4)
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

func mingwFunctions(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	for name, at := range nmFunctions(t, path, "--defined-only") {
		if strings.Contains(" main visible inner ", " "+name+" ") {
			found[name] = at
		}
	}
	require.Len(t, found, 3)
	return found
}

// Every byte of a header may lie; every length may be cut.
func TestCutOffFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{built(t, "gcc", "-gz=zlib"), machImage(t, "arm64"), windowsImage(t, "x86_64-pc-windows-msvc")} {
		p, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := 0; n < len(p); n += 1 + n/8 {
			examine(p[:n])
		}
		for i := 0; i < min(len(p), 1200); i += 1 + i/64 {
			changed := bytes.Clone(p)
			changed[i] ^= 0xff
			examine(changed)
		}
	}
}

// examine reads all that there is.
func examine(p []byte) {
	files, err := OpenAll(bytes.NewReader(p), int64(len(p)))
	if err != nil {
		return
	}
	for _, f := range files {
		var s publics
		_, _ = f.Symbols(&s)
		for _, section := range f.Sections() {
			_, _, _ = f.Section(section.Name)
		}
		_ = f.Identifiers()
		_ = f.Close()
	}
}

func TestLyingSizes(t *testing.T) {
	t.Parallel()
	path := built(t, "gcc", "-gz=zlib")
	f := opened(t, path)
	i, ok := f.find(".debug_info")
	require.True(t, ok)
	s := f.sections[i].compression
	for size, reason := range map[uint64]string{
		s.size - 1: "more", s.size + 1: "its stream has", 1 << 40: "more than", 1 << 63: "more than", 0: "more",
	} {
		f.sections[i].compression.size = size
		_, _, err := f.Section(".debug_info")
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Contains(t, invalid.Reason, reason)
	}
	f.sections[i].compression = compression{algorithm: withZstd, header: 24, size: maxDecompressed + 1}
	_, _, err := f.Section(".debug_info")
	require.ErrorContains(t, err, "a file may have")
	f.sections[i].compression.size = 100
	_, _, err = f.Section(".debug_info")
	require.ErrorContains(t, err, "broken")
}

// A section above what memory may hold goes to a temporary file, which Close closes.
func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	require.NoError(t, os.WriteFile(big, make([]byte, maxInMemory+10), 0o600))
	path := built(t, "gcc")
	out := path + ".big"
	run(t, ".", "objcopy", "--add-section", ".debug_big="+big, path, out+"1")
	if text, err := exec.Command("objcopy", "--compress-debug-sections=zlib", out+"1", out).CombinedOutput(); err != nil {
		t.Skipf("objcopy: %s", text)
	}
	f := opened(t, out)
	_, _, err := f.Section(".debug_big")
	require.ErrorContains(t, err, "decompressed")
	closed := 0
	f.Temporary = func() (Temporary, error) { return &memoryFile{closed: &closed}, nil }
	for range 2 {
		require.Len(t, bytesOf(t, f, ".debug_big"), maxInMemory+10)
	}
	require.NoError(t, f.Close())
	require.Equal(t, 1, closed)
}

func FuzzOpen(f *testing.F) {
	for _, make := range []func(testing.TB) string{
		func(t testing.TB) string {
			return built(t, "gcc", "-gz=zlib", "-Wl,--build-id", "-nostdlib", "-static", "-Wl,-N", "-Wl,-e,main")
		},
		func(t testing.TB) string { return machImage(t, "arm64") },
		func(t testing.TB) string { return windowsImage(t, "x86_64-pc-windows-msvc") },
	} {
		p, err := os.ReadFile(make(f))
		require.NoError(f, err)
		f.Add(p)
	}
	fat := append([]byte(fatMagic), 0, 0, 0, 1, 1, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 32, 0, 0, 0, 0)
	f.Add(append(fat,
		"\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...))
	f.Fuzz(func(_ *testing.T, p []byte) { examine(p) })
}
