package signature

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// manifest is a manifest or signature file of a JAR: a main section and sections
// with a name, separated by empty lines.
type manifest struct {
	raw      []byte
	main     section
	sections map[string]section
}

// section is a range of the file. Its attributes are parsed when they are asked
// for: a file has up to as many sections as there are entries.
type section struct {
	raw      []byte
	from, to int // in the file, with the empty line behind it
}

// text is a section as it stands in the file.
func (m *manifest) text(s section) []byte { return m.raw[s.from:s.to] }

// parseManifest reads the sections. A section without a name, or two of one name,
// break the file.
func parseManifest(raw []byte) (*manifest, error) {
	m := &manifest{raw: raw, sections: map[string]section{}}
	at := 0
	for first := true; at < len(raw); first = false {
		s := nextSection(raw, at)
		at = s.to
		if first {
			m.main = s
			continue
		}
		if s.empty() {
			continue
		}
		name, ok := s.firstName()
		if !ok {
			return nil, broken(V1, "a section of its manifest has no name")
		}
		if _, twice := m.sections[name]; twice {
			return nil, broken(V1, "its manifest has two sections of the name %q", clip(name))
		}
		if len(m.sections) == maxSectionNames {
			return nil, broken(V1, "its manifest has more than %d sections", maxSectionNames)
		}
		m.sections[name] = s
	}
	return m, nil
}

// nextSection is the section that begins at an offset, behind empty lines.
func nextSection(raw []byte, at int) section {
	for at < len(raw) && (raw[at] == '\r' || raw[at] == '\n') {
		at++
	}
	s := section{raw: raw, from: at}
	for at < len(raw) {
		end, next := lineEnd(raw, at)
		if end == at {
			at = next
			break
		}
		at = next
	}
	s.to = at
	return s
}

// lineEnd returns the end of a line and the start of the next one. A line ends with
// CR, LF or both.
func lineEnd(raw []byte, at int) (end, next int) {
	n := bytes.IndexAny(raw[at:], "\r\n")
	if n < 0 {
		return len(raw), len(raw)
	}
	end, next = at+n, at+n+1
	if raw[end] == '\r' && next < len(raw) && raw[next] == '\n' {
		next++
	}
	return end, next
}

func (s section) empty() bool { return len(bytes.TrimRight(s.raw[s.from:s.to], "\r\n")) == 0 }

// attributes calls f with each attribute until it returns false. A line that begins
// with a space continues the one before.
func (s section) attributes(f func(name, value string) bool) {
	for at := s.from; at < s.to; {
		end, next := lineEnd(s.raw[:s.to], at)
		line := s.raw[at:end]
		for copied := false; next < s.to && s.raw[next] == ' '; {
			var more int
			more, at = next+1, next
			end, next = lineEnd(s.raw[:s.to], more)
			if !copied {
				line, copied = bytes.Clone(line), true
			}
			line = append(line, s.raw[more:end]...)
		}
		at = next
		name, value, _ := bytes.Cut(line, []byte(": "))
		if len(line) > 0 && !f(string(name), string(value)) {
			return
		}
	}
}

// value returns the first attribute of a name, in any case.
func (s section) value(name string) (value string, ok bool) {
	s.attributes(func(n, v string) bool {
		if strings.EqualFold(n, name) {
			value, ok = v, true
		}
		return !ok
	})
	return value, ok
}

// firstName is the name of a section. Names are UTF-8; one that is not names no
// entry.
func (s section) firstName() (string, bool) {
	name, ok := s.value("Name")
	return name, ok && utf8.ValidString(name)
}
