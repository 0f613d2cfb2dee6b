package crash_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

type members = map[string]any

// user makes a member of an organization.
func (w *world) user(org int64, name string, role account.Role) *account.User {
	w.t.Helper()
	var u *account.User
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		u, err = account.CreateUser(w.t.Context(), tx, account.CLI(), account.NewUser{OrganizationID: org,
			Email: name + "@example.com", Name: strings.ToUpper(name), Role: role})
		return err
	}))
	return u
}

// by sends a request as a user of the organization.
func (w *world) by(u *account.User, role account.Role, method, path, body string) *httptest.ResponseRecorder {
	ctx := auth.WithCaller(w.t.Context(), &auth.Caller{OrganizationID: w.org, UserID: u.ID, Email: u.Label(), Role: role}, auth.ChangeCrashes)
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, method, "/api/v3"+path, strings.NewReader(body)))
	return rec
}

// report records a crash of a version that happens and arrives so long from now.
func (w *world) report(key, version string, from time.Duration) {
	w.t.Helper()
	at := time.Now().Add(from)
	c := crash.Crash{ID: uuid.New(), ProjectID: w.project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: at, ReceivedAt: at, Duplicates: 1, Attributes: `{}`, Version: version,
		Group: &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: "title " + key, Culprit: "pay"}}
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		return crash.Record(w.t.Context(), tx, w.org, []crash.Crash{c})
	}))
}

func (w *world) patch(path, body string) members {
	w.t.Helper()
	return w.tree(w.call(w.org, "PATCH", path, body), http.StatusOK)["crash_group"].(members)
}

// refused sends a change that is refused and names the member.
func (w *world) refused(path, member, body string) {
	w.t.Helper()
	rec := w.call(w.org, "PATCH", path, body)
	require.Equal(w.t, http.StatusBadRequest, rec.Code, "%s: %s", body, rec.Body)
	require.Contains(w.t, rec.Body.String(), `"error":"`+member+":", body)
}

func TestResolveInAVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "2.0", -time.Hour)
	w.report("b", "2.1", -time.Hour)
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	g := w.patch(path, `{"state":"resolved","in_version":"2.1"}`)
	require.Equal(t, "2.1", g["resolved_in"])
	require.Equal(t, false, g["resolved_in_next_version"])
	w.report("a", "2.0", time.Hour)
	w.report("a", "2.1", -time.Hour)
	g = w.get(path)["crash_group"].(members)
	require.Equal(t, "resolved", g["state"])
	require.Nil(t, g["regressed_in"])
	w.report("a", "2.1", time.Hour)
	g = w.get(path)["crash_group"].(members)
	require.Equal(t, "open", g["state"])
	require.Equal(t, "2.1", g["regressed_in"])
	require.Equal(t, 1.0, g["regressions"])
	require.NotNil(t, g["reopened_at"])

	g = w.patch(path, `{"state":"resolved","in_next_version":true}`)
	require.Equal(t, "2.1", g["resolved_in"])
	require.Equal(t, true, g["resolved_in_next_version"])
	w.report("a", "2.1", 2*time.Hour)
	require.Equal(t, "resolved", w.get(path)["crash_group"].(members)["state"])
	w.report("a", "2.2", 2*time.Hour)
	require.Equal(t, "2.2", w.get(path)["crash_group"].(members)["regressed_in"])
	require.Nil(t, w.patch(path, `{"state":"open"}`)["resolved_in"])

	for misspelt, meant := range map[string]string{"until_cuont": "until_count", "asignee": "assignee", "in_versoin": "in_version"} {
		w.refused(path, misspelt, `{"state":"ignored","`+misspelt+`":2}`)
		require.Contains(t, w.call(w.org, "PATCH", path, `{"`+misspelt+`":2}`).Body.String(), "was "+meant+" meant?")
	}
	require.Nil(t, w.get(path)["crash_group"].(members)["ignored"], "nothing was changed")
	w.refused(path, "in_version", `{"in_version":"2"}`)
	w.refused(path, "in_version", `{"state":"ignored","in_version":"2"}`)
	w.refused(path, "in_version", `{"state":"resolved","in_version":2}`)
	w.refused(path, "in_version", `{"state":"resolved","in_version":"`+strings.Repeat("1", 256)+`"}`)
	w.refused(path, "in_next_version", `{"state":"resolved","in_version":"2","in_next_version":true}`)
	w.refused(path, "in_next_version", `{"state":"open","in_next_version":true}`)
}

