package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
)

// server is the receiver on PostgreSQL and a folder, behind a real connection.
type server struct {
	db      *storage.DB
	store   *crash.Store
	objects object.Store
	counts  *counts
	url     string
	org     int64
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{db: servicetest.DB(t), counts: &counts{}}
	var err error
	s.store, err = crash.New(s.db)
	require.NoError(t, err)
	s.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.objects.Close() })
	log := slog.New(slog.DiscardHandler)
	committer := NewCommitter(s.store, nil, log)
	t.Cleanup(committer.Close)
	r, err := New(Config{Submitter: committer, Store: s.store, Symbols: symbol.NewStore(s.db, nil, nil), SymbolView: symbol.View,
		Objects: s.objects, Region: "local", Limits: testLimits(),
		Observer: s.counts, Log: log})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	url, end := routetest.Listen(routes(r))
	t.Cleanup(end)
	s.url = url
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	require.NoError(t, s.db.GetContext(t.Context(), &s.org,
		`insert into organizations (uuid, slug, name) values ($1, 'a', 'a') returning id`, uuid.New()))
	s.project(t, "one")
	s.project(t, "two")
	return s
}

// project makes a crash project whose token has its name.
func (s *server) project(t *testing.T, name string) {
	t.Helper()
	digest := account.DigestOf(name)
	_, err := s.db.ExecContext(t.Context(), `with p as (
		insert into crash_projects (organization_id, name) values ($1, $2) returning id)
		insert into crash_tokens (crash_project_id, digest, hint) select id, $3, 'x' from p`, s.org, name, digest[:])
	require.NoError(t, err)
}

func (s *server) count(t *testing.T, query string) int {
	t.Helper()
	var n int
	require.NoError(t, s.db.GetContext(t.Context(), &n, query))
	return n
}

func (s *server) post(t *testing.T, target, kind, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+target, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(raw, &m), string(raw))
	return resp.StatusCode, m
}

func failureCode(m map[string]any) any {
	e, _ := m["error"].(map[string]any)
	return e["code"]
}

func TestReportIsStored(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	body := form(filePart("upload_file", "upload_file.json", minimal), filePart("attachment_log", "log.txt", "line"))
	status, answer := s.post(t, "/post?token=one&format=json", multipartB, body)
	require.Equal(t, 200, status, answer)
	id, err := uuid.Parse(fmt.Sprint(answer["_rxid"]))
	require.NoError(t, err)

	batch, entry := received.SplitID(id)
	batches, err := s.store.Batches(t.Context(), []uuid.UUID{batch})
	require.NoError(t, err)
	require.Len(t, batches, 1)
	doc, err := batches[0].Document(entry)
	require.NoError(t, err)
	require.Equal(t, minimal, string(doc))
	require.Equal(t, 1, s.count(t, `select count(*) from tasks where kind = 'crash:process'`))
	var at received.Attachment
	require.NoError(t, s.db.GetContext(t.Context(), &at,
		`select id, organization_id, crash_id, name, content_type, size, object_key, created_at from crash_attachments`))
	require.Equal(t, id, at.CrashID)
	require.Equal(t, "log.txt", at.Name)
	info, err := s.objects.Stat(t.Context(), at.ObjectKey)
	require.NoError(t, err)
	require.EqualValues(t, 4, info.Size)

	// The same report again: nothing is stored, the file is gone again.
	status, answer = s.post(t, "/post?token=one&format=json", multipartB, body)
	require.Equal(t, 400, status)
	require.EqualValues(t, 4, failureCode(answer))
	require.Equal(t, 1, s.count(t, `select count(*) from crash_batches`))
	s.requireObjects(t, 1)

	// Another report under the uuid is kept with its file.
	other := strings.Replace(body, `"agentVersion":"1"`, `"agentVersion":"2"`, 1)
	status, answer = s.post(t, "/post?token=one&format=json", multipartB, other)
	require.Equal(t, 400, status)
	require.EqualValues(t, 4, failureCode(answer))
	require.Equal(t, 2, s.count(t, `select count(*) from crash_batches`))
	require.Equal(t, 2, s.count(t, `select count(*) from crash_attachments`))
	s.requireObjects(t, 2)

	// The uuid is free in another project.
	status, _ = s.post(t, "/post?token=two", "application/json", minimal)
	require.Equal(t, 200, status)
	require.Equal(t, []int{2, 1, 1}, []int{s.counts.accepted, s.counts.resent, s.counts.conflict})

	// Late files, while the crash is pending.
	late := "/post?object=" + id.String() + "&attachment_name=late.txt&token="
	status, answer = s.post(t, late+"one", "text/plain", "late")
	require.Equal(t, 200, status, answer)
	require.Equal(t, map[string]any{"response": "ok", "_rxid": id.String()}, answer)
	status, answer = s.post(t, late+"two", "text/plain", "late")
	require.Equal(t, 400, status)
	require.EqualValues(t, 2, failureCode(answer))
	require.Equal(t, 2, s.count(t, `select count(*) from crash_attachments where crash_id = '`+id.String()+`'`))
	s.requireObjects(t, 3)

	_, err = s.db.ExecContext(t.Context(), `update crash_tokens set revoked_at = now()`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		status, _ := s.post(t, "/post?token=one", "application/json", minimal)
		return status == 403
	}, time.Minute, 50*time.Millisecond)
}

