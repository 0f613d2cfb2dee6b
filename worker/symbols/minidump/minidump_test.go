package minidump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump/minidumptest"
)

func read(b []byte) (*dump.Dump, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// sample is a dump of an architecture with two threads, of which the second crashed.
func sample(arch, os string) *dump.Dump {
	names := map[string][]string{
		dump.X86: {"eip", "esp", "ebp", "ebx", "esi", "edi", "eax", "ecx", "edx", "eflags"},
		dump.X86_64: {"rip", "rsp", "rbp", "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
			"r14", "r15"},
		dump.ARM: {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc", "cpsr"},
		dump.ARM64: {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
			"x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp", "lr", "sp", "pc"},
	}[arch]
	registers := func(from uint64) map[string]uint64 {
		values := map[string]uint64{}
		for i, name := range names {
			values[name] = from + uint64(i)
		}
		return values
	}
	d := &dump.Dump{
		Format: "minidump", Time: 1_700_000_000, Main: 1,
		System:  dump.System{OS: os, Version: "10.0.19045", Build: "Service Pack 1 \U0001F600", Arch: arch, CPUs: 8},
		Process: dump.Process{ID: 4711, Started: 1_699_999_000, Name: "app.exe", Path: `C:\Program Files\app.exe`, Version: "1.2.3.4"},
		Threads: []dump.Thread{
			{ID: 10, Name: "main", Registers: registers(0x1000), StackStart: 0x7000, StackEnd: 0x7010},
			{ID: 11, Registers: registers(0x2000), StackStart: 0x8000, StackEnd: 0x8008},
		},
		Modules: []dump.Module{
			{Start: 0x400000, Size: 0x1000, CodeFile: `C:\Program Files\app.exe`, DebugFile: `D:\build\app.pdb`, Version: "1.2.3.4",
				DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F80a", CodeID: "5f0000011000"},
			{Start: 0x7ff0000, Size: 0x20000, CodeFile: `C:\Windows\System32\ntdll.dll`},
		},
		Memory:     []dump.Region{{Start: 0x7000, Data: []byte("0123456789abcdef")}, {Start: 0x8000, Data: []byte("stack of")}},
		Attributes: []dump.Attribute{{Key: "ptype", Value: "renderer"}, {Key: "ver", Value: "1.2"}, {Key: "abort", Value: "äöü"}},
	}
	switch os {
	case dump.Linux:
		d.Modules[0].CodeID, d.Modules[0].DebugFile = "c4b3a2c1e6d508f7192a3b4c5d6e7f8011223344", d.Modules[0].CodeFile
		d.Modules[0].DebugID = "C1A2B3C4D5E6F708192A3B4C5D6E7F800"
	case dump.MacOS:
		d.Modules[0].CodeID = "c1a2b3c4d5e6f708192a3b4c5d6e7f80"
	}
	return d
}

// What was written is read again: for each architecture and system, in both byte orders.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		arch, os string
		e        minidumptest.Exception
		name     string
		address  uint64
	}{
		{dump.X86, dump.Windows, minidumptest.Exception{Code: 0xc0000005, Address: 0x401000, Parameters: []uint64{1, 0xffffffff00000010}},
			"EXCEPTION_ACCESS_VIOLATION_WRITE", 0x10},
		{dump.X86_64, dump.Windows, minidumptest.Exception{Code: 0xc0000409, Address: 0x401000, Parameters: []uint64{7}},
			"EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT", 0x401000},
		{dump.X86_64, dump.Linux, minidumptest.Exception{Code: 11, Flags: 1, Address: 0x18}, "SIGSEGV / SEGV_MAPERR", 0x18},
		{dump.ARM, dump.Android, minidumptest.Exception{Code: 7, Flags: 1, Address: 0x19}, "SIGBUS / BUS_ADRALN", 0x19},
		{dump.ARM64, dump.MacOS, minidumptest.Exception{Code: 1, Flags: 2, Address: 0x20}, "EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE", 0x20},
	} {
		for _, order := range []minidumptest.Order{binary.LittleEndian, binary.BigEndian} {
			want := sample(c.arch, c.os)
			if c.os == dump.Android {
				want.Modules[0].DebugID, want.Modules[0].CodeID, want.Modules[0].DebugFile = "", "", ""
			}
			if c.os != dump.Windows && c.os != dump.Linux && c.os != dump.MacOS {
				want.Modules[0].CodeID = ""
			}
			b := minidumptest.Write(order, want, &c.e)
			got, err := read(b)
			require.NoError(t, err)
			want.Reason = &dump.Reason{Name: c.name, Address: c.address, HasAddress: true}
			if c.os == dump.Linux && order == minidumptest.Order(binary.BigEndian) {
				want.Modules[0].DebugID = got.Modules[0].DebugID // the bytes of a build id in that order
			}
			require.Equal(t, want.System.Build, got.System.Build)
			got.System.CPUInfo = ""
			require.Equal(t, want.System, got.System)
			require.Equal(t, want.Modules, got.Modules, c.os)
			require.Equal(t, want.Threads, got.Threads)
			require.Equal(t, want.Memory, got.Memory)
			require.Equal(t, want.Reason, got.Reason)
			require.Equal(t, want.Process, got.Process)
			require.Equal(t, want.Main, got.Main)
			require.Equal(t, want.Time, got.Time)
			require.Subset(t, got.Attributes, want.Attributes)
			require.Empty(t, got.Warnings)
		}
	}
}

// A file that is no dump is refused, with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	whole := minidumptest.Write(binary.LittleEndian, sample(dump.X86_64, dump.Linux), nil)
	changed := func(at int, b ...byte) []byte {
		p := bytes.Clone(whole)
		copy(p[at:], b)
		return p
	}
	empty := minidumptest.New(binary.LittleEndian).Bytes(0)
	useless := minidumptest.New(binary.LittleEndian)
	useless.Stream(10, []byte("only a comment"))
	for _, c := range []struct {
		b            []byte
		code, reason string
	}{
		{nil, symbol.Truncated, "0 bytes"},
		{whole[:31], symbol.Truncated, "31 bytes"},
		{changed(0, 'E', 'L', 'F'), symbol.Malformed, "begins with"},
		{changed(4, 1, 2), symbol.Unsupported, "0x0201"},
		{changed(12, 0xff, 0xff, 0xff, 0x7f), symbol.Truncated, "lies behind the end"},
		{empty, symbol.Malformed, "no streams"},
		{useless.Bytes(0), symbol.Malformed, "neither threads nor an exception"},
	} {
		_, err := read(c.b)
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, c.reason)
		require.Equal(t, c.code, invalid.Code, c.reason)
		require.Contains(t, invalid.Reason, c.reason)
	}
}

