package upload

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/setting"
)

// TestRefusals sends what must leave nothing behind.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.MaxBytes, cfg.MaxSymbols = 1<<20, 64<<10 })
	_, tester := w.user("tester@example.com", account.Tester)
	app := ipa("com.example.demo", "1")
	build := file("file", "a.ipa", app)
	wrong := textField("api_key", w.boot.Owner.APIKey[:len(w.boot.Owner.APIKey)-4]+"aaaa")
	many := make([]field, 0, maxParts+1)
	for range maxParts {
		many = append(many, textField("x", "y"))
	}
	texts := []field{w.key()}
	for range 20 {
		texts = append(texts, textField("groups", strings.Repeat("x", maxText)))
	}
	for name, tc := range map[string]struct {
		fields []field
		status int
		code   int
		text   string
	}{
		"wrong key after":        {[]field{build, wrong}, 401, 5, "invalid API key"},
		"wrong key before":       {[]field{wrong, build}, 401, 5, "invalid API key"},
		"wrong key, symbols too": {[]field{file("symbols_file", "s.zip", dSYM()), build, wrong}, 401, 5, "invalid API key"},
		"wrong key, symbols 2":   {[]field{build, file("symbols_file", "s.zip", dSYM()), wrong}, 401, 5, "invalid API key"},
		"no key":                 {[]field{build}, 400, 1, "api_key"},
		"empty key":              {[]field{build, textField("api_key", "")}, 400, 1, "api_key"},
		"tester":                 {[]field{build, textField("api_key", tester)}, 403, 133, "tester"},
		"no file":                {[]field{w.key()}, 400, 1, "file"},
		"file as text":           {[]field{w.key(), textField("file", "/builds/app.apk")}, 400, 1, "file"},
		"two files":              {[]field{w.key(), build, build}, 400, 1, "file"},
		"empty file":             {[]field{w.key(), file("file", "a.apk", []byte{})}, 400, 112, "empty"},
		"empty file, key last":   {[]field{file("file", "a.apk", []byte{}), w.key()}, 400, 112, "empty"},
		"too large":              {[]field{w.key(), file("file", "a.apk", noise(1<<20+1, 1))}, 413, 413, "1048576"},
		"too large, key last":    {[]field{file("file", "a.apk", noise(1<<20+1, 1)), w.key()}, 413, 413, "1048576"},
		"garbage":                {[]field{w.key(), file("file", "a.apk", noise(1<<19, 1))}, 400, 105, "invalid file"},
		"truncated":              {[]field{w.key(), file("file", "a.ipa", app[:len(app)-30])}, 400, 105, "invalid file"},
		"zip without app":        {[]field{w.key(), file("file", "docs.zip", zipped(map[string]string{"a.txt": "b"}))}, 400, 121, "generic"},
		"zip named apk":          {[]field{w.key(), file("file", "a.apk", zipped(map[string]string{"a.txt": "b"}))}, 400, 105, "invalid file"},
		"generic platform":       {[]field{w.key(), textField("platform", "Xbox"), file("file", "a.bin", noise(100, 1))}, 400, 121, "generic"},
		"unknown platform":       {[]field{w.key(), textField("platform", "Amiga"), build}, 400, 121, "platform"},
		"symbols as file":        {[]field{w.key(), file("file", "s.zip", dSYM())}, 400, 121, "generic"},
		"mode":                   {[]field{w.key(), build, textField("landing_page_mode", "ajar")}, 400, 135, "landing_page_mode"},
		"notify":                 {[]field{w.key(), build, textField("notify", "maybe")}, 400, 1, "notify"},
		"auto_update":            {[]field{w.key(), build, textField("auto-update", "maybe")}, 400, 1, "auto_update"},
		"sync":                   {[]field{w.key(), build, textField("upload_to_acme", "maybe")}, 400, 1, "sync"},
		"short token":            {[]field{w.key(), build, textField("community_token", "abc")}, 400, 1, "community_token"},
		"token letters":          {[]field{w.key(), build, textField("community_token", "under_score")}, 400, 1, "community_token"},
		"short slug":             {[]field{w.key(), build, textField("landing_page_slug", "abc")}, 400, 1, "landing_page_slug"},
		"slug begins with dot":   {[]field{w.key(), build, textField("landing_page_slug", ".abcdef")}, 400, 1, "landing_page_slug"},
		"team id":                {[]field{w.key(), build, textField("team_id", "-1")}, 400, 1, "team_id"},
		"unknown project":        {[]field{w.key(), build, textField("project_id", "9999999")}, 404, 404, "not found"},
		"huge project id":        {[]field{w.key(), build, textField("project_id", strings.Repeat("9", 40))}, 400, 1, "project_id"},
		"too many parts":         {append(many, w.key(), build), 413, 413, "parts"},
		"long group names":       {[]field{w.key(), build, textField("groups", strings.Repeat("x", maxText+1))}, 413, 413, "groups"},
		"many groups":            {[]field{w.key(), build, textField("groups", manyNames())}, 400, 1, "groups"},
		"long, without a key":    {[]field{textField("comment", strings.Repeat("x", 2<<20)), w.key(), build}, 413, 413, "text part"},
		"long texts":             {append(texts, build), 413, 413, "text parts"},
	} {
		status, out := w.post("/upload/", nil, tc.fields...)
		require.Equal(t, tc.status, status, "%s: %v", name, out)
		require.Equal(t, tc.code, code(out), "%s: %v", name, out)
		require.Equal(t, "fail", out["status"], name)
		require.Contains(t, out["message"], tc.text, name)
		require.NotContains(t, out["message"], w.boot.Owner.APIKey, name)
	}
	w.nothingKept()

	form, kind := encodeForm([]field{w.key(), build})
	for name, tc := range map[string]struct {
		headers map[string]string
		kind    string
		body    []byte
		status  int
		text    string
	}{
		"JSON":               {nil, "application/json", []byte(`{"api_key":"x","file":"y"}`), 400, "multipart/form-data"},
		"url-encoded":        {nil, "application/x-www-form-urlencoded", []byte(`api_key=x`), 400, "multipart/form-data"},
		"no boundary":        {nil, "multipart/form-data", form, 400, "multipart/form-data"},
		"other boundary":     {nil, kind + "x", form, 400, "boundary"},
		"no end":             {nil, kind, form[:len(form)-6], 400, "ended early"},
		"not closed":         {nil, kind, form[:bytes.LastIndex(form, []byte("\r\n--"))], 400, "ended early"},
		"nothing":            {nil, kind, nil, 400, "ended early"},
		"wrong header":       {map[string]string{"X-API-Key": "nonsense"}, kind, form, 401, "invalid API key"},
		"header of a tester": {map[string]string{"X-API-Key": tester}, kind, form, 403, "tester"},
		"long idempotency":   {map[string]string{"Idempotency-Key": strings.Repeat("x", 300)}, kind, form, 400, "Idempotency-Key"},
		"foul idempotency":   {map[string]string{"Idempotency-Key": "\xff"}, kind, form, 400, "Idempotency-Key"},
	} {
		status, out := w.send("/upload/", tc.headers, tc.kind, tc.body)
		require.Equal(t, tc.status, status, "%s: %v", name, out)
		require.Contains(t, out["message"], tc.text, name)
	}
	w.nothingKept()
}