func TestIgnoreUntil(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "1", -time.Hour)
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	g := w.patch(path, `{"state":"ignored","until_count":2,"until":"`+until+`","until_version":"3"}`)
	conditions := g["ignored"].(members)
	require.NotEmpty(t, conditions["since"])
	delete(conditions, "since")
	require.Equal(t, members{"until": until, "until_count": 2.0, "until_users": nil, "until_version": "3"}, conditions)
	w.report("a", "1", time.Minute)
	require.Equal(t, 1.0, w.get(path)["crash_group"].(members)["ignored"].(members)["until_count"])
	w.report("a", "1", time.Minute)
	g = w.get("/crash-groups?state=open")["crash_groups"].([]any)[0].(members)
	require.Equal(t, "open", g["state"])
	require.Equal(t, "count", g["ignore_ended"].(members)["by"])
	require.Nil(t, g["ignored"])
	require.Equal(t, 0.0, g["regressions"])
	require.Nil(t, w.patch(path, `{"state":"ignored"}`)["ignore_ended"])

	w.refused(path, "until", `{"state":"ignored","until":"2020-01-01T00:00:00Z"}`)
	w.refused(path, "until", `{"state":"ignored","until":"tomorrow"}`)
	w.refused(path, "until", `{"state":"resolved","until":"`+until+`"}`)
	w.refused(path, "until_count", `{"state":"ignored","until_count":0}`)
	w.refused(path, "until_count", `{"state":"ignored","until_count":"many"}`)
	w.refused(path, "until_version", `{"until_version":"3"}`)
	w.refused(path, "until_version", `{"state":"ignored","until_version":" "}`)
	w.refused(path, "in_version", `{"state":"resolved","in_version":"\t"}`)
}

func TestMergeAndUnmerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"a", "b", "c"} {
		w.report(key, "1", 0)
	}
	a, b, c := w.groupID("a"), w.groupID("b"), w.groupID("c")
	path := func(id int64) string { return fmt.Sprint("/crash-groups/", id) }
	w.patch(path(a), fmt.Sprintf(`{"merge_into":%d}`, b))
	w.patch(path(c), fmt.Sprintf(`{"merge_into":%d}`, b))
	w.report("a", "2", 0)
	g := w.get(path(b))["crash_group"].(members)
	require.Equal(t, 4.0, g["count"])
	require.Equal(t, false, g["parts_truncated"])
	parts := g["parts"].([]any)
	require.Equal(t, members{"id": float64(a), "merged_into": float64(b), "title": "title a", "culprit": "pay", "count": 2.0}, parts[0])
	require.Len(t, parts, 2)
	require.EqualValues(t, 4, w.get(path(a) + "/crashes")["pagination"].(members)["total"], "the id of a part leads to the group")

	w.refused(path(b), "unmerge", fmt.Sprintf(`{"unmerge":%d}`, b))
	w.refused(path(b), "unmerge", `{"unmerge":true}`)
	w.refused(path(b), "unmerge", `{"unmerge":99999}`)
	w.refused(path(b), "unmerge", `{"unmerge":false}`)
	w.refused(path(b), "unmerge", `{"unmerge":[]}`)
	w.refused(path(b), "unmerge", fmt.Sprintf(`{"unmerge":%d,"state":"open"}`, a))
	w.refused(path(b), "merge_into", fmt.Sprintf(`{"unmerge":%d,"merge_into":%d}`, a, c))

	g = w.patch(path(b), fmt.Sprintf(`{"unmerge":%d}`, a))
	require.Equal(t, float64(b), g["id"])
	require.Equal(t, 2.0, g["count"])
	require.Equal(t, 2.0, w.get(path(a))["crash_group"].(members)["count"], "with what came meanwhile")
	g = w.patch(path(c), `{"unmerge":true}`)
	require.Equal(t, float64(c), g["id"])
	require.Empty(t, g["parts"])
	w.refused(path(b), "unmerge", fmt.Sprintf(`{"unmerge":%d}`, a))
	require.EqualValues(t, 3, w.get("/crash-groups")["pagination"].(members)["total"])
}

