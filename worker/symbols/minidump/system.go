package minidump

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// Values of processor_architecture.
const (
	archX86      = 0
	archARM      = 5
	archAMD64    = 9
	archWoW64    = 10
	archARM64    = 12
	archOldARM64 = 0x8003 // Breakpad's, before Windows had one
	archUnknown  = 0xffff
)

// architectures names the architectures. Those behind the first line are not walked.
var architectures = map[uint16]string{
	archX86: dump.X86, archARM: dump.ARM, archAMD64: dump.X86_64, archWoW64: dump.X86, archARM64: dump.ARM64, archOldARM64: dump.ARM64,
	1: "mips", 2: "alpha", 3: "ppc", 4: "shx", 6: "ia64", 7: "alpha64", 8: "msil",
	0x8001: "sparc", 0x8002: "ppc64", 0x8004: "mips64", 0x8005: "riscv", 0x8006: "riscv64",
}

// platforms names the systems.
var platforms = map[uint32]string{
	0: dump.Windows, 1: dump.Windows, 2: dump.Windows, 3: dump.Windows,
	0x8000: "Unix", 0x8101: dump.MacOS, 0x8102: dump.IOS, 0x8201: dump.Linux, 0x8202: "Solaris",
	0x8203: dump.Android, 0x8204: "PS3", 0x8205: "NaCl", 0x8206: "Fuchsia",
}

func (x *reader) systemInfo() {
	x.arch, x.platform = archUnknown, 0xffffffff
	b, ok := x.stream(streamSystemInfo, 32, 56)
	if !ok {
		x.warn("the minidump has no SystemInfo: the system is unknown")
		return
	}
	s := &x.d.System
	x.arch, x.platform = x.order.Uint16(b), x.order.Uint32(b[20:])
	s.Arch, s.OS = architectures[x.arch], platforms[x.platform]
	if s.Arch == "" {
		s.Arch = fmt.Sprintf("unknown 0x%x", x.arch)
	}
	if s.OS == "" {
		s.OS = fmt.Sprintf("unknown 0x%x", x.platform)
	}
	s.CPUs = int(b[6])
	major, minor, build := x.order.Uint32(b[8:]), x.order.Uint32(b[12:]), x.order.Uint32(b[16:])
	if major|minor|build != 0 {
		s.Version = fmt.Sprintf("%d.%d.%d", major, minor, build)
	}
	s.Build = x.text16(uint64(x.order.Uint32(b[24:])), "version of the system")
	x.cpu(b)
	if s.Arch != "" && !walked(s.Arch) {
		x.warn("stacks of %s are not walked", s.Arch)
	}
}

func walked(arch string) bool {
	switch arch {
	case dump.X86, dump.X86_64, dump.ARM, dump.ARM64:
		return true
	}
	return false
}

// cpu describes the processor: by its vendor and its level and revision.
func (x *reader) cpu(b []byte) {
	s, level, revision := &x.d.System, x.order.Uint16(b[2:]), x.order.Uint16(b[4:])
	switch s.Arch {
	case dump.X86, dump.X86_64:
		s.CPUInfo = fmt.Sprintf("family %d model %d stepping %d", level, revision>>8, revision&0xff)
		if len(b) >= 44 && s.Arch == dump.X86 {
			x.d.Set("cpu.vendor", clean(b[32:44]))
		}
		x.d.Set("cpu.family", strconv.Itoa(int(level)))
		x.d.Set("cpu.model", strconv.Itoa(int(revision>>8)))
		x.d.Set("cpu.stepping", strconv.Itoa(int(revision&0xff)))
	case dump.ARM, dump.ARM64:
		if len(b) >= 40 && s.Arch == dump.ARM {
			s.CPUInfo = fmt.Sprintf("ARMv%d cpuid 0x%x hwcaps 0x%x", level, x.order.Uint32(b[32:]), x.order.Uint32(b[36:]))
			break
		}
		s.CPUInfo = fmt.Sprintf("level %d revision 0x%x", level, revision)
	}
}

