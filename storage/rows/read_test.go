package rows

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
)

func csvBody(t *testing.T, text string) []byte {
	body, err := json.Marshal(map[string]string{"csv": text})
	require.NoError(t, err)
	return body
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		want       Data
	}{
		{"rows", `{"rows":[{"user":"ann","total":"3"},{"total":"","user":"b\"é\n"}]}`,
			Data{Columns: []string{"user", "total"}, Rows: [][]string{{"ann", "3"}, {"b\"é\n", ""}}, RowName: "user"}},
		{"name and secrets", `{"rows":[{"password":"s","user":"ann","total":"3"}],"rowName":"total","secret":["password"]}`,
			Data{Columns: []string{"password", "user", "total"}, Rows: [][]string{{"s", "ann", "3"}}, Secret: []string{"password"},
				RowName: "total"}},
		{"first column that is not secret", `{"rows":[{"password":"s","user":"ann"}],"secret":["password"]}`,
			Data{Columns: []string{"password", "user"}, Rows: [][]string{{"s", "ann"}}, Secret: []string{"password"}, RowName: "user"}},
		{"only secrets", `{"rows":[{"password":"s"}],"secret":["password"]}`,
			Data{Columns: []string{"password"}, Rows: [][]string{{"s"}}, Secret: []string{"password"}}},
		{"csv", `{"csv":"user,total\r\nann,3\r\n\"b,\"\"c\"\"\r\nd\",\r\n"}`,
			Data{Columns: []string{"user", "total"}, Rows: [][]string{{"ann", "3"}, {"b,\"c\"\nd", ""}}, RowName: "user"}},
		{"byte order mark, no end of line", `{"csv":"\ufeffuser\nann"}`,
			Data{Columns: []string{"user"}, Rows: [][]string{{"ann"}}, RowName: "user"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Read([]byte(test.body))
			require.NoError(t, err)
			require.Equal(t, &test.want, got)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("a,", MaxColumns)
	for _, test := range []struct{ name, body, want string }{
		{"nothing", ``, "data: must be an object"},
		{"text", `"user"`, "data: must be an object"},
		{"neither", `{"rowName":"user"}`, "data: must have exactly one of rows and csv"},
		{"both", `{"csv":"a\n1","rows":[{"a":"1"}]}`, "data: must have exactly one of rows and csv"},
		{"unknown member", `{"rows":[{"a":"1"}],"sheet":"x"}`, "data.sheet: is unknown"},
		{"no row", `{"rows":[]}`, "data.rows: must have at least one row"},
		{"no array", `{"rows":{"a":"1"}}`, "data.rows: must be an array"},
		{"no object", `{"rows":[{"a":"1"},["1"]]}`, "data.rows[1]: must be an object"},
		{"empty object", `{"rows":[{}]}`, "data.rows[0]: must have at least one column"},
		{"number", `{"rows":[{"a":"1"},{"a":2}]}`, "data.rows[1].a: must be a string"},
		{"deep", `{"rows":[{"a":{"b":"c"}}]}`, "data.rows[0].a: must be a string"},
		{"missing", `{"rows":[{"a":"1","b":"2"},{"a":"1"}]}`, "data.rows[1].b: is missing"},
		{"other column", `{"rows":[{"a":"1"},{"a":"1","c":"2"}]}`, "data.rows[1].c: is no column of the first row"},
		{"twice", `{"rows":[{"a":"1"},{"a":"1","a":"2"}]}`, "data.rows[1].a: stands twice"},
		{"twice in the first", `{"rows":[{"a":"1","a":"2"}]}`, "data.rows[0].a: is the name of another column too"},
		{"name", `{"rows":[{"User Name":"1"}]}`, "data.rows[0].User Name: must be 1 to 64 lower-case"},
		{"NUL", `{"rows":[{"a":"\u0000"}]}`, "data.rows[0].a: must be UTF-8 text without"},
		{"long value", `{"rows":[{"a":"` + strings.Repeat("x", MaxValue+1) + `"}]}`, "data.rows[0].a: must have at most 4 KiB"},
		{"csv without header", `{"csv":""}`, "data.csv: must begin with a line of column names"},
		{"csv without rows", `{"csv":"a,b\n"}`, "data.csv: must have at least one row"},
		{"csv name", `{"csv":"a,B\n1,2"}`, "data.csv: line 1: the name of column 2 must be"},
		{"csv name twice", `{"csv":"a,a\n1,2"}`, "data.csv: line 1: the name of column 2 is the name of another"},
		{"csv too few", `{"csv":"a,b\n1,2\n\"x\ny\",2\n3\n"}`, "data.csv: line 5: has 1 values, the first line names 2 columns"},
		{"csv quote", `{"csv":"a,b\n1,2\n3,\"4\n5"}`, "data.csv: line 3"},
		{"csv bare quote", `{"csv":"a,b\n1,2\n3,4\"4\n5"}`, "data.csv: line 3: a value with a quote must stand in quotes"},
		{"csv long value", `{"csv":"a,b\n1,2\n1,` + strings.Repeat("x", MaxValue+1) + `"}`, "data.csv: line 3: b must have at most 4 KiB"},
		{"csv too wide", `{"csv":"` + wide + `b\n"}`, "data.csv: line 1: has more than 100 columns"},
		{"csv row too wide", `{"csv":"a\n` + wide + `b\n"}`, "data.csv: line 2: has more than 100 columns"},
		{"secret", `{"rows":[{"a":"1"}],"secret":["b"]}`, `data.secret: names the column "b", which the data do not have`},
		{"secret twice", `{"rows":[{"a":"1"}],"secret":["a","a"]}`, `data.secret: names the column "a" twice`},
		{"row name", `{"rows":[{"a":"1"}],"rowName":"b"}`, `data.rowName: names the column "b", which the data do not have`},
		{"secret row name", `{"rows":[{"a":"1"}],"rowName":"a","secret":["a"]}`, `data.rowName: names the column "a", which is secret`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read([]byte(test.body))
			var wrong *storage.InvalidError
			require.ErrorAs(t, err, &wrong)
			require.Contains(t, wrong.Error(), test.want)
		})
	}
}

func TestReadBounds(t *testing.T) {
	t.Parallel()
	most := "a\n" + strings.Repeat("1\n", MaxRows)
	d, err := Read(csvBody(t, most))
	require.NoError(t, err)
	require.Len(t, d.Rows, MaxRows)
	_, err = Read(csvBody(t, most+"1\n"))
	require.ErrorContains(t, err, fmt.Sprintf("data.csv: line %d: there are at most 10000 rows", MaxRows+2))
	_, err = Read([]byte(`{"rows":[` + strings.Repeat(`{"a":"1"},`, MaxRows) + `{"a":"1"}]}`))
	require.ErrorContains(t, err, "data.rows: has at most 10000 elements")
	_, err = Read(csvBody(t, "a\n"+strings.Repeat("x", MaxSize)))
	require.ErrorContains(t, err, "data.csv: must have at most 4 MiB")
	_, err = Read([]byte(`{"rows":[` + strings.Repeat(`{"a":"`+strings.Repeat("x", MaxValue)+`"},`, MaxSize/MaxValue) + `{"a":"1"}]}`))
	require.ErrorContains(t, err, "data.rows: have at most 4 MiB of values")
}

// TestMillionColumns checks that a CSV of a million columns, in quotes or without, costs no
// more memory than its text.
func TestMillionColumns(t *testing.T) {
	for _, text := range []string{strings.Repeat("a,", 1_000_000), strings.Repeat(`"",`, 1_000_000),
		"a\n" + strings.Repeat(`"a""",`, 500_000), "a\n\"x\ny\"\n" + strings.Repeat(",", 1_000_000)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := &Data{}
		err := d.readCSV(text)
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "has more than 100 columns")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<10))
	}
}

