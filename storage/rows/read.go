package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage"
)

// document is the member data of a case. Rows are read apart, one after the other.
type document struct {
	Rows    json.RawMessage
	CSV     *string
	RowName string
	Secret  []string
}

// Read reads the member data of a case: an object with exactly one of rows, an array of
// objects of texts that all have the members of the first, and csv; and rowName and secret.
// The error is a *storage.InvalidError.
func Read(text []byte) (*Data, error) {
	in, err := readMembers(text)
	if err != nil {
		return nil, err
	}
	given := len(in.Rows) > 0 && string(in.Rows) != "null"
	if given == (in.CSV != nil) {
		return nil, storage.Invalid("data", "must have exactly one of rows and csv")
	}
	if len(in.Secret) > MaxColumns {
		return nil, storage.Invalid("data.secret", "names at most %d columns", MaxColumns)
	}
	d := &Data{RowName: in.RowName, Secret: in.Secret}
	if given {
		err = d.readRows(in.Rows)
	} else {
		err = d.readCSV(*in.CSV)
	}
	if err != nil {
		return nil, err
	}
	return d, d.settle()
}

// readMembers reads the members besides the rows, and refuses those that are not known.
func readMembers(text []byte) (in document, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return in, storage.Invalid("data", "must be an object with rows or csv, and perhaps rowName and secret")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var into any
		kind := "a string"
		switch name {
		case "rows":
			into = &in.Rows
		case "csv":
			into = &in.CSV
		case "rowName":
			into = &in.RowName
		case "secret":
			into, kind = &in.Secret, "an array of strings"
		default:
			return in, storage.Invalid("data."+shown(name), "is unknown: there are rows, csv, rowName and secret")
		}
		if err := json.Unmarshal(members[name], into); err != nil {
			return in, storage.Invalid("data."+name, "must be %s", kind)
		}
	}
	return in, nil
}

const rowsField = "data.rows"

// readRows reads an array of objects of texts; the first has the columns in their order.
func (d *Data) readRows(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return storage.Invalid(rowsField, "must be an array of objects")
	}
	size := 0
	for i := 0; dec.More(); i++ {
		if i == MaxRows {
			return storage.Invalid(rowsField, "has at most %d elements", MaxRows)
		}
		row, err := d.readRow(dec, fmt.Sprintf("%s[%d]", rowsField, i), i == 0)
		if err != nil {
			return err
		}
		for _, value := range row {
			size += len(value)
		}
		if size > MaxSize {
			return storage.Invalid(rowsField, "have at most %d MiB of values", MaxSize>>20)
		}
		d.Rows = append(d.Rows, row)
	}
	return d.filled(rowsField)
}

// readRow reads an object. The first sets the columns.
func (d *Data) readRow(dec *json.Decoder, path string, first bool) ([]string, error) {
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, storage.Invalid(path, "must be an object of texts")
	}
	row, has := make([]string, len(d.Columns)), make([]bool, len(d.Columns))
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, storage.Invalid(path, "must be an object of texts")
		}
		at := slices.Index(d.Columns, name)
		field := path + "." + shown(name)
		switch {
		case first:
			if problem := nameProblem(name, d.Columns); problem != "" {
				return nil, storage.Invalid(field, "%s", problem)
			}
			if len(d.Columns) == MaxColumns {
				return nil, storage.Invalid(path, "has more than %d columns", MaxColumns)
			}
			at, d.Columns = len(d.Columns), append(d.Columns, name)
			row, has = append(row, ""), append(has, false)
		case at < 0:
			return nil, storage.Invalid(field, "is no column of the first row")
		case has[at]:
			return nil, storage.Invalid(field, "stands twice")
		}
		if row[at], err = readValue(dec, field); err != nil {
			return nil, err
		}
		has[at] = true
	}
	_, _ = dec.Token() // the brace: the document was read as JSON before
	if at := slices.Index(has, false); at >= 0 {
		return nil, storage.Invalid(path+"."+d.Columns[at], "is missing: the first row has it")
	}
	if len(row) == 0 {
		return nil, storage.Invalid(path, "must have at least one column")
	}
	return row, nil
}

func readValue(dec *json.Decoder, field string) (string, error) {
	token, err := dec.Token()
	value, ok := token.(string)
	if err != nil || !ok {
		return "", storage.Invalid(field, "must be a string")
	}
	if problem := valueProblem(value); problem != "" {
		return "", storage.Invalid(field, "%s", problem)
	}
	return value, nil
}
