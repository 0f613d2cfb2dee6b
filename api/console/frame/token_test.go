package frame

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
)

// countedReader counts what is read.
type countedReader struct {
	io.Reader
	n int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func upload(body io.Reader, length int64, kind string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/console/builds/upload", body)
	r.ContentLength = length
	r.Header.Set("Content-Type", kind)
	return r
}

// The token is taken off the form, whose rest is a form of its own, byte for byte, however
// the bytes come.
func TestTokenOfUpload(t *testing.T) {
	t.Parallel()
	file := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	var sent bytes.Buffer
	form := multipart.NewWriter(&sent)
	require.NoError(t, form.WriteField("csrf", "the-token"))
	part, err := form.CreateFormFile("file", "a.apk")
	require.NoError(t, err)
	_, err = part.Write(file)
	require.NoError(t, err)
	require.NoError(t, form.WriteField("notes", "text"))
	require.NoError(t, form.Close())
	for name, body := range map[string]io.Reader{"whole": bytes.NewReader(sent.Bytes()),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(sent.Bytes())),
		"with the end": iotest.DataErrReader(bytes.NewReader(sent.Bytes()))} {
		counter := &countedReader{Reader: body}
		r := upload(counter, int64(sent.Len()), form.FormDataContentType())
		token, err := takeToken(r)
		require.NoError(t, err, name)
		require.Equal(t, "the-token", token, name)
		require.LessOrEqual(t, counter.n, maxTokenPart, name)
		length := r.ContentLength
		rest, err := io.ReadAll(r.Body)
		require.NoError(t, err, name)
		require.Len(t, rest, int(length), name)
		reader := multipart.NewReader(bytes.NewReader(rest), form.Boundary())
		got, err := reader.ReadForm(4 << 20)
		require.NoError(t, err, name)
		require.Empty(t, got.Value["csrf"], name)
		require.Equal(t, []string{"text"}, got.Value["notes"], name)
		opened, err := got.File["file"][0].Open()
		require.NoError(t, err)
		content, err := io.ReadAll(opened)
		require.NoError(t, err)
		require.True(t, bytes.Equal(file, content), name)
	}
}

// A form that does not begin with its token is refused before its file is read.
func TestUploadWithoutToken(t *testing.T) {
	t.Parallel()
	const kind = "multipart/form-data; boundary=b"
	token := func(head, value string) string { return "--b\r\n" + head + "\r\n\r\n" + value + "\r\n--b\r\n" }
	const named = `Content-Disposition: form-data; name="csrf"`
	file := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"a file first": {kind, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n" + file,
			http.StatusForbidden},
		"another field first":  {kind, token(`Content-Disposition: form-data; name="notes"`, "x") + file, http.StatusForbidden},
		"the token as a file":  {kind, token(named+`; filename="csrf"`, "x") + file, http.StatusForbidden},
		"a long token":         {kind, token(named, strings.Repeat("x", maxToken+1)) + file, http.StatusForbidden},
		"a token without end":  {kind, "--b\r\n" + named + "\r\n\r\n" + file, http.StatusForbidden},
		"text before the form": {kind, "preamble\r\n" + token(named, "x") + file, http.StatusForbidden},
		"no head":              {kind, "--b\r\nx\r\n--b\r\n" + file, http.StatusForbidden},
		"cut off":              {kind, "--b\r\n" + named, http.StatusBadRequest},
		"empty":                {kind, "", http.StatusBadRequest},
		"no boundary":          {"multipart/form-data", token(named, "x"), http.StatusBadRequest},
		"another kind":         {"multipart/mixed; boundary=b", token(named, "x"), http.StatusBadRequest},
	} {
		counter := &countedReader{Reader: strings.NewReader(c.body)}
		_, err := takeToken(upload(counter, int64(len(c.body)), c.kind))
		require.Error(t, err, name)
		require.Equal(t, c.status, respond.Explain(err).Status, name)
		require.LessOrEqual(t, counter.n, maxTokenPart, name)
	}
}
