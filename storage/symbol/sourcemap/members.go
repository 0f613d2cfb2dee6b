package sourcemap

import (
	"bytes"
	"math"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// members is where the members of a map are in the file. A key that comes twice counts
// as it stands last, as in JSON.parse.
type members struct {
	at       int64
	values   map[string]value
	sections []sectionMap
	indexed  bool // it has a member sections
}

// value is a member: where it begins and ends, and with which byte it begins.
type value struct {
	at, end int64
	first   byte
}

// sectionMap is a map of an index map and where its part of the generated file begins,
// from 0, relative to the index map.
type sectionMap struct {
	line, column int64
	members      *members
}

// known are the members that are read; all others are skipped.
var known = map[string]bool{
	"version": true, "file": true, "sourceRoot": true, "sources": true, "sourcesContent": true, "names": true,
	"mappings": true, "ignoreList": true, "x_google_ignoreList": true, "debugId": true, "debug_id": true,
	"rangeMappings": true, "scopes": true, "x_facebook_sources": true,
}

// scan checks that the file is JSON and finds the members.
func scan(in *input) (*members, error) {
	in.prefix()
	if c := in.peek(); c != '{' && in.err == nil {
		if c == 0 && in.offset() >= in.size {
			return nil, symbol.Invalid(symbol.Truncated, "the source map is empty")
		}
		return nil, symbol.Invalid(symbol.Malformed, "the source map is not a JSON object")
	}
	count := 0
	root := in.scanMap(0, &count)
	if c := in.peek(); in.err == nil && in.offset() < in.size {
		in.unexpected(c, "the end")
	}
	return root, in.err
}

// prefix skips a byte order mark and a line that begins with )]}', which servers send
// before JSON (ECMA-426, FetchSourceMap).
func (in *input) prefix() {
	in.fill()
	if bytes.HasPrefix(in.buf, []byte("\ufeff")) {
		in.pos += 3
	}
	if !bytes.HasPrefix(in.buf[in.pos:], []byte(")]}'")) {
		return
	}
	in.pos += 4
	after := in.offset()
	for in.fill() {
		if n := bytes.IndexAny(in.buf[in.pos:], "\r\n"); n >= 0 {
			in.pos += n
			return
		}
		in.pos = len(in.buf)
	}
	in.seek(after) // it is one line: the map follows the prefix
}

func (in *input) scanMap(depth int, count *int) *members {
	m := &members{at: in.offset(), values: map[string]value{}}
	if depth > maxNesting {
		in.fail(symbol.TooLarge, "index maps nest more than %d deep", maxNesting)
		return m
	}
	in.object(func(key string) {
		first := in.peek()
		switch {
		case key == "sections":
			m.indexed = true
			m.sections = nil
			if first != '[' {
				in.fail(symbol.Malformed, "sections is not a list")
				return
			}
			in.array(func(int) { in.scanSection(m, depth, count) })
		case known[key]:
			v := value{at: in.offset(), first: first}
			in.skip()
			v.end = in.offset()
			m.values[key] = v
		default:
			in.skip()
		}
	})
	return m
}

func (in *input) scanSection(m *members, depth int, count *int) {
	*count++
	if *count > maxSections {
		in.fail(symbol.TooLarge, "the index map has more than %d sections", maxSections)
		return
	}
	if in.peek() != '{' {
		in.fail(symbol.Malformed, "section %d is not an object", len(m.sections))
		return
	}
	n := len(m.sections)
	s := sectionMap{line: -1, column: -1}
	var offset, mapped, url bool
	in.object(func(key string) {
		first := in.peek()
		switch {
		case key == "offset" && first == '{':
			offset = true
			in.object(func(key string) {
				switch key {
				case "line":
					s.line = in.coordinate()
				case "column":
					s.column = in.coordinate()
				default:
					in.skip()
				}
			})
		case key == "map" && first == '{':
			mapped = true
			s.members = in.scanMap(depth+1, count)
		case key == "map" || key == "offset":
			in.fail(symbol.Malformed, "the %s of section %d is not an object", key, n)
		case key == "url":
			url = true
			in.skip()
		default:
			in.skip()
		}
	})
	switch {
	case in.err != nil:
	case !offset:
		in.fail(symbol.Malformed, "section %d has no offset", n)
	case s.line < 0 || s.column < 0:
		in.fail(symbol.Malformed, "the offset of section %d has no line and column that are integers from 0", n)
	case !mapped && url:
		in.fail(symbol.Unsupported, "section %d has a url instead of a map", n)
	case !mapped:
		in.fail(symbol.Malformed, "section %d has no map", n)
	}
	m.sections = append(m.sections, s)
}

func (in *input) coordinate() int64 {
	v, ok := in.integer()
	if !ok {
		return -1
	}
	return v
}

// leaf is a map with mappings, and the part of the generated file that it is for.
type leaf struct {
	members *members
	// line and column where it begins; stop is where the next one does.
	line, column         int64
	stopLine, stopColumn int64
	// The first of its sources and names among all.
	source, name   int
	root           string
	sources, names int
}

// leaves returns the maps with mappings in their order, and checks that sections come in
// the order of their offsets.
func (m *members) leaves() ([]*leaf, error) {
	var all []*leaf
	var walk func(m *members, line, column int64) error
	walk = func(m *members, line, column int64) error {
		if !m.indexed {
			all = append(all, &leaf{members: m, line: line, column: column, stopLine: math.MaxInt64})
			return nil
		}
		if _, both := m.values["mappings"]; both {
			return symbol.Invalid(symbol.Malformed, "the map at byte %d has both sections and mappings", m.at)
		}
		for i, s := range m.sections {
			if i > 0 {
				if p := m.sections[i-1]; s.line < p.line || s.line == p.line && s.column <= p.column {
					return symbol.Invalid(symbol.Malformed, "section %d at %d:%d does not come after the one at %d:%d",
						i, s.line, s.column, p.line, p.column)
				}
			}
			at := s.column
			if s.line == 0 {
				at += column
			}
			if err := walk(s.members, line+s.line, at); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(m, 0, 0); err != nil {
		return nil, err
	}
	for i, l := range all[min(1, len(all)):] {
		all[i].stopLine, all[i].stopColumn = l.line, l.column
		if p := all[i]; l.line < p.line || l.line == p.line && l.column <= p.column {
			return nil, symbol.Invalid(symbol.Malformed, "a section at %d:%d does not come after the one at %d:%d",
				l.line, l.column, p.line, p.column)
		}
	}
	return all, nil
}
