package intake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

const (
	shopOrigin   = "https://shop.example"
	feedbackPath = "/api/v3/crashes/" + testUUID + "/feedback?token="
)

// The pages of the origins that a crash project allows may post, those of others may not.
func TestOriginsOfPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	bodies := map[string]string{"/post?token=": minimal, "/u/TOKEN/json": minimal, summedPath: metrics("1", summedEvents, launchOfS1),
		feedbackPath: `{"text":"x"}`, "/api/tunnel": `{"token":"TOKEN"}` + "\n" + `{"type":"feedback","crash_id":"` +
			testUUID + `"}` + "\n" + `{"text":"x"}`}
	for token, of := range map[string]map[string]bool{"shop": {shopOrigin: true, "https://other.example": false, "null": false, "": true},
		"pages": {shopOrigin: true, "null": true, "": true}} {
		for path, body := range bodies {
			target := strings.ReplaceAll(path, "TOKEN", token)
			if strings.HasSuffix(target, "token=") {
				target += token
			}
			for origin, allowed := range of {
				rec := w.post(target, strings.ReplaceAll(body, "TOKEN", token), "Origin", origin)
				h := rec.Header()
				if !allowed {
					require.Equal(t, http.StatusForbidden, rec.Code, "%s %s", target, origin)
					require.Contains(t, rec.Body.String(), "Origin: ")
					require.Empty(t, h.Get("Access-Control-Allow-Origin"))
					require.Empty(t, h.Get("Access-Control-Allow-Credentials"))
				} else {
					require.Less(t, rec.Code, 300, "%s %s: %s", target, origin, rec.Body)
					want := "*"
					if origin != "" && token == "shop" { // which names its pages
						want = origin
						require.Equal(t, "true", h.Get("Access-Control-Allow-Credentials"))
						require.Contains(t, h.Values("Vary"), "Origin")
					}
					require.Equal(t, want, h.Get("Access-Control-Allow-Origin"))
				}
				preflight := httptest.NewRequest("OPTIONS", target, nil)
				preflight.Header.Set("Origin", origin)
				answer := w.do(preflight)
				require.Equal(t, http.StatusNoContent, answer.Code)
				known := !strings.HasPrefix(path, "/api/tunnel") // the token stands in the body
				require.Equal(t, allowed || !known, answer.Header().Get("Access-Control-Allow-Origin") != "", "%s %s", target, origin)
			}
		}
	}
	// A token that is not known is refused so that a page can read why.
	rec := w.post("/post?token=bad", minimal, "Origin", shopOrigin)
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
	for _, strange := range []string{"https://a\x7fb", "https://a,https://b", strings.Repeat("a", 400)} {
		require.Equal(t, http.StatusForbidden, w.post("/post?token=shop", minimal, "Origin", strange).Code)
	}
}

// A beacon has no headers of its own: its text is plain, and may be gzip.
func TestBeacons(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, body := range map[string]string{"text": minimal, "gzip": gzipped(minimal)} {
		for _, kind := range []string{"text/plain;charset=UTF-8", "application/json", ""} {
			requireOK(t, w.post("/post?token=good", body, "Content-Type", kind))
			got := w.submit.got[len(w.submit.got)-1]
			require.Equal(t, minimal, string(got.Document), "%s %s", name, kind)
			require.True(t, got.SentAt.IsZero())
		}
	}
	require.Equal(t, http.StatusOK, w.post(summedPath+"good", gzipped(metrics("1", summedEvents, launchOfS1))).Code)
	require.Len(t, w.store.usage, 1)
	requireFailure(t, w.post("/post?token=good", "\x1f\x8bnot gzip"), 400, 5, "gzip")
	requireFailure(t, w.post("/post?token=good", "\x1f"), 400, 1, "")
	requireFailure(t, w.post("/post?token=good", gzipped(strings.Repeat(" ", 60<<20))), 413, 8, "")
}

// A client says when it sent a report, by its clock.
func TestSentAtOfReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	at := time.Unix(1_690_000_000, 0)
	for _, c := range []struct{ target, body string }{
		{"/post?token=good&sent_at=1690000000", minimal},
		{"/post?token=good&sent_at=2023-07-22T04%3A26%3A40Z", with(`"sent_at":17`)},
		{"/post?token=good", with(`"sentAt":"2023-07-22T04:26:40Z"`)},
		{"/post?token=good", with(`"sent_at":1690000000123`)},
		{"/api/tunnel", `{"token":"good","sent_at":1690000000}` + "\n" + `{"type":"report"}` + "\n" + minimal},
	} {
		requireOK(t, w.post(c.target, c.body))
		require.Equal(t, at, w.submit.got[len(w.submit.got)-1].SentAt, c.target)
	}
	rec := w.post("/post?token=good&format=minidump", form(filePart("upload_file_minidump", "a", "MDMP"),
		fieldPart("sent_at", "1690000000")), "Content-Type", multipartB)
	requireOK(t, rec)
	require.Equal(t, at, w.submit.got[len(w.submit.got)-1].SentAt)
}

