package intake

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The documents, in the shapes that the clients write them.
var (
	pythonReport = `{"uuid": "5f0e7a66-9a0c-4c5c-8a43-6c0de1a2b3c4", "timestamp": 1700000002, "lang": "python", "langVersion": "3.12.1", ` +
		`"agent": "backtrace-python", "agentVersion": "0.4.0", "mainThread": "140735212345678", "threads": {"140735212345678": {"name": ` +
		`"worker", "stack": [{"funcName": "run", "line": 17, "library": "/srv/app.py", "sourceCode": "/srv/app.py"}]}}, "sourceCode": ` +
		`{"/srv/app.py": {"path": "/srv/app.py", "text": "def run():\n  pass", "startLine": 7}}}`
	androidReport = `{"uuid":"6c1f8b77-ab1d-4d6d-9b54-7d1ef2b3c4d5","symbolication":"proguard","timestamp":1700000003,"langVersion":"17",` +
		`"agentVersion":"3.7.0","attributes":{"symbolication_id":"f6c3e8d4","device.cores":"8"},"mainThread":"main",` +
		`"classifiers":["java.lang.NullPointerException"],"sourceCode":{"c0ffee":{}},"agent":"backtrace-android","lang":"java",` +
		`"threads":{"main":{"name":"main","fault":true,"stack":[{"funcName":"a.b.c","line":4,"sourceCode":"c0ffee"}]}}}`
	unityReport = `{"uuid":"7d2f9c88-bc2e-4e7e-8c65-8e2ff3c4d5e6","timestamp":1700000004,"lang":"csharp","langVersion":"Mono",` +
		`"agent":"backtrace-unity","agentVersion":"3.7.1","mainThread":"main","classifiers":null,"attributes":{"_mod_fingerprint":"` +
		strings.Repeat("ab", 32) + `","_mod_duplicate":"3"},"threads":{"main":{"fault":true,"stack":[{"funcName":"","line":0,"address":140,` +
		`"library":"Player"}]}}}`
	goReport = `{"agent":"backtrace-go","agentVersion":"0.0.0","lang":"go","langVersion":"go1.21","mainThread":"1",` +
		`"sourceCode":{"main.go":{"text":"package main\n","startLine":1}},"threads":{"1":{"fault":true,"stack":[{"funcName":"main.main",` +
		`"sourceCode":"main.go","line":"12"}]}},"timestamp":1700000005,"uuid":"8e3fad99cd3f4f8f9d769f3004d5e6f7"}`
)

