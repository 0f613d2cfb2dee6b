// Package sourcemap reads source maps (ECMA-426, https://tc39.es/ecma426/) and scripts,
// and finds the source position, the function and the text of a generated position.
//
// Index turns a map into an index: tables of sources and names, the text of sources in
// compressed pieces, and the mappings in blocks that a lookup searches without
// decoding them. The JSON is read in a stream, twice: once to check it and to find the
// members, once to read them in the order that the index needs. So the memory it takes
// does not follow the size of the file. IndexScript does the same for a minified
// script or a source text.
//
// Open and OpenScript read an index. A small one is held in memory; of a large one only
// the directory of the mappings, and the rest is read in ranges. Lines and columns
// count from 1, columns in UTF-16 code units, as crash reports have them.
//
// The function of a position comes from the scopes of the map, else from the function
// maps that Metro writes, else from the source text, else from names of mappings. Each
// result says from where, and a name that is not sure is left out.
//
// What the format permits a consumer to reject is rejected: a map is either right as a
// whole or a *symbol.InvalidError that says what is wrong.
package sourcemap

import (
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Version is that of the index's format.
const Version = 1

const (
	// maxFile bounds a map: offsets in an index are 32 bits, and 1 GiB is twenty times
	// the largest map seen in public.
	maxFile = 1 << 30
	// maxSections bounds an index map. Bundles of React Native have a section for each
	// module, some thousands.
	maxSections = 1 << 17
	// maxNesting bounds how deep index maps nest: tools join bundles of bundles once.
	maxNesting = 8
	// maxDepth bounds the nesting of JSON values, as most parsers do.
	maxDepth = 512
	// maxSources and maxNames bound the tables: 20 times those of the largest maps seen.
	maxSources = 1 << 20
	maxNames   = 1 << 23
	// maxSegments bounds the mappings: a file of 1 GiB of them has about so many.
	maxSegments = 1 << 28
	// maxText bounds one source text.
	maxText = 64 << 20
	// maxName and maxSource bound what is kept of a name and of a source's URL.
	maxName   = 1 << 10
	maxSource = 4 << 10
	// maxUnsorted bounds the mappings of one line that are sorted in memory, 24 bytes each.
	maxUnsorted = 512 << 10
	// maxValue is the largest line, column and index: 32 bits with the sign.
	maxValue = 1<<31 - 1
)

// Options are those of Index.
type Options struct {
	// URL is where the map is from: relative sources are resolved with it. "" leaves them
	// relative.
	URL string
}

// Summary says what a map has.
type Summary struct {
	// File is the generated file that the map names; "" for none.
	File string
	// DebugID is the map's debugId or debug_id, as it is in the file; "" for none.
	DebugID string
	// Sources, Names, Segments and Contents count what their names say: Contents the
	// sources whose text is in the map.
	Sources, Names, Segments, Contents int
	// Sections counts the maps of an index map; 1 for a plain map.
	Sections int
	// Scopes reports that the map itself says which functions there are.
	Scopes bool
	// Warnings say which parts of the map were left out and why.
	Warnings []string
}

// Identifiers returns the identifiers that the map itself has: its debugId.
func (s *Summary) Identifiers() []symbol.Identifier {
	id, ok := symbol.Identifier{Type: symbol.ScriptID, Value: s.DebugID}.Normalize()
	if !ok {
		return nil
	}
	return []symbol.Identifier{id}
}

// Index reads a source map of size bytes and writes its index. An *symbol.InvalidError
// says what is wrong with the map; other errors are those of r and w.
func Index(r io.ReaderAt, size int64, w io.Writer, opts Options) (*Summary, error) {
	if size > maxFile {
		return nil, symbol.Invalid(symbol.TooLarge, "the source map has %d bytes, more than %d", size, int64(maxFile))
	}
	in := newInput(r, size)
	root, err := scan(in)
	if err != nil {
		return nil, err
	}
	x := &indexer{in: in, out: symbol.NewWriter(w, string(symbol.SourceMap), Version), opts: opts, root: root}
	if err := x.write(); err != nil {
		return nil, err
	}
	return &x.summary, nil
}
