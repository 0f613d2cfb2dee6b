package fingerprint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
)

// maxModules bounds the loaded modules that are read. A desktop process has
// some hundreds.
const maxModules = 4096

// moduleRange is a loaded module by its addresses.
type moduleRange struct {
	start, size uint64
	file        string
}

// modules finds modules by address; it reads the report's list at the first
// question.
type modules struct {
	list  []report.Module
	spans []moduleRange
	ready bool
}

// addressText returns what stands for a frame without a function name: the
// module and the offset in it, which are the same in every run of a build;
// else the library, or nothing, and the address as submitted. It returns ""
// only when the frame has no address either, and never a common word:
// unrelated crashes would meet under it.
func (m *modules) addressText(f *report.Frame) (string, Rules) {
	text := oneLine(f.Address, 64)
	if text == "" {
		return "", 0
	}
	library := libraryName(f.Library)
	if address, ok := parseAddress(text); ok {
		if s := m.find(address); s != nil {
			name := libraryName(s.file)
			if name == "" {
				name = library
			}
			return name + "+0x" + strconv.FormatUint(address-s.start, 16), rulesOf(RuleModuleOffset)
		}
		text = "0x" + strconv.FormatUint(address, 16)
	}
	if library == "" {
		return text, 0
	}
	return library + " " + text, rulesOf(RuleLibraryAddress)
}

// find returns the module that holds an address: the last one that starts at
// or below it, if its size, where known, reaches so far.
func (m *modules) find(address uint64) *moduleRange {
	if !m.ready {
		m.read()
	}
	i, found := slices.BinarySearchFunc(m.spans, address, func(s moduleRange, a uint64) int {
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
	if i < 0 || m.spans[i].size != 0 && address-m.spans[i].start >= m.spans[i].size {
		return nil
	}
	return &m.spans[i]
}

func (m *modules) read() {
	m.ready = true
	list := m.list[:min(len(m.list), maxModules)]
	m.spans = make([]moduleRange, 0, len(list))
	for i := range list {
		start, ok := parseAddress(list[i].Start)
		if !ok {
			continue
		}
		size, _ := parseAddress(list[i].Size)
		file := list[i].CodeFile
		if file == "" {
			file = list[i].DebugFile
		}
		m.spans = append(m.spans, moduleRange{start, size, file})
	}
	slices.SortStableFunc(m.spans, func(a, b moduleRange) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
}

// parseAddress reads a number of at most 64 bits: hexadecimal with 0x, or
// decimal, or, when it holds a letter, hexadecimal.
func parseAddress(s string) (uint64, bool) {
	s = strings.TrimSpace(s)
	if hex, ok := strings.CutPrefix(strings.ToLower(truncate(s, 32)), "0x"); ok {
		v, err := strconv.ParseUint(hex, 16, 64)
		return v, err == nil
	}
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, true
	}
	v, err := strconv.ParseUint(s, 16, 64)
	return v, err == nil
}

// isPlaceholder says that a function name is only a stand-in for an address.
func isPlaceholder(name string) bool {
	switch name {
	case "", "?", "??", "???", "unknown", "<unknown>", "(unknown)", "Unknown", "<UNKNOWN>", "<unknown function>", "(null)", "null",
		"<redacted>", "<name omitted>", "[unknown]", "<unresolved>", "UnknownFunction", "<stripped>", "no symbol":
		return true
	}
	if strings.IndexByte("0sFfl_", name[0]) < 0 {
		return false
	}
	if hasPrefixAny(name, "0x", "0X") {
		return len(name) <= 18 && allHex(name[2:])
	}
	for _, p := range [...]string{"sub_", "FUN_", "fun_", "loc_", "func_0x", "___lldb_unnamed_symbol"} {
		if tail, ok := strings.CutPrefix(name, p); ok {
			tail, _, _ = strings.Cut(tail, "$")
			return tail == "" || allHex(tail) && (len(tail) >= 6 || allDigits(tail))
		}
	}
	return false
}