func deflated(t *testing.T, body string, raw bool) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = zlib.NewWriter(&b)
	if raw {
		fw, err := flate.NewWriter(&b, 6)
		require.NoError(t, err)
		w = fw
	}
	_, err := io.WriteString(w, body)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestClients(t *testing.T) {
	t.Parallel()
	const cocoa = "0xKhTmLbOuNdArY"
	type client struct {
		target, body, doc string
		headers           []string
		chunked           bool
		files             []string // name, content type, content
	}
	for name, tc := range map[string]client{
		"node": {target: "/post?token=good&format=json", body: minimal, doc: minimal, chunked: true,
			headers: []string{"Content-Type", "application/json"}},
		"go, by path": {target: "/universe/good/json", body: goReport, doc: goReport,
			headers: []string{"Content-Type", "application/json"}},
		"other path":    {target: "/api/post?token=good", body: minimal, doc: minimal},
		"escaped query": {target: "/post?format=%6Ason&token=go%6Fd&_mod_sync=1", body: minimal, doc: minimal},
		"curl": {target: "/post?token=good", body: minimal, doc: minimal,
			headers: []string{"Content-Type", "application/x-www-form-urlencoded"}},
		"no content type": {target: "/post?token=good", body: minimal, doc: minimal},
		"node with a file": {target: "/post?token=good&format=json", chunked: true, doc: minimal,
			headers: []string{"Content-Type", "multipart/form-data; boundary=----formdata-undici-0123456"},
			body: "------formdata-undici-0123456\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"upload_file.json\"\r\n" +
				"Content-Type: application/json\r\n\r\n" + minimal +
				"\r\n------formdata-undici-0123456\r\nContent-Disposition: form-data; name=\"attachment_log.txt\"; filename=\"log.txt\"\r\n" +
				"Content-Type: text/plain\r\n\r\nline\n\r\n------formdata-undici-0123456--\r\n",
			files: []string{"log.txt", "text/plain", "line\n"}},
		"browser, plain fields": {target: "/post?token=good&format=json", doc: minimal,
			headers: []string{"Content-Type", "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk"},
			body: "------WebKitFormBoundary7MA4YWxk\r\nContent-Disposition: form-data; name=\"upload_file\"\r\n\r\n" + minimal +
				"\r\n------WebKitFormBoundary7MA4YWxk\r\nContent-Disposition: form-data; name=\"attachment_state\"\r\n\r\n{\"a\":1}\r\n" +
				"------WebKitFormBoundary7MA4YWxk--\r\n",
			files: []string{"state", "application/octet-stream", `{"a":1}`}},
		"python, files first": {target: "/post?token=good&format=json", doc: pythonReport,
			headers: []string{"Content-Type", "multipart/form-data; boundary=3f2504e04f8911d39a0c0305e82c3301"},
			body: "--3f2504e04f8911d39a0c0305e82c3301\r\nContent-Disposition: form-data; name=\"attachment_core\"; " +
				"filename=\"..\\dir/core.bin\"\r\n\r\n\x00\x01\x02\r\n--3f2504e04f8911d39a0c0305e82c3301\r\n" +
				"Content-Disposition: form-data; name=\"upload_file\"; filename=\"upload_file\"\r\n\r\n" +
				pythonReport + "\r\n--3f2504e04f8911d39a0c0305e82c3301--\r\n",
			files: []string{"core.bin", "application/octet-stream", "\x00\x01\x02"}},
		"android": {target: "/post?token=good&format=json", chunked: true, doc: androidReport,
			headers: []string{"Content-Type", "multipart/form-data;boundary=*****"},
			body: "--*****\r\nContent-Disposition: form-data; name=\"upload_file\";filename=\"upload_file.json\"\r\n" +
				"Content-Type: application/json\r\n\r\n" + androidReport +
				"\r\n--*****\r\nContent-Disposition: form-data; name=\"attachment_l\";filename=\"l\"\r\nContent-Type: null\r\n\r\nlog\r\n--*****--\r\n",
			files: []string{"l", "application/octet-stream", "log"}},
		"cocoa, broken end": {target: "/post?token=good&format=json", doc: minimal,
			headers: []string{"Content-Type", "multipart/form-data; boundary=" + cocoa},
			body: "--" + cocoa + "\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"upload_file\"\r\n" +
				"Content-Type: application/octet-stream\r\n\r\n" + minimal + "\r\n--" + cocoa + "\r\n--"},
		"no end at all": {target: "/post?token=good&format=json", doc: minimal,
			headers: []string{"Content-Type", "multipart/form-data; boundary=" + cocoa},
			body:    "--" + cocoa + "\r\nContent-Disposition: form-data; name=\"upload_file\"\r\n\r\n" + minimal + "\r\n--" + cocoa},
		"boundary that needs quotes": {target: "/post?token=good", doc: minimal,
			headers: []string{"Content-Type", "multipart/form-data; charset=utf-8; boundary=----=_Part_0_1.2"},
			body:    "------=_Part_0_1.2\r\nContent-Disposition: form-data; name=upload_file\r\n\r\n" + minimal + "\r\n------=_Part_0_1.2--\r\n"},
		"unity": {target: "/post?token=good&format=json", doc: unityReport, headers: []string{"Content-Type", multipartB},
			body: form(filePart("upload_file", "upload_file.json", unityReport))},
		"gzip": {target: "/post?token=good", body: gzipped(minimal), doc: minimal, headers: []string{"Content-Encoding", "x-gzip"}},
		"deflate": {target: "/post?token=good", body: deflated(t, minimal, false), doc: minimal,
			headers: []string{"Content-Encoding", "deflate"}},
		"bare deflate": {target: "/post?token=good", body: deflated(t, minimal, true), doc: minimal,
			headers: []string{"Content-Encoding", "Deflate"}, chunked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			for range 2 { // again, out of the pools
				var src io.Reader = strings.NewReader(tc.body)
				if tc.chunked {
					src = io.MultiReader(src)
				}
				req := httptest.NewRequest("POST", tc.target, src)
				for i := 0; i < len(tc.headers); i += 2 {
					req.Header.Set(tc.headers[i], tc.headers[i+1])
				}
				answer := requireOK(t, w.do(req))
				var sent map[string]any
				require.NoError(t, json.Unmarshal([]byte(tc.doc), &sent))
				delete(answer, "response")
				delete(answer, "_rxid")
				require.Equal(t, sent, answer)
			}
			require.Equal(t, 2, w.counts.accepted)
			got := w.submit.got[1]
			require.Equal(t, tc.doc, string(got.Document))
			require.Equal(t, "json", got.Format)
			require.EqualValues(t, 7, got.ProjectID)
			require.EqualValues(t, 3, got.OrganizationID)
			require.Equal(t, w.submit.got[0].Digest, got.Digest)
			if tc.files == nil {
				require.Empty(t, got.Attachments)
				return
			}
			require.Len(t, got.Attachments, 1)
			at := got.Attachments[0]
			require.Equal(t, tc.files[0], at.Name)
			require.Equal(t, tc.files[1], at.ContentType)
			require.EqualValues(t, len(tc.files[2]), at.Size)
			require.Equal(t, "attachments/"+at.ID.String(), at.ObjectKey)
			require.Equal(t, []string{tc.files[2], tc.files[2]}, w.stored(t))
		})
	}
}

