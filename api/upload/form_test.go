package upload

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

type readPart struct{ name, file, content string }

// readForm reads a whole form with the reader under test.
func readForm(src io.Reader, boundary string) ([]readPart, error) {
	f := newForm(src, boundary)
	var parts []readPart
	for {
		p, err := f.next()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return parts, err
		}
		content, err := io.ReadAll(f)
		if err != nil {
			return parts, err
		}
		parts = append(parts, readPart{p.name, p.fileName, string(content)})
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	const head = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
	one := func(content string) []readPart { return []readPart{{"a", "", content}} }
	for name, tc := range map[string]struct {
		body string
		want []readPart
		err  error
	}{
		"one":                    {"--B\r\n" + head + "x\r\n--B--\r\n", one("x"), nil},
		"no end of the last":     {"--B\r\n" + head + "x\r\n--B--", one("x"), nil},
		"empty part":             {"--B\r\n" + head + "\r\n--B--\r\n", one(""), nil},
		"empty, no line of own":  {"--B\r\n" + head + "--B--\r\n", one(""), nil},
		"preamble and epilogue":  {"hello\r\n--B\r\n" + head + "x\r\n--B--\r\nbye", one("x"), nil},
		"blanks behind boundary": {"--B \t\r\n" + head + "x\r\n--B--  \r\n", one("x"), nil},
		"bare line feeds":        {"--B\n" + strings.ReplaceAll(head, "\r", "") + "x\r\n--Bx\n--B--\n", one("x\r\n--Bx"), nil},
		"looks like a boundary":  {"--B\r\n" + head + "x\r\n--BB\r\n--B-\r\n\r\n--B--\r\n", one("x\r\n--BB\r\n--B-\r\n"), nil},
		"break before the end":   {"--B\r\n" + head + "x\r\r\n\r\n--B--\r\n", one("x\r\r\n"), nil},
		"no part":                {"--B--\r\n", nil, nil},
		"nothing":                {"", nil, io.ErrUnexpectedEOF},
		"cut inside":             {"--B\r\n" + head + "xyz", nil, io.ErrUnexpectedEOF},
		"cut in the boundary":    {"--B\r\n" + head + "x\r\n--B", nil, io.ErrUnexpectedEOF},
		"cut in the headers":     {"--B\r\nContent-Dis", nil, io.ErrUnexpectedEOF},
		"not closed":             {"--B\r\n" + head + "x\r\n--B\r\n", one("x"), io.ErrUnexpectedEOF},
		"wrong boundary":         {"--C\r\n" + head + "x\r\n--C--\r\n", nil, io.ErrUnexpectedEOF},
		"garbage behind":         {"--B\r\n" + head + "x\r\n--B garbage\r\n", one("x"), errDamaged},
		"endless header":         {"--B\r\nX: " + strings.Repeat("y", maxHeader) + "\r\n\r\nx\r\n--B--\r\n", nil, errHeader},
		"endless preamble":       {strings.Repeat("y\r\n", maxHeader), nil, errHeader},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, src := range map[string]io.Reader{
				"whole": strings.NewReader(tc.body), "bytes": iotest.OneByteReader(strings.NewReader(tc.body)),
				"end with data": iotest.DataErrReader(strings.NewReader(tc.body)),
			} {
				got, err := readForm(src, "B")
				if tc.err != nil {
					require.ErrorIs(t, err, tc.err, how)
				} else {
					require.NoError(t, err, how)
				}
				require.Equal(t, tc.want, got, how)
			}
		})
	}
}

func TestFormKeepsTheErrorOfItsSource(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	body := "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n" + strings.Repeat("x", 3*formBuffer)
	f := newForm(io.MultiReader(strings.NewReader(body), iotest.ErrReader(broken)), "B")
	_, err := f.next()
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, f)
	require.ErrorIs(t, err, broken)
	require.EqualValues(t, 3*formBuffer, n)
	_, err = f.next()
	require.ErrorIs(t, err, broken)
}

// TestFormSplitsAnywhere lets the buffer end at every byte of a boundary.
func TestFormSplitsAnywhere(t *testing.T) {
	t.Parallel()
	head := "--BOUND\r\nContent-Disposition: form-data; name=a\r\n\r\n"
	for _, size := range []int{smallBuffer, formBuffer} {
		for around := -20; around < 20; around++ {
			content := strings.Repeat("\r\n--BOUN", size/8+2)[:size-len(head)+around]
			body := head + content + "\r\n--BOUND--\r\n"
			f := newForm(strings.NewReader(body), "BOUND")
			f.grow(size)
			_, err := f.next()
			require.NoError(t, err)
			got, err := io.ReadAll(f)
			require.NoError(t, err)
			require.Equal(t, content, string(got))
			_, err = f.next()
			require.Equal(t, io.EOF, err)
			require.Len(t, f.buf, size)
		}
	}
}

