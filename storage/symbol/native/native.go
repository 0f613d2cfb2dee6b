// Package native is the index of native code: which function, file and line an
// address belongs to, with the functions that the compiler inlined there, the names of
// public symbols, and how to unwind the stack.
//
// Readers of files (dwarf, breakpad, pdb, binary) report what they find to a Sink, in
// any order; Builder is the Sink that writes an index. Addresses are relative to the
// base of the image as it is linked: of an ELF file the lowest PT_LOAD (rounded down to
// its page), of a Mach-O __TEXT, of a PE ImageBase; so the address of a frame is looked up as the
// frame's address less the module's start.
package native

// Sink takes what a reader found in a file. The slices belong to the reader again after
// the call. An error ends the reading.
type Sink interface {
	// Function reports a function with its lines and inlined functions.
	Function(f *Function) error
	// Public reports a symbol of a symbol table.
	Public(p Public) error
	// Unwind reports how to unwind in a range of addresses.
	Unwind(u Unwind) error
}

// Function is a function that has an address range of its own. One of several ranges
// (hot and cold parts) is reported as several functions.
type Function struct {
	Start, End uint64
	// Name as the debug information has it: the linkage name where it has one (mangled),
	// else the qualified plain name.
	Name string
	// Lines in the order of their addresses, each to the next one's, the last to End. They cover
	// the function, with what is inlined in it.
	Lines []Line
	// Inlines in the order of the tree: a caller before what is inlined in it.
	Inlines []Inline
}

// Line says which line the code at an address comes from: that of the innermost inlined
// function there. Line 0 means code without a line.
type Line struct {
	Address      uint64
	File         string
	Line, Column uint32
}

// Inline is a function that the compiler inlined.
type Inline struct {
	Ranges []Range
	// Depth is 0 for one that is inlined into the function itself.
	Depth int
	Name  string
	// Where it was called.
	CallFile             string
	CallLine, CallColumn uint32
}

// Range is from Start up to End, which does not belong to it.
type Range struct{ Start, End uint64 }

// Public is a symbol of a symbol table. Size 0 means unknown: it goes to the next one.
type Public struct {
	Address, Size uint64
	Name          string
}

// Unwind is a rule to find the caller's registers, in Breakpad's notation
// (https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md).
type Unwind struct {
	Start, End uint64
	// Rules are those of STACK CFI: ".cfa: $rsp 8 + .ra: .cfa 8 - ^". A row holds all rules
	// that are in force, not the change to a former row.
	Rules string
	// Windows holds the fields of STACK WIN instead: type, prologue size, epilogue size,
	// parameter size, saved register size, local size, max stack size, has_program_string,
	// and the program string or allocates_base_pointer, as in the file.
	Windows string
}

// Frame is a function at an address.
type Frame struct {
	// Symbol is the name as the file has it, Function in clear.
	Symbol, Function string
	File             string
	Line, Column     uint32
	// Inlined: the function was inlined into that of the next frame.
	Inlined bool
	// Public: the name is only that of the nearest symbol of a symbol table.
	Public bool
	// Start is the first address of the function, or of the symbol.
	Start uint64
}
