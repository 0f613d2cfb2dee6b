package sourcemap

import (
	"encoding/binary"
	"encoding/json"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// The sections of an index. Numbers are little-endian.
const (
	sectionInfo     = "info"      // JSON of info
	sectionSources  = "sources"   // strings: the URLs as listed
	sectionResolved = "resolved"  // strings: with sourceRoot and the URL of the map
	sectionNames    = "names"     // strings
	sectionFiles    = "files"     // a fileSize record for each source
	sectionPieces   = "pieces"    // a pieceSize record for each piece of text
	sectionText     = "text"      // compressed pieces
	sectionBlocks   = "blocks"    // a directorySize record for each block of mappings
	sectionMappings = "mappings"  // the blocks
	sectionFuncs    = "functions" // function maps of sources (facebook.go)
	sectionScopes   = "scopes"    // original scopes (scopes.go)
	sectionRanges   = "ranges"    // generated ranges
	atSuffix        = "_at"       // of strings: where every 32nd begins, 4 bytes each
)

// info is what an index says of itself.
type info struct {
	File     string `json:"file,omitempty"`
	DebugID  string `json:"debug_id,omitempty"`
	Sources  int    `json:"sources"`
	Names    int    `json:"names"`
	Segments int    `json:"segments"`
	// Scopes counts those of all sources, Ranges those of the generated file.
	Scopes int `json:"scopes,omitempty"`
	Ranges int `json:"ranges,omitempty"`
}

// indexer writes the index of a map.
type indexer struct {
	in      *input
	out     *symbol.Writer
	opts    Options
	root    *members
	leaves  []*leaf
	files   []file
	summary Summary
	scopes  scopeList
}

// file is a source.
type file struct {
	ignored bool
	// has its text in the map, in pieces from first on
	has           bool
	first, pieces uint32
	size          uint32
	// where its function map is
	funcs, funcsSize uint32
}

const fileSize = 24

func (f file) append(b []byte) []byte {
	var flags uint32
	if f.ignored {
		flags |= 1
	}
	if f.has {
		flags |= 2
	}
	for _, v := range []uint32{flags, f.first, f.pieces, f.size, f.funcs, f.funcsSize} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func readFile(b []byte) file {
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return file{ignored: u(0)&1 != 0, has: u(0)&2 != 0, first: u(1), pieces: u(2), size: u(3), funcs: u(4), funcsSize: u(5)}
}

// malformed is what is wrong with a member of a map.
func (l *leaf) malformed(format string, args ...any) error {
	return symbol.Invalid(symbol.Malformed, format+", in the map at byte %d", append(args, l.members.at)...)
}

// value goes to a member; false when there is none, or null.
func (x *indexer) value(m *members, key string) (value, bool) {
	v, ok := m.values[key]
	if !ok || v.first == 'n' {
		return v, false
	}
	x.in.seek(v.at)
	return v, true
}

// text returns a member that is a string, "" when it is none.
func (x *indexer) text(m *members, key string, limit int) string {
	if v, ok := x.value(m, key); ok && v.first == '"' {
		return x.in.string(limit)
	}
	return ""
}

func (x *indexer) write() error {
	var err error
	if x.leaves, err = x.root.leaves(); err != nil {
		return err
	}
	x.summary.Sections = len(x.leaves)
	x.summary.File = x.text(x.root, "file", maxSource)
	for _, l := range append([]*leaf{{members: x.root}}, x.leaves...) {
		if err := x.check(l); err != nil {
			return err
		}
	}
	for _, step := range []func() error{x.writeSources, x.writeNames, x.writeContents, x.writeMappings, x.writeFunctions, x.writeScopes} {
		if err := step(); err != nil {
			return err
		}
		if x.in.err != nil {
			return x.in.err
		}
	}
	x.out.Begin(sectionFiles)
	var b []byte
	for _, f := range x.files {
		b = f.append(b[:0])
		if _, err := x.out.Write(b); err != nil {
			return err
		}
	}
	x.out.Begin(sectionInfo)
	text, err := json.Marshal(info{File: x.summary.File, DebugID: x.summary.DebugID, Sources: x.summary.Sources, Names: x.summary.Names,
		Segments: x.summary.Segments, Scopes: len(x.scopes.scopes), Ranges: len(x.scopes.ranges)})
	if err != nil {
		return err
	}
	if _, err := x.out.Write(text); err != nil {
		return err
	}
	return x.out.Close()
}

// check reads the members that say what a map is.
func (x *indexer) check(l *leaf) error {
	m := l.members
	v, ok := m.values["version"]
	if !ok {
		return l.malformed("there is no version")
	}
	x.in.seek(v.at)
	if n, ok := x.in.integer(); !ok || n != 3 {
		return l.malformed("the version is not 3")
	}
	if x.summary.DebugID == "" {
		x.summary.DebugID = x.text(m, "debugId", 100)
		if x.summary.DebugID == "" {
			x.summary.DebugID = x.text(m, "debug_id", 100)
		}
	}
	for _, key := range []string{"file", "sourceRoot"} {
		if v, ok := x.value(m, key); ok && v.first != '"' {
			return l.malformed("%s is not a text", key)
		}
	}
	if m.indexed {
		return x.in.err
	}
	for key, first := range map[string]byte{"mappings": '"', "sources": '['} {
		if v, ok := m.values[key]; !ok {
			return l.malformed("there are no %s", key)
		} else if v.first != first {
			return l.malformed("the %s are of the wrong type", key)
		}
	}
	if v, ok := x.value(m, "names"); ok && v.first != '[' {
		return l.malformed("the names are not a list")
	}
	l.root = x.text(m, "sourceRoot", maxSource)
	return x.in.err
}

func (x *indexer) writeSources() error {
	listed := newStrings(x.out, sectionSources)
	resolved := stringsLater{section: sectionResolved}
	for _, l := range x.leaves {
		l.source = len(x.files)
		x.in.seek(l.members.values["sources"].at)
		var wrong error
		x.in.array(func(n int) {
			switch c := x.in.peek(); {
			case wrong != nil || len(x.files) >= maxSources:
				x.in.fail(symbol.TooLarge, "there are more than %d sources", maxSources)
			case c == '"':
				s := x.in.string(maxSource)
				listed.add([]byte(s))
				resolved.add(Resolve(x.opts.URL, l.root, s))
			case c == 'n':
				x.in.skip()
				listed.null()
				resolved.null()
			default:
				wrong = l.malformed("source %d is neither a text nor null", n)
				x.in.skip()
				return
			}
			x.files = append(x.files, file{})
		})
		if wrong != nil {
			return wrong
		}
		if x.in.err != nil {
			return x.in.err
		}
		l.sources = len(x.files) - l.source
		if err := x.ignored(l); err != nil {
			return err
		}
	}
	x.summary.Sources = len(x.files)
	listed.close()
	return resolved.write(x.out)
}

// ignored reads ignoreList, or x_google_ignoreList where there is none.
func (x *indexer) ignored(l *leaf) error {
	v, ok := x.value(l.members, "ignoreList")
	if !ok {
		v, ok = x.value(l.members, "x_google_ignoreList")
	}
	if !ok {
		return nil
	}
	if v.first != '[' {
		return l.malformed("the ignoreList is not a list")
	}
	var wrong error
	x.in.array(func(int) {
		i, ok := x.in.integer()
		if wrong != nil {
			return
		}
		if !ok || i >= int64(l.sources) {
			wrong = l.malformed("the ignoreList has an entry that is the index of none of the %d sources", l.sources)
			return
		}
		x.files[l.source+int(i)].ignored = true
	})
	return wrong
}

func (x *indexer) writeNames() error {
	table := newStrings(x.out, sectionNames)
	for _, l := range x.leaves {
		l.name = table.count
		if _, ok := x.value(l.members, "names"); !ok {
			continue
		}
		var wrong error
		x.in.array(func(n int) {
			if x.in.peek() != '"' {
				wrong = l.malformed("name %d is not a text", n)
				x.in.skip()
				return
			}
			if table.count >= maxNames {
				x.in.fail(symbol.TooLarge, "there are more than %d names", maxNames)
				return
			}
			table.add(x.in.bytes(maxName))
		})
		if wrong != nil {
			return wrong
		}
		l.names = table.count - l.name
	}
	x.summary.Names = table.count
	table.close()
	return x.in.err
}