// Flags of MiscInfo: which members are valid.
const (
	miscProcessID   = 1 << 0
	miscTimes       = 1 << 1
	miscPower       = 1 << 2
	miscBuildString = 1 << 8
)

// miscInfo reads versions 1 to 5, which differ in how much there is.
func (x *reader) miscInfo() {
	b, ok := x.stream(streamMiscInfo, 12, 2<<10)
	if !ok {
		return
	}
	if n := uint64(x.order.Uint32(b)); n >= 12 && n < uint64(len(b)) {
		b = b[:n]
	}
	flags := x.order.Uint32(b[4:])
	if flags&miscProcessID != 0 {
		x.d.Process.ID = int64(x.order.Uint32(b[8:]))
	}
	if flags&miscTimes != 0 && len(b) >= 24 {
		x.d.Process.Started = int64(x.order.Uint32(b[12:]))
		x.d.Set("process.user_time", strconv.FormatUint(uint64(x.order.Uint32(b[16:])), 10))
		x.d.Set("process.system_time", strconv.FormatUint(uint64(x.order.Uint32(b[20:])), 10))
	}
	if flags&miscPower != 0 && len(b) >= 44 && x.order.Uint32(b[24:]) != 0 {
		x.d.Set("cpu.frequency", strconv.FormatUint(uint64(x.order.Uint32(b[24:])), 10))
	}
	// Behind the time zone (4 + 172 bytes) stand two texts of fixed size.
	const buildString = 44 + 12 + 4 + 172
	if flags&miscBuildString != 0 && len(b) >= buildString+520 {
		x.d.Set("system.build", x.utf16(b[buildString:buildString+520]))
	}
}

// breakpadInfo says which thread asked for the dump, and which wrote it.
func (x *reader) breakpadInfo() {
	b, ok := x.stream(streamBreakpadInfo, 12, 12)
	if !ok {
		return
	}
	valid := x.order.Uint32(b)
	if valid&1 != 0 {
		x.writer, x.hasWriter = uint64(x.order.Uint32(b[4:])), true
	}
	if valid&2 != 0 {
		x.crashed, x.hasCrashed = uint64(x.order.Uint32(b[8:])), true
	}
}

// assertion reads what failed in an assertion, or in a check of the C runtime.
func (x *reader) assertion() {
	b, ok := x.stream(streamAssertion, 776, 776)
	if !ok {
		return
	}
	expression, function, file := x.utf16(b[:256]), x.utf16(b[256:512]), x.utf16(b[512:768])
	kind := map[uint32]string{1: "invalid parameter", 2: "pure virtual call"}[x.order.Uint32(b[772:])]
	x.d.Set("assertion.expression", expression)
	x.d.Set("assertion.function", function)
	x.d.Set("assertion.file", file)
	x.d.Set("assertion.type", kind)
	if line := x.order.Uint32(b[768:]); line != 0 {
		x.d.Set("assertion.line", strconv.FormatUint(uint64(line), 10))
	}
	if kind == "" {
		kind = "assertion failed"
	}
	if expression+function != "" && x.d.Reason != nil {
		x.d.Reason.Message = strings.TrimRight(kind+": "+expression, ": ")
	}
}

func (x *reader) comments() {
	if b, ok := x.stream(streamCommentA, 1, maxText); ok {
		x.annotate("Comment", clean(b))
	}
	if b, ok := x.stream(streamCommentW, 2, maxText); ok {
		x.annotate("Comment (wide)", x.utf16(b))
	}
}

// annotate keeps a text for reading, up to maxAnnotation bytes.
func (x *file) annotate(name, text string) {
	if len(text) > maxAnnotation {
		text = strings.ToValidUTF8(text[:maxAnnotation], "")
	}
	if text != "" {
		x.d.Annotations[name] = text
	}
}
