package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/tier"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

func TestMain(m *testing.M) {
	if child.IsChild(os.Args[1:]) { // the services that run here start this program for their readers
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(servicetest.Main(m))
}

// surface is the whole api with a worker, as the program wires them, and two
// organizations in it. The requests of surface_change_test.go are made to it.
type surface struct {
	t        *testing.T
	db       *storage.DB
	services *tier.Services
	base     string
	boot     *account.Bootstrap // ours
	key      string             // the API key in use
	user     [2]string          // user name and access key of the authoring interface
	ids      map[string]string  // what former answers had, by the name that a request uses
	doc      map[string]map[string]json.RawMessage
	// stopWorker ends the worker before the test does.
	stopWorker func()
	// queue hands the tasks of the api over to Redis.
	queue *dispatch.Enqueuer
	// failures are the internal errors of the api.
	failures *failureLog
	// cookie is that of a tester's session, for requests as "browser".
	cookie string
	// observe is told of each request and its answer.
	observe func(r request, got receivedAnswer)
}

// newSurface starts the api and a worker without browsers, after the changes to its
// settings.
func newSurface(t *testing.T, changes ...func(*setting.Settings)) *surface {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	base := "http://" + listener.Addr().String()
	set, err := parseSettings(t, "api", "--database-url", servicetest.Patient(t, servicetest.DatabaseURL(t)), "--redis-url",
		servicetest.RedisURL(t),
		"--objects-url", t.TempDir(), "--signing-key", strings.Repeat("k", 32), "--public-url", base,
		"--worker-pools", "4:critical=6,default=3;2:crash=1", "--allow-private-addresses")
	require.NoError(t, err)
	set.ReaderTime = 5 * time.Minute
	for _, change := range changes {
		change(set)
	}
	failures := &failureLog{}
	log := slog.New(failures)
	s, err := tier.Open(set, log, "slipway-test")
	require.NoError(t, err)
	t.Cleanup(s.Close)
	queue, stopQueue := s.StartEnqueuer()
	t.Cleanup(stopQueue)
	stopWorker, err := s.StartWorker(nil)
	require.NoError(t, err)
	stopWorker = sync.OnceFunc(stopWorker)
	t.Cleanup(stopWorker)
	committer := intake.NewCommitter(s.Crashes, queue, log)
	t.Cleanup(committer.Close)
	ready, err := s.Readiness(ops.Process{API: true})
	require.NoError(t, err)
	stop, err := s.StartAPI(listener, queue, committer, ready)
	require.NoError(t, err)
	t.Cleanup(stop)

	w := &surface{t: t, db: s.DB, services: s, base: base, ids: map[string]string{}, stopWorker: stopWorker, queue: queue, failures: failures}
	w.boot = w.organization("main")
	w.key, w.user = w.boot.Owner.APIKey, [2]string{w.boot.Owner.Username, w.boot.Owner.AccessKey}
	w.ids["crashtoken"], w.ids["crashproject"] = w.boot.Crash.Token, fmt.Sprint(w.boot.Crash.Project)
	w.ids["team"], w.ids["owner"] = fmt.Sprint(w.boot.Team.ID), fmt.Sprint(w.boot.Owner.ID)
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	res, err := http.Get(base + "/openapi.json")
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, json.NewDecoder(res.Body).Decode(&doc))
	w.doc = doc.Paths
	return w
}

func (w *surface) organization(slug string) *account.Bootstrap {
	w.t.Helper()
	keys, err := account.NewIssuer("local", nil)
	require.NoError(w.t, err)
	b, err := account.NewBootstrap(keys, w.base)
	require.NoError(w.t, err)
	b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(w.t.Context(),
			tx, b, "local")
	}))
	return b
}

// request is a line of the table: a valid request, what it answers, and what it must
// leave in the audit log.
type request struct {
	method string
	// path is that of the description, with the name of the value where it is not that of
	// the parameter: /projects/{id:project}.
	path string
	// body is JSON where it begins with {, a form where it does not; {{name}} stands for a
	// value. files are the parts of a multipart form, by field and name.
	body  string
	files map[string]string
	// kind is the content type of a body that is neither JSON nor a form.
	kind string
	want int
	// wrote is the action of the audit entry, "" where unaudited says why there is none.
	wrote     string
	unaudited string
	// save keeps values of the answer: name=member.member.
	save string
	// before prepares what only a worker or a person makes.
	before func(w *surface)
	// as sends the request with other credentials: "none", "operator", "browser".
	as    string
	query string
}

