package crash_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	api "github.com/slipway-qa/slipway/api/crash"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type world struct {
	t            *testing.T
	db           *storage.DB
	store        *crash.Store
	objects      object.Store
	router       *gin.Engine
	org, project int64
	other        int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	var err error
	w.store, err = crash.New(w.db)
	require.NoError(t, err)
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	for slug, id := range map[string]*int64{"one": &w.org, "two": &w.other} {
		require.NoError(t, w.db.GetContext(t.Context(), id,
			`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	}
	w.project = w.newProject("app")
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	h := api.New(w.store, w.objects, keys)
	w.router = routetest.Engine(routetest.ByContext, h.Routes()...)
	return w
}

func (w *world) newProject(name string) (id int64) {
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into crash_projects (organization_id, name) values ($1, $2) returning id`, w.org, name))
	return id
}

// call sends a request as an admin of an organization.
func (w *world) call(org int64, method, path, body string) *httptest.ResponseRecorder {
	return w.callAs(org, account.Admin, method, path, body)
}

func (w *world) callAs(org int64, role account.Role, method, path, body string) *httptest.ResponseRecorder {
	ctx := auth.WithCaller(w.t.Context(), &auth.Caller{OrganizationID: org, UserID: 7, Username: "ann", Role: role}, auth.ReadCrashes)
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, method, "/api/v3"+path, strings.NewReader(body)))
	return rec
}

// get reads an answer of 200 into a tree.
func (w *world) get(path string) map[string]any {
	w.t.Helper()
	return w.tree(w.call(w.org, "GET", path, ""), http.StatusOK)
}

func (w *world) tree(rec *httptest.ResponseRecorder, status int) map[string]any {
	w.t.Helper()
	require.Equal(w.t, status, rec.Code, rec.Body.String())
	var tree map[string]any
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &tree))
	return tree
}

func document(id uuid.UUID) string {
	return fmt.Sprintf(`{"uuid":%q,"timestamp":%d,"lang":"go","langVersion":"1","agent":"a","agentVersion":"1","mainThread":"0",`+
		`"threads":{"0":{"name":"ui","stack":[]},"9":{"fault":true,"stack":[{"funcName":"pay","line":"7","sourceCode":"s"}]}},`+
		`"sourceCode":{"s":{"path":"pay.go"}},"attributes":{"user":"ann"}}`, id, time.Now().Unix())
}

// crash accepts a report with an attachment and records it in the group of key.
func (w *world) crash(project int64, key string, record bool) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	file := uuid.New()
	objectKey := "attachments/" + file.String()
	_, err := object.Put(w.t.Context(), w.objects, objectKey, strings.NewReader("<script>"), 8, object.WriteOptions{ContentType: "text/html"})
	require.NoError(w.t, err)
	receipts, _, err := w.store.Accept(w.t.Context(), []received.Incoming{{OrganizationID: w.org, ProjectID: project, UUID: id,
		Digest: sha256.Sum256(id[:]), Document: []byte(document(id)), Format: "json", Attachments: []received.Attachment{
			{ID: file, Name: "../évil\".html\r\nX: 1", ContentType: "text/html", Size: 8, ObjectKey: objectKey}}}}, tasks.NewCrashProcess)
	require.NoError(w.t, err)
	if !record {
		return receipts[0].ID
	}
	c := crash.Crash{ID: receipts[0].ID, ProjectID: project, UUID: id, State: crash.Processed, Format: "json",
		OccurredAt: time.Now(), ReceivedAt: time.Now(), Duplicates: 1, Attributes: `{"user":"ann"}`, Version: "1.2", Host: "h",
		Explanation: []byte(`{"source":"stack"}`),
		Group:       &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: "title " + key, Culprit: "pay"}}
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		if err := crash.Record(w.t.Context(), tx, w.org, []crash.Crash{c}); err != nil {
			return err
		}
		return crash.RecordExplanations(w.t.Context(), tx, w.store.PackExplanations([]crash.Crash{c}))
	}))
	return c.ID
}

func (w *world) groupID(title string) int64 {
	var id int64
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id, `select id from crash_groups where title = $1`, "title "+title))
	return id
}

func TestGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	w.crash(w.project, "a", true)
	w.crash(w.project, "b", true)
	tree := w.get("/crash-groups?sort=count&per_page=1&attribute.user=ann&state=open&search=TITLE")
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 1.0, "total": 2.0, "total_pages": 2.0}, tree["pagination"])
	group := tree["crash_groups"].([]any)[0].(map[string]any)
	require.Equal(t, "title a", group["title"])
	require.Equal(t, 2.0, group["count"])
	require.Equal(t, 1.0, group["versions_affected"])
	require.Len(t, group["fingerprint"], 64)
	require.Equal(t, "app", group["project"].(map[string]any)["name"])
	require.NotContains(t, group, "days")

	id := w.groupID("a")
	single := w.get(fmt.Sprintf("/crash-groups/%d-some-slug", id))["crash_group"].(map[string]any)
	require.Equal(t, float64(id), single["id"])
	require.Equal(t, false, single["versions_truncated"])
	days := single["days"].([]any)
	require.Equal(t, map[string]any{"day": time.Now().UTC().Format(time.DateOnly), "count": 2.0}, days[len(days)-1])
	crashes := w.get(fmt.Sprintf("/crash-groups/%d/crashes?per_page=1&page=2", id))
	require.Len(t, crashes["crashes"], 1)
	require.NotContains(t, crashes["crashes"].([]any)[0], "threads")

	for _, bad := range []string{"page=0", "per_page=x", "state=closed", "sort=id", "order=up", "project=x", "from=yesterday",
		"attribute.=x", "attribute.k=%00", "search=%ff"} {
		rec := w.call(w.org, "GET", "/crash-groups?"+bad, "")
		require.Equal(t, http.StatusBadRequest, rec.Code, bad)
		require.Contains(t, rec.Body.String(), `{"error":"`)
	}
	require.Empty(t, w.tree(w.call(w.other, "GET", "/crash-groups", ""), 200)["crash_groups"])
	for _, path := range []string{fmt.Sprint("/crash-groups/", id), fmt.Sprint("/crash-groups/", id, "/crashes")} {
		require.Equal(t, 404, w.call(w.other, "GET", path, "").Code, path)
	}
	for _, path := range []string{"/crash-groups/0", "/crash-groups/x", "/crash-groups/99999999999999999999", "/crash-groups/1x"} {
		require.Equal(t, 404, w.call(w.org, "GET", path, "").Code, path)
	}
}

func TestChangeAndMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	w.crash(w.project, "b", true)
	w.crash(w.newProject("second"), "c", true)
	a, b, c := w.groupID("a"), w.groupID("b"), w.groupID("c")
	path := fmt.Sprint("/crash-groups/", a)
	resolved := w.tree(w.call(w.org, "PATCH", path, `{"state":"resolved"}`), 200)["crash_group"].(map[string]any)
	require.Equal(t, "resolved", resolved["state"])
	require.NotNil(t, resolved["resolved_at"])
	open := w.tree(w.call(w.org, "PATCH", path, `{"state":"open"}`), 200)["crash_group"].(map[string]any)
	require.Nil(t, open["resolved_at"])

	for body, status := range map[string]int{
		``: 400, `[]`: 400, `{}`: 400, `{"state":"gone"}`: 400, `{"state":1}`: 400, `{"merge_into":"x"}`: 400,
		`{"state":"open","merge_into":1}`: 400, fmt.Sprintf(`{"merge_into":%d}`, a): 400, `{"merge_into":123456}`: 400,
		fmt.Sprintf(`{"merge_into":%d}`, c): 409, `{"state":"` + strings.Repeat("x", 70<<10) + `"}`: 413,
	} {
		rec := w.call(w.org, "PATCH", path, body)
		require.Equal(t, status, rec.Code, "%.80s: %s", body, rec.Body)
	}
	into := fmt.Sprintf(`{"merge_into":%d}`, b)
	require.Equal(t, 404, w.call(w.other, "PATCH", path, into).Code)
	for range 2 { // a repeated request is answered alike
		merged := w.tree(w.call(w.org, "PATCH", path, into), 200)["crash_group"].(map[string]any)
		require.Equal(t, float64(b), merged["id"])
		require.Equal(t, 2.0, merged["count"])
	}
	require.Equal(t, float64(b), w.get(path)["crash_group"].(map[string]any)["id"])
	var actions []string
	require.NoError(t, w.db.SelectContext(t.Context(), &actions, `select action || ' ' || actor from audit_events order by id`))
	require.Equal(t, []string{"crash_group.updated ann", "crash_group.updated ann", "crash_group.merged ann"}, actions)
}

func TestCrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, pending := w.crash(w.project, "a", true), w.crash(w.project, "", false)
	path := "/crashes/" + id.String()
	got := w.get(path)["crash"].(map[string]any)
	require.Equal(t, "processed", got["state"])
	require.Equal(t, float64(w.groupID("a")), got["group_id"])
	require.Equal(t, map[string]any{"id": got["group_id"], "title": "title a", "state": "open", "culprit": "pay"}, got["group"])
	require.Equal(t, map[string]any{"user": "ann"}, got["attributes"])
	require.Equal(t, map[string]any{"source": "stack"}, got["fingerprint"].(map[string]any)["explanation"])
	threads := got["threads"].([]any)
	require.Equal(t, false, threads[0].(map[string]any)["main"])
	main := threads[1].(map[string]any)
	require.Equal(t, true, main["main"])
	require.Equal(t, map[string]any{"function": "pay", "line": 7.0, "file": "pay.go"}, main["frames"].([]any)[0])

	waiting := w.get("/crashes/" + pending.String())["crash"].(map[string]any)
	require.Equal(t, "pending", waiting["state"])
	require.Nil(t, waiting["group_id"])
	require.Contains(t, waiting, "group")
	require.Nil(t, waiting["group"])
	require.Nil(t, waiting["fingerprint"])
	require.Len(t, waiting["threads"], 2)

	raw := w.call(w.org, "GET", path+"/raw", "")
	require.Equal(t, 200, raw.Code)
	require.Contains(t, raw.Body.String(), `"sourceCode"`)
	list := w.get(path + "/attachments")["attachments"].([]any)
	file := list[0].(map[string]any)
	url := strings.TrimPrefix(file["url"].(string), "/api/v3")
	download := w.call(w.org, "GET", url, "")
	require.Equal(t, "<script>", download.Body.String())
	require.Equal(t, "application/octet-stream", download.Header().Get("Content-Type"))
	for _, rec := range []*httptest.ResponseRecorder{raw, download} {
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
		require.True(t, strings.HasPrefix(rec.Header().Get("Content-Disposition"), "attachment; filename"), rec.Header())
		require.NotContains(t, rec.Header().Get("Content-Disposition"), "/")
		require.Equal(t, fmt.Sprint(rec.Body.Len()), rec.Header().Get("Content-Length"))
	}
	for _, p := range []string{path, path + "/raw", path + "/attachments", url, "/crashes/" + pending.String()} {
		require.Equal(t, 404, w.call(w.other, "GET", p, "").Code, p)
	}
	for _, p := range []string{"/crashes/x", "/crashes/" + uuid.NewString(), path + "/attachments/x", path + "/attachments/" +
		uuid.NewString()} {
		require.Equal(t, 404, w.call(w.org, "GET", p, "").Code, p)
	}
	require.NoError(t, w.objects.Delete(t.Context(), "attachments/"+file["id"].(string)))
	require.Equal(t, 404, w.call(w.org, "GET", url, "").Code)
}

func TestListCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.crash(w.project, "a", true), w.crash(w.newProject("second"), "b", true)
	w.crash(w.project, "", false)
	tree := w.get("/crashes")
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 25.0, "total": 2.0, "total_pages": 1.0}, tree["pagination"])
	list := tree["crashes"].([]any)
	newest := list[0].(map[string]any)
	require.Equal(t, second.String(), newest["id"])
	require.Equal(t, "second", newest["project"].(map[string]any)["name"])
	require.Equal(t, float64(w.groupID("b")), newest["group_id"])
	for _, member := range []string{"threads", "attributes", "group"} {
		require.NotContains(t, newest, member, "lists are light")
	}
	same := w.get(fmt.Sprintf("/crash-groups/%d/crashes", w.groupID("b")))["crashes"].([]any)[0]
	require.Equal(t, same, list[0], "the same items as in the list of a group")

	uuidOf := list[1].(map[string]any)["uuid"].(string)
	today := time.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]int{
		"?uuid=" + uuidOf: 1, "?uuid=" + uuid.NewString(): 0, "?state=processed": 2, "?state=failed": 0, "?state=stored": 0,
		fmt.Sprint("?project=", w.project): 1, "?attribute.user=ann": 2, "?attribute.user=bob": 0,
		"?from=" + today + "&to=" + today: 2, "?to=2020-01-01": 0, "?page=1000000&per_page=100": 2,
	} {
		require.EqualValues(t, want, w.get("/crashes" + query)["pagination"].(map[string]any)["total"], query)
	}
	page := w.get("/crashes?per_page=1&page=2")["crashes"].([]any)
	require.Equal(t, first.String(), page[0].(map[string]any)["id"])
	for _, bad := range []string{"page=0", "state=pending", "state=x", "uuid=x", "uuid=" + uuid.Nil.String(), "project=x",
		"from=yesterday", "attribute.=x"} {
		rec := w.call(w.org, "GET", "/crashes?"+bad, "")
		require.Equal(t, http.StatusBadRequest, rec.Code, bad)
		require.Contains(t, rec.Body.String(), `{"error":"`)
	}
	require.Empty(t, w.tree(w.call(w.other, "GET", "/crashes", ""), 200)["crashes"])
}

func TestThreadsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.New()
	var threads []string
	frames := strings.Repeat(`{"funcName":"f"},`, 8000) + `{"funcName":"g"}`
	for i := range 1200 {
		threads = append(threads, fmt.Sprintf(`"%d":{"fault":%v,"stack":[%s]}`, i, i == 1100, map[bool]string{true: frames}[i == 1100 || i == 0]))
	}
	doc := strings.Replace(document(id), `"threads":{`, `"threads":{`+strings.Join(threads, ",")+`,"x":{}},"ignored":{`, 1)
	doc = strings.Replace(doc, `"mainThread":"0"`, `"mainThread":"x"`, 1)
	receipts, _, err := w.store.Accept(t.Context(), []received.Incoming{{OrganizationID: w.org, ProjectID: w.project, UUID: id,
		Document: []byte(doc), Format: "json"}}, tasks.NewCrashProcess)
	require.NoError(t, err)
	got := w.get("/crashes/" + receipts[0].ID.String())["crash"].(map[string]any)
	list := got["threads"].([]any)
	require.Len(t, list, 1001)
	require.Equal(t, 200.0, got["threads_omitted"])
	main := list[1000].(map[string]any)
	require.Equal(t, "1100", main["id"])
	require.Len(t, main["frames"], 8001, "the main thread is whole")
	require.Equal(t, 8001.0-1999, list[0].(map[string]any)["frames_omitted"])
}

func TestPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bad := range []string{"", "?attribute.a=1&attribute.b=2", "?attribute.=x", "?attribute.a=1&project=-1"} {
		require.Equal(t, 400, w.call(w.org, "DELETE", "/crashes"+bad, "").Code, bad)
	}
	tree := w.tree(w.call(w.org, "DELETE", "/crashes?attribute.user=ann%40example.com", ""), http.StatusAccepted)
	var payload string
	require.NoError(t, w.db.GetContext(t.Context(), &payload,
		`select payload from tasks where id = $1 and kind = 'crash:purge' and organization_id = $2`, tree["task_id"], w.org))
	require.JSONEq(t, `{"key":"user","value":"ann@example.com"}`, payload)
	var audit string
	require.NoError(t, w.db.GetContext(t.Context(), &audit, `select action || subject || detail from audit_events`))
	require.Contains(t, audit, "crashes.purge_requested")
	require.NotContains(t, audit, "example.com", "the trail cannot forget")
}
