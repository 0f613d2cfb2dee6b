package walk_test

import (
	"bytes"
	"context"
	"debug/elf"
	stdlib "encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/unwind"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump/minidumptest"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

// order is that of x86-64.
var order = stdlib.LittleEndian

// indexes are the symbols of a dump, read from the files on this machine.
type indexes map[int]*native.Index

func (x indexes) Unwind(module int, address uint64) (native.Unwind, bool, error) {
	if x[module] == nil {
		return native.Unwind{}, false, nil
	}
	return x[module].Unwind(address)
}

func (x indexes) Covers(int, uint64) (covered, known bool) { return false, false }

// openIndex reads the unwind tables of a file.
func openIndex(t *testing.T, name string) *native.Index {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	stat, err := f.Stat()
	require.NoError(t, err)
	file, err := binary.Open(f, stat.Size())
	require.NoError(t, err)
	b := native.NewBuilder(t.TempDir())
	_, err = unwind.Read(file, b)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = b.Finish(&out)
	require.NoError(t, err)
	opened, err := symbol.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	index, err := native.Open(opened)
	require.NoError(t, err)
	return index
}

// A program that crashed is walked as gdb walks it: each frame of each thread has the same
// instruction and the same stack pointer. The dump is written out of gdb's core and goes
// through a minidump.
func TestAgainstGDB(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("cores of x86-64 Linux are compared")
	}
	for _, tool := range []string{"gcc", "gdb"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for name, flags := range map[string][]string{
		"frame pointers": {"-O0", "-fno-omit-frame-pointer"},
		"optimized":      {"-O2", "-fomit-frame-pointer", "-fno-inline", "-fno-optimize-sibling-calls"},
		"small":          {"-Os", "-fomit-frame-pointer", "-fno-inline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "crash")
			out, err := exec.Command("gcc", append(flags, "-pthread", "-o", program, "testdata/crash.c")...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			core := program + ".core"
			text := debug(t, program, core)
			want := gdbFrames(text)
			require.GreaterOrEqual(t, len(want), 15, "gdb walked two threads:\n%s", text)

			d := readCore(t, core)
			file := minidumptest.Write(order, d, &minidumptest.Exception{Code: 11, Flags: 1, Address: 8})
			d, err = minidump.Read(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			s := indexes{}
			for i, m := range d.Modules {
				s[i] = openIndex(t, m.CodeFile)
			}
			require.NoError(t, walk.Walk(context.Background(), d, s))
			var got []string
			for _, thread := range d.Threads {
				require.NotEmpty(t, thread.Frames)
				for i, f := range thread.Frames {
					require.False(t, f.Guessed(), "frame %d was found by %s", i, f.Trust)
					got = append(got, fmt.Sprintf("%x %x", f.Address, f.Registers["rsp"]))
				}
			}
			require.ElementsMatch(t, want, got)
			require.Equal(t, "SIGSEGV / SEGV_MAPERR", d.Reason.Name)
		})
	}
}

// debug runs a program in gdb until it crashes, and returns what gdb printed.
func debug(t *testing.T, program, core string) string {
	t.Helper()
	script := program + ".gdb"
	require.NoError(t, os.WriteFile(script, []byte(strings.Join([]string{
		"set debuginfod enabled off", "set confirm off", "set backtrace past-main on", "set backtrace past-entry on", "run",
		`thread apply all -q frame apply all -q printf "FRAME %d %lx %lx\n", $_thread, $pc, $sp`,
		"generate-core-file " + core,
	}, "\n")), 0o600))
	cmd := exec.Command("gdb", "-batch", "-nx", "-x", script, program)
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("SIGSEGV")) {
		t.Skipf("gdb cannot run programs here: %v\n%s", err, out)
	}
	return string(out)
}

var gdbFrame = regexp.MustCompile(`(?m)^FRAME (\d+) ([0-9a-f]+) ([0-9a-f]+)$`)

// gdbFrames returns "instruction stack-pointer" of each real frame: gdb shows inlined functions
// and tail calls as frames with the stack pointer of the frame behind them.
func gdbFrames(text string) (frames []string) {
	all := gdbFrame.FindAllStringSubmatch(text, -1)
	for i, f := range all {
		if i+1 < len(all) && all[i+1][1] == f[1] && all[i+1][3] == f[3] {
			continue
		}
		frames = append(frames, f[2]+" "+f[3])
	}
	return frames
}

// readCore makes a dump of a core of x86-64 Linux.
func readCore(t *testing.T, name string) *dump.Dump {
	t.Helper()
	f, err := elf.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	d := &dump.Dump{System: dump.System{OS: dump.Linux, Arch: dump.X86_64, Version: "6.1.0"}}
	for _, p := range f.Progs {
		b := make([]byte, p.Filesz)
		_, err := p.ReadAt(b, 0)
		require.NoError(t, err)
		switch {
		case p.Type == elf.PT_NOTE:
			readNotes(d, b)
		case p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Filesz > 0:
			d.Memory = append(d.Memory, dump.Region{Start: p.Vaddr, Data: b})
		}
	}
	// Only what is around the stack pointers, as a minidump has it.
	all := d.Memory
	d.Memory = nil
	for i := range d.Threads {
		sp := d.Threads[i].Registers["rsp"]
		for _, r := range all {
			if sp >= r.Start && sp < r.Start+uint64(len(r.Data)) {
				d.Threads[i].StackStart, d.Threads[i].StackEnd = sp, r.Start+uint64(len(r.Data))
				d.Memory = append(d.Memory, dump.Region{Start: sp, Data: r.Data[sp-r.Start:]})
			}
		}
	}
	return d
}

// readNotes reads the registers of the threads and the mapped files.
func readNotes(d *dump.Dump, b []byte) {
	align := func(n uint32) int { return int(n+3) &^ 3 }
	for len(b) >= 12 {
		nameSize, size, kind := order.Uint32(b), order.Uint32(b[4:]), order.Uint32(b[8:])
		content := b[12+align(nameSize):][:size]
		b = b[12+align(nameSize)+align(size):]
		switch kind {
		case 1: // NT_PRSTATUS
			t := dump.Thread{ID: uint64(order.Uint32(content[32:])), Registers: map[string]uint64{}}
			for i, name := range strings.Fields("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig rip cs eflags rsp") {
				t.Registers[name] = order.Uint64(content[112+8*i:])
			}
			d.Threads = append(d.Threads, t)
		case 0x46494c45: // NT_FILE
			count := order.Uint64(content)
			names := bytes.Split(content[16+24*count:], []byte{0})
			for i := range count {
				start, end := order.Uint64(content[16+24*i:]), order.Uint64(content[24+24*i:])
				addFile(d, start, end, string(names[i]))
			}
		}
	}
}

func addFile(d *dump.Dump, start, end uint64, name string) {
	for i := range d.Modules {
		if m := &d.Modules[i]; m.CodeFile == name {
			m.Start, m.Size = min(m.Start, start), max(m.Start+m.Size, end)-min(m.Start, start)
			return
		}
	}
	d.Modules = append(d.Modules, dump.Module{Start: start, Size: end - start, CodeFile: name})
}
