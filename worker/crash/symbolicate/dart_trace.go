package symbolicate

import (
	"strconv"
	"strings"
)

// dartPlace is a place in compiled Dart, as release traces have it:
//
//	#00 abs 000074207f4c41c4 virt 00000000001e41c4 _kDartIsolateSnapshotInstructions+0x1d61c4
//
// All numbers are of the call, not of the instruction behind it.
type dartPlace struct {
	section           string // "" when the trace does not say it
	offset            uint64 // in the section
	absolute, virtual uint64 // 0 for unknown
	unit              uint64 // the loading unit, 0 for the one that the address says
}

// dartUnit is a part of a program that is loaded at once: nearly all have one.
type dartUnit struct {
	number  uint64
	buildID string
	base    uint64 // where it was loaded
}

// dartHead is what the lines before the frames say of the program.
type dartHead struct {
	apple bool
	units []dartUnit // the first is the program's own
}

// maxUnits bounds the loading units of a program.
const maxUnits = 256

// dartSection begins the names of the sections of compiled Dart.
const dartSection = "_kDart"

// parseDartFrame reads what stands behind the number of a frame; false for anything else.
func parseDartFrame(text string) (p dartPlace, ok bool) {
	words := strings.Fields(text[:min(len(text), maxShort)])
	for i := 0; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch words[i] {
		case "abs":
			p.absolute, ok = hexadecimal(value)
		case "virt":
			p.virtual, ok = hexadecimal(value)
		case "unit":
			p.unit, _ = strconv.ParseUint(value, 10, 32)
		default:
			if section, offset, found := parseSection(words[i]); found {
				p.section, p.offset = section, offset
				return p, true
			}
			return p, ok && i > 0 // another name, or none that is known
		}
		i++
		if !ok {
			return p, false
		}
	}
	return p, ok
}

// parseSection reads a section and an offset in it.
func parseSection(text string) (section string, offset uint64, ok bool) {
	if !strings.HasPrefix(text, dartSection) {
		return "", 0, false
	}
	section, digits, found := strings.Cut(text, "+0x")
	if !found {
		return "", 0, false
	}
	offset, ok = hexadecimal(digits)
	return section, offset, ok
}

func hexadecimal(digits string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(digits, "0x"), 16, 64)
	return n, err == nil
}

// cutDartFrame splits a line of a trace at its frame: what stands before it, such as the mark of a
// log, the frame's number, and its place.
func cutDartFrame(line string) (before string, number int, p dartPlace, ok bool) {
	at := strings.Index(line, " abs ")
	if at < 0 || len(line) > maxShort {
		return "", 0, p, false
	}
	mark := strings.LastIndexByte(line[:at], '#')
	if mark < 0 {
		return "", 0, p, false
	}
	number, err := strconv.Atoi(strings.TrimSpace(line[mark+1 : at]))
	if err != nil || number < 0 {
		return "", 0, p, false
	}
	p, ok = parseDartFrame(line[at+1:])
	return line[:mark], number, p, ok
}

// isDartTrace reports whether a text may be a release trace of Dart.
func isDartTrace(text string) bool {
	return strings.Contains(text, " abs ") && strings.Contains(text, "#0")
}

// isDartHead reports whether a line begins the lines before the frames.
func isDartHead(line string) bool {
	return strings.Contains(line, "*** *** *** *** *** *** *** ***")
}

// read takes what a line before the frames says:
//
//	os: android arch: arm64 comp: yes sim: no
//	build_id: '4dbecf547733e72ae1688d73ebb5f062'
//	isolate_dso_base: 7de0e44000, vm_dso_base: 7de0e44000
//	loading_unit: 2, build_id: '...', dso_base: 7de1000000, instructions: 7de1080000
//
// Signal handlers write "=" in place of ": ".
func (h *dartHead) read(line string) {
	if len(line) > maxShort {
		return
	}
	system := dartValue(line, "os")
	h.apple = h.apple || system == "ios" || system == "macos"
	id := dartValue(line, "build_id")
	unit := dartValue(line, "loading_unit")
	base, hasBase := hexadecimal(dartValue(line, "isolate_dso_base"))
	if unit != "" {
		base, hasBase = hexadecimal(dartValue(line, "dso_base"))
		number, err := strconv.ParseUint(unit, 10, 32)
		if err == nil && hasBase && len(h.units) < maxUnits {
			h.units = append(h.units, dartUnit{number: number, buildID: id, base: base})
		}
		return
	}
	if id == "" && !hasBase {
		return
	}
	if len(h.units) == 0 {
		h.units = append(h.units, dartUnit{})
	}
	if id != "" && h.units[0].buildID == "" {
		h.units[0].buildID = id
	}
	if hasBase && h.units[0].base == 0 {
		h.units[0].base = base
	}
}

// dartValue returns what stands behind a name in a line of the head; "" when the name is not in it.
func dartValue(line, name string) string {
	for rest := line; ; {
		before, after, found := strings.Cut(rest, name)
		if !found {
			return ""
		}
		rest = after
		own := before == "" || strings.ContainsRune(" ,\t", rune(before[len(before)-1]))
		if value, ok := strings.CutPrefix(after, ": "); ok && own {
			return dartWord(value)
		}
		if value, ok := strings.CutPrefix(after, "="); ok && own {
			return dartWord(value)
		}
	}
}

func dartWord(text string) string {
	if i := strings.IndexAny(text, ", \t\r"); i >= 0 {
		text = text[:i]
	}
	return strings.Trim(text, "'")
}

// unitOf returns the unit that a place lies in; nil when the head says nothing of it.
func (h *dartHead) unitOf(p dartPlace) *dartUnit {
	var found *dartUnit
	for i := range h.units {
		u := &h.units[i]
		switch {
		case u.buildID == "":
		case p.unit > 0 && u.number == p.unit:
			return u
		case found == nil:
			found = u
		case p.unit == 0 && u.base <= p.absolute && u.base > found.base:
			found = u
		}
	}
	return found
}