var named = regexp.MustCompile(`\{([A-Za-z]+)(?::([a-z0-9_]+))?\}`)

// pattern is the path as the description has it.
func (r request) pattern() string { return named.ReplaceAllString(r.path, "{$1}") }

// fill puts the values into the path.
func (w *surface) fill(path string) string {
	return named.ReplaceAllStringFunc(path, func(text string) string {
		parts := named.FindStringSubmatch(text)
		name := parts[2]
		if name == "" {
			name = parts[1]
		}
		value, ok := w.ids[name]
		if !ok {
			w.t.Errorf("%s: no value for %s", path, name)
			return "0"
		}
		return value
	})
}

func (w *surface) text(s string) string {
	for name, value := range w.ids {
		s = strings.ReplaceAll(s, "{{"+name+"}}", value)
	}
	return s
}

// send makes the request and returns status and body.
func (w *surface) send(r request) (int, []byte) {
	w.t.Helper()
	var body io.Reader = http.NoBody
	kind := ""
	switch {
	case r.files != nil:
		var buf bytes.Buffer
		form := multipart.NewWriter(&buf)
		for _, field := range slices.Sorted(maps.Keys(r.files)) {
			name, content, isFile := strings.Cut(w.text(r.files[field]), "|")
			if !isFile {
				require.NoError(w.t, form.WriteField(field, name))
				continue
			}
			part, err := form.CreateFormFile(field, name)
			require.NoError(w.t, err)
			_, err = io.WriteString(part, content)
			require.NoError(w.t, err)
		}
		require.NoError(w.t, form.Close())
		body, kind = &buf, form.FormDataContentType()
	case r.kind != "":
		body, kind = strings.NewReader(r.body), r.kind
	case strings.HasPrefix(r.body, "{"):
		body, kind = strings.NewReader(w.text(r.body)), "application/json"
	case r.body != "":
		body, kind = strings.NewReader(w.text(r.body)), "application/x-www-form-urlencoded"
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, w.base+w.fill(r.path)+w.text(r.query), body)
	require.NoError(w.t, err)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	switch {
	case r.as == "none":
	case r.as == "operator":
		req.SetBasicAuth(w.boot.Operator.Username, w.boot.Operator.Password)
	case r.as == "browser":
		req.Header.Set("Cookie", w.cookie)
	case strings.HasPrefix(r.path, "/v1/ai-authoring"):
		req.SetBasicAuth(w.user[0], w.user[1])
	default:
		req.Header.Set("X-API-Key", w.key)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(w.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	if w.observe != nil {
		w.observe(r, receivedAnswer{res.StatusCode, res.Header, text})
	}
	return res.StatusCode, text
}

// keep stores values of an answer: name=member.member;name=...
func (w *surface) keep(save string, answer []byte) {
	w.t.Helper()
	for line := range strings.SplitSeq(save, ";") {
		name, path, found := strings.Cut(line, "=")
		if value := member(answer, path); found && value == nil {
			w.t.Errorf("there is no %s in %.600s", path, answer)
		} else if found {
			w.ids[name] = fmt.Sprint(value)
		}
	}
}

// member returns the value of a JSON document at a path, that of the first element in an
// array; nil when there is none.
func member(document []byte, path string) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// one reads a single value.
func (w *surface) one(query string, args ...any) (value string) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &value, query, args...), query)
	return value
}

// wait reads a value until there is one.
func (w *surface) wait(name, query string, args ...any) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var found []string
		require.NoError(w.t, w.db.SelectContext(w.t.Context(), &found, query, args...))
		if len(found) > 0 {
			w.ids[name] = found[0]
		}
		return len(found) > 0
	}, time.Minute, 20*time.Millisecond, name)
}

// changing are the operations of the description that are not reads.
func (w *surface) changing() []string {
	var list []string
	for path, item := range w.doc {
		for method := range item {
			switch method = strings.ToUpper(method); method {
			case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
				list = append(list, method+" "+path)
			}
		}
	}
	slices.Sort(list)
	return list
}
