package fingerprint

import (
	"slices"
	"strconv"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// maxModules bounds the loaded modules that are read. A desktop process has
// some hundreds.
const maxModules = 4096

// moduleRange is a loaded module by its addresses.
type moduleRange struct {
	start, size uint64
	file        string
}

// modules finds modules by address. The report's list is parsed at the first
// look-up.
type modules struct {
	list   []report.Module
	ranges []moduleRange // by start
	parsed bool
}

// pageOffset are the bits of an address that stay when a module moves: modules
// are loaded at the start of a page.
const pageOffset = 1<<12 - 1

// minAbsolute is the least address that cannot be an offset in a module: larger
// than any module, smaller than any address at which systems load modules that
// move.
const minAbsolute = 1 << 28

// addressText returns the text of a frame without a function name, and the rule
// that wrote it: the module and the offset in it, which are the same in every
// run of a build; else the library, or nothing, and the address, of which only
// the part within its page counts when it is absolute. It returns "" only when
// the frame has no address either, and never a common word: unrelated crashes
// would share it.
func (m *modules) addressText(f *report.Frame) (string, rule.Rule) {
	text := scan.OneLine(f.Address, 64)
	if text == "" {
		return "", 0
	}
	library, applied := filename.Library(f.Library), rule.LibraryAddress
	if address, ok := scan.Address(text); ok {
		if module := m.find(address); module != nil {
			name := filename.Library(module.file)
			if name == "" {
				name = library
			}
			return name + "+0x" + strconv.FormatUint(address-module.start, 16), rule.ModuleOffset
		}
		text = "0x" + strconv.FormatUint(address, 16)
		if address >= minAbsolute {
			text, applied = "page+0x"+strconv.FormatUint(address&pageOffset, 16), rule.AbsoluteAddress
		}
	}
	if library == "" {
		return text, applied
	}
	return library + " " + text, applied
}

// find returns the module that contains an address, or nil: the last one that
// starts at or below it, if its size, where known, reaches so far.
func (m *modules) find(address uint64) *moduleRange {
	if !m.parsed {
		m.parse()
	}
	i, found := slices.BinarySearchFunc(m.ranges, address, func(s moduleRange, a uint64) int {
		switch {
		case s.start < a:
			return -1
		case s.start > a:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 || m.ranges[i].size != 0 && address-m.ranges[i].start >= m.ranges[i].size {
		return nil
	}
	return &m.ranges[i]
}

func (m *modules) parse() {
	m.parsed = true
	list := m.list[:min(len(m.list), maxModules)]
	m.ranges = make([]moduleRange, 0, len(list))
	for i := range list {
		start, ok := scan.Address(list[i].Start)
		if !ok {
			continue
		}
		size, _ := scan.Address(list[i].Size)
		file := list[i].CodeFile
		if file == "" {
			file = list[i].DebugFile
		}
		m.ranges = append(m.ranges, moduleRange{start: start, size: size, file: file})
	}
	slices.SortStableFunc(m.ranges, func(a, b moduleRange) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
}
