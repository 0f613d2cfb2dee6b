package symbols

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage/symbol"
	elf "github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/dwarf"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/unwind"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump/minidumptest"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

const (
	// A dump of 100 KB has about that many threads and frames.
	minidumpThreads = 20
	minidumpFrames  = 40
	minidumpTarget  = 20 * time.Millisecond
	minidumpRuns    = 100
	minidumpModules = 40 // one with code, others as a program loads them
	minidumpBase    = 0x7f0000000000
)

// minidumpSymbols serves the module with code.
type minidumpSymbols struct{ index *native.Index }

func (s minidumpSymbols) Unwind(module int, address uint64) (native.Unwind, bool, error) {
	if module != 0 {
		return native.Unwind{}, false, nil
	}
	return s.index.Unwind(address)
}

func (s minidumpSymbols) Covers(module int, address uint64) (covered, known bool) {
	if module != 0 {
		return false, false
	}
	frames, err := s.index.Lookup(address)
	return len(frames) > 0, err == nil
}

// ruleSink notes where the stack pointer alone finds the caller.
type ruleSink struct {
	native.Sink
	places []RulePlace
}

// RulePlace is an address with the size of the frame there.
type RulePlace struct{ Address, Frame uint64 }

func (s *ruleSink) Unwind(u native.Unwind) error {
	if text, ok := strings.CutPrefix(u.Rules, ".cfa: $rsp "); ok && u.End-u.Start > 8 {
		size, _, _ := strings.Cut(text, " ")
		if n, err := strconv.ParseUint(size, 10, 12); err == nil && n >= 16 && n <= 512 {
			s.places = append(s.places, RulePlace{u.Start + 4, n})
		}
	}
	return s.Sink.Unwind(u)
}

// measureMinidump measures a dump of 100 KB from its bytes to the report, with the functions and
// lines of all frames, where the indexes are warm: the dump of a library of 2,000 functions
// with inlined ones, all of whose stacks are found by call frame information.
func measureMinidump(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "minidump")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	index, places, err := minidumpIndex(ctx, folder)
	if errors.Is(err, exec.ErrNotFound) {
		measure.Row("minidump", "not measured: gcc is not installed", "", true)
		return nil
	}
	if err != nil {
		return err
	}
	file := WriteMinidump(places)
	var times []time.Duration
	frames, named := 0, 0
	before, err := process.ProcessorTime(os.Getpid())
	if err != nil {
		return err
	}
	for range minidumpRuns {
		start := time.Now()
		if frames, named, err = readMinidump(ctx, file, index); err != nil {
			return err
		}
		times = append(times, time.Since(start))
	}
	after, err := process.ProcessorTime(os.Getpid())
	if err != nil {
		return err
	}
	slices.Sort(times)
	if want := minidumpThreads * minidumpFrames; frames != want || named < want {
		return fmt.Errorf("%d frames with %d functions, not %d", frames, named, want)
	}
	median, slow := times[len(times)/2], times[len(times)*99/100]
	measure.Row(fmt.Sprintf("minidump of %d KB, %d frames with %d functions: read, walk, symbolicate, median", len(file)>>10, frames, named),
		measure.Round(median), minidumpTarget.String(), median <= minidumpTarget)
	measure.Row("the same, 99th of 100", measure.Round(slow), "", true)
	measure.Row("the same, processor time", measure.Round((after-before)/minidumpRuns), "", true)
	return nil
}

// readMinidump does what a worker does, and counts the frames and their functions.
func readMinidump(ctx context.Context, file []byte, index *native.Index) (frames, named int, err error) {
	d, err := minidump.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, 0, err
	}
	if err := walk.Walk(ctx, d, minidumpSymbols{index}); err != nil {
		return 0, 0, err
	}
	for i := range d.Threads {
		for n, f := range d.Threads[i].Frames {
			lookup := f.Address - minidumpBase
			if n > 0 {
				lookup--
			}
			found, err := index.Lookup(lookup)
			if err != nil {
				return 0, 0, err
			}
			frames++
			named += len(found)
		}
	}
	_, err = d.Report([]byte(`{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000000,"lang":"native","langVersion":"",` +
		`"agent":"minidump","agentVersion":"","threads":{"0":{}},"mainThread":"0"}`))
	return frames, named, err
}