// However a dump is cut off, it is read as far as it goes or refused by name.
func TestTruncated(t *testing.T) {
	t.Parallel()
	whole := minidumptest.Write(binary.LittleEndian, sample(dump.X86, dump.Windows), &minidumptest.Exception{Code: 0xc0000005})
	for n := range whole {
		_, err := read(whole[:n])
		if err == nil {
			continue
		}
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, "cut off at %d", n)
	}
}

// damaged are dumps that are wrong in one part: the rest is read, and a warning says what
// is missing.
func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage  func(f *minidumptest.File)
		warning string
		check   func(t *testing.T, d *dump.Dump)
	}{
		"a stream of 4 GB": {func(f *minidumptest.File) { f.StreamAt(9, 0xffffffff, 40) }, "Memory64List claims 4294967295 bytes", nil},
		"a stream behind the end": {func(f *minidumptest.File) { f.StreamAt(14, 100, 0x7fffffff) },
			"UnloadedModuleList lies at offset 2147483647", nil},
		"a stream twice": {func(f *minidumptest.File) { f.Stream(3, f.Numbers(0)) }, "ThreadList is there twice",
			func(t *testing.T, d *dump.Dump) { require.Len(t, d.Threads, 2) }},
		"more entries than bytes": {func(f *minidumptest.File) { f.Stream(24+0, f.Numbers(0x7fffffff, 10, uint64(40))) },
			"claims 2147483647 entries; 1",
			nil},
		"a name without an end": {func(f *minidumptest.File) {
			f.Stream(24, f.Numbers(1, 10, uint64(f.Put(f.Numbers(0xfffffff0, 1)))))
		}, "claims 4294967280 bytes", nil},
		"memory that wraps": {func(f *minidumptest.File) {
			f.Stream(9, f.Numbers(uint64(1), uint64(32), uint64(0xfffffffffffffff8), uint64(64)))
		}, "reach over the end of all memory", nil},
		"entries of no size": {func(f *minidumptest.File) { f.Stream(14, f.Numbers(12, 0, 5)) }, "entries of 0 bytes", nil},
		"annotations in themselves": {func(f *minidumptest.File) {
			f.Stream(0x43500001, f.Numbers(1, make([]byte, 32), 0x7fffffff, 32, 12, 32, 0, uint64(0)))
		}, "outside of the file", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := minidumptest.New(binary.LittleEndian)
			d := sample(dump.X86_64, dump.Linux)
			d.Attributes = nil
			d.Threads[0].Name = ""
			c.damage(minidumptest.Fill(f, d, nil))
			got, err := read(f.Bytes(1))
			require.NoError(t, err)
			require.Contains(t, strings.Join(got.Warnings, "\n"), c.warning)
			require.Equal(t, d.Modules, got.Modules)
			require.Equal(t, d.Memory, got.Memory)
			if c.check != nil {
				c.check(t, got)
			}
		})
	}
}

