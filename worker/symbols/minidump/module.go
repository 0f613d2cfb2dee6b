package minidump

import (
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

const moduleSize = 108

func (x *reader) moduleList() {
	b, n := x.list(streamModuleList, moduleSize, maxModules)
	for i := range n {
		if x.err != nil {
			return
		}
		m, ok := x.module(b[i*moduleSize:][:moduleSize])
		if i == 0 {
			x.main = m.CodeFile
			x.d.Process.Version = m.Version
		}
		if ok {
			x.d.Modules = append(x.d.Modules, m)
		}
	}
	x.d.SortModules()
}

// module reads one module; false for one of no size.
func (x *reader) module(b []byte) (dump.Module, bool) {
	m := dump.Module{Start: x.order.Uint64(b), Size: uint64(x.order.Uint32(b[8:]))}
	m.CodeFile = x.text16(uint64(x.order.Uint32(b[20:])), "name of a module")
	if x.order.Uint32(b[24:]) == 0xfeef04bd {
		hi, lo := x.order.Uint32(b[32:]), x.order.Uint32(b[36:])
		if hi|lo != 0 {
			m.Version = fmt.Sprintf("%d.%d.%d.%d", hi>>16, hi&0xffff, lo>>16, lo&0xffff)
		}
	}
	if x.d.System.OS == dump.Windows {
		m.CodeID = codeID(x.order.Uint32(b[16:]), uint32(m.Size))
	}
	x.codeView(&m, x.locate(b[76:]))
	if m.Size == 0 || m.Start+m.Size < m.Start {
		x.warn("module %q at 0x%x has an impossible size of %d bytes", base(m.CodeFile), m.Start, m.Size)
		return m, false
	}
	return m, true
}

// codeID names a PE file by its time stamp and image size; "" for zeros.
func codeID(stamp, size uint32) string {
	if stamp == 0 {
		return ""
	}
	return fmt.Sprintf("%08x%x", stamp, size)
}

// codeView reads the record that names the debug information: RSDS, NB10, or the ELF
// build id of Breakpad and Crashpad. UUIDs of Mach-O files are in RSDS records.
func (x *reader) codeView(m *dump.Module, l location) {
	if l.size == 0 {
		return
	}
	l.size = min(l.size, maxString)
	if x.texts += int(l.size); x.texts > maxTexts {
		x.warn("the texts of the file have more than %d bytes together", maxTexts)
		return
	}
	b, ok := x.bytes(l)
	if !ok || len(b) < 4 {
		x.warn("the debug record of module %q lies outside of the file", base(m.CodeFile))
		return
	}
	switch signature := x.order.Uint32(b); {
	case signature == 0x53445352 && len(b) >= 24: // RSDS
		m.DebugID = x.debugID(b[4:20], x.order.Uint32(b[20:]))
		m.DebugFile = clean(b[24:])
		if m.CodeID == "" && m.DebugID != "" && x.d.System.OS != dump.Windows {
			m.CodeID = x.imageID(b[4:20])
		}
	case signature == 0x3031424e && len(b) >= 16: // NB10
		m.DebugID = fmt.Sprintf("%08X%x", x.order.Uint32(b[8:]), x.order.Uint32(b[12:]))
		m.DebugFile = clean(b[16:])
	case signature == 0x4270454c && len(b) > 4: // BpEL
		id := b[4:]
		m.CodeID = normal(symbol.CodeID, hex.EncodeToString(id))
		m.DebugID = x.debugID(append(append([]byte(nil), id...), make([]byte, 16)...)[:16], 0)
		m.DebugFile = m.CodeFile
	default:
		x.warn("the debug record of module %q is of an unknown kind 0x%08x", base(m.CodeFile), signature)
	}
}

// debugID spells a GUID and an age as Breakpad does; "" for zeros.
func (x *reader) debugID(b []byte, age uint32) string {
	if zero(b) {
		return ""
	}
	text := fmt.Sprintf("%08X%04X%04X%X%x", x.order.Uint32(b), x.order.Uint16(b[4:]), x.order.Uint16(b[6:]), b[8:16], age)
	return normal(symbol.DebugID, text)
}

// imageID names a file that is not of Windows, by the UUID of its RSDS record: the one of a
// Mach-O as text has it, and the beginning of an ELF build id, whose bytes are as they are.
func (x *reader) imageID(b []byte) string {
	if x.d.System.OS != dump.MacOS && x.d.System.OS != dump.IOS {
		return ""
	}
	return normal(symbol.CodeID, x.debugID(b, 0)[:32])
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// normal spells an identifier as it is stored; "" for one that cannot be.
func normal(kind symbol.IdentifierType, value string) string {
	id, ok := symbol.Identifier{Type: kind, Value: value}.Normalize()
	if !ok {
		return ""
	}
	return id.Value
}

// base returns the last part of a path of any system.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// unloadedList reads the modules that were unloaded before the crash.
func (x *reader) unloadedList() {
	b, ok := x.stream(streamUnloaded, 12, maxList)
	if !ok {
		return
	}
	head, entry := uint64(x.order.Uint32(b)), uint64(x.order.Uint32(b[4:]))
	if entry < 24 || head < 12 || head > uint64(len(b)) {
		x.warn("stream %s has entries of %d bytes", streamName(streamUnloaded), entry)
		return
	}
	claimed := int(x.order.Uint32(b[8:]))
	b = b[head:]
	n := x.count(streamUnloaded, claimed, len(b)/int(entry), maxUnloaded)
	for i := range n {
		e := b[uint64(i)*entry:]
		m := dump.Module{Start: x.order.Uint64(e), Size: uint64(x.order.Uint32(e[8:]))}
		m.CodeID = codeID(x.order.Uint32(e[16:]), uint32(m.Size))
		m.CodeFile = x.text16(uint64(x.order.Uint32(e[20:])), "name of an unloaded module")
		x.d.Unloaded = append(x.d.Unloaded, m)
	}
}
