package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	api "github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/session"
)

const sessions = "/api/1/sdk/sessions"

func TestSessionFromStartToEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.NewString()
	start := fmt.Sprintf(`{"session_id":%q,"version":"1.2","version_code":12,"package":"com.example.shop","email":"ann@example.com",
		"correlationId":"c-1","attr1":"a","attr5":"e","device":"Pixel 8","os":"Android","os_version":15,"locale":"de-DE",`+
		`"startTime":1795000000000}`, id)
	code, answer := w.sdk("POST", sessions, start)
	require.Equal(t, http.StatusOK, code, answer)
	number := answer["id"]
	require.Equal(t, map[string]any{"status": "ok", "session_id": id, "id": number, "build_id": fmt.Sprint(w.build.ID),
		"repeated": false}, answer)
	_, answer = w.sdk("POST", sessions, start)
	require.Equal(t, true, answer["repeated"])
	require.Equal(t, number, answer["id"])

	events := sessions + "/" + id + "/events"
	code, answer = w.sdk("POST", events, zipped(lines(2, 2)), "Content-Encoding", "gzip")
	require.Equal(t, http.StatusOK, code, answer)
	require.Equal(t, map[string]any{"status": "ok", "accepted": 2.0, "dropped": 0.0, "repeated": false}, answer)
	_, answer = w.sdk("POST", events, lines(2, 2))
	require.Equal(t, map[string]any{"status": "ok", "accepted": 0.0, "dropped": 0.0, "repeated": true}, answer)
	code, answer = w.sdk("POST", events, `{"seq":1,"events":[{"type":"screen","time":"2026-11-22T08:00:00Z","text":"Cart","data":{"n":1}}]}`)
	require.Equal(t, http.StatusOK, code, answer)

	code, answer = w.sdk("POST", sessions+"/"+id+"/end", `{"duration":83.5,"crashed":true}`)
	require.Equal(t, http.StatusOK, code, answer)
	require.Equal(t, map[string]any{"status": "ok", "session_id": id, "id": number, "duration": "01:23", "crashed": true}, answer)
	_, again := w.sdk("POST", sessions+"/"+id+"/end", "")
	require.Equal(t, answer, again)
	code, answer = w.sdk("POST", events, lines(3, 1))
	require.Equal(t, http.StatusOK, code, "events come late: %v", answer)

	path := fmt.Sprintf("/api/1/projects/%d/builds/%d/sessions", w.build.ProjectID, w.build.ID)
	list := object(t, w.do(w.member, "GET", path, ""))
	item := list["sessions"].([]any)[0].(map[string]any)
	require.Regexp(t, `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`, item["startTime"])
	delete(item, "startTime")
	require.Equal(t, map[string]any{"id": number, "self": fmt.Sprintf("/projects/%d/builds/%d/sessions/%v", w.build.ProjectID,
		w.build.ID, number),
		"duration": "01:23", "testerEmail": "ann@example.com", "device": "Pixel 8, Android 15", "ipAddress": "192.0.2.9", "crashed": true,
		"countryName": "", "countryCode": ""}, item)

	single := object(t, w.do(w.member, "GET", fmt.Sprintf("%s/%v?fields=meta,logs,events", path, number), ""))["session"].(map[string]any)
	require.Equal(t, map[string]any{"correlationId": "c-1", "attr1": "a", "attr2": "", "attr3": "", "attr4": "", "attr5": "e"},
		single["identity"])
	require.Equal(t, 2, strings.Count(single["logs"].(string), "line 0\n"))
	require.Len(t, single["events"], 4)
	require.Equal(t, "Cart", single["events"].([]any)[0].(map[string]any)["text"], "in the order of the batches")
	require.EqualValues(t, 4, single["meta"].(map[string]any)["eventCount"])
	plain := object(t, w.do(w.member, "GET", fmt.Sprintf("%s/%v", path, number), ""))["session"].(map[string]any)
	require.NotContains(t, plain, "logs")
	require.Contains(t, plain, "meta")
	refused(t, w.do(w.member, "GET", fmt.Sprintf("%s/%v?fields=video", path, number), ""), 400, 1, "fields")
}

