package testfile

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDataRows and maxDataColumns are those of the API.
	maxDataRows    = 10_000
	maxDataColumns = 100
	// MostInline data rows are written into the file of a test that is new in a repository;
	// more stay on the server until somebody asks for them in a CSV file.
	MostInline = 100
)

// Data are data rows: texts, for each of which the test is run. They stand in the file, or
// in a CSV file that it names. Secret columns stay on the server, so no file has data with
// any.
type Data struct {
	CSV     string // path from the file's folder, with slashes; "": the rows stand in the file
	Columns []string
	Rows    [][]string
	RowName string // the column that names rows; "": the first
	// Text is the CSV as it is sent; "" where the rows stand in the file.
	Text string
}

// compared is the form of data in which two of the same are equal.
func (d *Data) compared() any {
	name := d.RowName
	if len(d.Columns) > 0 && name == d.Columns[0] {
		name = ""
	}
	return []any{d.Columns, d.Rows, name}
}

// Same reports whether two data are the same, wherever their rows stand.
func (d *Data) Same(other *Data) bool { return reflect.DeepEqual(d.compared(), other.compared()) }

// Body returns the data as the API takes them.
func (d *Data) Body() (json.RawMessage, error) {
	members := []string{}
	if d.RowName != "" {
		name, err := json.Marshal(d.RowName)
		if err != nil {
			return nil, err
		}
		members = append(members, `"rowName":`+string(name))
	}
	if d.CSV != "" {
		text, err := json.Marshal(d.Text)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(`{"csv":` + string(text) + strings.Join(append([]string{""}, members...), ",") + "}"), nil
	}
	rows := make([]string, len(d.Rows))
	for i, row := range d.Rows {
		values := make([]string, len(row))
		for k := range row {
			pair, err := json.Marshal([]string{d.Columns[k], row[k]})
			if err != nil {
				return nil, err
			}
			values[k] = strings.Replace(string(pair[1:len(pair)-1]), `",`, `":`, 1) // a column has no quotes
		}
		rows[i] = "{" + strings.Join(values, ",") + "}"
	}
	return json.RawMessage(`{"rows":[` + strings.Join(rows, ",") + "]" + strings.Join(append([]string{""}, members...), ",") + "}"), nil
}

// ReadCSV reads the rows of a CSV file. The error names the line of that.
func (d *Data) ReadCSV(text string) error {
	d.Text, d.Columns, d.Rows = text, nil, nil
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("must begin with a line of column names")
	}
	if err != nil {
		return err
	}
	d.Columns = header
	for {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(d.Rows) == maxDataRows:
			return fmt.Errorf("has more than %d rows", maxDataRows)
		}
		d.Rows = append(d.Rows, record)
	}
}

// WriteCSV returns the rows as the text of a CSV file.
func (d *Data) WriteCSV() (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	if err := w.WriteAll(append([][]string{d.Columns}, d.Rows...)); err != nil {
		return "", err
	}
	return out.String(), nil
}

// readData reads the member data.
func readData(value *yaml.Node) (*Data, error) {
	if value.Kind != yaml.MappingNode {
		return nil, wrong(value.Line, "data has rows or csv, and perhaps rowName")
	}
	d := &Data{}
	given := 0
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, inner := value.Content[i], value.Content[i+1]
		if err := plain(inner, 1); err != nil {
			return nil, err
		}
		var err error
		switch key.Value {
		case "rows":
			given++
			err = d.readRows(inner)
		case "csv":
			given++
			if d.CSV, err = textOf(key, inner); err == nil && !localPath(d.CSV) {
				err = wrong(inner.Line, "csv must be a path from the test's folder, with /, such as users.csv")
			}
		case "rowName":
			d.RowName, err = textOf(key, inner)
		case "secret":
			err = wrong(key.Line, "secret columns stay on the server: no file of a repository may have them")
		default:
			err = wrong(key.Line, "%s is unknown in data: there are rows, csv, rowName", key.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	if given != 1 {
		return nil, wrong(value.Line, "data must have exactly one of rows and csv")
	}
	if d.CSV == "" && d.RowName != "" && !slices.Contains(d.Columns, d.RowName) {
		return nil, wrong(value.Line, "rowName names the column %q, which the rows do not have", d.RowName)
	}
	return d, nil
}

// localPath reports whether a path can be one from a folder; where it leads is seen when it
// is opened.
func localPath(path string) bool {
	return path != "" && len(path) <= 1024 && path[0] != '/' && !strings.ContainsAny(path, "\\:\x00")
}

func (d *Data) readRows(value *yaml.Node) error {
	rows, err := readList(value, "rows", maxDataRows, d.readRow)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return wrong(value.Line, "rows must have at least one row")
	}
	d.Rows = rows
	return nil
}

// readRow reads a mapping of texts; the first has the columns.
func (d *Data) readRow(n *yaml.Node) ([]string, error) {
	if err := plain(n, 1); err != nil {
		return nil, err
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 || len(n.Content) > 2*maxDataColumns {
		return nil, wrong(n.Line, "a row has a value for each column, 1 to %d", maxDataColumns)
	}
	first := d.Columns == nil
	row, has := make([]string, len(d.Columns)), make([]bool, len(d.Columns))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		if err := plain(key, 1); err != nil {
			return nil, err
		}
		if err := plain(inner, 1); err != nil {
			return nil, err
		}
		at := slices.Index(d.Columns, key.Value)
		switch {
		case inner.Kind != yaml.ScalarNode || inner.ShortTag() == "!!null":
			return nil, wrong(inner.Line, "%s must be a text", key.Value)
		case at >= 0 && (first || has[at]):
			return nil, wrong(key.Line, "%s stands twice", key.Value)
		case first:
			at, d.Columns = len(d.Columns), append(d.Columns, key.Value)
			row, has = append(row, ""), append(has, false)
		case at < 0:
			return nil, wrong(key.Line, "%s is no column of the first row", key.Value)
		}
		row[at], has[at] = inner.Value, true
	}
	if at := slices.Index(has, false); at >= 0 {
		return nil, wrong(n.Line, "%s is missing: the first row has it", d.Columns[at])
	}
	return row, nil
}

// node returns data as they stand in a file.
func (d *Data) node() *yaml.Node {
	top := &yaml.Node{Kind: yaml.MappingNode}
	if d.CSV != "" {
		top.Content = append(top.Content, scalarNode("!!str", "csv"), textNode(d.CSV))
	} else {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, row := range d.Rows {
			one := &yaml.Node{Kind: yaml.MappingNode}
			for i, value := range row {
				one.Content = append(one.Content, textNode(d.Columns[i]), textNode(value))
			}
			list.Content = append(list.Content, one)
		}
		top.Content = append(top.Content, scalarNode("!!str", "rows"), list)
	}
	if d.RowName != "" && len(d.Columns) > 0 && d.RowName != d.Columns[0] || d.RowName != "" && len(d.Columns) == 0 {
		top.Content = append(top.Content, scalarNode("!!str", "rowName"), textNode(d.RowName))
	}
	return top
}

// NameColumn is the column that names rows; "" without columns.
func (d *Data) NameColumn() string {
	if d.RowName == "" && len(d.Columns) > 0 {
		return d.Columns[0]
	}
	return d.RowName
}
