package pdb

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// An id in a module may be one of another module's scope (CrossScopeId of cvinfo.h): link-time code
// generation inlines across modules before their ids are merged. Then the module has a list of the
// modules that it imports from, each with ids that these export by the number in the whole file.
const (
	subsectionImports = 0xf7
	subsectionExports = 0xf8

	crossScope     = 1 << 31 // marks such an id
	crossLocalBits = 20      // the rest is the number of the module in the list
	crossScopeMask = 1<<11 - 1

	// maxExports bounds the exports that are held in memory (64 MiB).
	maxExports = 8 << 20
)

// imported are the ids that a module takes from another: offsets of 4 bytes each.
type imported struct {
	module uint32 // its name, in the table of names
	ids    []byte
}

// importsOf reads the list of modules with the ids of each.
func importsOf(p []byte) (list []imported) {
	for c := (&cursor{p: p}); len(c.p) >= 8; {
		module, count := c.u32(), c.u32()
		if int64(count)*4 > int64(len(c.p)) {
			return list
		}
		list = append(list, imported{module: module, ids: c.take(4 * int(count))})
	}
	return list
}

// exported is an id of a module, and what it is in the whole file.
type exported struct{ local, global uint32 }

// globalID returns the id in the whole file of one that a module uses; the id itself when it is one,
// or when the module that exports it does not say.
func (d *database) globalID(t *lineTable, id uint32) (uint32, error) {
	if id&crossScope == 0 {
		return id, nil
	}
	scope, local := int(id>>crossLocalBits&crossScopeMask), int(id&(1<<crossLocalBits-1))
	if scope >= len(t.imports) || 4*local+4 > len(t.imports[scope].ids) {
		return id, nil
	}
	from := t.imports[scope]
	name, err := d.names.at(from.module, d.caches.files)
	if err != nil {
		return id, err
	}
	if err := d.readExports(); err != nil {
		return id, err
	}
	exports, want := d.exports[strings.ToLower(name)], binary.LittleEndian.Uint32(from.ids[4*local:])
	i, ok := slices.BinarySearchFunc(exports, want, func(e exported, id uint32) int { return cmp.Compare(e.local, id) })
	if !ok {
		return id, nil
	}
	return exports[i].global, nil
}

// readExports reads what all modules export, when the first id of another module is met.
func (d *database) readExports() error {
	if d.exports != nil {
		return nil
	}
	d.exports = map[string][]exported{}
	left := maxExports
	return d.eachModule(func(m *module) error {
		s, err := d.msf.stream(m.stream)
		if err != nil {
			return d.onlyReading(err) // it is counted where its functions are read
		}
		from := m.symbols + m.c11
		if from > s.size || m.c13 > s.size-from {
			return nil
		}
		list, err := exportsIn(s, from, from+m.c13, left)
		if err != nil {
			return d.onlyReading(err)
		}
		if len(list) > 0 {
			left -= len(list)
			slices.SortFunc(list, func(a, b exported) int { return cmp.Compare(a.local, b.local) })
			d.exports[strings.ToLower(m.name)] = list
		}
		return nil
	})
}

// exportsIn reads the exports in the line information of a module, without the rest of it.
func exportsIn(s *stream, at, end int64, most int) (list []exported, err error) {
	for end-at >= 8 {
		head, err := s.read(at, 8, "a part of the line information")
		if err != nil {
			return list, err
		}
		kind, n := binary.LittleEndian.Uint32(head), int64(binary.LittleEndian.Uint32(head[4:]))
		if at += 8; n > end-at {
			return list, nil
		}
		if kind == subsectionExports {
			p, err := s.read(at, int(min(n, 8*int64(most-len(list)))), "the ids that a module exports")
			if err != nil {
				return list, err
			}
			for ; len(p) >= 8; p = p[8:] {
				list = append(list, exported{binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])})
			}
		}
		at += (n + 3) &^ 3
	}
	return list, nil
}
