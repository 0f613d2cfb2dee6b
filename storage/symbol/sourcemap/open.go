package sourcemap

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sort"
	"sync"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Map is an index of a source map that was opened. It is safe for concurrent use.
type Map struct {
	info                                                 info
	held                                                 bool
	size                                                 int64
	directory                                            []entry
	mappings, files, pieces, text, funcs, scopes, ranges table
	sources, resolved, names                             stringTable
	once                                                 sync.Once
	onceErr                                              error
	allSources, allResolved, allNames                    []*string
	found, mapped                                        functionCache // by source: of its text, and of its function map
}

// entry is a block's record in the directory.
type entry struct {
	line, column uint32
	n, size      uint32
	at           int64
}

// Position is a place in a source.
type Position struct {
	// Source is the URL of the source, with sourceRoot; Listed as the map lists it. Both are
	// "" for a source without a name.
	Source, Listed string
	// Index is the source's place among the sources of the map, from 0.
	Index int
	// Line and Column count from 1.
	Line, Column int
	// Name is that of the mapping: the original identifier at the place; "" for none.
	Name string
	// Exact reports that a mapping begins at the place itself.
	Exact bool
	// Ignored reports that the map lists the source as third-party code.
	Ignored bool
	// Content reports that the text of the source is in the map.
	Content bool
}

// Open reads an index of a source map. An error means that it is no index in this
// version, or that reading failed.
func Open(f *symbol.File) (*Map, error) {
	if f.Kind != string(symbol.SourceMap) || f.Version != Version {
		return nil, fmt.Errorf("an index of kind %q in version %d is not one of source maps in version %d", f.Kind, f.Version, Version)
	}
	m := &Map{held: f.Size <= maxHeld}
	text, err := f.ReadSection(sectionInfo, 1<<20)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &m.info); err != nil {
		return nil, fmt.Errorf("read the index of a source map: %w", err)
	}
	open := func(name string) table {
		r := f.Section(name)
		return table{size: r.Size(), r: r}
	}
	m.mappings, m.files, m.pieces, m.text = open(sectionMappings), open(sectionFiles), open(sectionPieces), open(sectionText)
	m.funcs, m.scopes, m.ranges = open(sectionFuncs), open(sectionScopes), open(sectionRanges)
	tables := []*table{&m.mappings, &m.files, &m.pieces, &m.text, &m.funcs, &m.scopes, &m.ranges}
	for name, t := range map[string]*stringTable{sectionSources: &m.sources, sectionResolved: &m.resolved, sectionNames: &m.names} {
		at, text := open(name+atSuffix), open(name)
		*t = stringTable{at: &at, text: &text, count: m.info.Sources}
		tables = append(tables, t.at, t.text)
	}
	m.names.count = m.info.Names
	if m.info.Sources < 0 || int64(m.info.Sources) > m.sources.text.size || m.info.Names < 0 || int64(m.info.Names) > m.names.text.size ||
		m.files.size != int64(m.info.Sources)*fileSize {
		return nil, fmt.Errorf("the index of a source map is wrong: its tables are too small")
	}
	if m.held {
		for _, t := range tables {
			if err := t.hold(); err != nil {
				return nil, err
			}
			m.size += t.size
		}
	}
	return m, m.readDirectory(f)
}

func (m *Map) readDirectory(f *symbol.File) error {
	p, err := f.ReadSection(sectionBlocks, maxSegments/blockMappings*directorySize)
	if err != nil {
		return err
	}
	m.directory = make([]entry, len(p)/directorySize)
	for i := range m.directory {
		e := p[i*directorySize:]
		m.directory[i] = entry{line: binary.LittleEndian.Uint32(e), column: binary.LittleEndian.Uint32(e[4:]),
			at:   int64(binary.LittleEndian.Uint64(e[8:])),
			size: binary.LittleEndian.Uint32(e[16:]), n: binary.LittleEndian.Uint32(e[20:])}
	}
	m.size += int64(len(m.directory)) * directorySize
	return nil
}

// Cost returns how many bytes of memory the map takes, at most.
func (m *Map) Cost() int64 {
	cost := m.size + functionCost(plainSize(&m.pieces)) + functionCost(m.funcs.size) + 4<<10
	if m.held { // texts of the tables once more, as strings
		cost += m.sources.text.size + m.resolved.text.size + m.names.text.size + 24*int64(2*m.info.Sources+m.info.Names)
	}
	return cost
}

// DebugID returns the map's debugId; "" for none.
func (m *Map) DebugID() string { return m.info.DebugID }

// File returns the generated file that the map names; "" for none.
func (m *Map) File() string { return m.info.File }

// Sources counts the sources.
func (m *Map) Sources() int { return m.info.Sources }

// Segments counts the mappings.
func (m *Map) Segments() int { return m.info.Segments }

// strings makes the texts of the tables once, so that lookups share them.
func (m *Map) strings() error {
	m.once.Do(func() {
		for list, t := range map[*[]*string]*stringTable{&m.allSources: &m.sources, &m.allResolved: &m.resolved, &m.allNames: &m.names} {
			if *list, m.onceErr = t.all(); m.onceErr != nil {
				return
			}
		}
	})
	return m.onceErr
}

func (m *Map) string(t *stringTable, all *[]*string, n int) (string, error) {
	if !m.held {
		s, _, err := t.get(n)
		return s, err
	}
	if err := m.strings(); err != nil {
		return "", err
	}
	if n < 0 || n >= len(*all) || (*all)[n] == nil {
		return "", nil
	}
	return *(*all)[n], nil
}

// file returns the record of a source.
func (m *Map) file(n int) (file, error) {
	p, err := m.files.bytes(int64(n)*fileSize, fileSize)
	if err != nil {
		return file{}, err
	}
	return readFile(p), nil
}

// Source returns the position of the beginning of source n, from 0: its names and flags.
func (m *Map) Source(n int) (Position, error) {
	if n < 0 || n >= m.info.Sources {
		return Position{}, fmt.Errorf("the source map has no source %d", n)
	}
	f, err := m.file(n)
	if err != nil {
		return Position{}, err
	}
	p := Position{Index: n, Line: 1, Column: 1, Ignored: f.ignored, Content: f.has}
	if p.Listed, err = m.string(&m.sources, &m.allSources, n); err != nil {
		return Position{}, err
	}
	p.Source, err = m.string(&m.resolved, &m.allResolved, n)
	return p, err
}

// FindSource returns the place of the source of a URL, resolved or as listed; -1 for none.
func (m *Map) FindSource(url string) (int, error) {
	for n := range m.info.Sources {
		p, err := m.Source(n)
		if err != nil {
			return -1, err
		}
		if url != "" && (p.Source == url || p.Listed == url) {
			return n, nil
		}
	}
	return -1, nil
}

// find returns the last block that begins before a position, or at it; -1 for none.
func (m *Map) find(line, column uint32) int {
	return sort.Search(len(m.directory), func(i int) bool {
		e := &m.directory[i]
		return e.line > line || e.line == line && e.column > column
	}) - 1
}

// load reads a block.
func (m *Map) load(i int, b *block) error {
	e := &m.directory[i]
	p, err := m.mappings.bytes(e.at, int64(e.size))
	if err != nil {
		return err
	}
	if e.n > blockMappings || !b.read(p, int(e.n)) {
		return fmt.Errorf("the index of a source map is wrong: block %d", i)
	}
	return nil
}