func TestAssign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "1", 0)
	w.report("b", "1", 0)
	ann, bob := w.user(w.org, "ann", account.Member), w.user(w.org, "bob", account.Tester)
	eve := w.user(w.other, "eve", account.Member)
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	for _, assignee := range []string{fmt.Sprint(ann.ID), fmt.Sprintf("%q", fmt.Sprint(ann.ID)), `"Ann@example.com"`} {
		g := w.patch(path, `{"assignee":`+assignee+`}`)
		require.Equal(t, members{"id": float64(ann.ID), "email": "ann@example.com", "name": "ANN"}, g["assignee"])
		require.Nil(t, w.patch(path, `{"assignee":null}`)["assignee"])
	}
	rec := w.by(ann, account.Member, "PATCH", path, `{"assignee":"me","state":"resolved","issue_url":"https://issues.example.com/7"}`)
	g := w.tree(rec, 200)["crash_group"].(members)
	require.Equal(t, float64(ann.ID), g["assignee"].(members)["id"])
	require.Equal(t, "resolved", g["state"])
	require.Equal(t, "https://issues.example.com/7", g["issue_url"])
	for query, want := range map[string]float64{"me": 1, fmt.Sprint(ann.ID): 1, "none": 1, "me,none": 2, fmt.Sprint(eve.ID): 0} {
		tree := w.tree(w.by(ann, account.Member, "GET", "/crash-groups?assignee="+query, ""), 200)
		require.Equal(t, want, tree["pagination"].(members)["total"], query)
	}
	require.Equal(t, 400, w.call(w.org, "GET", "/crash-groups?assignee=somebody", "").Code)
	for _, bad := range []string{fmt.Sprint(bob.ID), fmt.Sprint(eve.ID), `"eve@example.com"`, `"nobody@example.com"`,
		"99999", "-1", "true", `"ann"`, "[]"} {
		w.refused(path, "assignee", `{"assignee":`+bad+`,"state":"open"}`)
	}
	require.Equal(t, "resolved", w.get(path)["crash_group"].(members)["state"], "a change is whole")
	for _, bad := range []string{`"javascript:alert(1)"`, `"ftp://x/y"`, `"https://"`, `{}`, `"https://e.com/` +
		strings.Repeat("x", 2050) + `"`} {
		w.refused(path, "issue_url", `{"issue_url":`+bad+`}`)
	}
	require.Nil(t, w.patch(path, `{"issue_url":null}`)["issue_url"])
}

// Two people change a group at once: each answer is one of the two changes, whole.
func TestTwoChangesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "1", 0)
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	var wait sync.WaitGroup
	for _, body := range []string{`{"state":"resolved","in_version":"2"}`, `{"state":"ignored","until_version":"3"}`} {
		wait.Go(func() {
			for range 10 {
				if rec := w.call(w.org, "PATCH", path, body); rec.Code != 200 {
					t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
				}
			}
		})
	}
	wait.Wait()
	g := w.get(path)["crash_group"].(members)
	if g["state"] == "resolved" {
		require.Equal(t, "2", g["resolved_in"])
		require.Nil(t, g["ignored"])
	} else {
		require.Nil(t, g["resolved_in"])
		require.Equal(t, "3", g["ignored"].(members)["until_version"])
	}
}

func TestCommentOnAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "1", 0)
	ann, bob := w.user(w.org, "ann", account.Member), w.user(w.org, "bob", account.Member)
	group := fmt.Sprint("/crash-groups/", w.groupID("a"))
	path := group + "/comments"
	created := w.tree(w.by(ann, account.Member, "POST", path, `{"text":"seen on a phone"}`), http.StatusCreated)["comment"].(members)
	require.Equal(t, members{"id": float64(ann.ID), "name": "ann@example.com"}, created["author"])
	require.Nil(t, created["updated_at"])
	w.tree(w.by(bob, account.Member, "POST", path, `{"text":"<b>me too</b>"}`), http.StatusCreated)
	tree := w.get(path + "?per_page=1&page=2")
	require.Equal(t, "<b>me too</b>", tree["comments"].([]any)[0].(members)["text"])
	require.Equal(t, 2.0, tree["pagination"].(members)["total"])
	require.Equal(t, 2.0, w.get(group)["crash_group"].(members)["comments"])

	one := fmt.Sprintf("%s/%v", path, created["id"])
	require.Equal(t, 403, w.by(bob, account.Member, "PATCH", one, `{"text":"x"}`).Code)
	require.Equal(t, 403, w.by(bob, account.Member, "DELETE", one, "").Code)
	changed := w.tree(w.by(ann, account.Member, "PATCH", one, `{"text":"seen on two"}`), 200)["comment"].(members)
	require.Equal(t, "seen on two", changed["text"])
	require.NotNil(t, changed["updated_at"])
	require.Equal(t, 204, w.by(bob, account.Admin, "DELETE", one, "").Code, "an admin may")
	for _, c := range []struct {
		org                int64
		method, path, body string
		want               int
	}{
		{w.org, "DELETE", one, "", 404}, {w.org, "PATCH", one, `{"text":"x"}`, 404}, {w.org, "PATCH", path + "/x", `{"text":"x"}`, 404},
		{w.org, "POST", path, `{}`, 400}, {w.org, "POST", path, `{"text":7}`, 400}, {w.org, "GET", path + "?page=0", "", 400},
		{w.org, "GET", "/crash-groups/999999/comments", "", 404}, {w.other, "GET", path, "", 404}, {w.other, "POST", path, `{"text":"x"}`, 404},
	} {
		rec := w.call(c.org, c.method, c.path, c.body)
		require.Equal(t, c.want, rec.Code, "%s %s: %s", c.method, c.path, rec.Body)
	}
}