// A report that is cut off keeps what can be read, and is one report however often it comes.
func TestCutReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	whole := with(`"attributes":{"user":"ann","error.message":"it broke"},"classifiers":["E"]`)
	begin := whole[:strings.Index(whole, `"error.message"`)+20]
	compressed := gzipped(whole + strings.Repeat(" ", 4096))
	for name, c := range map[string]struct {
		target, body string
		headers      []string
	}{
		"raw": {"/post?token=good", begin, nil},
		"in a form": {"/post?token=good", form(filePart("upload_file", "r.json", begin),
			filePart("attachment_log", "log", "line")), []string{"Content-Type", multipartB}},
		"with its form": {"/post?token=good", "--B\r\n" + filePart("upload_file", "r.json",
			begin)[:len(filePart("upload_file", "r.json", begin))-2], []string{"Content-Type", multipartB}},
		"gzip":                      {"/post?token=good", gzipped(begin), []string{"Content-Encoding", "gzip"}},
		"in an envelope":            {"/api/tunnel", `{"token":"good"}` + "\n" + `{"type":"report","length":9999}` + "\n" + begin, nil},
		"in an envelope, as a line": {"/api/tunnel", `{"token":"good"}` + "\n" + `{"type":"report"}` + "\n" + begin, nil},
	} {
		for range 2 {
			answer := requireOK(t, w.post(c.target, c.body, c.headers...))
			require.Equal(t, true, answer["truncated"], name)
			require.Equal(t, testUUID, answer["uuid"], name)
		}
		n := len(w.submit.got)
		require.Equal(t, w.submit.got[n-1].Digest, w.submit.got[n-2].Digest, name)
		var stored struct{ Attributes map[string]string }
		require.NoError(t, json.Unmarshal(w.submit.got[n-1].Document, &stored), name)
		require.Equal(t, map[string]string{"user": "ann"}, stored.Attributes, name)
	}
	_ = compressed
	// A stream that is damaged, and not cut off, is refused, and so is a body that did not arrive.
	damaged := []byte(gzipped(whole))
	damaged[len(damaged)-6] ^= 0xff
	requireFailure(t, w.post("/post?token=good", string(damaged), "Content-Encoding", "gzip"), 400, 5, "inflated")
	requireFailure(t, w.post("/post?token=good", `{"uuid":"`+testUUID+`","timesta`), 400, 1, "")
}

func TestFeedbackOfUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := uuid.MustParse(testUUID)
	want := crash.NewFeedback{OrganizationID: 3, ProjectID: 7, CrashID: id, Name: "Ann", Email: "ann@shop.example", Text: "I pressed pay."}
	text := `{"name":"Ann","email":"ann@shop.example","text":"I pressed pay."}`
	for name, c := range map[string]struct {
		body    string
		headers []string
	}{
		"json":   {text, []string{"Content-Type", "application/json"}},
		"beacon": {text, []string{"Content-Type", "text/plain;charset=UTF-8"}},
		"gzip":   {gzipped(text), []string{"Content-Type", "text/plain"}},
		"form":   {"name=Ann&email=ann%40shop.example&text=I+pressed+pay.", []string{"Content-Type", "application/x-www-form-urlencoded"}},
	} {
		w.store.feedback = nil
		rec := w.post(feedbackPath+"good", c.body, c.headers...)
		require.Equal(t, http.StatusCreated, rec.Code, "%s: %s", name, rec.Body)
		require.JSONEq(t, `{"feedback":{"crash_id":"`+testUUID+`"}}`, rec.Body.String())
		require.Equal(t, []crash.NewFeedback{want}, w.store.feedback, name)
	}
	for name, c := range map[string]struct {
		target, body string
		status       int
		says         string
	}{
		"no token":    {"/api/v3/crashes/" + testUUID + "/feedback", text, 403, "token"},
		"wrong token": {feedbackPath + "bad", text, 403, "token"},
		"scope":       {feedbackPath + "symbols", text, 403, "error:post"},
		"not an id":   {"/api/v3/crashes/7/feedback?token=good", text, 404, ""},
		"no text":     {feedbackPath + "good", `{"name":"Ann"}`, 400, "text"},
		"mail":        {feedbackPath + "good", `{"text":"x","email":"nobody"}`, 400, "email"},
		"misspelt":    {feedbackPath + "good", `{"txt":"x"}`, 400, "was text meant?"},
		"type":        {feedbackPath + "good", `{"text":["x"]}`, 400, "text"},
		"long":        {feedbackPath + "good", `{"text":"` + strings.Repeat("x", 9000) + `"}`, 400, "text"},
		"too long":    {feedbackPath + "good", `{"text":"` + strings.Repeat("x", 90_000) + `"}`, 413, "longer"},
	} {
		rec := w.post(c.target, c.body, "Content-Type", "application/json")
		require.Equal(t, c.status, rec.Code, "%s: %s", name, rec.Body)
		require.Contains(t, rec.Body.String(), c.says, name)
		require.Contains(t, rec.Body.String(), `"error":"`, name)
	}
	w.store.feedbackErr = crash.ErrTooMuchFeedback
	require.Equal(t, http.StatusConflict, w.post(feedbackPath+"good", text).Code)
	w.store.feedbackErr = storage.ErrNotFound
	require.Equal(t, http.StatusNotFound, w.post(feedbackPath+"good", text).Code)
}