// minidumpIndex compiles a library and indexes its debug information and its unwind tables.
func minidumpIndex(ctx context.Context, folder string) (*native.Index, []RulePlace, error) {
	var source strings.Builder
	source.WriteString("#include <string.h>\nvolatile int sink;\nstatic inline int mix(int a, int b) { sink = a; return a * 31 + b; }\n" +
		"static inline int twice(int a) { return mix(a, 1) + mix(a, 2); }\nint outside(char *, int);\n")
	for i := range 2000 {
		fmt.Fprintf(&source, "int function_%d(int a) {\n  char b[%d];\n  memset(b, a, sizeof b);\n  int r = outside(b, twice(a));\n"+
			"  sink = r;\n  return mix(r, b[a & 7]);\n}\n",
			i, 16+i%7*24)
	}
	name, library := filepath.Join(folder, "library.c"), filepath.Join(folder, "library.so")
	if err := os.WriteFile(name, []byte(source.String()), 0o600); err != nil {
		return nil, nil, err
	}
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		return nil, nil, exec.ErrNotFound
	}
	out, err := exec.CommandContext(ctx, compiler, "-g", "-O2", "-fPIC", "-shared", "-o", library, name).CombinedOutput()
	if err != nil {
		return nil, nil, fmt.Errorf("gcc: %w: %s", err, out)
	}
	return indexLibrary(library)
}

func indexLibrary(name string) (*native.Index, []RulePlace, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	file, err := elf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	builder := native.NewBuilder("")
	defer builder.Close()
	sink := &ruleSink{Sink: builder}
	if _, err := dwarf.Read(file, sink, dwarf.Options{Base: file.Base, Order: binary.LittleEndian}); err != nil {
		return nil, nil, err
	}
	if _, err := unwind.Read(file, sink); err != nil {
		return nil, nil, err
	}
	var index bytes.Buffer
	if _, err := builder.Finish(&index); err != nil {
		return nil, nil, err
	}
	opened, err := symbol.Open(bytes.NewReader(index.Bytes()), int64(index.Len()))
	if err != nil {
		return nil, nil, err
	}
	lookup, err := native.Open(opened)
	return lookup, sink.places, err
}

// WriteMinidump writes a dump whose stacks consist of frames of the library: the size of
// each comes from its unwind rule, and the address of the caller stands at its end.
func WriteMinidump(places []RulePlace) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	d := &dump.Dump{Time: 1_700_000_000, System: dump.System{OS: dump.Linux, Arch: dump.X86_64, Version: "6.1.0", CPUs: 8}}
	for i := range uint64(minidumpModules) {
		d.Modules = append(d.Modules, dump.Module{Start: minidumpBase + i<<32, Size: 1 << 24,
			CodeFile: fmt.Sprintf("/usr/lib/x86_64-linux-gnu/library%d.so.1", i),
			DebugID:  "x", CodeID: fmt.Sprintf("%040x", i+1)})
	}
	for i := range uint64(minidumpThreads) {
		at := places[random.IntN(len(places))]
		start := 0x7ffe00000000 + i<<20
		t := dump.Thread{ID: 100 + i, Name: fmt.Sprintf("worker %d", i), StackStart: start,
			Registers: map[string]uint64{"rip": minidumpBase + at.Address, "rsp": start}}
		var stack []byte
		for n := range minidumpFrames {
			next := places[random.IntN(len(places))]
			caller := minidumpBase + next.Address
			if n == minidumpFrames-1 {
				caller = 0
			}
			stack = append(stack, make([]byte, at.Frame-8)...)
			stack = binary.LittleEndian.AppendUint64(stack, caller)
			at = next
		}
		t.StackEnd = start + uint64(len(stack))
		d.Threads = append(d.Threads, t)
		d.Memory = append(d.Memory, dump.Region{Start: start, Data: stack})
	}
	return minidumptest.Write(binary.LittleEndian, d, &minidumptest.Exception{Code: 11, Flags: 1})
}