// The same report is a resend however it travels.
func TestDigestIsOfTheReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	requireOK(t, w.post("/post?token=good", minimal))
	requireOK(t, w.post("/post?token=good", gzipped(minimal), "Content-Encoding", "gzip"))
	requireOK(t, w.post("/post?token=good", form(fieldPart("upload_file", minimal)), "Content-Type", multipartB))
	answer := requireOK(t, w.post("/post?token=good", `{"body":`+minimal+`}`))
	require.Contains(t, answer, "body", "the submitted members are repeated")
	for _, got := range w.submit.got {
		require.Equal(t, w.submit.got[0].Digest, got.Digest)
		require.Equal(t, minimal, string(got.Document))
	}
}

func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	doc := with(`"annotations":{"Environment Variables":{"DB_PASSWORD":"hunter2"}}`)
	rec := w.post("/post?token=good", doc)
	requireOK(t, rec)
	require.Contains(t, rec.Body.String(), "hunter2", "the answer repeats what was sent")
	require.NotContains(t, string(w.submit.got[0].Document), "hunter2")
	require.True(t, json.Valid(w.submit.got[0].Document))
}

func TestCrashpad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	body := gzipped(form(fieldPart("guid", testUUID), fieldPart("uuid", testUUID), fieldPart("ptype", "browser"),
		fieldPart("note", "bad \xff byte"), filePart("upload_file_minidump", "dump.dmp", "MDMP\x93\xa7")))
	headers := []string{"Content-Type", multipartB, "Content-Encoding", "gzip"}
	answer := requireOK(t, w.post("/post?token=good&format=minidump", body, headers...))
	got := w.submit.got[0]
	require.Equal(t, "minidump", got.Format)
	require.Len(t, got.Attachments, 1)
	require.Equal(t, "upload_file_minidump", got.Attachments[0].Name)
	require.Equal(t, []string{"MDMP\x93\xa7"}, w.stored(t))
	require.NotEqual(t, testUUID, answer["uuid"], "the id of the client names no report")
	require.Equal(t, map[string]any{"guid": testUUID, "uuid": testUUID, "ptype": "browser", "note": "bad \uFFFD byte"}, answer["attributes"])
	require.Equal(t, "minidump", answer["symbolication"])

	// Sent again it has another uuid, but the same digest.
	requireOK(t, w.post("/post?token=good&format=minidump", body, headers...))
	require.Equal(t, got.Digest, w.submit.got[1].Digest)
	require.NotEqual(t, got.UUID, w.submit.got[1].UUID)
}

