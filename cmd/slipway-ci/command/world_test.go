package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// key is the API key of the tests, which must not be printed anywhere.
const key = "slp_local_api_secret"

// world is a command line with a server of its own.
type world struct {
	t       *testing.T
	dir     string
	env     map[string]string
	signals chan os.Signal
	server  *fake
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), signals: make(chan os.Signal, 2), server: newFake(t)}
	w.env = map[string]string{"SLIPWAY_SERVER": w.server.URL, "SLIPWAY_KEY": key}
	return w
}

// result is how a command ended.
type result struct {
	code     outcome.Code
	out, err string
}

// run runs a line.
func (w *world) run(args ...string) result {
	w.t.Helper()
	var out, problem lockedBuffer
	code := Run(World{Name: "slipway-ci", Getenv: func(name string) string { return w.env[name] }, Dir: w.dir, In: strings.NewReader(""),
		Out: &out, Err: &problem, Signals: w.signals}, args)
	r := result{outcome.Code(code), out.String(), problem.String()}
	require.NotContains(w.t, r.out+r.err, key, "the key is never printed")
	require.NotContains(w.t, r.out+r.err, "\x1b", "no escape sequence where no terminal is")
	return r
}

// file writes a file below the folder of the world.
func (w *world) file(name string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, os.WriteFile(path, content, 0o600))
	return path
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// call is a request that a fake server saw.
type call struct {
	method, path string // with the query
	header       http.Header
	body         []byte
}

// fake answers as the server does, where the server itself cannot be made to fail in the same
// way: the tests of cmd/slipway/processtest have the real one.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	calls []call
	// answers by "METHOD path": each is used once, the last one again and again.
	answers map[string][]answer
	open    int
	most    int // requests that were open at once
}

type answer struct {
	status int
	body   any // a text as it is; else as JSON
	header map[string]string
	// before is called with the request, before the answer.
	before func(*http.Request)
}

// fileDigest stands in an answer for the SHA-256 of the file of the request's form.
const fileDigest = "DIGEST-OF-FILE"

func digestOf(r *http.Request, body []byte) string {
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || parameters["boundary"] == "" {
		return ""
	}
	form, err := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]).ReadForm(10 << 20)
	if err != nil || len(form.File["file"]) == 0 {
		return ""
	}
	in, err := form.File["file"][0].Open()
	if err != nil {
		return ""
	}
	h := sha256.New()
	_, _ = io.Copy(h, in)
	return hex.EncodeToString(h.Sum(nil))
}

func newFake(t *testing.T) *fake {
	f := &fake{answers: map[string][]answer{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.answer("GET /healthz", answer{body: map[string]string{"status": "ok", "version": "1.2.3"}})
	f.answer("GET /api/v3/me", answer{body: map[string]any{"me": map[string]any{"label": "ci@example.com", "role": "member",
		"organization_slug": "main", "rights": []string{"builds.upload"}}}})
	return f
}

func (f *fake) answer(route string, answers ...answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[route] = answers
}

// to are the calls of a route.
func (f *fake) to(route string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []call
	for _, c := range f.calls {
		path, _, _ := strings.Cut(c.path, "?")
		if c.method+" "+path == route {
			found = append(found, c)
		}
	}
	return found
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.open++
	f.most = max(f.most, f.open)
	f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls = append(f.calls, call{r.Method, r.URL.RequestURI(), r.Header.Clone(), body})
	route := r.Method + " " + r.URL.Path
	answers := f.answers[route]
	a := answer{status: http.StatusNotFound, body: map[string]any{"error": "no such thing"}}
	if len(answers) > 0 {
		a = answers[0]
		if len(answers) > 1 {
			f.answers[route] = answers[1:]
		}
	}
	f.mu.Unlock()
	if a.before != nil {
		a.before(r)
	}
	f.mu.Lock()
	f.open--
	f.mu.Unlock()
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.Header().Set("X-Request-Id", "r-1")
	if a.status == 0 {
		a.status = http.StatusOK
	}
	text, plain := a.body.(string)
	if !plain {
		raw, _ := json.Marshal(a.body)
		text = string(raw)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, strings.ReplaceAll(text, fileDigest, digestOf(r, body)))
}
