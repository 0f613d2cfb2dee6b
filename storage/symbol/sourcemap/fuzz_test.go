package sourcemap

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Whatever the file: it is indexed, and then every lookup works, or it is invalid.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{
		plainMap("AAAAA,I,IACE;;GACF,AACA"), plainMap("UACA,VAAA"), plainMap("+/////DA+/////D+/////DA"), ")]}'\n" + plainMap("A"),
		`{"version":3,"sections":[{"offset":{"line":1,"column":5},"map":` + plainMap("AAAA") +
			`},{"offset":{"line":2,"column":0},"map":` + plainMap("A;A") + `}]}`,
		`{"version":3,"sources":["a.js",null],"sourcesContent":["function f(){\n call()}\r\n\u2028x",null],"names":["f","g"],"mappings":"AAAAA,CAAC","rangeMappings":"B",
		"ignoreList":[1],"scopes":"BHAAA,BFCCA,CCA,CCA,,EDAA,EGAC,IAAA,FW,FJ","debugId":"x","x_facebook_sources":[[{"names":["<global>","f"],"mappings":"AAA,KCA;ADC"}]]}`,
		`{"version":3,"x":[{"a":[1,-0.5e+3,true,null,"\ud83d\ude00"]}],"sources":[],"mappings":""}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var b bytes.Buffer
		if _, err := Index(bytes.NewReader(p), int64(len(p)), &b, Options{URL: "https://example.com/a/b.js.map"}); err != nil {
			var wrong *symbol.InvalidError
			require.True(t, errors.As(err, &wrong), "%v", err)
			return
		}
		m := opened1(t, b.Bytes())
		for i := range min(m.Sources(), 50) {
			_, err := m.Excerpt(i, 2, 3)
			require.NoError(t, err)
			_, _, err = m.Content(i)
			require.NoError(t, err)
		}
		for line := range 4 {
			for column := range 12 {
				_, err := m.Frames(line, column, Call{Name: "x", Exact: true})
				require.NoError(t, err)
				_, _, err = m.Lookup(line, column, Upper)
				require.NoError(t, err)
			}
		}
	})
}

// An index that somebody changed does not bring a lookup down.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		plainMap("AAAAA,I,IACE;;GACF,AACA"),
		`{"version":3,"sources":["a.js"],"sourcesContent":["function f(){\n call()}"],"names":["f","g"],"mappings":"AAAAA,CAAC","scopes":"BHAAA,BFCCA,CCA,CCA,EDAA,EGAC,FW,FJ",
		"x_facebook_sources":[[{"names":["<global>","f"],"mappings":"AAA,KCA;ADC"}]]}`,
	} {
		var b bytes.Buffer
		if _, err := Index(bytes.NewReader([]byte(s)), int64(len(s)), &b, Options{}); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		file, err := symbol.Open(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		if s, err := OpenScript(file); err == nil {
			_, _ = s.Excerpt(1, 3)
			_, _, _ = s.Function(1, 3)
		}
		m, err := Open(file)
		if err != nil {
			return
		}
		for line := 1; line < 4; line++ {
			for column := range 12 {
				_, _ = m.Frames(line, column, Call{})
				_, _, _ = m.Lookup(line, column, Upper)
			}
			_, _ = m.Excerpt(0, line, 3)
		}
		require.LessOrEqual(t, m.found.size+m.mapped.size, m.Cost(), "what is cached is counted")
	})
}
