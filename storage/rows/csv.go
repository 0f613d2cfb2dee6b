package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

const csvField = "data.csv"

func badLine(line int, format string, args ...any) error {
	return storage.Invalid(csvField, "line %d: %s", line, fmt.Sprintf(format, args...))
}

// byteOrderMark may stand before a CSV: spreadsheets write it.
const byteOrderMark = "\ufeff"

// readCSV reads a table of RFC 4180 whose first record has the names of the columns.
func (d *Data) readCSV(text string) error {
	if len(text) > MaxSize {
		return storage.Invalid(csvField, "must have at most %d MiB", MaxSize>>20)
	}
	text = strings.TrimPrefix(text, byteOrderMark)
	// The reader takes a record apart before anybody sees how many fields it has.
	if line := tooWide(text); line > 0 {
		return badLine(line, "has more than %d columns", MaxColumns)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.ReuseRecord = true
	r.FieldsPerRecord = -1 // counted below, with a text of our own
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return storage.Invalid(csvField, "must begin with a line of column names")
	}
	if err != nil {
		return misread(err)
	}
	for i, name := range header {
		if problem := nameProblem(name, d.Columns); problem != "" {
			return badLine(1, "the name of column %d %s", i+1, problem)
		}
		d.Columns = append(d.Columns, strings.Clone(name))
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return d.filled(csvField)
		}
		if err != nil {
			return misread(err)
		}
		if err := d.addRecord(record, r); err != nil {
			return err
		}
	}
}

func (d *Data) addRecord(record []string, r *csv.Reader) error {
	line, _ := r.FieldPos(0)
	if len(record) != len(d.Columns) {
		return badLine(line, "has %d values, the first line names %d columns", len(record), len(d.Columns))
	}
	if len(d.Rows) == MaxRows {
		return badLine(line, "there are at most %d rows", MaxRows)
	}
	for i, value := range record {
		if problem := valueProblem(value); problem != "" {
			at, _ := r.FieldPos(i)
			return badLine(at, "%s %s", d.Columns[i], problem)
		}
	}
	d.Rows = append(d.Rows, slices.Clone(record))
	return nil
}

// filled refuses a table without rows.
func (d *Data) filled(field string) error {
	if len(d.Rows) == 0 {
		return storage.Invalid(field, "must have at least one row")
	}
	return nil
}

// misread is an error of the form.
func misread(err error) error {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return storage.Invalid(csvField, "cannot be read")
	}
	switch {
	case errors.Is(wrong.Err, csv.ErrQuote):
		return badLine(wrong.StartLine, `a value in quotes ends with a quote, and a quote inside is written twice`)
	case errors.Is(wrong.Err, csv.ErrBareQuote):
		return badLine(wrong.Line, `a value with a quote must stand in quotes`)
	}
	return badLine(wrong.Line, "is no CSV")
}

// tooWide returns the line of the first record with more fields than there may be columns,
// 0 for none. It allocates nothing.
func tooWide(text string) int {
	line, fields, quoted, begins := 1, 1, false, true
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			line++
		}
		switch {
		case quoted:
			quoted = c != '"'
			begins = false
			continue
		case c == '"':
			// Also the second quote of a pair, which goes on with the value.
			quoted = begins || text[i-1] == '"'
		case c == '\n':
			fields = 1
		case c == ',':
			if fields++; fields > MaxColumns {
				return line
			}
		}
		begins = c == ',' || c == '\n'
	}
	return 0
}

// WriteCSV writes a table of RFC 4180: a line of names, then rows as they come from next, until
// it has no more.
func WriteCSV(to io.Writer, columns []string, next func() (rows [][]string, err error)) error {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	if err := w.Write(columns); err != nil {
		return err
	}
	for {
		list, err := next()
		if err != nil {
			return err
		}
		for _, row := range list {
			if err := writeRecord(w, to, row); err != nil {
				return err
			}
		}
		if w.Flush(); len(list) == 0 {
			return w.Error()
		}
	}
}

// writeRecord writes a row. One of a single empty value would be an empty line, which
// readers pass over.
func writeRecord(w *csv.Writer, to io.Writer, row []string) error {
	if len(row) != 1 || row[0] != "" {
		return w.Write(row)
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	_, err := io.WriteString(to, "\"\"\r\n")
	return err
}
