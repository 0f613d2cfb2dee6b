// Package minidump reads minidumps: the format of Windows' MiniDumpWriteDump, and of
// Breakpad and Crashpad on all systems. The result is a dump.Dump.
//
// The format is public: https://learn.microsoft.com/windows/win32/api/minidumpapiset/
// for the structures, Breakpad's minidump_format.h and Crashpad's
// minidump_extensions.h for what these add. A file is a header, a directory of
// streams, and what these point to by offsets from the beginning. Both byte orders are
// read.
//
// Files are hostile. Nothing is read before its place and size were checked against
// the file and against a bound; a count is never believed further than the bytes that
// are there. A file that is no minidump, or whose header or directory cannot be read,
// or that has neither a thread nor an exception, is a *symbol.InvalidError. Everything
// else that is wrong (a stream of 4 GB, a name without an end, a stream twice) becomes
// a warning, and the rest is read.
package minidump

import (
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// Bounds of what is read. Real dumps stay far below.
const (
	maxStreams     = 1 << 10   // known kinds are about forty
	maxThreads     = 4 << 10   // as many as a report is useful with
	maxModules     = 8 << 10   // a browser loads some hundred
	maxUnloaded    = 1 << 10   // Windows keeps the last 64
	maxRanges      = 256 << 10 // a full dump has some ten thousand
	maxAnnotations = 4 << 10   // clients set some hundred
	maxWarnings    = 100
	// maxList bounds the bytes of one list, such as that of the memory ranges.
	maxList = 16 << 20
	// maxString bounds one text, in bytes as stored. Paths are the longest ones.
	maxString = 32 << 10
	// maxText bounds a stream of text, /proc/PID/maps for one.
	maxText = 2 << 20
	// maxAnnotation bounds one text that is kept for reading, a command line for one.
	maxAnnotation = 64 << 10
	// maxTexts bounds all texts of a file together: offsets may all point to the same one.
	maxTexts = 4 << 20
)

// The kinds of streams that are read.
const (
	streamThreadList   = 3
	streamModuleList   = 4
	streamMemoryList   = 5
	streamException    = 6
	streamSystemInfo   = 7
	streamThreadExList = 8
	streamMemory64List = 9
	streamCommentA     = 10
	streamCommentW     = 11
	streamUnloaded     = 14
	streamMiscInfo     = 15
	streamMemoryInfo   = 16
	streamThreadInfo   = 17
	streamThreadNames  = 24

	streamBreakpadInfo    = 0x47670001
	streamAssertion       = 0x47670002
	streamLinuxCPUInfo    = 0x47670003
	streamLinuxStatus     = 0x47670004
	streamLinuxLSBRelease = 0x47670005
	streamLinuxCmdLine    = 0x47670006
	streamLinuxEnviron    = 0x47670007
	streamLinuxMaps       = 0x47670009

	streamCrashpadInfo = 0x43500001

	streamMacCrashInfo = 0x4d7a0001
	streamMacBootArgs  = 0x4d7a0002
)

// reader reads one file: its streams one after another.
type reader struct {
	*file
	stacks     memoryReader
	arch       uint16
	platform   uint32
	main       string // the first module, which is the program
	crashed    uint64 // id of the thread with the exception, or that asked for the dump
	hasCrashed bool
	writer     uint64 // id of the thread that wrote the dump
	hasWriter  bool
	context    map[string]uint64 // registers at the exception
}

// Read reads a minidump of size bytes. An error is a *symbol.InvalidError, or comes
// from r.
func Read(r io.ReaderAt, size int64) (*dump.Dump, error) {
	f := &file{in: r, size: uint64(max(size, 0)), dir: map[uint32]location{},
		d: &dump.Dump{Format: "minidump", Main: -1, Annotations: map[string]any{}}}
	x := &reader{file: f, stacks: memoryReader{file: f}}
	if err := x.header(); err != nil {
		return nil, err
	}
	for _, step := range []func(){
		x.systemInfo, x.miscInfo, x.moduleList, x.unloadedList, x.breakpadInfo, x.exception,
		x.threadList, x.threadNames, x.threadInfo, x.assertion, x.comments, (&annotationReader{file: f, left: maxAnnotations}).read,
		x.linuxTexts, x.macCrashInfo, x.finishThreads, x.stacks.executable, x.stacks.read,
	} {
		if step(); x.err != nil {
			return nil, fmt.Errorf("read minidump: %w", x.err)
		}
	}
	if len(x.d.Threads) == 0 {
		return nil, symbol.Invalid(symbol.Malformed, "the minidump has neither threads nor an exception with registers%s", x.reasons())
	}
	x.finish()
	return x.d, nil
}

// reasons appends the first warnings to an error.
func (x *reader) reasons() string {
	if len(x.d.Warnings) == 0 {
		return ""
	}
	return " (" + x.d.Warnings[0] + ")"
}

// streamName names a kind of stream for people.
func streamName(kind uint32) string {
	switch kind {
	case streamThreadList:
		return "ThreadList"
	case streamModuleList:
		return "ModuleList"
	case streamMemoryList:
		return "MemoryList"
	case streamException:
		return "Exception"
	case streamSystemInfo:
		return "SystemInfo"
	case streamThreadExList:
		return "ThreadExList"
	case streamMemory64List:
		return "Memory64List"
	case streamUnloaded:
		return "UnloadedModuleList"
	case streamMiscInfo:
		return "MiscInfo"
	case streamMemoryInfo:
		return "MemoryInfoList"
	case streamThreadInfo:
		return "ThreadInfoList"
	case streamThreadNames:
		return "ThreadNames"
	case streamBreakpadInfo:
		return "BreakpadInfo"
	case streamAssertion:
		return "AssertionInfo"
	case streamCrashpadInfo:
		return "CrashpadInfo"
	case streamLinuxMaps:
		return "LinuxMaps"
	}
	return fmt.Sprintf("0x%x", kind)
}
