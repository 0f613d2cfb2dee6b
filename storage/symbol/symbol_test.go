package symbol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ         IdentifierType
		given, want string
	}{
		{DebugID, "c1a2b3c4d5e6f708192a3b4c5d6e7f80A", "C1A2B3C4D5E6F708192A3B4C5D6E7F80a"},
		{DebugID, "c1a2b3c4-d5e6-f708-192a-3b4c5d6e7f80", "C1A2B3C4D5E6F708192A3B4C5D6E7F800"},
		{DebugID, "{C1A2B3C4-D5E6-F708-192A-3B4C5D6E7F80}", "C1A2B3C4D5E6F708192A3B4C5D6E7F800"},
		{DebugID, "c1a2b3c4-d5e6-f708-192a-3b4c5d6e7f80-1F", "C1A2B3C4D5E6F708192A3B4C5D6E7F801f"},
		{DebugID, "C1A2B3C4D5E6F708192A3B4C5D6E7F800000002", "C1A2B3C4D5E6F708192A3B4C5D6E7F802"},
		{DebugID, "C1A2B3C4D5E6F708192A3B4C5D6E7F8", ""},
		{DebugID, "C1A2B3C4D5E6F708192A3B4C5D6E7F80123456789", ""},
		{BuildID, " ABCDEF0123456789 ", "abcdef0123456789"},
		{BuildID, "xyz", ""},
		{CodeID, "5F0000001A000", "5f0000001a000"},
		{ScriptID, "85314830-023F-4CF1-A267-535F4E37BB17", "85314830-023f-4cf1-a267-535f4e37bb17"},
		{ScriptID, "85314830", ""},
		{MappingID, "7A3F5C1", "7a3f5c1"},
		{URL, "~/static/Main.js", "~/static/Main.js"},
		{URL, "", ""},
		{URL, strings.Repeat("x", maxValue+1), ""},
	} {
		got, ok := Identifier{Type: c.typ, Value: c.given}.Normalize()
		require.Equal(t, c.want != "", ok, c.given)
		if ok {
			require.Equal(t, c.want, got.Value)
		}
	}
}

func written(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, "native", 7)
	w.Begin("a")
	_, err := w.Write([]byte("one"))
	require.NoError(t, err)
	w.Begin("empty")
	w.Begin("b")
	_, err = w.Write([]byte("three"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestContainer(t *testing.T) {
	t.Parallel()
	p := written(t)
	f, err := Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	require.Equal(t, "native", f.Kind)
	require.EqualValues(t, 7, f.Version)
	require.Equal(t, []string{"a", "b", "empty"}, f.Sections())
	for name, want := range map[string]string{"a": "one", "b": "three", "empty": "", "none": ""} {
		got, err := f.ReadSection(name, 5)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.EqualValues(t, len(want), f.Section(name).Size())
	}
	_, err = f.ReadSection("b", 4)
	require.ErrorContains(t, err, "more than 4")
	for n := range p {
		_, err := Open(bytes.NewReader(p[:n]), int64(n))
		require.Error(t, err, "cut off at %d", n)
	}
}

func FuzzOpen(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b, "x", 1)
	w.Begin("s")
	_, _ = w.Write([]byte("text"))
	_ = w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, p []byte) {
		x, err := Open(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		for _, name := range x.Sections() {
			_, _ = x.ReadSection(name, 1<<20)
		}
	})
}