// A thread without a stack, or without registers, stays.
func TestThreadWithoutStack(t *testing.T) {
	t.Parallel()
	d := sample(dump.X86_64, dump.Linux)
	d.Threads[0].StackStart, d.Threads[0].StackEnd, d.Threads[0].Registers = 0, 0, nil
	d.Memory = nil
	got, err := read(minidumptest.Write(binary.LittleEndian, d, nil))
	require.NoError(t, err)
	require.Len(t, got.Threads, 2)
	require.Nil(t, got.Threads[0].Registers)
	require.Contains(t, strings.Join(got.Warnings, "\n"), "has no memory")
}

// The thread of the exception has its registers; Breakpad's stream names it when there
// is no exception.
func TestMainThread(t *testing.T) {
	t.Parallel()
	f := minidumptest.New(binary.LittleEndian)
	minidumptest.Fill(f, sample(dump.X86_64, dump.Linux), nil)
	f.Stream(0x47670001, f.Numbers(3, 10, 11))
	d, err := read(f.Bytes(1))
	require.NoError(t, err)
	require.Equal(t, 1, d.Main)
	require.Nil(t, d.Reason)
	require.NotEmpty(t, d.Threads[0].Skip, "it wrote the dump")

	// The crashed thread is in no list: the exception has its registers.
	lone := minidumptest.New(binary.LittleEndian)
	whole := sample(dump.X86_64, dump.Linux)
	minidumptest.Fill(lone, whole, &minidumptest.Exception{Code: 11, Flags: 1})
	b := lone.Bytes(1)
	directory := binary.LittleEndian.Uint32(b[12:])
	for n := range binary.LittleEndian.Uint32(b[8:]) {
		if kind := b[directory+12*n:]; binary.LittleEndian.Uint32(kind) == streamThreadList {
			binary.LittleEndian.PutUint32(kind, 0)
		}
	}
	d, err = read(b)
	require.NoError(t, err)
	require.Len(t, d.Threads, 1)
	require.Equal(t, whole.Threads[1].Registers, d.Threads[0].Registers)
	require.Contains(t, strings.Join(d.Warnings, "\n"), "thread 11, which crashed, is not in the list")
}

