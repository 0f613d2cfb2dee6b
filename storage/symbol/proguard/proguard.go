// Package proguard reads the mappings of ProGuard and R8 and retraces stack traces with
// them: it says which class, method, file and line the developer wrote.
//
// Index parses a mapping once and writes an index; Open opens one; a Mapping looks up
// classes, methods and fields, retraces the frames of a stack (Stack), and whole texts
// (Text, Lines) with what stands around the frames.
//
// The format of mappings is described in ProGuard's manual
// (https://www.guardsquare.com/manual/tools/retrace) and in R8's
// (https://r8.googlesource.com/r8/+/main/doc/retrace.md): a line for each class, an
// indented line for each member, and comments with JSON that say more about the line
// above. Results follow R8's retrace: frames that the compiler inlined are listed
// innermost first, a frame that may come from several places has all of them as
// alternatives, and frames that only the compiler knows are hidden.
//
// Mappings are hostile input. Index takes memory for one class at a time, for each
// class a row of a table, and for the strings seen last; what is over a bound, and what
// cannot be read, is a *symbol.InvalidError that names the line.
package proguard

// Kind is the kind of the index in its container.
const Kind = "proguard"

// Version is the version of the index's format. An index of another version has to be
// made anew.
const Version uint32 = 1

// The sections of an index. Offsets are relative to the section dataSection, numbers
// little-endian, and offset 0 stands for nothing there.
const (
	// headSection is the Summary as JSON.
	headSection = "head"
	// dataSection holds strings (uvarint length and text) and records, see record.go.
	dataSection = "data"
	// classSection has a row for each class: hash of the obfuscated name (8 bytes) and offset
	// of the record (4), sorted by hash; of a name given twice the last is the first row.
	classSection = "classes"
	// sourceSection has a row for each original class with a source file: hash of the name
	// (8 bytes), offset of the name (4) and of the file's name (4), sorted by hash.
	sourceSection = "sources"
)

// Bounds of a mapping.
const (
	// maxLines: a mapping has fewer lines. The largest apps have some million.
	maxLines = 10_000_000
	// maxLine is the length of a line in bytes. The longest are lists of positions.
	maxLine = 4 << 20
	// maxClasses bounds the table of classes in memory, 32 bytes each. The largest apps have
	// some hundred thousand.
	maxClasses = 4 << 20
	// maxRows is how many lines one class has. They are in memory, with their names some
	// hundred bytes each.
	maxRows = 1 << 19
	// maxClassText bounds the texts of one class, which are all in memory.
	maxClassText = 64 << 20
	// maxOverloads is how many methods of one obfuscated name a class has: a class file
	// cannot hold more methods. A lookup without a line looks at all.
	maxOverloads = 1 << 16
	// maxData is what an offset can address.
	maxData = 1<<32 - 1
	// maxLineNumber is the largest line number, that of Java.
	maxLineNumber = 1<<31 - 1
)

// Bounds of a lookup: what a hostile mapping may cost.
const (
	// maxAlternatives is how many alternatives of a frame are listed.
	maxAlternatives = 256
	// maxInlined is how many frames one alternative has.
	maxInlined = 1024
	// maxScan is how many lines without a range are looked at.
	maxScan = 1 << 16
	// maxProbes is how many rows of a table with the same hash are looked at.
	maxProbes = 64
	// maxName bounds a string that is read from an index, in bytes.
	maxName = maxLine
	// maxHeld is the size up to which an index is held in memory.
	maxHeld = 64 << 20
)

// Options are the options of Index.
type Options struct {
	// Lines is how many lines the mapping may have; 0 means fewer than ten million.
	Lines int
}

// Summary says what a mapping is.
type Summary struct {
	// Tool is the compiler and its version, "R8 8.5.35"; "" when the mapping does not say.
	Tool string `json:"tool,omitempty"`
	// MapID and MapHash are pg_map_id and pg_map_hash: names of the mapping that the app
	// carries in its frames too. MapHash is hexadecimal, in lower case.
	MapID   string `json:"map_id,omitempty"`
	MapHash string `json:"map_hash,omitempty"`
	// Versions are those of R8's mapping format that the mapping says it uses, as it spells them.
	Versions []string `json:"versions,omitempty"`
	Lines    int      `json:"lines"`
	Classes  int      `json:"classes"`
	Methods  int      `json:"methods"`
	Fields   int      `json:"fields"`
}

// hash is FNV-1a of 64 bits.
func hash[T string | []byte](text T) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
