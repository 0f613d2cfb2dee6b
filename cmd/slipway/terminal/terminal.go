// Package terminal is what Slipway shows to a person at a terminal.
//
// Programs read JSON, one line for each task and request. A person who tries Slipway
// drowns in it. Handler is a slog.Handler that prints a short line for what is worth
// knowing: each warning and error with its reason, and of what went well only what
// somebody waits for, such as a build that arrived or a test that was written. Equal lines
// come once a second. At debug level it prints all records whole. Sparse
// makes the lines of the other formats short: durations in milliseconds, nothing empty.
//
// Texts in a log come from users and devices. No control character among them reaches
// the terminal, and no line for people is longer than maxLine. What is left out here is not lost:
// with --log-format json, or in a pipe, every line is there whole.
package terminal

import (
	"os"

	"github.com/mattn/go-isatty"
)

// Is reports whether a person reads the file: it is a terminal.
func Is(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
