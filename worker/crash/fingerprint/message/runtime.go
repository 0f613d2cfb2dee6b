package message

import "strings"

// WithoutRuntime returns a message of a runtime as all its versions would write it.
func WithoutRuntime(line string) string {
	// Go: a deferred function raised the error again.
	for _, mark := range [...]string{" [recovered, repanicked]", " [recovered]"} {
		line = strings.TrimSuffix(line, mark)
	}
	// Emscripten: how to learn more about what its assertion says.
	if i := strings.Index(line, " Build with -s"); i > 0 {
		line = strings.TrimRight(line[:i], ". ")
	}
	// Rust: a cell that is in use.
	switch {
	case line == "already borrowed: BorrowMutError":
		return "RefCell already borrowed"
	case line == "already mutably borrowed: BorrowError":
		return "RefCell already mutably borrowed"
	}
	return line
}