// Answers have every member that the description requires, of the type that it names.
func TestGroupsAreAsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	w := newWorld(t)
	for _, key := range []string{"a", "b", "c"} {
		w.report(key, "1", 0)
	}
	ann := w.user(w.org, "ann", account.Member)
	a, b, c := w.groupID("a"), w.groupID("b"), w.groupID("c")
	path := fmt.Sprint("/crash-groups/", a)
	w.patch(fmt.Sprint("/crash-groups/", b), fmt.Sprintf(`{"merge_into":%d}`, a))
	w.tree(w.by(ann, account.Member, "POST", path+"/comments", `{"text":"x"}`), 201)
	for _, body := range []string{
		`{"state":"ignored","until_count":1,"until":"2999-01-01","until_version":"2"}`, `{"state":"ignored"}`,
		`{"state":"resolved","in_next_version":true,"issue_url":"https://e.com/1"}`, `{"state":"open"}`,
		fmt.Sprintf(`{"state":"ignored","until_count":1,"assignee":%d}`, ann.ID),
	} {
		g := w.patch(path, body)
		require.NoError(t, doc.Components.Schemas["crash_group"].Value.VisitJSON(g), body)
	}
	w.report("b", "1", time.Hour)
	list := w.get("/crash-groups")["crash_groups"].([]any)
	require.Len(t, list, 2)
	for _, g := range list {
		require.NoError(t, doc.Components.Schemas["crash_group_listed"].Value.VisitJSON(g))
	}
	require.Equal(t, "count", w.get(path)["crash_group"].(members)["ignore_ended"].(members)["by"])
	require.NoError(t, doc.Components.Schemas["crash_group"].Value.VisitJSON(w.get(fmt.Sprint("/crash-groups/", c))["crash_group"]))
	comment := w.get(path + "/comments")["comments"].([]any)[0]
	require.NoError(t, doc.Components.Schemas["crash_group_comment"].Value.VisitJSON(comment))
}

// curl -d calls everything a form, JSON too; and clients of version 3 send real forms.
func TestChangeByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.report("a", "1", 0)
	ann := w.user(w.org, "ann", account.Member)
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	send := func(text string) members {
		ctx := auth.WithCaller(t.Context(), &auth.Caller{OrganizationID: w.org, UserID: ann.ID, Email: ann.Label(),
			Role: account.Member}, auth.ChangeCrashes)
		req := httptest.NewRequestWithContext(ctx, "PATCH", "/api/v3"+path, strings.NewReader(text))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		w.router.ServeHTTP(rec, req)
		return w.tree(rec, 200)["crash_group"].(members)
	}
	require.Equal(t, "2.1", send(`{"state":"resolved","in_version":"2.1"}`)["resolved_in"])
	g := send("state=ignored&until_count=2&assignee=me&issue_url=https%3A%2F%2Fe.com%2F1")
	require.Equal(t, 2.0, g["ignored"].(members)["until_count"])
	require.Equal(t, "https://e.com/1", g["issue_url"])
	require.Nil(t, send("assignee=none")["assignee"])
	require.Equal(t, true, send("state=resolved&in_next_version=1")["resolved_in_next_version"])
}
