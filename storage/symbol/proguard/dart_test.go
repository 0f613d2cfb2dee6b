package proguard

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

func openDart(t testing.TB, text string) (*Mapping, *Summary) {
	t.Helper()
	var b bytes.Buffer
	sum, err := IndexDart(strings.NewReader(text), int64(len(text)), &b)
	require.NoError(t, err)
	file, err := symbol.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	m, err := Open(file)
	require.NoError(t, err)
	return m, sum
}

func TestDartMap(t *testing.T) {
	t.Parallel()
	m, sum := openDart(t, "[\"\",\"\", \"_NativeInteger\",\"_NativeInteger\",\n\"SemanticsAction\",\"er\",\"==\",\"==\","+
		"\"package:shop/cart.dart\",\"mD\",\"SENTRY_DEBUG_ID_MARKER\",\"b8e43af2423d73a453aeb6a777ef75aa\",\"_Page\",\"_$a1\","+
		"\"a\\\"b\",\"q\"]\n")
	require.Equal(t, 8, sum.Lines)
	require.Equal(t, 3, sum.Classes, "files, operators and the marker are no classes")
	require.Equal(t, "b8e43af2423d73a453aeb6a777ef75aa", sum.MapID)
	for obfuscated, want := range map[string]string{"er": "SemanticsAction", "_$a1": "_Page", "_NativeInteger": "_NativeInteger",
		"mD": "", "q": "", "SemanticsAction": "", "": ""} {
		name, ok, err := m.Class(obfuscated)
		require.NoError(t, err)
		require.Equal(t, want != "", ok, obfuscated)
		if ok {
			require.Equal(t, want, name)
		}
	}
	m, sum = openDart(t, "[]")
	require.Zero(t, sum.Classes)
	_, ok, err := m.Class("a")
	require.NoError(t, err)
	require.False(t, ok)
}

func TestInvalidDartMaps(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		"":                 symbol.Truncated,
		"[":                symbol.Truncated,
		`["a"`:             symbol.Truncated,
		`["a","b"`:         symbol.Truncated,
		`["a`:              symbol.Truncated,
		`["a\`:             symbol.Truncated,
		`{"a":"b"}`:        symbol.Malformed,
		`["a","b","c"]`:    symbol.Malformed,
		`["a" "b"]`:        symbol.Malformed,
		`["a",["b"]]`:      symbol.Malformed,
		`["a",1]`:          symbol.Malformed,
		`["a",]`:           symbol.Malformed,
		"[\"a\",\"\xff\"]": symbol.Malformed,
		`["` + strings.Repeat("a", maxDartName+1) + `","b"]`: symbol.TooLarge,
	} {
		_, err := IndexDart(strings.NewReader(text), int64(len(text)), &bytes.Buffer{})
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, code, invalid.Code, text)
	}
	_, err := IndexDart(strings.NewReader(""), maxDartMap+1, &bytes.Buffer{})
	require.ErrorContains(t, err, "larger")
	require.True(t, IsDartMap([]byte("\n [\"Cart\", \"aB\", \"ot")))
	for _, other := range []string{"", " ", `{"a":"b"}`, "a.b.C -> x:"} {
		require.False(t, IsDartMap([]byte(other)), other)
	}
}

func FuzzDartMap(f *testing.F) {
	f.Add(`["Cart","aB","_Page","_$c"]`, "aB")
	f.Add(`["","","a\"b","c","SENTRY_DEBUG_ID_MARKER","x"]`, "c")
	f.Add(" [ ] ", "")
	f.Add(`["a","b","c","b"]`, "b")
	f.Fuzz(func(t *testing.T, text, name string) {
		var b bytes.Buffer
		sum, err := IndexDart(strings.NewReader(text), int64(len(text)), &b)
		if err != nil {
			var invalid *symbol.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		if sum.Classes > len(text)/6 {
			t.Fatalf("%d classes of %d bytes", sum.Classes, len(text))
		}
		file, err := symbol.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		m, err := Open(file)
		require.NoError(t, err)
		original, ok, err := m.Class(name)
		require.NoError(t, err)
		if ok && (!isDartName([]byte(original)) || !strings.Contains(text, original)) {
			t.Fatalf("%q is no name of the map", original)
		}
	})
}