func TestTunnel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	file := "two\nlines"
	envelope := strings.Join([]string{`{"dsn":"https://good@crash.example/1"}`,
		`{"type":"attachment","length":9,"filename":"../log.txt","content_type":"text/plain"}`, file,
		`{"type":"report"}`, minimal, `{"type":"session","length":3}`, "\n\n\n", "", `{"type":"feedback"}`,
		`{"text":"I pressed pay.","name":"Ann"}`,
		`{"type":"summed_events"}`, metrics("1", summedEvents, launchOfS1), ""}, "\n")
	for _, body := range []string{envelope, gzipped(envelope)} {
		w.store.feedback, w.store.usage = nil, nil
		answer := requireOK(t, w.post("/api/tunnel", body, "Content-Type", "text/plain;charset=UTF-8"))
		require.Equal(t, testUUID, answer["uuid"])
		got := w.submit.got[len(w.submit.got)-1]
		require.Equal(t, minimal, string(got.Document))
		require.Len(t, got.Attachments, 1)
		require.Equal(t, "log.txt", got.Attachments[0].Name)
		require.EqualValues(t, len(file), got.Attachments[0].Size)
		require.Len(t, w.store.usage, 1)
		require.Equal(t, "I pressed pay.", w.store.feedback[0].Text)
		require.Equal(t, w.submit.receipt.ID, w.store.feedback[0].CrashID)
	}
	require.Equal(t, []string{file, file}, w.stored(t))

	for name, c := range map[string]struct {
		body         string
		status, code int
		says         string
	}{
		"empty":            {"", 400, 1, "JSON"},
		"no token":         {"{}\n" + `{"type":"report"}` + "\n" + minimal, 403, 6, "token"},
		"no json":          {"x\n", 400, 1, "JSON"},
		"no items":         {`{"token":"good"}`, 400, 2, "report"},
		"item of no json":  {`{"token":"good"}` + "\nx\ny", 400, 1, "item"},
		"a file alone":     {`{"token":"good"}` + "\n" + `{"type":"attachment","length":1}` + "\nx", 400, 2, "report"},
		"feedback on what": {`{"token":"good"}` + "\n" + `{"type":"feedback"}` + "\n" + `{"text":"x"}`, 400, 2, "crash_id"},
		"feedback of what": {`{"token":"good"}` + "\n" + `{"type":"feedback"}` + "\n" + `{}`, 400, 2, "text"},
		"negative length":  {`{"token":"good"}` + "\n" + `{"type":"report","length":-1}` + "\n" + minimal, 400, 2, "length"},
		"two reports": {`{"token":"good"}` + "\n" + `{"type":"report"}` + "\n" + minimal + "\n" + `{"type":"report"}` +
			"\n" + minimal, 400, 1, "twice"},
		"no scope":      {`{"token":"symbols"}` + "\n" + `{"type":"report"}` + "\n" + minimal, 403, 7, "error:post"},
		"endless line":  {`{"token":"` + strings.Repeat("x", 1<<20), 413, 8, "line"},
		"endless items": {`{"token":"good"}` + strings.Repeat("\n"+`{"type":"x","length":0}`, 60), 413, 8, "items"},
		"beyond its quota": {`{"token":"quota"}` + strings.Repeat("\n"+`{"type":"feedback","crash_id":"`+testUUID+
			`"}`+"\n"+`{"text":"x"}`, 2), 429, 9, "quota"},
		"report of no kind": {`{"token":"good"}` + "\n" + `{"type":"report"}` + "\n" + `{"uuid":7}`, 400, 2, "uuid"},
	} {
		requireFailure(t, w.post("/api/tunnel", c.body), c.status, c.code, c.says)
		_ = name
	}
	require.Equal(t, []string{file, file}, w.stored(t), "the files of what was refused are gone")
}

func FuzzTunnel(f *testing.F) {
	f.Add([]byte(`{"token":"good"}` + "\n" + `{"type":"report"}` + "\n" + minimal))
	f.Add([]byte(`{"token":"good"}` + "\n" + `{"type":"attachment","length":9}` + "\nx"))
	f.Add([]byte(`{"token":"good"}` + "\n" + `{"type":"feedback","crash_id":"` + testUUID + `"}` + "\n" + `{"text":"x"}`))
	w := newWorld(f, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		if code := w.post("/api/tunnel", string(body)).Code; code >= 500 {
			t.Fatal(code)
		}
	})
}
