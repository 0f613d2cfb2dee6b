package processtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// TestClients posts with the real npm client, with curl, and the way the Python
// client does, and reads everything back.
func TestClients(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	query := in.base + "/post?format=json&token=" + in.boot.Crash.Token
	path := in.base + "/main/" + in.boot.Crash.Token + "/json"
	t.Run("npm", func(t *testing.T) { checkNode(t, in, query, path) })
	t.Run("curl with gzip", func(t *testing.T) { checkCurl(t, in, path) })
	t.Run("multipart of Python", func(t *testing.T) { checkMultipart(t, in) })
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

func checkNode(t *testing.T, in *installation, query, path string) {
	modules := servicetest.NodeModules(t, "@backtrace/node")
	content := bytes.Repeat([]byte("line of a log\x00\xff\r\n--boundary--\r\n"), 5000)
	file := filepath.Join(t.TempDir(), "orders log.bin")
	require.NoError(t, os.WriteFile(file, content, 0o600))
	send := func(arguments ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), longWait)
		defer cancel()
		out, err := exec.CommandContext(ctx, "node", append([]string{filepath.Join("testdata", "client", "send.cjs"), modules},
			arguments...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), `"status":"Ok"`)
		require.Contains(t, string(out), `"_rxid"`)
	}
	send(query, "TypeError")
	g := in.awaitGroup(t, "TypeError", 1)
	require.Contains(t, g.Title, "Cannot read properties of undefined")
	require.Contains(t, g.Culprit, "checkout")

	send(query, "TypeError", file)
	send(path, "TypeError")
	send(path, "TypeError", file)
	g = in.awaitGroup(t, "TypeError", 4)

	plain, with := 0, 0
	for _, row := range in.crashes(t, g.ID) {
		c := in.crash(t, row.ID)
		require.Equal(t, "processed", c.State)
		require.Equal(t, "@backtrace/node", c.Agent)
		require.Equal(t, "north", c.Attributes["shop"])
		require.Equal(t, "o-17", c.Attributes["order"])
		require.Contains(t, c.Message, "Cannot read properties of undefined")
		require.NotEmpty(t, c.Threads)
		require.Contains(t, c.Threads[0].Frames[0].Function, "checkout")
		if len(c.Attachments) == 0 {
			plain++
		}
		for _, a := range c.Attachments {
			got := in.download(t, a)
			require.Len(t, got, int(a.Size))
			if !strings.Contains(a.Name, "orders log.bin") {
				require.Contains(t, a.Name, "bt-breadcrumbs", "what the client attaches by itself")
				continue
			}
			with++
			require.Equal(t, content, got)
		}
	}
	require.Equal(t, 2, plain, "crashes without an attachment")
	require.Equal(t, 2, with, "crashes with the file")
}

// download fetches an attachment.
func (a caller) download(t *testing.T, file attachment) []byte {
	t.Helper()
	res, text := a.do(t, http.MethodGet, file.URL, nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "GET %s: %.300s", file.URL, text)
	require.Contains(t, res.Header.Get("Content-Disposition"), "attachment")
	return text
}

func checkCurl(t *testing.T, in *installation, path string) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err := zip.Write(sample(uuid.New(), "CurlError", "curl_gzip"))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	file := filepath.Join(t.TempDir(), "report.json.gz")
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
	receipt(t, shell(t, fmt.Sprintf("curl -sf '%s' -H 'Content-Type: application/json' -H 'Content-Encoding: gzip' --data-binary @'%s'", path, file)))

	// Without a content type curl says form-urlencoded.
	plain := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(plain, sample(uuid.New(), "CurlError", "curl_gzip"), 0o600))
	receipt(t, shell(t, fmt.Sprintf("curl -sf '%s' --data-binary @'%s'", path, plain)))
	g := in.awaitGroup(t, "CurlError", 2)
	require.Contains(t, g.Culprit, "curl_gzip")
}

func checkMultipart(t *testing.T, in *installation) {
	id := postWithFile(t, in.caller, in.boot.Crash.Token, sample(uuid.New(), "PythonError", "in_python"), "notes.txt", []byte("some notes"))
	g := in.awaitGroup(t, "PythonError", 1)
	require.Contains(t, g.Culprit, "in_python")
	c := in.crash(t, id)
	require.Len(t, c.Attachments, 1)
	require.Equal(t, "some notes", string(in.download(t, c.Attachments[0])))
}
