package sourcemap

import (
	"encoding/binary"
	"fmt"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

const (
	// maxScopes bounds the original scopes and the generated ranges, each.
	maxScopes = 1 << 19
	// maxScopeDepth bounds how deep they nest.
	maxScopeDepth = 1 << 10
)

// originalScope is a scope of a source (ECMA-426, Original Scope Record).
type originalScope struct {
	source   uint32
	from, to javascript.Place
	name     uint32 // 1 more than the index; 0 for none
	parent   uint32 // 1 more than the index; 0 for none
	frame    bool   // it is a function
}

// generatedRange is a part of the generated file (ECMA-426, Generated Range Record).
type generatedRange struct {
	from, to   javascript.Place
	definition uint32 // 1 more than the index of its original scope; 0 for none
	parent     uint32
	frame      bool
	hidden     bool
	inlined    bool // it has a call site
	callSource uint32
	call       javascript.Place
}

const (
	scopeSize = 32
	rangeSize = 40
)

// scopeList is the scopes of all maps.
type scopeList struct {
	scopes []originalScope
	ranges []generatedRange
}

// scopeDecoder reads the scopes of a map.
type scopeDecoder struct {
	list  *scopeList
	leaf  *leaf
	p     []byte
	wrong string
	// the state of relative fields
	tree                   int // of the source
	at, generated          javascript.Place
	name, kind, definition int64
	openScopes, openRanges []uint32
	first                  int // the first scope of the map
}

// The tags of items.
const (
	tagEmpty      = 0
	tagScopeStart = 1
	tagScopeEnd   = 2
	tagRangeStart = 4
	tagRangeEnd   = 5
	tagCallSite   = 8
)

func (d *scopeDecoder) fail(format string, args ...any) {
	if d.wrong == "" {
		d.wrong = fmt.Sprintf(format, args...)
	}
}

func (d *scopeDecoder) unsigned() int64 {
	v, n := unsigned(d.p)
	if n == 0 {
		d.fail("there is a wrong VLQ")
	}
	d.p = d.p[n:]
	return int64(v)
}

func (d *scopeDecoder) signed() int64 {
	v, n := signed(d.p)
	if n == 0 {
		d.fail("there is a wrong VLQ")
	}
	d.p = d.p[n:]
	return v
}

func (d *scopeDecoder) more() bool { return len(d.p) > 0 && d.p[0] != ',' }

// decode reads all items.
func (d *scopeDecoder) decode(p []byte) {
	d.p = p
	for d.wrong == "" {
		if !d.more() {
			d.tree++ // a source without scopes
		} else {
			d.item(d.unsigned())
		}
		for d.wrong == "" && d.more() { // fields of a later version
			d.unsigned()
		}
		if len(d.p) == 0 {
			break
		}
		d.p = d.p[1:]
	}
	if len(d.openScopes) > 0 || len(d.openRanges) > 0 {
		d.fail("a scope or a range has no end")
	}
}

func (d *scopeDecoder) item(tag int64) {
	switch tag {
	case tagScopeStart:
		d.scopeStart()
	case tagScopeEnd:
		d.move(&d.at, d.unsigned(), d.unsigned())
		n := len(d.openScopes)
		if n == 0 {
			d.fail("a scope ends that did not begin")
			return
		}
		d.list.scopes[d.openScopes[n-1]].to = d.at
		if d.openScopes = d.openScopes[:n-1]; n == 1 {
			d.tree++
			d.at = javascript.Place{}
		}
	case tagRangeStart:
		d.rangeStart()
	case tagRangeEnd:
		line, column := int64(0), d.unsigned()
		if d.more() {
			line, column = column, d.unsigned()
		}
		d.move(&d.generated, line, column)
		n := len(d.openRanges)
		if n == 0 {
			d.fail("a range ends that did not begin")
			return
		}
		d.list.ranges[d.openRanges[n-1]].to = d.generated
		d.openRanges = d.openRanges[:n-1]
	case tagCallSite:
		source, line, column := d.unsigned(), d.unsigned(), d.unsigned()
		n := len(d.openRanges)
		if n == 0 || source >= int64(d.leaf.sources) {
			d.fail("a call site is of no range or no source")
			return
		}
		r := &d.list.ranges[d.openRanges[n-1]]
		r.inlined, r.callSource, r.call = true, uint32(source)+uint32(d.leaf.source), javascript.Place{Line: uint32(line), Column: uint32(column)}
	case tagEmpty:
		d.tree++
	default: // variables and bindings are for debuggers; others are of a later version
		for d.wrong == "" && d.more() {
			d.unsigned()
		}
	}
}

// move goes on by lines, and by columns from the former place or, on another line, from 0.
func (d *scopeDecoder) move(p *javascript.Place, line, column int64) {
	from := int64(p.Column)
	if line > 0 {
		from = 0
	}
	if int64(p.Line)+line > maxValue || from+column > maxValue {
		d.fail("a position has more than 32 bits")
		return
	}
	*p = javascript.Place{Line: p.Line + uint32(line), Column: uint32(from + column)}
}

func (d *scopeDecoder) scopeStart() {
	flags := d.unsigned()
	d.move(&d.at, d.unsigned(), d.unsigned())
	s := originalScope{source: uint32(d.leaf.source + d.tree), from: d.at, to: d.at, frame: flags&4 != 0}
	if flags&1 != 0 {
		if d.name += d.signed(); d.name < 0 || d.name >= int64(d.leaf.names) {
			d.fail("a scope has the name %d of %d", d.name, d.leaf.names)
			return
		}
		s.name = uint32(d.name) + uint32(d.leaf.name) + 1
	}
	if flags&2 != 0 {
		d.kind += d.signed()
	}
	if d.tree >= d.leaf.sources {
		d.fail("there are scopes of more than the %d sources", d.leaf.sources)
		return
	}
	if n := len(d.openScopes); n > 0 {
		s.parent = d.openScopes[n-1] + 1
	}
	if len(d.list.scopes) >= maxScopes || len(d.openScopes) >= maxScopeDepth {
		d.fail("there are more than %d scopes, or they nest more than %d deep", maxScopes, maxScopeDepth)
		return
	}
	d.openScopes = append(d.openScopes, uint32(len(d.list.scopes)))
	d.list.scopes = append(d.list.scopes, s)
}

func (d *scopeDecoder) rangeStart() {
	flags := d.unsigned()
	line := int64(0)
	if flags&1 != 0 {
		line = d.unsigned()
	}
	d.move(&d.generated, line, d.unsigned())
	r := generatedRange{from: d.generated, to: d.generated, frame: flags&4 != 0, hidden: flags&12 == 12}
	if flags&2 != 0 {
		if d.definition += d.signed(); d.definition < 0 || d.definition >= int64(len(d.list.scopes)-d.first) {
			d.fail("a range has the scope %d of %d", d.definition, len(d.list.scopes)-d.first)
			return
		}
		r.definition = uint32(d.definition) + uint32(d.first) + 1
	}
	if n := len(d.openRanges); n > 0 {
		r.parent = d.openRanges[n-1] + 1
	}
	if len(d.list.ranges) >= maxScopes || len(d.openRanges) >= maxScopeDepth {
		d.fail("there are more than %d ranges, or they nest more than %d deep", maxScopes, maxScopeDepth)
		return
	}
	d.openRanges = append(d.openRanges, uint32(len(d.list.ranges)))
	d.list.ranges = append(d.list.ranges, r)
}

// writeScopes writes the scopes. Wrong ones are left out with a warning: the map is right
// without them.
func (x *indexer) writeScopes() error {
	for _, l := range x.leaves {
		v, ok := x.value(l.members, "scopes")
		if !ok || v.first != '"' {
			continue
		}
		p, err := x.whole("the scopes have")
		if err != nil {
			return err
		}
		scopes, ranges := len(x.scopes.scopes), len(x.scopes.ranges)
		d := &scopeDecoder{list: &x.scopes, leaf: l, first: scopes, generated: javascript.Place{Line: uint32(l.line), Column: uint32(l.column)}}
		if len(p) > 0 {
			d.decode(p)
		}
		if d.wrong != "" {
			x.scopes.scopes, x.scopes.ranges = x.scopes.scopes[:scopes], x.scopes.ranges[:ranges]
			x.summary.Warnings = append(x.summary.Warnings, "the scopes are left out: "+d.wrong)
		}
	}
	x.summary.Scopes = x.summary.Scopes || len(x.scopes.scopes) > 0
	x.out.Begin(sectionScopes)
	var b []byte
	for i := range x.scopes.scopes {
		s := &x.scopes.scopes[i]
		b = appendNumbers(b[:0], s.source, s.from.Line, s.from.Column, s.to.Line, s.to.Column, s.name, s.parent, bit(s.frame, 1))
		_, _ = x.out.Write(b) // Close reports the error
	}
	x.out.Begin(sectionRanges)
	for i := range x.scopes.ranges {
		r := &x.scopes.ranges[i]
		b = appendNumbers(b[:0], r.from.Line, r.from.Column, r.to.Line, r.to.Column, r.definition, r.parent,
			bit(r.frame, 1)|bit(r.hidden, 2)|bit(r.inlined, 4), r.callSource, r.call.Line, r.call.Column)
		_, _ = x.out.Write(b) // Close reports the error
	}
	return nil
}

func bit(set bool, v uint32) uint32 {
	if set {
		return v
	}
	return 0
}

func appendNumbers(b []byte, list ...uint32) []byte {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
