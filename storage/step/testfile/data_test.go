package testfile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestData(t *testing.T) {
	t.Parallel()
	text := "name: Sign in\ndata:\n  rows:\n    - user: ann\n      total: \"3\"\n    - total: 007\n      user: \"b \\\"c\\\"\"\n" +
		"  rowName: total\n"
	c, err := Read([]byte(text))
	require.NoError(t, err)
	require.Equal(t, &Data{Columns: []string{"user", "total"}, Rows: [][]string{{"ann", "3"}, {`b "c"`, "007"}}, RowName: "total"}, c.Data)
	body, err := c.Data.Body()
	require.NoError(t, err)
	require.Equal(t, `{"rows":[{"user":"ann","total":"3"},{"user":"b \"c\"","total":"007"}],"rowName":"total"}`, string(body))
	require.True(t, json.Valid(body))
	again, err := c.Write()
	require.NoError(t, err)
	back, err := Read(again)
	require.NoError(t, err)
	require.True(t, back.Same(c))
	require.Equal(t, c.Data, back.Data)

	// The same rows of a CSV file are the same data; others are not.
	other := *c
	other.Data = &Data{CSV: "users.csv", RowName: "total"}
	require.NoError(t, other.Data.ReadCSV("\ufeffuser,total\nann,3\n\"b \"\"c\"\"\",007\n"))
	require.True(t, other.Same(c))
	body, err = other.Data.Body()
	require.NoError(t, err)
	require.Equal(t, `{"csv":"`+"\ufeff"+`user,total\nann,3\n\"b \"\"c\"\"\",007\n","rowName":"total"}`, string(body))
	written, err := other.Write()
	require.NoError(t, err)
	require.Contains(t, string(written), "data:\n  csv: users.csv\n  rowName: total\n")
	other.Data.Rows[0][0] = "eve"
	require.False(t, other.Same(c))
}

func TestDataRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ data, want string }{
		{"x", "line 2: data has rows or csv"},
		{"{rowName: a}", "line 2: data must have exactly one of rows and csv"},
		{"{csv: a.csv, rows: [{a: b}]}", "line 2: data must have exactly one of rows and csv"},
		{"{rows: []}", "line 2: rows must have at least one row"},
		{"{rows: [a]}", "line 2: a row has a value for each column"},
		{"{rows: [{a: b}, {c: d}]}", "line 2: c is no column of the first row"},
		{"{rows: [{a: b, c: d}, {a: d}]}", "line 2: c is missing"},
		{"{rows: [{a: b, a: d}]}", "line 2: a stands twice"},
		{"{rows: [{a: [b]}]}", "line 2: a must be a text"},
		{"{rows: [{a: null}]}", "line 2: a must be a text"},
		{"{rows: [{a: b}], rowName: c}", `line 2: rowName names the column "c"`},
		{"{csv: /etc/passwd}", "line 2: csv must be a path from the test's folder"},
		{`{csv: 'a\b'}`, "line 2: csv must be a path from the test's folder"},
		{"{csv: a.csv, secret: [a]}", "line 2: secret columns stay on the server"},
		{"{csv: a.csv, sheet: a}", "line 2: sheet is unknown in data"},
	} {
		_, err := Read([]byte("name: Sign in\ndata: " + test.data + "\n"))
		require.ErrorContains(t, err, test.want, test.data)
	}
	require.ErrorContains(t, (&Data{}).ReadCSV(""), "must begin with a line of column names")
	require.ErrorContains(t, (&Data{}).ReadCSV("a,b\n1\n"), "record on line 2")
	require.ErrorContains(t, (&Data{}).ReadCSV("a\n"+strings.Repeat("1\n", maxDataRows+1)), "more than 10000 rows")
}
