// Package plcrash reads the crash reports of PLCrashReporter, which apps of iOS and
// macOS send: "plcrash", a version, and a message of protocol buffers. The result is a
// dump.Dump whose threads have their frames already, as the client walked them.
//
// The format is public: PLCrashReport.proto of
// https://github.com/microsoft/plcrashreporter. Only the wire format of protocol buffers
// is used; fields that are not known are skipped.
//
// Files are hostile. Each list has a bound, what is over it is a warning. A file that
// is no such report, or is cut off, or has no thread, is a *symbol.InvalidError.
//
// The package is a leaf.
package plcrash

import (
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/reason"
)

// Bounds of what is read.
const (
	maxSize      = 4 << 20 // a report has some hundred kilobytes
	maxThreads   = 4 << 10
	maxFrames    = 1 << 10 // of a thread; the client itself stops at 512
	maxTotal     = 20_000  // of all threads
	maxImages    = 8 << 10
	maxRegisters = 128
	maxText      = 32 << 10
	maxWarnings  = 100
)

// The format's beginning, and the version after it.
const (
	magic   = "plcrash"
	version = 1
)

// reader reads one report.
type reader struct {
	d         *dump.Dump
	frames    int
	crashed   int // index of the thread that crashed
	exception *exception
	signal    signal
	requested bool
	host      string // the architecture of the machine
	image     string // that of the first image, which is the program
}

type exception struct {
	name, reason string
	frames       []dump.Frame
}

type signal struct {
	name, code string
	address    uint64
	mach       uint64
	codes      []uint64
	isMach     bool
}

// Read reads a report of size bytes. An error is a *symbol.InvalidError, or comes from r.
func Read(r io.ReaderAt, size int64) (*dump.Dump, error) {
	if size > maxSize {
		return nil, symbol.Invalid(symbol.TooLarge, "the crash report has %d bytes, more than %d", size, maxSize)
	}
	b := make([]byte, max(size, 0))
	if n, err := r.ReadAt(b, 0); n < len(b) {
		return nil, fmt.Errorf("read crash report: %w", err)
	}
	if len(b) < len(magic)+1 || string(b[:len(magic)]) != magic {
		return nil, symbol.Invalid(symbol.Malformed, "not a report of PLCrashReporter: it does not begin with %q", magic)
	}
	if v := b[len(magic)]; v != version {
		return nil, symbol.Invalid(symbol.Unsupported, "report of PLCrashReporter in version %d; %d is read", v, version)
	}
	x := &reader{crashed: -1, d: &dump.Dump{Format: "plcrash", Main: -1, Annotations: map[string]any{}}}
	if err := x.report(b[len(magic)+1:]); err != nil {
		return nil, err
	}
	if len(x.d.Threads) == 0 && (x.exception == nil || len(x.exception.frames) == 0) {
		return nil, symbol.Invalid(symbol.Malformed, "the report of PLCrashReporter has no threads")
	}
	x.finish()
	return x.d, nil
}

// field is a field of a message: a number or bytes.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

func (f field) text() string {
	b := f.bytes
	if len(b) > maxText {
		b = b[:maxText]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(b), "\x00", ""), "\uFFFD")
}

// each calls a function with each field of a message. Messages are not nested by
// themselves in this format, so that there is no recursion without end.
func each(b []byte, what string, do func(field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return damaged(what, n)
		}
		b = b[n:]
		f := field{number: int(number)}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return damaged(what, n)
		}
		b = b[n:]
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}

func damaged(what string, n int) error {
	return symbol.Invalid(symbol.Truncated, "the %s of the report is cut off or damaged: %v", what, protowire.ParseError(n))
}

func (x *reader) warn(format string, args ...any) {
	if len(x.d.Warnings) < maxWarnings {
		x.d.Warnings = append(x.d.Warnings, fmt.Sprintf(format, args...))
	}
}

func (x *reader) report(b []byte) error {
	threads, images := 0, 0
	err := each(b, "message", func(f field) error {
		switch f.number {
		case 1:
			return x.system(f.bytes)
		case 2:
			return x.application(f.bytes)
		case 3:
			if threads++; threads > maxThreads {
				return nil
			}
			return x.thread(f.bytes)
		case 4:
			if images++; images > maxImages {
				return nil
			}
			return x.binaryImage(f.bytes)
		case 5:
			return x.exceptionInfo(f.bytes)
		case 6:
			return x.signalInfo(f.bytes)
		case 7:
			return x.process(f.bytes)
		case 8:
			return x.machine(f.bytes)
		case 9:
			return x.info(f.bytes)
		case 10:
			if text := f.text(); text != "" {
				x.d.Annotations["Custom Data"] = text
			}
		}
		return nil
	})
	if threads > maxThreads {
		x.warn("the report has %d threads; %d are read", threads, maxThreads)
	}
	if images > maxImages {
		x.warn("the report has %d images; %d are read", images, maxImages)
	}
	return err
}

// finish fills in what follows from several parts of the report.
func (x *reader) finish() {
	d := x.d
	if d.System.Arch = x.image; d.System.Arch == "" {
		d.System.Arch = x.host
	}
	d.SortModules()
	d.Main = max(x.crashed, 0)
	switch {
	case x.requested:
		d.Set("plcrash.user_requested", "true")
	case x.exception != nil:
		d.Reason = &dump.Reason{Name: x.exception.name, Message: x.exception.reason}
		d.Set("crash.signal", strings.Trim(x.signal.name+" / "+x.signal.code, " /"))
	default:
		d.Reason = x.signal.reason(d.System)
	}
	// The frames of the exception say where it was thrown; the thread stands in abort.
	if x.exception != nil && len(x.exception.frames) > 0 {
		last := uint64(0)
		for i := range d.Threads {
			last = max(last, d.Threads[i].ID+1)
		}
		d.Main = len(d.Threads)
		d.Threads = append(d.Threads, dump.Thread{ID: last, Name: "Last Exception Backtrace", Frames: x.exception.frames})
	}
	for i := range d.Threads {
		frames := d.Threads[i].Frames
		for n := range frames {
			lookup := frames[n].Address
			if n > 0 {
				lookup--
			}
			frames[n].Module = d.ModuleAt(lookup)
		}
		if len(frames) > 0 {
			frames[0].Registers = d.Threads[i].Registers
		}
	}
}

// reason says why: the Mach exception where it is known, else the signal.
func (s signal) reason(system dump.System) *dump.Reason {
	if !s.isMach || len(s.codes) == 0 {
		return &dump.Reason{Name: strings.Trim(s.name+" / "+s.code, " /"), Address: s.address, HasAddress: s.address != 0 ||
			s.name == "SIGSEGV" || s.name == "SIGBUS"}
	}
	os := system.OS
	if os != dump.MacOS {
		os = dump.IOS
	}
	e := reason.Exception{OS: os, Arch: system.Arch, Code: uint32(s.mach), Flags: uint32(s.codes[0]), Address: s.address,
		Parameters: append([]uint64{s.mach}, s.codes...)}
	const resource, guard = 11, 12
	if s.mach == resource || s.mach == guard {
		e.Flags = uint32(s.codes[0] >> 32)
	}
	const badAccess = 1
	if s.mach == badAccess && len(s.codes) > 1 {
		e.Address = s.codes[1]
	}
	return &dump.Reason{Name: e.Name(), Address: e.Address, HasAddress: true}
}