// The texts of Linux, and modules from the mappings when there is no list.
func TestLinuxTexts(t *testing.T) {
	t.Parallel()
	f := minidumptest.New(binary.LittleEndian)
	d := sample(dump.X86_64, dump.Linux)
	d.Modules = nil
	minidumptest.Fill(f, d, nil)
	f.Stream(0x47670003, []byte("processor\t: 0\nmodel name\t: Some CPU @ 2GHz\nmodel name\t: other\n"))
	f.Stream(0x47670004, []byte("Name:\tapp\nPid:\t12\nVmRSS:\t    2048 kB\nVmPeak:\t4096 kB\n"))
	f.Stream(0x47670005, []byte("DISTRIB_ID=Debian\nDISTRIB_DESCRIPTION=\"Debian GNU/Linux 12\"\n"))
	f.Stream(0x47670006, []byte("app\x00--port\x0080\x00"))
	f.Stream(0x47670007, []byte("HOME=/root\x00API_TOKEN=secret\x00broken\x00"))
	f.Stream(0x47670009,
		[]byte("00400000-00401000 r--p 00000000 08:01 12 /usr/bin/app\n00401000-00402000 r-xp 00001000 08:01 12 /usr/bin/app\n"+
			"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n7f0000001000-7f0000003000 r-xp 00000000 08:01 13 /lib/a b.so\nrubbish\n"))
	got, err := read(f.Bytes(1))
	require.NoError(t, err)
	require.Equal(t, []dump.Module{{Start: 0x400000, Size: 0x2000, CodeFile: "/usr/bin/app"},
		{Start: 0x7f0000001000, Size: 0x2000, CodeFile: "/lib/a b.so"}}, got.Modules)
	require.Equal(t, []dump.Range{{Start: 0x401000, End: 0x402000}, {Start: 0x7f0000001000, End: 0x7f0000003000}}, got.Executable)
	require.Equal(t, "app --port 80", got.Annotations["Command Line"])
	require.Equal(t, map[string]string{"HOME": "/root", "API_TOKEN": "secret"}, got.Annotations["Environment Variables"])
	require.Subset(t, got.Attributes, []dump.Attribute{{Key: "cpu.brand", Value: "Some CPU @ 2GHz"}, {Key: "vm.rss.size", Value: "2097152"},
		{Key: "lsb.description", Value: "Debian GNU/Linux 12"}})
}

// A dump with all memory of the process is read around the stack pointers.
func TestLargeMemory(t *testing.T) {
	t.Parallel()
	d := sample(dump.X86_64, dump.Linux)
	d.Threads[0].StackStart, d.Threads[0].StackEnd = 0, 0
	d.Threads[1].StackStart, d.Threads[1].StackEnd = 0, 0
	d.Memory = []dump.Region{{Start: 0x10000000, Data: make([]byte, maxMemory)}, {Start: 0x20000000, Data: make([]byte, 4<<20)}}
	d.Memory[1].Data[1<<20] = 0x42
	d.Threads[1].Registers["rsp"] = 0x20000000 + 1<<20
	got, err := read(minidumptest.Write(binary.LittleEndian, d, nil))
	require.NoError(t, err)
	require.Len(t, got.Memory, 1)
	require.EqualValues(t, 0x20000000+1<<20-belowSP, got.Memory[0].Start)
	require.Len(t, got.Memory[0].Data, belowSP+maxStack)
	value, ok := got.Pointer(0x20000000+1<<20, 8)
	require.True(t, ok)
	require.EqualValues(t, 0x42, value)
}

// brokenReader fails behind the header.
type brokenReader struct{ io.ReaderAt }

func (r brokenReader) ReadAt(b []byte, at int64) (int, error) {
	if at > 32 {
		return 0, errors.New("the store is away")
	}
	return r.ReaderAt.ReadAt(b, at)
}

// What the store does not return is not the fault of the dump.
func TestReadError(t *testing.T) {
	t.Parallel()
	b := minidumptest.Write(binary.LittleEndian, sample(dump.X86, dump.Windows), nil)
	_, err := Read(brokenReader{bytes.NewReader(b)}, int64(len(b)))
	require.ErrorContains(t, err, "the store is away")
	require.False(t, errors.As(err, new(*symbol.InvalidError)))
}

// Names that all stand at one place of the file do not multiply it.
func TestTextsBounded(t *testing.T) {
	t.Parallel()
	f := minidumptest.New(binary.LittleEndian)
	d := sample(dump.X86_64, dump.Windows)
	d.Modules = nil
	name, record := f.Text16(strings.Repeat("x", maxString/2)), f.Put(append([]byte("RSDS"), bytes.Repeat([]byte{'y'}, maxString-4)...))
	list := f.Numbers(maxModules)
	for i := range maxModules {
		list = append(list, f.Numbers(uint64(0x1000*(i+1)), 0x1000, 0, 0, name, make([]byte, 52), maxString, record, 0,
			0, uint64(0), uint64(0))...)
	}
	f.Stream(4, list)
	got, err := read(minidumptest.Fill(f, d, nil).Bytes(1))
	require.NoError(t, err)
	require.Len(t, got.Modules, maxModules)
	total := 0
	for _, m := range got.Modules {
		total += len(m.CodeFile) + len(m.DebugFile)
	}
	require.LessOrEqual(t, total, maxTexts)
	require.Contains(t, strings.Join(got.Warnings, "\n"), "bytes together")
}
