package intake

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/groupcommit"
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

func gzipped(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	return b.String()
}

// form makes a multipart body with the boundary B.
func form(parts ...string) string {
	return "--B\r\n" + strings.Join(parts, "\r\n--B\r\n") + "\r\n--B--\r\n"
}

func filePart(name, file, content string) string {
	return fmt.Sprintf("Content-Disposition: form-data; name=%q; filename=%q\r\nContent-Type: text/plain\r\n\r\n%s", name, file, content)
}

func fieldPart(name, content string) string {
	return fmt.Sprintf("Content-Disposition: form-data; name=%q\r\n\r\n%s", name, content)
}

const multipartB = "multipart/form-data; boundary=B"

func TestRefusedReports(t *testing.T) {
	t.Parallel()
	frame := func(members string) string {
		return strings.Replace(minimal, `"0":{}`, `"0":{"stack":[{`+members+`}]}`, 1)
	}
	for name, tc := range map[string]struct {
		body         string
		status, code int
		text         string
	}{
		"empty":                  {"", 400, 1, "ends early"},
		"not JSON":               {"hello", 400, 1, ""},
		"an array":               {"[1]", 400, 1, "object"},
		"cut short":              {minimal[:80], 400, 1, "ends early"},
		"text behind the end":    {minimal + "x", 400, 1, ""},
		"missing uuid":           {strings.Replace(minimal, `"uuid"`, `"uuit"`, 1), 400, 2, "uuid"},
		"missing threads":        {strings.Replace(minimal, `"threads"`, `"thread"`, 1), 400, 2, "threads"},
		"wrong type":             {strings.Replace(minimal, `"lang":"c"`, `"lang":7`, 1), 400, 2, "lang"},
		"uuid not a uuid":        {strings.Replace(minimal, testUUID, "abc", 1), 400, 2, "uuid"},
		"timestamp a word":       {strings.Replace(minimal, `1700000000`, `"soon"`, 1), 400, 2, "timestamp"},
		"mainThread null":        {strings.Replace(minimal, `"mainThread":"0"`, `"mainThread":null`, 1), 400, 2, "mainThread"},
		"mainThread not there":   {strings.Replace(minimal, `"mainThread":"0"`, `"mainThread":"1"`, 1), 400, 2, "mainThread"},
		"frame without anything": {frame(`"line":3`), 400, 2, "threads.0.stack[0]"},
		"memory not Base64":      {with(`"memory":[{"start":0,"data":"***"}]`), 400, 2, "memory[0].data"},
		"fingerprint too short":  {with(`"fingerprint":"AAEC"`), 400, 2, "fingerprint"},
		"fingerprint not Base64": {with(`"fingerprint":"!"`), 400, 2, "fingerprint"},
		"too deep":               {with(`"annotations":` + strings.Repeat("[", 200) + strings.Repeat("]", 200)), 400, 1, "nested"},
		"a member twice":         {with(`"lang":"d"`), 400, 1, "twice"},
		"not UTF-8":              {strings.Replace(minimal, "curl", "c\xffrl", 1), 400, 5, "UTF-8"},
		"longer than a report":   {with(`"x":"` + strings.Repeat("a", 1<<20) + `"`), 413, 8, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			requireFailure(t, w.post("/post?token=good", tc.body), tc.status, tc.code, tc.text)
			req := httptest.NewRequest("POST", "/post?token=good&format=json", io.MultiReader(strings.NewReader(tc.body)))
			require.EqualValues(t, -1, req.ContentLength)
			requireFailure(t, w.do(req), tc.status, tc.code, tc.text)
			requireFailure(t, w.post("/post?token=good", gzipped(tc.body), "Content-Encoding", "gzip"), tc.status, tc.code, tc.text)
			file := form(filePart("attachment_a", "a.txt", "kept?"), filePart("upload_file", "upload_file.json", tc.body))
			requireFailure(t, w.post("/post?token=good", file, "Content-Type", multipartB), tc.status, tc.code, tc.text)
			require.Empty(t, w.submit.got)
			require.Empty(t, w.stored(t), "the files of a refused report are deleted")
			require.Len(t, w.counts.rejected, 4)
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	report := filePart("upload_file", "upload_file.json", minimal)
	other := "slp_eu_crash_" + strings.Repeat("a", 40)
	for name, tc := range map[string]struct {
		target, body string
		headers      []string
		status, code int
		text         string
	}{
		"no token": {"/post", minimal, nil, 403, 6, "missing"},
		"token in the body": {"/post", "token=good&" + minimal, []string{"Content-Type",
			"application/x-www-form-urlencoded"}, 403, 6, "missing"},
		"wrong token":              {"/post?token=bad", minimal, nil, 403, 6, "not known"},
		"token before format":      {"/post?token=bad&format=nope", minimal, nil, 403, 6, "not known"},
		"endless token":            {"/post?token=" + strings.Repeat("a", 600), minimal, nil, 403, 6, "not known"},
		"token of another region":  {"/post?token=" + other, minimal, nil, 403, 6, `"eu"`},
		"an api key":               {"/post?token=slp_local_api_" + strings.Repeat("a", 40), minimal, nil, 403, 6, "personal key"},
		"unknown format":           {"/post?token=good&format=xml", minimal, nil, 400, 3, "minidump"},
		"unknown format in a path": {"/u/good/xml", minimal, nil, 404, 3, "minidump"},
		"wrong token in a path":    {"/u/bad/json", minimal, nil, 403, 6, "not known"},
		"no scope for errors":      {"/post?token=symbols", minimal, nil, 403, 7, "error:post"},
		"no scope for symbols":     {"/post?token=good&format=proguard", "x", nil, 403, 7, "symbol:post"},
		"stacked encodings":        {"/post?token=good", minimal, []string{"Content-Encoding", "gzip, gzip"}, 400, 5, "stacked"},
		"unknown encoding":         {"/post?token=good", minimal, []string{"Content-Encoding", "br"}, 400, 5, "gzip"},
		"not gzip":                 {"/post?token=good", minimal, []string{"Content-Encoding", "gzip"}, 400, 5, "gzip"},
		"gzip cut short":           {"/post?token=good", gzipped(minimal)[:60], []string{"Content-Encoding", "gzip"}, 400, 1, "ends early"},
		"not deflate":              {"/post?token=good", minimal, []string{"Content-Encoding", "deflate"}, 400, 5, ""},
		"gzip bomb":                {"/post?token=good", gzipped(strings.Repeat(" ", 60<<20)), []string{"Content-Encoding", "gzip"}, 413, 8, ""},
		"gzip bomb as a file": {"/post?token=good", gzipped(form(filePart("a", "a", strings.Repeat("\x00", 60<<20)), report)),
			[]string{"Content-Encoding", "gzip", "Content-Type", multipartB}, 413, 8, ""},
		"no boundary": {"/post?token=good", form(report), []string{"Content-Type", "multipart/form-data"}, 400, 1, "boundary"},
		"no report": {"/post?token=good", form(filePart("attachment_a", "a", "x")),
			[]string{"Content-Type", multipartB}, 400, 2, "upload_file"},
		"report twice":      {"/post?token=good", form(report, report), []string{"Content-Type", multipartB}, 400, 1, "twice"},
		"cut in the report": {"/post?token=good", "--B\r\n" + report[:150], []string{"Content-Type", multipartB}, 400, 1, ""},
		"no parts":          {"/post?token=good", "nothing", []string{"Content-Type", multipartB}, 400, 1, ""},
		"endless headers": {"/post?token=good", "--B\r\nX: " + strings.Repeat("y", 64<<10) + "\r\n\r\n\r\n--B--",
			[]string{"Content-Type", multipartB}, 413, 8, "headers"},
		"too many files": {"/post?token=good", form(report, filePart("a", "a", "x"), filePart("b", "b", "x"),
			filePart("c", "c", "x"), filePart("d", "d", "x")), []string{"Content-Type", multipartB}, 413, 8, "3 attachments"},
		"file too large": {"/post?token=good", form(report, filePart("a", "a", strings.Repeat("x", 2<<20+1))),
			[]string{"Content-Type", multipartB}, 413, 8, "attachment"},
		"body too large": {"/post?token=good", form(report, filePart("a", "a", strings.Repeat("x", 2<<20)),
			filePart("b", "b", strings.Repeat("x", 2<<20)), filePart("c", "c", strings.Repeat("x", 1<<20))),
			[]string{"Content-Type", multipartB}, 413, 8, "body"},
		"field too large": {"/post?token=good", form(report, fieldPart("a", strings.Repeat("x", 2000))),
			[]string{"Content-Type", multipartB}, 413, 8, "field"},
		"too many fields": {"/post?token=good",
			form(append([]string{report}, strings.Split(strings.Repeat(fieldPart("a", "")+"|", 21), "|")[:21]...)...),
			[]string{"Content-Type", multipartB}, 413, 8, "20 fields"},
		"dump without a file": {"/post?token=good&format=minidump", form(fieldPart("a", "b")),
			[]string{"Content-Type", multipartB}, 400, 2, "upload_file_minidump"},
		"empty dump": {"/post?token=good&format=minidump", "", nil, 400, 2, "empty"},
		"dump twice": {"/post?token=good&format=minidump", form(filePart("upload_file_minidump", "a", "MDMP"),
			filePart("upload_file_minidump", "a", "MDMP")), []string{"Content-Type", multipartB}, 400, 1, "twice"},
		"late, empty": {"/post?token=good&object=" + ownedUUID + "&attachment_name=a", "", nil, 400, 2, "empty"},
		"late, an empty part": {"/post?token=good&object=" + ownedUUID, form(filePart("a", "a", "x"), filePart("b", "b", "")),
			[]string{"Content-Type", multipartB}, 400, 2, "empty"},
		"late, not an id": {"/post?token=good&object=1&attachment_name=a", "x", nil, 400, 2, "object"},
		"late, not there": {"/post?token=good&object=" + testUUID + "&attachment_name=a", "x", nil, 400, 2, "object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			requireFailure(t, w.post(tc.target, tc.body, tc.headers...), tc.status, tc.code, tc.text)
			require.Empty(t, w.submit.got)
			require.Empty(t, w.stored(t))
			require.Len(t, w.counts.rejected, 1)
		})
	}
}

// endless is a body that would never end, and counts what is read of it.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.n += int64(len(p))
	return len(p), nil
}

func TestHundredMegabytesAreNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	announced := &endless{}
	req := httptest.NewRequest("POST", "/post?token=good", announced)
	req.ContentLength = 100 << 20
	requireFailure(t, w.do(req), 413, 8, "1048576")
	require.Zero(t, announced.n, "an announced length is refused without reading")

	chunked := &endless{}
	req = httptest.NewRequest("POST", "/post?token=good", io.LimitReader(chunked, 100<<20))
	requireFailure(t, w.do(req), 413, 8, "1048576")
	require.LessOrEqual(t, chunked.n, int64(2<<20))
}

func TestOutcomesOfTheCommit(t *testing.T) {
	t.Parallel()
	body := form(filePart("attachment_a", "a.txt", "A"), filePart("upload_file", "upload_file.json", minimal))
	for name, tc := range map[string]struct {
		receipt      received.Receipt
		err          error
		panics       bool
		status, code int
		files        int
	}{
		"resent":             {receipt: received.Receipt{Outcome: received.Resent}, status: 400, code: 4},
		"conflict":           {receipt: received.Receipt{Outcome: received.Conflict}, status: 400, code: 4, files: 1},
		"busy":               {err: groupcommit.ErrBusy, status: 503, code: 10},
		"database away":      {err: fmt.Errorf("x: %w", storage.ErrUnavailable), status: 503, code: 10},
		"unknown outcome":    {err: &storage.UnknownOutcomeError{Err: io.EOF}, status: 503, code: 10, files: 1},
		"storage's conflict": {err: fmt.Errorf("x: %w", storage.ErrConflict), status: 503, code: 10},
		"another error":      {err: errBroken, status: 500, code: 10},
		"panic":              {panics: true, status: 500, code: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.submit.receipt, w.submit.err, w.submit.panics = tc.receipt, tc.err, tc.panics
			rec := w.post("/post?token=good", body, "Content-Type", multipartB)
			requireFailure(t, rec, tc.status, tc.code, "")
			require.NotContains(t, rec.Body.String(), "broken")
			require.NotContains(t, rec.Body.String(), "boom")
			require.Equal(t, tc.status == 503, rec.Header().Get("Retry-After") != "")
			require.Len(t, w.stored(t), tc.files)
			require.Zero(t, w.counts.accepted)
			require.Len(t, w.counts.rejected, 1)
		})
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	w := newWorld(t, func(c *Config) { c.Now = func() time.Time { return now } })
	requireOK(t, w.post("/post?token=quota", minimal))
	rec := w.post("/post?token=quota", minimal)
	requireFailure(t, rec, 429, 9, "quota")
	require.Equal(t, "60", rec.Header().Get("Retry-After"))
	requireOK(t, w.post("/post?token=good", minimal))
	now = now.Add(time.Minute)
	requireOK(t, w.post("/post?token=quota", minimal))
}