// TestFormGrows: a form begins small, has room for the longest line, and loses
// nothing when it grows in the middle of a part.
func TestFormGrows(t *testing.T) {
	t.Parallel()
	head := "Content-Disposition: form-data; name=a; x=" + strings.Repeat("y", maxHeader-100) + "\r\n\r\n"
	content := string(noise(3*formBuffer, 1))
	f := newForm(strings.NewReader("--B\r\nContent-Disposition: form-data; name=b\r\n\r\nhello\r\n--B\r\n"+head+content+"\r\n--B--"), "B")
	_, err := f.next()
	require.NoError(t, err)
	require.Len(t, f.buf, 8<<10)
	p, err := f.next()
	require.NoError(t, err)
	require.Equal(t, "a", p.name)
	require.LessOrEqual(t, len(f.buf), 2*maxHeader)
	first := make([]byte, 10)
	_, err = io.ReadFull(f, first)
	require.NoError(t, err)
	f.grow(formBuffer)
	rest, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, content, string(first)+string(rest))
	require.Len(t, f.buf, formBuffer)
	_, err = f.next()
	require.Equal(t, io.EOF, err)
}

func TestPartHeaders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]part{
		`Content-Disposition: form-data; name="file"; filename="app.apk"`:         {name: "file", fileName: "app.apk", isFile: true},
		`content-disposition:form-data;name=file;filename=app.apk`:                {name: "file", fileName: "app.apk", isFile: true},
		`Content-Disposition: form-data; filename="C:\out\app.apk"; name="file"`:  {name: "file", fileName: "app.apk", isFile: true},
		`Content-Disposition: form-data; name="f"; filename="/w/a b/\"q\";x.apk"`: {name: "f", fileName: `"q";x.apk`, isFile: true},
		`Content-Disposition: form-data; name="f"; filename=""`:                   {name: "f", isFile: true},
		`Content-Disposition: form-data; name="f"; filename*=UTF-8''%C3%A4.ipa`:   {name: "f", fileName: "ä.ipa", isFile: true},
		`Content-Disposition: form-data; name="f"; filename="../../etc/passwd"`:   {name: "f", fileName: "passwd", isFile: true},
		`Content-Disposition: form-data; name="api_key"`:                          {name: "api_key"},
		`Content-Disposition: form-data; odd; name=a`:                             {name: "a"},
		`Content-Type: text/plain; charset=UTF-8`:                                 {kind: "text/plain; charset=UTF-8"},
		`Content-Type: application/octet-stream`:                                  {kind: "application/octet-stream", isFile: true},
		`nonsense`:                                                                {},
	} {
		var p part
		p.header(line)
		require.Equal(t, want, p, line)
	}
	long, _ := fileName(`form-data; filename="` + strings.Repeat("ä", 400) + `.apk"`)
	require.LessOrEqual(t, len(long), maxFileName)
	require.True(t, strings.HasSuffix(long, "ä.apk"))
}

// FuzzForm compares the reader with mime/multipart: a body that the library reads
// to its end has the same parts here, however it arrives.
func FuzzForm(f *testing.F) {
	f.Add([]byte("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--\r\n"), uint8(1))
	f.Add([]byte("pre\r\n--B\r\n\r\n\r\n--B \r\nA: b\r\n\r\n--B\r\n\r\n--B--"), uint8(3))
	f.Add([]byte("--B\nA: b\n\nx\n--Bx\n--B-\n--B--\n"), uint8(7))
	f.Fuzz(func(t *testing.T, body []byte, step uint8) {
		got, err := readForm(&stepReader{body, int(step) + 1}, "B")
		again, againErr := readForm(bytes.NewReader(body), "B")
		require.Equal(t, again, got)
		require.Equal(t, againErr == nil, err == nil)
		// The library takes a body that ends inside a part's headers for a whole
		// one; a closed one stays so when something follows it.
		want, wantErr := readLibrary(append(bytes.Clone(body), "\n\nx"...))
		if wantErr != nil {
			return
		}
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i].content)
		}
	})
}

func readLibrary(body []byte) ([]string, error) {
	r := multipart.NewReader(bytes.NewReader(body), "B")
	var parts []string
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		parts = append(parts, string(content))
	}
}

// stepReader returns at most n bytes at once.
type stepReader struct {
	b []byte
	n int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.n)], r.b)
	r.b = r.b[n:]
	return n, nil
}

func BenchmarkForm(b *testing.B) {
	content := noise(64<<20, 1)
	body := "--------------------------d74496d66958873e\r\nContent-Disposition: form-data; name=a\r\n\r\n" + string(content) +
		"\r\n--------------------------d74496d66958873e--\r\n"
	buf := make([]byte, 1<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		f := newForm(strings.NewReader(body), "------------------------d74496d66958873e")
		f.grow(formBuffer)
		if _, err := f.next(); err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := f.Read(buf); err != nil {
				break
			}
		}
		if _, err := f.next(); err != io.EOF {
			b.Fatal(err)
		}
	}
}
