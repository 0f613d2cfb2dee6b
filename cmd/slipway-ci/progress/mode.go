package progress

import (
	"io"
	"os"

	"golang.org/x/term"
)

// ModeOf chooses how to print to a writer: Live to a terminal that a person sits at, Lines to
// anything else, and in CI, whose logs are sometimes terminals by their looks. quiet is Silent.
// color says whether colours are wanted: not with NO_COLOR (no-color.org) or TERM=dumb.
func ModeOf(w io.Writer, getenv func(string) string, ci, quiet bool) (mode Mode, color bool) {
	if quiet {
		return Silent, false
	}
	file, ok := w.(*os.File)
	if !ok || ci || getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) || !prepare(file) {
		return Lines, false
	}
	return Live, getenv("NO_COLOR") == ""
}

// WidthOf returns the width of the terminal behind a writer, 0 where there is none.
func WidthOf(w io.Writer) func() int {
	return func() int {
		file, ok := w.(*os.File)
		if !ok {
			return 0
		}
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 0
		}
		return width
	}
}