func TestTokenCache(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	w := newWorld(t, func(c *Config) { c.Now = func() time.Time { return now } })
	requireOK(t, w.post("/post?token=good", minimal))
	requireOK(t, w.post("/post?token=good", minimal))
	require.Equal(t, 1, w.store.asked)

	w.store.set("good", nil)
	requireOK(t, w.post("/post?token=good", minimal))
	now = now.Add(token.Fresh)
	requireFailure(t, w.post("/post?token=good", minimal), 403, 6, "revoked")
	w.store.set("good", &crash.Token{ID: 1, Scopes: []string{crashproject.ScopeErrorPost}})
	requireFailure(t, w.post("/post?token=good", minimal), 403, 6, "revoked")
	now = now.Add(token.Absent)
	requireOK(t, w.post("/post?token=good", minimal))

	// While the database is away a token that was good is believed.
	w.store.err = storage.ErrUnavailable
	now = now.Add(token.Fresh)
	requireOK(t, w.post("/post?token=good", minimal))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, "POST", "/post?token=new", strings.NewReader(minimal))
	requireFailure(t, w.do(req), 503, 10, "")
}

func TestTokenCacheIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range token.MostEntries + 500 {
		_, err := w.r.token(t.Context(), fmt.Sprintf("10.0.%d.%d", i>>8, i&255), fmt.Sprint("wrong", i))
		require.Error(t, err)
	}
	require.LessOrEqual(t, w.r.tokens.Len(), token.MostEntries)
}

func TestClientThatWentAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.submit.err = fmt.Errorf("x: %w", context.Canceled)
	requireFailure(t, w.post("/post?token=good", minimal), 503, 10, "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.do(httptest.NewRequestWithContext(ctx, "POST", "/post?token=good", strings.NewReader(minimal)))
	require.Equal(t, []string{ReasonUnavailable, ReasonGone}, w.counts.rejected)
	w.submit.err = nil
	w.post("/post?token=good", "no report")
	require.Equal(t, ReasonMalformed, w.counts.rejected[2])
}

// An address that sends wrong tokens again and again is refused without a look-up; tokens
// that work do so from there too.
func TestWrongTokensAreSlowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	requireOK(t, w.post("/post?token=good", minimal))
	rec := w.post("/post?token=wrong", minimal)
	requireFailure(t, rec, 403, 6, "not known")
	before, tries := 0, 0
	for rec.Code == 403 { // what is allowed comes back with time, on a slow machine before the last try
		require.Less(t, tries, 5000)
		tries++
		before = asked(w)
		rec = w.post(fmt.Sprint("/post?token=wrong", tries), minimal)
	}
	require.Greater(t, tries, 30)
	requireFailure(t, rec, 429, 9, "too many tokens")
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
	require.Equal(t, before, asked(w))
	requireOK(t, w.post("/post?token=good", strings.Replace(minimal, testUUID, uuid.NewString(), 1)))
}

// asked is how often the store was asked for a token.
func asked(w *world) int {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	return w.store.asked
}
