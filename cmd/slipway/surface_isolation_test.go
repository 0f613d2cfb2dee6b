package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Everything that belongs to one organization does not exist for the owner of another: by
// any operation, by any id. Nothing of it is shown, changed, or called forbidden, which
// would say that it is there.
func TestStrangersFindNothing(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	places, changes := w.makeAll()
	for _, path := range w.readable() {
		if code, answer := w.send(w.read(places, path)); strings.Contains(path, "{") && surfaceAbsent()[path] == "" {
			assert.NotEqual(t, http.StatusNotFound, code, "GET %s: our own is not found: %.300s", path, answer)
		}
	}
	rival := w.organization("rival")
	w.key, w.user = rival.Owner.APIKey, [2]string{rival.Owner.Username, rival.Owner.AccessKey}
	// The worker would go on changing rows of ours for as long as what we asked for is under
	// way. The api writes late too, what it has counted: it has ended when nothing changed
	// for two seconds.
	w.stopWorker()
	var before map[string]string
	require.Eventually(t, func() bool {
		now := w.rows()
		settled := maps.Equal(now, before)
		before = now
		return settled
	}, 2*time.Minute, 2*time.Second)

	for _, r := range changes {
		if r.as == "operator" {
			r.as = ""
		}
		code, answer := w.send(r)
		name := r.method + " " + r.path
		if strings.Contains(r.path, "/{kind}") {
			continue // a name that every organization has
		}
		if named.MatchString(r.path) {
			want := http.StatusNotFound
			if strings.HasPrefix(name, "PATCH /api/1/projects/{id:built}/builds") {
				want = http.StatusBadRequest // code 1, as the document has it
			}
			assert.Equal(t, want, code, "%s: %.300s", name, answer)
			continue
		}
		assert.Contains(t, []int{400, 404}, code, "%s: %.300s", name, answer)
	}
	for _, path := range w.readable() {
		code, answer := w.send(w.read(places, path))
		if strings.Contains(path, "{") && !strings.HasSuffix(path, "/{kind}") {
			assert.Equal(t, http.StatusNotFound, code, "GET %s: %.300s", path, answer)
			continue
		}
		for _, marker := range []string{w.boot.Owner.Email, "shop", w.boot.Organization.UUID.String()} {
			assert.NotContains(t, string(answer), marker, "GET %s", path)
		}
	}
	after := w.rows()
	for table, rows := range before {
		assert.Equal(t, rows, after[table], "rows of ours in %s", table)
	}
}

// makeAll sends the requests of surfaceChanges that remove nothing. It returns the names of
// values by the path up to their place, and the requests that name something.
func (w *surface) makeAll() (places map[string]string, changes []request) {
	w.t.Helper()
	places = map[string]string{} // the name of a value, by the path up to its place
	for _, r := range surfaceChanges() {
		if r.before != nil && r.method != remove {
			r.before(w)
		}
		at := 0
		for _, place := range named.FindAllStringSubmatchIndex(r.path, -1) {
			parts := named.FindStringSubmatch(r.path[place[0]:place[1]])
			name := parts[2]
			if name == "" {
				name = parts[1]
			}
			at = place[1]
			if path := named.ReplaceAllString(r.path[:at], "{$1}"); places[path] == "" {
				places[path] = name
			}
		}
		if r.method == remove {
			r.before = nil
		} else {
			code, answer := w.send(r)
			// What was not removed meanwhile is there already.
			require.Equal(w.t, r.want/100, code/100, "%s %s: %.600s", r.method, r.path, answer)
			w.keep(r.save, answer)
		}
		if r.as != "none" && r.method != http.MethodGet && (at > 0 || strings.Contains(r.body, "{{")) {
			changes = append(changes, r)
		}
	}
	for path, name := range surfacePlaces() {
		places[path] = name
	}
	for name, find := range surfaceValues() {
		w.wait(name, find)
	}
	return places, changes
}

// rows are digests of our rows by table, without what reading changes.
func (w *surface) rows() map[string]string {
	w.t.Helper()
	var tables []string
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &tables, `select table_name from information_schema.columns
		where table_schema = 'public' and column_name = 'organization_id' order by table_name`))
	require.Greater(w.t, len(tables), 20)
	found := map[string]string{}
	for _, table := range tables {
		if table == "tasks" || table == "api_keys" {
			continue // workers and the last use
		}
		found[table] = w.one(`select count(*)::text || ' ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '')
			from `+table+` t where organization_id = $1`, w.boot.Organization.ID)
	}
	return found
}

// readable are the paths of the description that are read with credentials.
func (w *surface) readable() []string {
	var list []string
	for path, item := range w.doc {
		text, ok := item["get"]
		if !ok {
			continue
		}
		var operation struct {
			Security []map[string][]string `json:"security"`
		}
		require.NoError(w.t, json.Unmarshal(text, &operation))
		if len(operation.Security) > 0 && !strings.HasPrefix(path, "/ops/") && path != "/metrics" {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// place puts the names of our values into a path of the description.
func (w *surface) place(places map[string]string, path string) string {
	out, rest := "", path
	for {
		at := named.FindStringIndex(rest)
		if at == nil {
			return out + rest
		}
		end := len(path) - len(rest) + at[1]
		name, ok := places[path[:end]]
		if !ok {
			w.t.Errorf("GET %s: surfacePlaces has no value for %s", path, path[:end])
			name = "team"
		}
		out += rest[:at[1]-1] + ":" + name + "}"
		rest = rest[at[1]:]
	}
}

// read is a request for a path of the description, with our values in it.
func (w *surface) read(places map[string]string, path string) request {
	return request{method: http.MethodGet, path: w.place(places, path), query: surfaceQueries()[path]}
}

// surfacePlaces are the values of paths that only reading has, by the path up to them.
func surfacePlaces() map[string]string {
	return map[string]string{
		v3 + "/crashes/{id}":  "crash",
		v3 + "/sessions/{id}": "sessionid",
		"/api/1/groups/{id}":  "older",
		"/api/1/projects/{id}/builds/{build}/sessions/{session}": "sessionid",
		v3 + "/crashes/{id}/attachments/{attachment}":            "none",
		"/api/2/projects/{id}":                                   "built",
		ai + "/files/{id}":                                       "none",
		"/ops/mail/{id}":                                         "none",
		"/me/apps/{id}":                                          "built",
		"/docs/{file}":                                           "docsfile",
	}
}

// surfaceValues are the statements that find values which no answer has.
func surfaceValues() map[string]string {
	return map[string]string{
		"crash": `select id::text from crashes order by id limit 1`,
		"none":  `select gen_random_uuid()::text`,
	}
}

// surfaceQueries are the parameters that a path cannot be read without.
func surfaceQueries() map[string]string {
	return map[string]string{ai + "/testcases/{id}/code": "?target=javascript_playwright", v3 + "/search": "?q=sign+in",
		"/api/1/sdk/update": "?token={{sdk}}&version_code=1", "/me/feedback": "?build={{page}}"}
}

// surfaceAbsent are the paths of what the requests of surfaceChanges do not make, with the
// reason; a stranger's request is sent all the same.
func surfaceAbsent() map[string]string {
	return map[string]string{
		ai + "/files/{id}":                            "a browser writes it",
		ai + "/testcases/{id}/runs/{runId}/trace":     "a browser writes it",
		"/ops/mail/{id}":                              "no mail was written",
		v3 + "/crashes/{id}/attachments/{attachment}": "the reports have none",
		v3 + "/settings/storage":                      "it is removed again",
	}
}