func manyNames() string {
	var b strings.Builder
	for i := range maxNames + 1 {
		b.WriteString("n" + itoa(int64(i)) + ",")
	}
	return b.String()
}

// TestRefusalsOfStorage are those that show only when the objects are there.
func TestRefusalsOfStorage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	userID, member := w.user("dev@example.com", account.Member)
	var second int64
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.boot.Organization.ID, Name: "Second"})
		if err != nil {
			return err
		}
		second = team.ID
		on := true
		_, err = setting.Update(ctx, tx, account.CLI(), w.boot.Organization.ID, setting.Change{RequireLogin: &on})
		return err
	})
	require.NotZero(t, userID)
	build := file("file", "a.ipa", ipa("com.example.demo", "1"))
	post := func(fields ...field) (int, int) {
		before := len(w.objects())
		status, out := w.post("/upload/", nil, append([]field{build}, fields...)...)
		if status != 200 {
			require.Eventually(t, func() bool { return len(w.objects()) == before }, waitFor, tick)
		}
		return status, code(out)
	}
	status, number := post(w.key(), textField("landing_page_mode", "open"))
	require.Equal(t, [2]int{400, 156}, [2]int{status, number})
	status, number = post(textField("api_key", member), textField("team_id", itoa(second)))
	require.Equal(t, [2]int{403, 99}, [2]int{status, number})
	status, _ = post(w.key(), textField("community_token", "demo.app"))
	require.Equal(t, 200, status)
	status, _ = post(w.key(), textField("team_id", itoa(second)))
	require.Equal(t, 200, status)
	status, number = post(w.key())
	require.Equal(t, [2]int{400, 136}, [2]int{status, number})
	status, number = post(w.key(), textField("team_id", itoa(second)), textField("community_token", "Demo.App"))
	require.Equal(t, [2]int{400, 2}, [2]int{status, number})
}