// requireObjects waits until that many objects are left: files are deleted
// after the answer.
func (s *server) requireObjects(t *testing.T, want int) {
	t.Helper()
	require.Eventually(t, func() bool {
		list, err := s.objects.List(context.Background(), "attachments/", "", 100)
		return err == nil && len(list) == want
	}, time.Minute, 5*time.Millisecond)
}

func TestLateFilesAreBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	_, answer := s.post(t, "/post?token=one", "application/json", minimal)
	target := fmt.Sprintf("/post?token=one&object=%s&attachment_name=a", answer["_rxid"])
	statuses := make(chan int, 8)
	var all sync.WaitGroup
	for range cap(statuses) {
		all.Go(func() {
			status, _ := s.post(t, target, "text/plain", "x")
			statuses <- status
		})
	}
	all.Wait()
	close(statuses)
	got := map[int]int{}
	for status := range statuses {
		got[status]++
	}
	require.Equal(t, map[int]int{200: 3, 413: 5}, got)
	s.requireObjects(t, 3)
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var all sync.WaitGroup
	ids := make([]string, 200)
	for i := range ids {
		all.Go(func() {
			doc := strings.Replace(minimal, testUUID, uuid.NewString(), 1)
			status, answer := s.post(t, "/post?token=one", "application/json", doc)
			if status == 200 {
				ids[i] = fmt.Sprint(answer["_rxid"])
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		require.NotEmpty(t, id)
		require.False(t, seen[id])
		seen[id] = true
	}
	require.Equal(t, 200, s.count(t, `select count(*) from crash_uuids`))
}

// A client that goes away in the middle of a file leaves nothing behind.
func TestClientGoesAway(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	address := strings.TrimPrefix(s.url, "http://")
	for name, length := range map[string]string{"announced": "Content-Length: 1000000", "chunked": "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		body := "--B\r\n" + filePart("attachment_a", "a", "first") + "\r\n--B\r\n" + filePart("upload_file", "r", minimal) +
			"\r\n--B\r\n" + filePart("attachment_b", "b", strings.Repeat("x", 100_000))
		if name == "chunked" {
			body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
		}
		_, err = fmt.Fprintf(conn, "POST /post?token=one HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n%s\r\n\r\n%s", multipartB, length, body)
		require.NoError(t, err)
		s.requireObjects(t, 1) // the first file is there
		require.NoError(t, conn.Close())
		s.requireObjects(t, 0)
	}
	require.Zero(t, s.count(t, `select count(*) from crash_batches`))
}

// The answer's length is known, and large documents come back whole.
func TestLargeReport(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	doc := with(`"annotations":{"log":"` + strings.Repeat("line ", 200_000) + `"}`)
	resp, err := http.Post(s.url+"/post?token=one", "application/json", io.MultiReader(bytes.NewReader([]byte(doc))))
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.EqualValues(t, len(raw), resp.ContentLength)
	require.True(t, strings.HasPrefix(string(raw), doc[:len(doc)-1]))
}

// TestAnswersAreAsDescribed holds answers against the description of the api.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	s := newServer(t)
	for _, tc := range []struct {
		path, target, kind, body string
		status                   int
	}{
		{"/post", "/post?token=one", "application/json", minimal, 200},
		{"/post", "/post?token=two&format=json", multipartB, form(filePart("upload_file", "r.json", minimal),
			filePart("attachment_a", "a", "x")), 200},
		{"/api/post", "/api/post?token=one&format=minidump", "application/octet-stream", "MDMP", 200},
		{"/{universe}/{token}/{format}", "/u/one/plcrash", "application/octet-stream", "plcrash", 200},
		{"/{universe}/{token}/{format}", "/u/one/unreal?AppID=Shop&AppVersion=1.4&UploadType=crashreports",
			"application/octet-stream", "\x78\x9c", 200},
		{"/post", "/post?token=one", "application/json", minimal, 400},
		{"/post", "/post?token=one", "application/json", "{", 400},
		{"/post", "/post?token=one&format=xml", "application/json", minimal, 400},
		{"/post", "/post?token=three", "application/json", minimal, 403},
		{"/post", "/post?token=one", "application/json", sized(2 << 20), 413},
		{"/{universe}/{token}/{format}", "/u/one/xml", "application/json", minimal, 404},
	} {
		resp, err := http.Post(s.url+tc.target, tc.kind, strings.NewReader(tc.body))
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, tc.status, resp.StatusCode, "%s: %s", tc.target, raw)
		item := doc.Paths.Value(tc.path)
		require.NotNil(t, item, tc.path)
		input := &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: resp.Request,
				Route: &routers.Route{Spec: doc, Path: tc.path, PathItem: item, Method: "POST", Operation: item.Post}},
			Status: resp.StatusCode, Header: resp.Header,
			Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
		}
		input.SetBodyBytes(raw)
		require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), tc.target)
	}
}
