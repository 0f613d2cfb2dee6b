package proguard

// The record of a class in the section "data", in numbers of 4 bytes:
//
//	obfuscated name, original name, source file   offsets of strings
//	flags                                         flagSynthetic
//	names of methods, names of fields             counts
//	for each name of a method: low half of the name's hash, name, offset of its overloads,
//	    count of them; sorted by hash
//	for each name of a field: the same, with the offset of its originals
//
// An overload is one method of the original class, or the part of one that stands
// together in the mapping:
//
//	flags      overload flags
//	rows       offset
//	count      of the rows
//	segments   offset; 0 when the rows are sorted by line and do not overlap
//	count      of the segments
//	plain      number of the first row without a range; the count of rows when there is none
//	residual   signature in the obfuscated program
//	original   signature of the method, for frames of which only that is known
//
// A row is a line of the mapping: from and to of its lines, from and to of the original
// lines (noNumber for none), signature, and an encoded rowInfo. Rows with the same lines
// that follow one another are a frame and the callers that it was inlined into.
//
// A segment is the first line from which on a row is the first that contains the line:
// line and number of the row, or noNumber. Segments are sorted by line.
//
// A field is its signature, flags, and its type in the obfuscated program.
const (
	classHead    = 6
	nameSize     = 4
	overloadSize = 8
	rowSize      = 6
	segmentSize  = 2
	fieldSize    = 3
)

// noNumber stands for a line that is not given, and for no row.
const noNumber = 1<<32 - 1

// Flags of an overload: what is said of the method as a whole. Without memberKnown the
// rows say it.
const (
	memberKnown = 1 << iota
	memberSynthetic
	memberOutline
)

// fewRows is the number of rows up to which they are searched one after another.
const fewRows = 8

// row is a line of a method while its class is read.
type row struct {
	lines, original lineRange
	single          bool
	signature, name uint32
	info            uint32
	residual        uint32 // 0: that of the signature with the obfuscated name
}

// member is a method of the obfuscated program while its class is read.
type member struct {
	signature, name, residual uint32
	synthetic, outline        bool
}

// field is a line of a field.
type field struct {
	name, signature, residual uint32
	synthetic                 bool
}

// class is a class while it is read.
type class struct {
	original, renamed, source uint32
	originalHash, renamedHash uint64
	synthetic                 bool
	started                   bool // a member was read
	rows                      []row
	fields                    []field
	members                   []member
	byResidual                map[uint32]int
	defaults                  map[[2]uint32]uint32 // residual signatures by signature and name

	// The member that the last lines belong to, until a line of another follows.
	pending     bool
	signature   uint32
	name        uint32
	lines       lineRange
	residual    uint32
	synthesized bool
	outline     bool

	active    int // the row that comments belong to; -1 none
	info      rowInfo
	lastAdded int // the member added last; -1 none
	field     int // the field that comments belong to; -1 none
}

func (c *class) reset() {
	*c = class{rows: c.rows[:0], fields: c.fields[:0], members: c.members[:0],
		byResidual: c.byResidual, defaults: c.defaults, active: -1, lastAdded: -1, field: -1}
	if len(c.defaults) > keptEntries || len(c.byResidual) > keptEntries {
		c.byResidual, c.defaults = nil, nil
	}
	if c.byResidual == nil {
		c.byResidual, c.defaults = map[uint32]int{}, map[[2]uint32]uint32{}
	}
	clear(c.byResidual)
	clear(c.defaults)
}

// keptEntries is how large a map of the class before may be to be used again: to clear one
// takes the time of its largest size.
const keptEntries = 1024