func TestSealed(t *testing.T) {
	t.Parallel()
	keys := seal.Ring{[]byte(strings.Repeat("k", 32))}
	d, err := Read([]byte(`{"rows":[{"user":"ann","password":"s3cret","pin":""},{"user":"bob","password":"x","pin":"42"}],"secret":["pin",` +
		`"password"]}`))
	require.NoError(t, err)
	s, err := Seal(keys, d)
	require.NoError(t, err)
	require.Equal(t, Header{Columns: []string{"user", "password", "pin"}, Secret: []string{"password", "pin"},
		RowName: "user", Count: 2, Size: 15 + 15}, s.Header)
	require.Equal(t, []string{`["ann","",""]`, `["bob","",""]`}, s.cells)
	require.Empty(t, s.digest, "a digest of secrets could be guessed")
	for i, want := range [][]Cell{
		{{"user", "ann", false}, {"password", "s3cret", true}, {"pin", "", true}},
		{{"user", "bob", false}, {"password", "x", true}, {"pin", "42", true}}} {
		require.NotContains(t, string(s.hidden[i]), "s3cret")
		row := Row{Header: s.Header, Cells: []byte(s.cells[i]), Hidden: s.hidden[i], Key: s.key}
		got, err := row.Open(keys)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = row.Open(seal.Ring{[]byte(strings.Repeat("o", 32))})
		require.ErrorIs(t, err, seal.ErrUnseal)
	}
	open, err := Seal(nil, &Data{Columns: []string{"a"}, Rows: [][]string{{"1"}}, RowName: "a"})
	require.NoError(t, err, "without secrets no key is needed")
	require.NotEmpty(t, open.digest)
	require.Nil(t, open.hidden)
}

