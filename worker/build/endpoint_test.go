package build

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks"
)

// endpoint takes files by HTTP.
type endpoint struct {
	status  int
	header  http.Header
	body    string // of the response
	request *http.Request
	name    string
	file    string
	content []byte
	calls   atomic.Int64
}

func (e *endpoint) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	e.calls.Add(1)
	e.request = r
	if e.status < 300 {
		if err := e.take(r); err != nil {
			http.Error(rw, err.Error(), http.StatusTeapot)
			return
		}
	}
	for name, values := range e.header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(e.status)
	_, _ = io.WriteString(rw, e.body)
}

func (e *endpoint) take(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		switch part.FormName() {
		case "name":
			e.name = string(content)
		case "payload":
			e.file, e.content = part.FileName(), content
		}
	}
}

func TestSyncToEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := strings.Repeat("apk ", 1<<18)
	file, _ := w.newFile(content)
	build := w.newBuild(w.project, file)
	e := &endpoint{status: http.StatusCreated, body: `{"item":{}}`}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	w.connect(setting.Connection{Kind: "http", Endpoint: server.URL + "/v1/upload?token=s3cret", AccessKey: "ann"}, "s3cret")
	s := w.syncer(true)
	id, err := w.sync(s, build)
	require.NoError(t, err)
	require.Equal(t, SyncResult{Bytes: int64(len(content)), Target: server.URL + "/v1/upload"}, result[SyncResult](w, id))
	user, password, _ := e.request.BasicAuth()
	require.Equal(t, [2]string{"ann", "s3cret"}, [2]string{user, password})
	require.Equal(t, id.String(), e.request.Header.Get("Idempotency-Key"))
	require.Equal(t, "token=s3cret", e.request.URL.RawQuery)
	require.Greater(t, e.request.ContentLength, int64(len(content)), "the length is known")
	require.Empty(t, e.request.TransferEncoding)
	require.Equal(t, "Group shot.apk", e.name)
	require.Equal(t, "Group shot.apk", e.file)
	require.Equal(t, content, string(e.content))

	// Without credentials, and with a response that is too long.
	e.body = strings.Repeat("x", 2*maxResponse)
	w.connect(setting.Connection{Kind: "http", Endpoint: server.URL}, "")
	_, err = w.sync(s, build)
	require.NoError(t, err)
	require.Empty(t, e.request.Header.Get("Authorization"))
}

func TestSyncToEndpointThatRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	e := &endpoint{body: "our internal secret", header: http.Header{"Location": {"/elsewhere"}}}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	w.connect(setting.Connection{Kind: "http", Endpoint: server.URL, AccessKey: "ann"}, "s3cret")
	for status, permanent := range map[int]bool{301: true, 303: true, 307: true, 400: true, 401: true, 404: true, 413: true,
		408: false, 425: false, 429: false, 500: false, 503: false} {
		e.status = status
		e.calls.Store(0)
		_, err := w.sync(w.syncer(true), build)
		require.ErrorContains(t, err, fmt.Sprintf("the endpoint answered with %d", status))
		require.Equal(t, permanent, tasks.IsPermanent(err), status)
		require.NotContains(t, err.Error(), "internal secret")
		require.EqualValues(t, 1, e.calls.Load(), "redirects are not followed")
	}
	// The port of a client: it is taken, and nobody listens on it.
	client, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	w.connect(setting.Connection{Kind: "http", Endpoint: "http://" + client.LocalAddr().String(), AccessKey: "ann"}, "s3cret")
	_, err = w.sync(w.syncer(true), build)
	require.Error(t, err)
	require.False(t, tasks.IsPermanent(err), "it may come back")
}

// An endpoint that does not respond delays the worker until its context ends.
func TestSyncToEndpointThatHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	end := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-end
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(end) })
	w.connect(setting.Connection{Kind: "http", Endpoint: server.URL}, "")
	id := w.insert(tasks.NewBuildSync(w.org, "", build))
	err := w.syncer(true).Handle(ctx, w.claim(tasks.BuildSync, id))
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, tasks.IsPermanent(err))
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"app-release.apk":                 {"app-release.apk", "app-release.apk"},
		"../../etc/passwd":                {"_.._etc_passwd", ".._.._etc_passwd"},
		"":                                {"build", "build"},
		"..":                              {"build", "build"},
		"Grüße\r\n\"x\".ipa":              {"Gr__e___x_.ipa", "Grüße__\"x\".ipa"},
		"a\xff\\b.apk":                    {"a__b.apk", "a__b.apk"},
		".hidden":                         {"hidden", ".hidden"},
		strings.Repeat("a", 400) + ".apk": {strings.Repeat("a", 146) + ".apk", strings.Repeat("a", 400) + ".apk"},
	} {
		require.Equal(t, want, [2]string{keyName(name), fileName(name)}, "%q", name)
	}
}

func FuzzKeyName(f *testing.F) {
	f.Add("app.apk")
	f.Add("..\x00/ü")
	f.Fuzz(func(t *testing.T, name string) {
		require.True(t, object.ValidKey("1/"+keyName(name)), "%q", name)
		require.NotContains(t, fileName(name), "/")
		head, tail, kind, err := formEnvelope(fileName(name))
		require.NoError(t, err)
		_, parameters, found := strings.Cut(kind, "boundary=")
		require.True(t, found)
		require.Equal(t, "\r\n--"+parameters+"--\r\n", string(tail))
		require.Equal(t, 2, strings.Count(string(head), "\r\n\r\n")-strings.Count(fileName(name), "\r\n\r\n"))
	})
}
