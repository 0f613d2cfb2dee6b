package mapping

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

const head = `# compiler: R8
# compiler_version: 8.1.56
# min_api: 26
# compiler_hash: 1b2c
# common_typos_disable
# {"id":"com.android.tools.r8.mapping","version":"2.2"}
# pg_map_id: 7a3f5c1
# pg_map_hash: SHA-256 7A3F5C1abcdef
`

const classes = `com.example.Main -> a.a:
# {"id":"sourceFile","fileName":"Main.kt"}
    int count -> a
    1:5:void run(java.lang.String):10:14 -> b
`

func r8() *artifact.Symbols {
	return &artifact.Symbols{Kind: artifact.Mapping, Tool: "R8 8.1.56", MapID: "7a3f5c1", MapHash: "7a3f5c1abcdef"}
}

func plain() *artifact.Symbols { return &artifact.Symbols{Kind: artifact.Mapping} }

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want *artifact.Symbols
	}{
		"r8":              {head + classes, r8()},
		"windows":         {strings.ReplaceAll(head+classes, "\n", "\r\n"), r8()},
		"byte order":      {"\xef\xbb\xbf" + head + classes, r8()},
		"proguard":        {classes, plain()},
		"licence":         {strings.Repeat("# licence\n", 500) + classes, plain()},
		"kotlin":          {"a.b.-$$Lambda$x -> a.b.-$$Lambda$x:\n", plain()},
		"no last newline": {"a.B -> c:", plain()},
		"other letters":   {"a.Ünïcode -> ä:\n", plain()},
		"long class":      {"a." + strings.Repeat("b", 10_000) + " -> c:\n", plain()},
		"late id is none": {classes + head, plain()},
		"long id is none": {"# pg_map_id: " + strings.Repeat("x", maxValue+1) + "\n" + classes, plain()},
		"rest is rubbish": {classes + strings.Repeat("\x00", 1<<20), plain()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ReadAt(strings.NewReader(c.text), int64(len(c.text)))
			require.NoError(t, err)
			require.Equal(t, c.want, s)
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":        "",
		"head alone":   head,
		"prose":        "An arrow -> points at something:\n",
		"member alone": "    int count -> a\n",
		"source map":   `{"version":3,"mappings":"AAAA -> b:"}`,
		"binary":       strings.Repeat("\x00\xff", 100_000),
		"class is far": strings.Repeat("#\n", maxLines) + classes,
		"beyond bytes": "# " + strings.Repeat("x", Head) + "\n" + classes,
		"go":           "ch <- x\nx -> y\n",
		"two arrows":   "a -> b -> c:\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(strings.NewReader(text))
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
		})
	}
	broken := errors.New("broken")
	_, err := Read(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

// endless counts what is read of a mapping without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
}

func TestReadsTheHeadOnly(t *testing.T) {
	t.Parallel()
	e := &endless{}
	_, err := Read(io.MultiReader(strings.NewReader(head+classes), e))
	require.NoError(t, err)
	require.LessOrEqual(t, e.read, Head)
}

func TestReadArchive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entries []string // name, content
		want    *artifact.Symbols
		reason  string
	}{
		"one":             {[]string{"app/mapping.txt", head + classes}, r8(), ""},
		"map":             {[]string{"release.MAP", head + classes}, r8(), ""},
		"named wins":      {[]string{"other.txt", classes, "out/mapping.txt", head + classes}, r8(), ""},
		"others beside":   {[]string{"seeds.txt", "com.example.Main\n", "usage.txt", "x\n", "proguard.txt", head + classes}, r8(), ""},
		"finder":          {[]string{"__MACOSX/mapping.txt", "x", "._mapping.txt", "x", "mapping.txt", head + classes}, r8(), ""},
		"no text":         {[]string{"a.bin", classes}, nil, "neither a dSYM nor a mapping"},
		"empty":           {nil, nil, "neither a dSYM nor a mapping"},
		"text is no map":  {[]string{"mapping.txt", "hello"}, nil, "no ProGuard or R8 mapping"},
		"too many others": {append(many(maxTexts), "z.txt", classes), nil, "no ProGuard or R8 mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := opened(t, c.entries...)
			s, err := ReadArchive(t.Context(), a)
			if c.want == nil {
				var invalid *artifact.InvalidError
				require.ErrorAs(t, err, &invalid)
				require.Contains(t, invalid.Reason, c.reason)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, s)
		})
	}
}

func many(n int) []string {
	var entries []string
	for i := range n {
		entries = append(entries, string(rune('a'+i))+".txt", "text")
	}
	return entries
}

func opened(t *testing.T, entries ...string) *archive.Archive {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := 0; i < len(entries); i += 2 {
		f, err := w.Create(entries[i])
		require.NoError(t, err)
		_, err = io.WriteString(f, entries[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	a, err := archive.Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	require.NoError(t, err)
	return a
}

func FuzzRead(f *testing.F) {
	f.Add(head + classes)
	f.Add(classes)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read(strings.NewReader(text))
		if err != nil {
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		require.Contains(t, text, " -> ")
		require.LessOrEqual(t, len(s.MapID), maxValue)
	})
}