func TestName(t *testing.T) {
	t.Parallel()
	h := Header{Columns: []string{"total", "user"}, RowName: "user"}
	require.Equal(t, "ann b", h.Name([]string{"3", "ann\n\t b "}))
	require.Equal(t, strings.Repeat("é", maxName), h.Name([]string{"3", strings.Repeat("é", 200)}))
	require.Empty(t, (&Header{Columns: []string{"password"}}).Name([]string{""}))
}

// FuzzRead checks that a table that was read comes back the same through CSV, and that what is
// refused is refused as somebody's mistake.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"rows":[{"user":"ann"}]}`, `{"csv":"a,b\n\"1\"\"\",2\n"}`, `{"csv":"a\n\"\"\n"}`, `{"rows":[{}]}`,
		`{"csv":"a\r\n\"x\r\ny\"\r\n","secret":["a"]}`, `{"csv":"\ufeffa,\n,","rows":null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(text)
		if err != nil {
			var wrong *storage.InvalidError
			require.ErrorAs(t, err, &wrong)
			require.True(t, strings.HasPrefix(wrong.Field, "data"))
			return
		}
		require.LessOrEqual(t, len(d.Columns), MaxColumns)
		for _, row := range d.Rows {
			require.Len(t, row, len(d.Columns))
		}
		var out strings.Builder
		left := d.Rows
		require.NoError(t, WriteCSV(&out, d.Columns, func() ([][]string, error) {
			list := left[:min(len(left), 2)]
			left = left[len(list):]
			return list, nil
		}))
		if len(out.String()) > MaxSize {
			return
		}
		again := &Data{}
		require.NoError(t, again.readCSV(out.String()))
		require.Equal(t, d.Columns, again.Columns)
		for i := range d.Rows {
			for k := range d.Rows[i] {
				// A reader of CSV cannot tell the ends of lines apart.
				require.Equal(t, strings.ReplaceAll(d.Rows[i][k], "\r\n", "\n"), strings.ReplaceAll(again.Rows[i][k], "\r\n", "\n"))
			}
		}
	})
}
