package sourcemap

import (
	"encoding/binary"
	"fmt"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

// maxFunctionMap bounds the names and the entries of the function map of one source.
const maxFunctionMap = 1 << 18

// functionMap is the function map that Metro writes for a source: names, and from where on
// each holds (https://github.com/facebook/metro, metro-source-map,
// generateFunctionMap). In mappings, lines are parted by ; and entries by , as in
// those of the map; an entry is the column relative to the former one of the line, the name
// and, unless it is 0, the line relative to the former entry. Lines count from 1.
type functionMap struct {
	names   []string
	entries []functionEntry
}

type functionEntry struct {
	at   javascript.Place
	name uint32
}

// writeFunctions writes the function maps of x_facebook_sources. One that is wrong is left
// out: it is no part of the format, and the map is right without it.
func (x *indexer) writeFunctions() error {
	x.out.Begin(sectionFuncs)
	var at uint32
	for _, l := range x.leaves {
		v, ok := x.value(l.members, "x_facebook_sources")
		if !ok || v.first != '[' {
			continue
		}
		x.in.array(func(n int) {
			if x.in.peek() != '[' || n >= l.sources {
				x.in.skip()
				return
			}
			var m functionMap
			right := false
			x.in.array(func(k int) {
				if k > 0 || x.in.peek() != '{' {
					x.in.skip()
					return
				}
				right = x.functionMap(&m)
			})
			if !right || x.in.err != nil {
				return
			}
			b := m.append(nil)
			f := &x.files[l.source+n]
			f.funcs, f.funcsSize = at, uint32(len(b))
			at += uint32(len(b))
			_, _ = x.out.Write(b) // Close reports the error
			x.summary.Scopes = true
		})
		if x.in.err != nil {
			return x.in.err
		}
	}
	return nil
}

// functionMap reads one; false when it is wrong.
func (x *indexer) functionMap(m *functionMap) bool {
	var mappings []byte
	right := true
	x.in.object(func(key string) {
		first := x.in.peek()
		switch {
		case key == "names" && first == '[':
			m.names = m.names[:0]
			x.in.array(func(int) {
				if x.in.peek() != '"' || len(m.names) >= maxFunctionMap {
					right = false
					x.in.skip()
					return
				}
				m.names = append(m.names, x.in.string(maxName))
			})
		case key == "mappings" && first == '"':
			var err error
			if mappings, err = x.whole("the mappings of a function map have"); err != nil {
				x.in.fail(symbol.TooLarge, "a function map has more than %d bytes", maxMember)
			}
		default:
			x.in.skip()
		}
	})
	return right && m.decode(mappings)
}

func (m *functionMap) decode(p []byte) bool {
	line, name, column := int64(1), int64(0), int64(0)
	for i := 0; i < len(p); {
		if p[i] == ';' || p[i] == ',' {
			if p[i] == ';' {
				column = 0
			}
			i++
			continue
		}
		var fields [3]int64
		n := 0
		for ; i < len(p) && p[i] != ',' && p[i] != ';'; n++ {
			v, used := signed(p[i:])
			if used == 0 || n == len(fields) {
				return false
			}
			fields[n] = v
			i += used
		}
		column += fields[0]
		name += fields[1]
		line += fields[2]
		if line < 1 || line > maxValue || column < 0 || column > maxValue || name < 0 || name >= int64(len(m.names)) ||
			len(m.entries) >= maxFunctionMap {
			return false
		}
		e := functionEntry{javascript.Place{Line: uint32(line - 1), Column: uint32(column)}, uint32(name)}
		if k := len(m.entries); k > 0 && e.at.Before(m.entries[k-1].at) {
			return false
		}
		m.entries = append(m.entries, e)
	}
	return len(m.entries) > 0
}

func (m *functionMap) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(m.names)))
	for _, s := range m.names {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendUvarint(b, uint64(len(m.entries)))
	for _, e := range m.entries {
		b = binary.AppendUvarint(b, uint64(e.at.Line))
		b = binary.AppendUvarint(b, uint64(e.at.Column))
		b = binary.AppendUvarint(b, uint64(e.name))
	}
	return b
}

// readFunctionMap reads what append wrote, as functions that follow each other.
func readFunctionMap(b []byte) (*javascript.List, error) {
	wrong := false
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			wrong = true
			return 0
		}
		b = b[n:]
		return v
	}
	var names []string
	for n := next(); n > 0 && !wrong; n-- {
		size := next()
		if size > uint64(len(b)) {
			wrong = true
			break
		}
		names = append(names, string(b[:size]))
		b = b[size:]
	}
	l := &javascript.List{Known: true}
	for n := next(); n > 0 && !wrong; n-- {
		f := javascript.Function{From: javascript.Place{Line: uint32(next()), Column: uint32(next())},
			To: javascript.Place{Line: 1<<32 - 1, Column: 0}, Parent: -1}
		if i := next(); i < uint64(len(names)) {
			f.Name = names[i]
			f.Unknown = f.Name == "<global>"
		}
		if k := len(l.Functions); k > 0 {
			l.Functions[k-1].To = f.From
		}
		l.Functions = append(l.Functions, f)
	}
	if wrong {
		return nil, fmt.Errorf("the index of a source map is wrong: a function map")
	}
	return l, nil
}

// fromFunctionMap finds the function in the function map of the source; false when it has
// none.
func (m *Map) fromFunctionMap(f *Frame) (bool, error) {
	if m.funcs.size == 0 {
		return false, nil
	}
	file, err := m.file(f.Index)
	if err != nil || file.funcsSize == 0 {
		return false, err
	}
	list, err := m.mapped.get(f.Index, func() (*javascript.List, error) {
		b, err := m.funcs.bytes(int64(file.funcs), int64(file.funcsSize))
		if err != nil {
			return nil, err
		}
		return readFunctionMap(b)
	})
	if err != nil {
		return false, err
	}
	if found := list.Find(javascript.Place{Line: uint32(f.Line - 1), Column: uint32(f.Column - 1)}); found != nil && !found.Unknown {
		f.Function, f.Method = found.Name, FromFunctionMap
	}
	return true, nil
}
