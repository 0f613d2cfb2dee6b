package native

import (
	"strconv"
	"strings"
)

// sectionBase is above each address in an image, relative to its base.
const sectionBase = 1 << 44

// SectionAddress returns the address at which an index has the start of one of the sections into which
// Dart compiles: its stack traces name offsets in it, which say more than addresses where the debug
// file is laid out otherwise than the program (iOS). Mach-O has the names without the underscore that
// traces have. False: it is none of them.
func SectionAddress(name string) (uint64, bool) {
	switch strings.TrimPrefix(name, "_") {
	case "kDartIsolateSnapshotInstructions":
		return sectionBase, true
	case "kDartVmSnapshotInstructions":
		return sectionBase + 1, true
	}
	return 0, false
}

// SectionStart is the name that stands at SectionAddress for a section that begins there.
func SectionStart(address uint64) string { return "section:" + strconv.FormatUint(address, 16) }

// ParseSectionStart reads what SectionStart wrote.
func ParseSectionStart(name string) (address uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, "section:")
	if !ok {
		return 0, false
	}
	address, err := strconv.ParseUint(digits, 16, 64)
	return address, err == nil
}