func TestDumps(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("dump", 400_000)
	for name, tc := range map[string]struct {
		target, body, kind, part, content string
	}{
		"raw minidump": {"/post?token=good&format=minidump", "MDMP", "application/octet-stream", "upload_file_minidump", "MDMP"},
		"plcrash of cocoa": {"/u/good/plcrash",
			"--B\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"upload_file\"\r\nContent-Type: application/octet-stream\r\n" +
				"\r\nplcrash\x01\x00\xff\r\n--B\r\n--",
			multipartB, "upload_file_plcrash", "plcrash\x01\x00\xff"},
		"a large one": {"/post?token=good&format=minidump", form(filePart("upload_file", "x", big), fieldPart("timestamp", "1700000000")),
			multipartB, "upload_file_minidump", big},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			requireOK(t, w.post(tc.target, tc.body, "Content-Type", tc.kind))
			got := w.submit.got[0]
			require.Equal(t, tc.part, got.Attachments[0].Name)
			require.EqualValues(t, len(tc.content), got.Attachments[0].Size)
			require.Equal(t, []string{tc.content}, w.stored(t))
			require.EqualValues(t, 4, got.UUID.Version())
		})
	}
	w := newWorld(t, nil)
	answer := requireOK(t, w.post("/post?token=good&format=minidump", form(fieldPart("uuid", testUUID),
		fieldPart("timestamp", "1700000000.5"), filePart("upload_file_minidump", "x", "MDMP")), "Content-Type", multipartB))
	require.Equal(t, testUUID, answer["uuid"])
	require.EqualValues(t, 1700000000, answer["timestamp"])
}

func TestLateAttachments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	target := "/post?token=good&object=" + w.store.owned.String()
	answer := requireOK(t, w.post(target+"&attachment_name=dir%2Flog+1.txt", "raw", "Content-Type", "text/plain"))
	require.Equal(t, w.store.owned.String(), answer["_rxid"])
	require.Len(t, answer, 2)
	requireOK(t, w.post(target+"&attachment_name=b", form(filePart("upload_file", "x.bin", "one"), filePart("any", "c.bin", "two")),
		"Content-Type", multipartB))
	require.Equal(t, []string{"raw", "one", "two"}, w.stored(t))
	var names []string
	for _, at := range w.store.late {
		names = append(names, at.Name)
	}
	require.Equal(t, []string{"log 1.txt", "b", "c.bin"}, names)

	requireFailure(t, w.post(target+"&attachment_name=more", "x"), 413, 8, "3 attachments")
	requireFailure(t, w.post(target, form(fieldPart("a", "b")), "Content-Type", multipartB), 400, 2, "upload_file")
	require.Len(t, w.stored(t), 3)
	require.Empty(t, w.submit.got)
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for asked, want := range map[string]string{
		"content-type, x-custom":  "content-type, x-custom",
		"":                        defaultHeaders,
		"a\"b<c>":                 defaultHeaders,
		strings.Repeat("a", 2000): defaultHeaders,
	} {
		req := httptest.NewRequest("OPTIONS", "/post", nil)
		req.Header.Set("Access-Control-Request-Headers", asked)
		rec := w.do(req)
		require.Equal(t, http.StatusNoContent, rec.Code)
		require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
		require.Equal(t, want, rec.Header().Get("Access-Control-Allow-Headers"))
		require.Equal(t, "7200", rec.Header().Get("Access-Control-Max-Age"))
		require.Contains(t, rec.Header().Get("Access-Control-Allow-Methods"), "POST")
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0190f5b4-0000-7000-8000-00000000000a")
	const tail = `"response":"ok","_rxid":"0190f5b4-0000-7000-8000-00000000000a"}`
	for doc, want := range map[string]string{
		`{}`:                   `{` + tail,
		" { } \n":              ` { ` + tail,
		`{"a":1}`:              `{"a":1,` + tail,
		"{\"a\":[1,{}]}\n":     `{"a":[1,{}],` + tail,
		`{"a":{"response":1}}`: `{"a":{"response":1},` + tail,
		`{"response":"no"}`:    `{` + tail,
		`{"response": {"x":[1,"}"]} , "a" : 2.5e1 , "_rxid":null}`: `{"a" : 2.5e1,` + tail,
		`{"a":"\"response\"","_rxid":[],"b":tru}`:                  `{"a":"\"response\"","b":tru,` + tail,
		`{"\u0072esponse":1,"b":"x"}`:                              `{"b":"x",` + tail,
		`{"response":1,"response":2,"b":3}`:                        `{"b":3,` + tail,
	} {
		require.Equal(t, want, string(echo([]byte(doc), id, true)), doc)
	}
}

