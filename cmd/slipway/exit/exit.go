// Package exit has the errors by which a command says how the program ends.
//
// Any other error ends it with code 1 and one line on standard error. Error has a code of its own,
// which scripts tell apart, such as pending migrations from newer ones. Quiet is for a command that
// has printed what is wrong already: the line is left out.
package exit

// Error is an error that ends the program with a code of its own.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Quiet ends a command that has printed its error already.
type Quiet struct{}

func (*Quiet) Error() string { return "failed" }