// Texts that are longer in other forms of JSON are stored and read as they came.
func TestEventsOfMarkup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.NewString()
	_, start := w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q,"version":"1.2","version_code":12}`, id))
	markup, breaks := strings.Repeat("<", 60<<10), strings.Repeat("\u2028", 20<<10)
	event := fmt.Sprintf(`{"type":"log","text":%q,"data":[%q]}`, markup, markup)
	for seq, batch := range []string{strings.Repeat(event+",", 7) + event,
		fmt.Sprintf(`{"type":"log","text":"%[1]s","data":["%[1]s"]}`, breaks)} {
		code, answer := w.sdk("POST", sessions+"/"+id+"/events", zipped(fmt.Sprintf(`{"seq":%d,"events":[%s]}`, seq, batch)),
			"Content-Encoding", "gzip")
		require.Equal(t, http.StatusOK, code, answer)
		require.Zero(t, answer["dropped"])
	}
	events := object(t, w.do(w.member, "GET", fmt.Sprintf("/api/v3/sessions/%v/events", start["id"]), ""))["events"].([]any)
	require.Len(t, events, 9)
	require.Equal(t, markup, events[0].(map[string]any)["text"])
	require.Equal(t, []any{breaks}, events[8].(map[string]any)["data"])
}

func TestSDKTokenIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.NewString()
	w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q}`, id))
	other := w.Upload(w.NewUpload(fixture.APK("com.example.other", "1", "1"))).Build
	narrow := w.newToken(other.ProjectID, session.ScopeUpdate)
	key := w.Org.Member.Key(account.KindAPI)
	for _, call := range []struct{ method, path, body string }{
		{"POST", sessions, fmt.Sprintf(`{"session_id":%q}`, uuid.New())},
		{"POST", sessions + "/" + id + "/events", lines(1, 1)},
		{"POST", sessions + "/" + id + "/end", ""},
		{"POST", "/api/1/sdk/feedbacks", `{"text":"x"}`},
	} {
		refused(t, w.do(nil, call.method, call.path, call.body), 401, 5, "token: is missing")
		refused(t, w.do(nil, call.method, call.path+"?token=nobody", call.body), 401, 5, "token: is not known")
		refused(t, w.do(nil, call.method, call.path, call.body, api.TokenHeader, strings.Repeat("x", 100_000)), 401, 5, "token: is not known")
		refused(t, w.do(nil, call.method, call.path, call.body, api.TokenHeader, narrow), 403, 5, "token: has no scope")
	}
	refused(t, w.do(nil, "POST", sessions, `{}`, api.TokenHeader, key), 401, 5, "personal key")
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where type = $1 and actor = 'sdk-receiver'`, int(account.KeyRevoked)))
	require.Equal(t, 1, w.Count(`select count(*) from mails where kind = 'key-revoked'`))

	// The token of another app does not know the session.
	foreign := w.newToken(other.ProjectID)
	refused(t, w.do(nil, "POST", sessions+"/"+id+"/events", lines(1, 1), api.TokenHeader, foreign), 404, 404, "session")
	refused(t, w.do(nil, "POST", sessions+"/"+id+"/end", "", api.TokenHeader, foreign), 404, 404, "session")
	refused(t, w.do(nil, "POST", "/api/1/sdk/feedbacks", fmt.Sprintf(`{"text":"x","session_id":%q}`, id), api.TokenHeader, foreign),
		404, 404, "session")
	refused(t, w.do(nil, "POST", sessions, fmt.Sprintf(`{"session_id":%q,"build_id":%d}`, uuid.New(), w.build.ID),
		api.TokenHeader, foreign), 404, 404, "build_id")
	refused(t, w.do(nil, "POST", sessions+"/17/events", lines(1, 1), api.TokenHeader, w.token), 404, 404, "session")
}

func TestRefusedSDKBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.NewString()
	code, _ := w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q}`, id))
	require.Equal(t, http.StatusOK, code)
	for name, tc := range map[string]struct{ body, text string }{
		"no id":           {`{}`, "session_id"},
		"id no uuid":      {`{"session_id":"7"}`, "session_id"},
		"another package": {fmt.Sprintf(`{"session_id":%q,"package":"com.other"}`, uuid.New()), "package"},
		"time a word":     {fmt.Sprintf(`{"session_id":%q,"start_time":"soon"}`, uuid.New()), "start_time"},
		"build a word":    {fmt.Sprintf(`{"session_id":%q,"build_id":"x"}`, uuid.New()), "build_id"},
		"header injected": {fmt.Sprintf(`{"session_id":%q,"email":"a\r\nBcc: b"}`, uuid.New()), "email"},
		"long":            {fmt.Sprintf(`{"session_id":%q,"device":%q}`, uuid.New(), strings.Repeat("x", 1000)), "device"},
		"NUL":             {fmt.Sprintf(`{"session_id":%q,"attr1":"\u0000"}`, uuid.New()), "attr1"},
		"deep":            {`{"session_id":` + strings.Repeat("[", 5000), "body"},
	} {
		refused(t, w.do(nil, "POST", sessions, tc.body, api.TokenHeader, w.token), 400, 1, tc.text)
		_ = name
	}
	event := func(text string) string { return `{"seq":1,"events":[` + text + `]}` }
	for name, tc := range map[string]struct{ body, text string }{
		"empty":         {"", "body"},
		"an array":      {"[]", "body"},
		"no seq":        {`{"events":[{"type":"log"}]}`, "seq"},
		"seq below":     {`{"seq":-1,"events":[{"type":"log"}]}`, "seq"},
		"seq a word":    {`{"seq":"x","events":[]}`, "seq"},
		"no events":     {`{"seq":1}`, "events"},
		"unknown type":  {event(`{"type":"video"}`), "events[0].type"},
		"time a word":   {event(`{"type":"log","time":"soon"}`), "events[0].time"},
		"deep":          {event(`{"type":"log","data":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`), "nested"},
		"too many":      {lines(1, 1001), "events"},
		"a long text":   {event(fmt.Sprintf(`{"type":"log","text":%q}`, strings.Repeat("x", 70_000))), "events[0].text"},
		"cut off":       {lines(1, 3)[:40], "body"},
		"wrong members": {`{"seq":1,"events":{"type":"log"}}`, "events"},
	} {
		refused(t, w.do(nil, "POST", sessions+"/"+id+"/events", tc.body, api.TokenHeader, w.token), 400, 1, tc.text)
		_ = name
	}
	send := func(body, encoding string) (int, map[string]any) {
		return w.sdk("POST", sessions+"/"+id+"/events", body, "Content-Encoding", encoding)
	}
	code, answer := send(zipped(strings.Repeat(" ", 20<<20)), "gzip")
	require.Equal(t, http.StatusRequestEntityTooLarge, code, "a bomb: %v", answer)
	code, _ = send(zipped(lines(1, 3))[:30], "gzip")
	require.Equal(t, http.StatusBadRequest, code)
	code, _ = send(lines(1, 1), "gzip")
	require.Equal(t, http.StatusBadRequest, code)
	code, _ = send(lines(1, 1), "br")
	require.Equal(t, http.StatusBadRequest, code)
	for _, end := range []string{`{"duration":"long"}`, `{"duration":"NaN"}`, `{"crashed":"maybe"}`} {
		refused(t, w.do(nil, "POST", sessions+"/"+id+"/end", end, api.TokenHeader, w.token), 400, 1, "")
	}
	require.Zero(t, w.Count(`select count(*) from app_session_batches`))

	// What a device has wrong is taken.
	code, answer = w.sdk("POST", sessions+"/"+id+"/events", event(`{"type":"log","time":-1,"text":"a\u0000b`+"\xff"+
		`"},{"type":"log","time":4102444800}`))
	require.Equal(t, http.StatusOK, code, answer)
	code, answer = w.sdk("POST", sessions+"/"+id+"/end", `{"duration":-5}`)
	require.Equal(t, http.StatusOK, code, answer)
	require.Equal(t, "00:00", answer["duration"])
}

func TestQuotaOfToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.DB.ExecContext(t.Context(), `update sdk_tokens set quota_per_minute = 2`)
	require.NoError(t, err)
	for range 2 {
		code, _ := w.sdk("POST", sessions, fmt.Sprintf(`{"session_id":%q}`, uuid.New()))
		require.Equal(t, http.StatusOK, code)
	}
	rec := w.do(nil, "POST", sessions, `{}`, api.TokenHeader, w.token)
	refused(t, rec, 429, 429, "quota")
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
}