func TestOwnMembersWin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	rec := w.post("/post?token=good", `{"response":"mine","_rxid":"mine",`+minimal[1:])
	requireOK(t, rec)
	require.Equal(t, 1, strings.Count(rec.Body.String(), `"response"`))
	require.Equal(t, 1, strings.Count(rec.Body.String(), `"_rxid"`))
	require.Contains(t, string(w.submit.got[0].Document), `"response":"mine"`, "what is stored is what was sent")
}

func TestBaseName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.txt": "a.txt", "": "attachment", "..": "attachment", `C:\x\y.txt`: "y.txt", "/etc/passwd": "passwd",
		"a/": "attachment", "a\x00b\nc": "abc", "\xff.txt": "\uFFFD.txt",
		strings.Repeat("é", 200): strings.Repeat("é", 127),
	} {
		require.Equal(t, want, baseName(name))
	}
}

func FuzzMultipart(f *testing.F) {
	for _, seed := range []string{
		form(filePart("upload_file", "upload_file.json", minimal), fieldPart("a", "b"), filePart("attachment_x", "x", "y")),
		"--B\r\nContent-Disposition: form-data; name=upload_file\r\n\r\n" + minimal + "\r\n--B\r\n--",
		"--B\nContent-Disposition: form-data; name=\"upload_file\n\n" + minimal + "\n--B--",
		"--B\r\n\r\n\r\n--B--", "", "--B", "--B--",
	} {
		f.Add([]byte(seed), "B")
	}
	f.Add([]byte("--*****\r\n\r\n--*****--"), "*****")
	w := newWorld(f, nil)
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		w.submit.got = nil
		req := httptest.NewRequest("POST", "/post?token=good", bytes.NewReader(body))
		req.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		rec := w.do(req)
		require.True(t, json.Valid(rec.Body.Bytes()), rec.Body.String())
		require.Equal(t, rec.Code == 200, len(w.submit.got) == 1)
		require.NotEqual(t, 500, rec.Code)
		if rec.Code != 200 {
			require.Contains(t, []int{400, 413}, rec.Code)
			require.Empty(t, w.stored(t))
			return
		}
		for _, at := range w.submit.got[0].Attachments {
			require.NoError(t, w.objects.Delete(t.Context(), at.ObjectKey))
		}
	})
}

func FuzzEcho(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"response":"x","b":{"_rxid":[]}}`, `{"\u005frxid" : null , "c" :"\\\""}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var want map[string]json.RawMessage
		if json.Unmarshal(doc, &want) != nil || want == nil {
			return
		}
		var got map[string]json.RawMessage
		out := echo(bytes.Clone(doc), uuid.UUID{}, true)
		require.NoError(t, json.Unmarshal(out, &got), string(out))
		require.JSONEq(t, `"ok"`, string(got["response"]))
		want["response"], want["_rxid"] = got["response"], got["_rxid"]
		require.Equal(t, want, got)
	})
}
