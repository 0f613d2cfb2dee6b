package report

// Limits bounds what a report may contain, so that no document costs more to read
// than its size suggests. A field of zero or less means the default.
// Real clients stay far below the defaults.
type Limits struct {
	// Depth is how many objects and arrays may stand inside one another,
	// counted from the report object. The report's own structure is six deep
	// and is always allowed; the bound is for annotations and unknown members.
	// At most 1000: the walk recurses once for each level.
	Depth int
	// Threads, FramesPerThread, Sources, Modules, Slices, Classifiers and
	// Attributes bound the number of entries of each list.
	Threads         int
	FramesPerThread int
	Sources         int
	Modules         int
	Slices          int
	Classifiers     int
	Attributes      int
	// Registers bounds the registers of the architecture and of one frame.
	Registers int
	// Key bounds attribute keys and thread ids, in bytes of decoded text.
	Key int
	// Secrets bounds the number of values to be masked.
	Secrets int
}

// maxDepth is the recursion that the walk allows at all: 1000 levels take
// some hundred kilobytes of stack.
const maxDepth = 1000

// DefaultLimits returns the bounds that the edge uses unless configured otherwise.
func DefaultLimits() Limits {
	return Limits{
		Depth:           64,     // error objects and game scenes nest to about 20
		Threads:         20_000, // a server with a thread for each connection
		FramesPerThread: 50_000, // an unbounded recursion, dumped whole; engines cut at 10,000
		Sources:         50_000, // some clients write one entry for each frame
		Modules:         20_000, // a large desktop program loads about 1,000
		Slices:          10_000, // a dump holds a few slices for each thread
		Classifiers:     100,    // clients send one or two
		Attributes:      5_000,  // clients send 50 to 200
		Registers:       512,    // the largest vector register files have about 100 names
		Key:             512,    // keys are indexed: far below the 2,704 bytes of a btree entry
		Secrets:         10_000, // an environment holds some dozens
	}
}

// parseLimits bounds Parse: the counts were bounded when the document was
// checked, under limits that Parse does not know.
func parseLimits() Limits {
	const unbounded = int(^uint(0) >> 1)
	return Limits{
		Depth: maxDepth, Threads: unbounded, FramesPerThread: unbounded, Sources: unbounded,
		Modules: unbounded, Slices: unbounded, Classifiers: unbounded, Attributes: unbounded,
		Registers: unbounded, Key: unbounded, Secrets: unbounded,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		value *int
		std   int
	}{
		{&l.Depth, d.Depth}, {&l.Threads, d.Threads}, {&l.FramesPerThread, d.FramesPerThread},
		{&l.Sources, d.Sources}, {&l.Modules, d.Modules}, {&l.Slices, d.Slices},
		{&l.Classifiers, d.Classifiers}, {&l.Attributes, d.Attributes},
		{&l.Registers, d.Registers}, {&l.Key, d.Key}, {&l.Secrets, d.Secrets},
	} {
		if *f.value <= 0 {
			*f.value = f.std
		}
	}
	l.Depth = min(l.Depth, maxDepth)
	return l
}
