// Package rows reads and stores the data rows of test cases: a table of texts, for each row
// of which the steps of the case are run. Steps name a value by {{row:column}}.
//
// The table comes as JSON rows or as CSV of RFC 4180 with a header (Read). It has 1 to
// MaxRows rows and 1 to MaxColumns columns, and MaxSize bytes at most. What is too much is
// refused before it is taken apart, and each refusal, a *storage.InvalidError, names the
// row and the column: data.rows[3].user, or data.csv with the line.
//
// Stored data never change (Insert): a revision of a case names the data that its steps are
// run with, so a run keeps its rows whatever its case gets meanwhile. The newest
// keptVersions of a case are kept, and those that open runs need; a revision whose data are
// gone has none.
//
// The values of secret columns are sealed with a key of the data's own, which is sealed in
// turn, so that a change of the signing key changes one row and not 10,000. They are
// returned to who runs the test (Cells), and to nobody else.
package rows

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// The bounds of the data of one case.
const (
	MaxRows    = 10_000
	MaxColumns = 100
	// MaxSize is bytes: of the CSV as it was sent, of names and values together.
	MaxSize = 4 << 20
	// MaxValue is bytes of one value: more than anybody types into a field.
	MaxValue = 4 << 10
	// maxName is characters of the name of a row, which stands in the names of its jobs.
	maxName = 100
)

// Data is a table of texts.
type Data struct {
	Columns []string
	// Rows have a value for each column, in the order of Columns.
	Rows [][]string
	// Secret are the columns whose values nobody may read, sorted.
	Secret []string
	// RowName is the column that names rows, never a secret one; "" where all are secret.
	RowName string
}

// Name returns the name of a row by its values, in the order of the columns; "" without one.
func (h *Header) Name(cells []string) string {
	at := slices.Index(h.Columns, h.RowName)
	if at < 0 || at >= len(cells) {
		return ""
	}
	line := strings.Join(strings.FieldsFunc(cells[at], func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	return storage.Cut(line, maxName)
}

var columnName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// nameProblem says what is wrong with the name of a column; "" is nothing.
func nameProblem(name string, before []string) string {
	switch {
	case !columnName.MatchString(name):
		return "must be 1 to 64 lower-case letters, digits and underscores"
	case slices.Contains(before, name):
		return "is the name of another column too"
	}
	return ""
}

// valueProblem says what is wrong with a value; "" is nothing.
func valueProblem(value string) string {
	switch {
	case len(value) > MaxValue:
		return "must have at most 4 KiB"
	case !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0:
		return "must be UTF-8 text without the character U+0000"
	}
	return ""
}

// settle checks the members besides the table, and sets the column that names rows.
func (d *Data) settle() error {
	for i, name := range d.Secret {
		if !slices.Contains(d.Columns, name) {
			return storage.Invalid("data.secret", "names the column %q, which the data do not have", shown(name))
		}
		if slices.Contains(d.Secret[:i], name) {
			return storage.Invalid("data.secret", "names the column %q twice", name)
		}
	}
	slices.Sort(d.Secret)
	switch {
	case d.RowName == "":
		if at := slices.IndexFunc(d.Columns, func(name string) bool { return !slices.Contains(d.Secret, name) }); at >= 0 {
			d.RowName = d.Columns[at]
		}
	case !slices.Contains(d.Columns, d.RowName):
		return storage.Invalid("data.rowName", "names the column %q, which the data do not have", shown(d.RowName))
	case slices.Contains(d.Secret, d.RowName):
		return storage.Invalid("data.rowName", "names the column %q, which is secret: names of rows are read by everybody", d.RowName)
	}
	return nil
}

// size is bytes of names and values.
func (d *Data) size() int {
	n := 0
	for _, name := range d.Columns {
		n += len(name)
	}
	for _, row := range d.Rows {
		for _, value := range row {
			n += len(value)
		}
	}
	return n
}

// shown cuts a name from outside for a message.
func shown(name string) string { return storage.Cut(strings.ToValidUTF8(name, ""), 64) }
