package symbols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/dwarf"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// copies is .debug_info as often as wanted, one after another.
type copies struct {
	of   io.ReaderAt
	size int64
}

func (c copies) ReadAt(p []byte, offset int64) (int, error) {
	n := 0
	for n < len(p) {
		at := (offset + int64(n)) % c.size
		k, err := c.of.ReadAt(p[n:min(int64(len(p)), int64(n)+c.size-at)], at)
		n += k
		if k == 0 && err != nil {
			return n, err
		}
	}
	return n, nil
}

// repeated are the sections of a program with .debug_info several times.
type repeated struct {
	*binary.File
	times int64
	total int64
}

func (r *repeated) Section(name string) (io.ReaderAt, int64, error) {
	from, size, err := r.File.Section(name)
	r.total += size * r.times
	if name != ".debug_info" || err != nil || size == 0 {
		return from, size, err
	}
	return copies{from, size}, size * r.times, nil
}

// moved moves the functions of each copy behind those of the former, and names them apart.
type moved struct {
	native.Sink
	seen, each int64
	size       uint64
	ranges     []native.Range
}

func (m *moved) Function(f *native.Function) error {
	round := m.seen / m.each
	m.seen++
	if round == 0 {
		return m.Sink.Function(f)
	}
	by := uint64(round) * m.size
	f.Start, f.End = f.Start+by, f.End+by
	if f.Name != "" {
		f.Name += "_" + strconv.FormatInt(round, 10)
	}
	for i := range f.Lines {
		f.Lines[i].Address += by
	}
	m.ranges = m.ranges[:0]
	for i := range f.Inlines {
		from := len(m.ranges)
		for _, r := range f.Inlines[i].Ranges {
			m.ranges = append(m.ranges, native.Range{Start: r.Start + by, End: r.End + by})
		}
		f.Inlines[i].Ranges = m.ranges[from:len(m.ranges):len(m.ranges)]
		f.Inlines[i].Name += "_" + strconv.FormatInt(round, 10)
	}
	return m.Sink.Function(f)
}

// counted counts functions.
type counted struct {
	native.Sink
	functions int64
	end       uint64
}

func (c *counted) Function(f *native.Function) error {
	c.functions++
	c.end = max(c.end, f.End)
	return nil
}

// indexNative writes the index of a program; with a size, of as many copies of its debug
// information as have that size.
func indexNative(program, index string, size int64) error {
	in, err := os.Open(program)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	file, err := binary.Open(in, info.Size())
	if err != nil {
		return err
	}
	defer file.Close()
	b := native.NewBuilder(filepath.Dir(index))
	defer b.Close()
	var sink native.Sink = b
	sections := &repeated{File: file, times: 1}
	if size > 0 {
		count := &counted{Sink: b}
		if _, err := dwarf.Read(sections, count, dwarf.Options{Base: file.Base}); err != nil {
			return err
		}
		sections = &repeated{File: file, times: size/sections.total + 1}
		sink = &moved{Sink: b, each: count.functions, size: count.end}
	}
	if _, err := file.Symbols(b); err != nil {
		return err
	}
	start := time.Now()
	if _, err := dwarf.Read(sections, sink, dwarf.Options{Base: file.Base}); err != nil {
		return err
	}
	out, err := os.Create(index)
	if err != nil {
		return err
	}
	defer out.Close()
	sum, err := b.Finish(out)
	if err != nil {
		return err
	}
	taken := time.Since(start)
	written, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("index of %.0f MB of debug information, %d functions, %d inlined", float64(sections.total)/1e6,
		sum.Functions, sum.Inlines),
		fmt.Sprintf("%s, %.0f MB/s, %.0f MB", measure.Round(taken), float64(sections.total)/1e6/taken.Seconds(), float64(written)/1e6), "", true)
	return nil
}

// measureNativeMemory runs this program to index and to serve.
func measureNativeMemory(ctx context.Context, dir, program string) error {
	index := filepath.Join(dir, "large.index")
	for _, m := range []struct {
		limit string
		args  []string
	}{
		{nativeGoMemLimit, []string{"symbols-native", program, index}},
		{"off", []string{"symbols-native", "--serve", program, index}},
	} {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		run := exec.CommandContext(ctx, self, m.args...)
		run.Env = append(os.Environ(), "GOMEMLIMIT="+m.limit)
		run.Stdout, run.Stderr = os.Stdout, os.Stderr
		if err := run.Run(); err != nil {
			return err
		}
	}
	return nil
}

// NativeCommand is what measureNative runs in a process of its own.
type NativeCommand struct {
	Serve   bool   `help:"Look up in the index, instead of writing it."`
	Program string `arg:""`
	Index   string `arg:""`
}

// Run indexes copies of the program's debug information, or looks up in the index, and
// prints the memory that this took.
func (c *NativeCommand) Run() error {
	if c.Serve {
		if err := serveNative(c.Index); err != nil {
			return err
		}
		return memoryRow("memory of lookups in that index, MiB", nativeServeMiB)
	}
	if err := indexNative(c.Program, c.Index, nativeDWARF); err != nil {
		return err
	}
	return memoryRow("memory to index 1 GB of debug information, MiB", nativeIndexMiB)
}

func serveNative(index string) error {
	x, in, err := openNative(index)
	if in != nil {
		defer in.Close()
	}
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range nativeLookups {
		if _, err := x.Lookup(r.Uint64N(1 << 28)); err != nil {
			return err
		}
	}
	return nil
}

// memoryRow prints the largest memory that this process had in use.
func memoryRow(what string, most int64) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, after, ok := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if !ok || len(fields) == 0 {
		return errors.New("the system does not say how much memory was used")
	}
	peak, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return err
	}
	measure.Row(what, fmt.Sprint(peak>>10), fmt.Sprint(most), peak>>10 <= most)
	return nil
}