// TestCutConnection lets clients go away in the middle: nothing stays, in either
// store.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	for store, minio := range map[string]bool{"folder": false, "MinIO": true} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, minio, nil)
			u, err := url.Parse(w.url)
			require.NoError(t, err)
			// Two parts and a bit of an object in MinIO are on their way.
			body, kind := encodeForm([]field{file("symbols_file", "s.zip", noise(9<<20, 2)), file("file", "a.ipa", noise(20<<20, 1)), w.key()})
			for i, at := range []int{100, 5 << 20, 20 << 20, len(body) - 2000, len(body) - 100, 20 << 20} {
				conn, err := net.Dial("tcp", u.Host)
				require.NoError(t, err)
				head := "POST /upload/ HTTP/1.1\r\nHost: x\r\nContent-Type: " + kind + "\r\nContent-Length: " + itoa(int64(len(body))) + "\r\n\r\n"
				_, err = conn.Write(append([]byte(head), body[:at]...))
				require.NoError(t, err)
				if i == 5 { // what the count below counts
					require.Eventually(t, func() bool { return w.unfinished() > 0 }, waitFor, tick)
				}
				require.NoError(t, conn.Close())
			}
			w.nothingKept()
			// What looks complete but has another boundary, and a wrong key behind it all.
			status, _ := w.send("/upload/", nil, kind[:len(kind)-1]+"!", body)
			require.Equal(t, 400, status)
			status, out := w.post("/upload/", nil, file("file", "a.ipa", noise(20<<20, 1)), file("symbols_file", "s.zip", noise(9<<20, 2)),
				textField("api_key", "wrong"))
			require.Equal(t, 401, status, out)
			w.nothingKept()
		})
	}
}

// TestRefusedBeforeTheBody: a key in a header is looked at before anything is
// sent.
func TestRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	sent := false
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/upload/", readerFunc(func([]byte) (int, error) {
		sent = true
		return 0, io.ErrUnexpectedEOF
	}))
	require.NoError(t, err)
	r.ContentLength = 1 << 30
	r.Header.Set("Expect", "100-continue")
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	r.SetBasicAuth(w.boot.Owner.Email, "wrong")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	res, err := client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 401, res.StatusCode)
	require.False(t, sent)

	// Too large is known before, too.
	r.SetBasicAuth(w.boot.Owner.Email, w.boot.Owner.APIKey)
	r.ContentLength = 1 << 40
	res, err = client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, 413, res.StatusCode)
	require.False(t, sent)
}

// TestResponseReachesWhoSendsFirst: many clients look for the response only once
// they have sent everything.
func TestResponseReachesWhoSendsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	u, err := url.Parse(w.url)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer conn.Close()
	const length = 30 << 20
	_, err = conn.Write([]byte("POST /upload/ HTTP/1.1\r\nHost: x\r\nX-API-Key: wrong\r\nContent-Type: multipart/form-data; boundary=x\r\n" +
		"Content-Length: " +
		itoa(length) + "\r\n\r\n"))
	require.NoError(t, err)
	_, err = conn.Write(noise(length, 1))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(waitFor)))
	answer := make([]byte, 12)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 401", string(answer))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, k := range storageProblems {
		require.ErrorIs(t, explain(k.err), k.err)
		require.NotEqual(t, k.err, explain(k.err))
	}
	require.ErrorContains(t, explain(&artifact.InvalidError{Reason: "no directory"}), "invalid file: no directory")
	require.Equal(t, io.EOF, explain(io.EOF))
}
