package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// pageBound is how many statements are enough for a page, and whether it lists rows: then
// it had many of them when it was counted.
type pageBound struct {
	statements int
	list       bool
}

// manyRows is how many rows a page has at least that lists some, most have fifty.
const manyRows = 20

// Each page of the description is read with few rows in each table and with fifty times as
// many. A new one needs a line in pageBounds.
func TestPagesAskAsOftenForManyRows(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	w := newSurface(t, func(s *setting.Settings) { s.Watched.Database.WrapConnector = counter.Connector })
	places, _ := w.makeAll()
	w.stopWorker()
	w.fillPages(places)
	c := newCopier(t, w.db)
	bounds, paths := pageBounds(), w.pages()
	read := func(check func(path string, bound pageBound, asked count.Asked, rows int), numbers ...int) {
		c.copy(numbers...)
		require.Empty(t, c.refused, "rows that cannot be copied")
		w.spreadRows()
		for _, path := range paths {
			asked, rows := w.page(&counter, places, path)
			bound, known := bounds[path]
			if !known {
				bound = pageBound{len(asked.SQL), rows >= manyRows}
			}
			assert.LessOrEqual(t, len(asked.SQL), bound.statements, "GET %s: with %d rows\n%s", path, rows, asked)
			check(path, bound, asked, rows)
		}
	}
	read(func(string, pageBound, count.Asked, int) {}, 1)
	var many []int
	for n := 2; n <= 48; n += 2 {
		many = append(many, n)
	}
	read(func(path string, bound pageBound, asked count.Asked, rows int) {
		if _, known := bounds[path]; !known {
			t.Errorf("a line is missing in pageBounds:\n\t\t%q: {%d, %t},", path, len(asked.SQL), rows >= manyRows)
			return
		}
		assert.Equal(t, bound.list, rows >= manyRows, "GET %s: %d rows", path, rows)
	}, many...)
	for path := range bounds {
		assert.Contains(t, paths, path, "pageBounds has no other paths")
	}
}

// pages are the paths of the description that are read with credentials.
func (w *surface) pages() []string {
	list := w.readable()
	return append(list, "/ops/mail", "/ops/mail/{id}")
}

// page reads a page and returns what that asked, and the rows of its longest list.
func (w *surface) page(counter *count.Counter, places map[string]string, path string) (least count.Asked, rows int) {
	w.t.Helper()
	r := w.read(places, path)
	if strings.HasPrefix(path, "/ops/") {
		r.as = "operator"
	}
	if path == "/ops/mail" {
		r.query = "?format=json"
	}
	if strings.HasPrefix(path, v3+"/operate") {
		r.as = "operator"
	}
	if parameter := w.rowsParameter(path); parameter != "" {
		r.query += map[bool]string{true: "?", false: "&"}[r.query == ""] + parameter + "=50"
	}
	w.send(r) // what is read once and kept
	for n := range 2 {
		var code int
		var answer []byte
		asked := counter.During(func() { code, answer = w.send(r) })
		if surfaceAbsent()[path] == "" {
			assert.Less(w.t, code, http.StatusBadRequest, "GET %s: %.300s", path, answer)
		}
		if n == 0 || len(asked.SQL) < len(least.SQL) {
			least = asked
		}
		var document any
		_ = json.Unmarshal(answer, &document)
		rows = longest(document)
	}
	return least, rows
}

// rowsParameter is the parameter that says how many rows a page may have; "" without one.
func (w *surface) rowsParameter(path string) string {
	var operation struct {
		Parameters []struct {
			Name, Ref string
		}
	}
	text := strings.ReplaceAll(string(w.doc[path]["get"]), `"$ref"`, `"ref"`)
	require.NoError(w.t, json.Unmarshal([]byte(text), &operation))
	for _, p := range operation.Parameters {
		name := p.Name + p.Ref[strings.LastIndex(p.Ref, "/")+1:]
		switch {
		case strings.HasSuffix(name, "limit"):
			return "limit"
		case name == "perPage", strings.HasPrefix(name, "per_page"), strings.HasPrefix(name, "distribution_per_page"):
			return "per_page"
		}
	}
	return ""
}

// fillPages writes what the requests of makeAll do not make, and leads pages to what has
// rows.
func (w *surface) fillPages(places map[string]string) {
	w.t.Helper()
	places[v3+"/projects/{id}"], places["/api/1/groups/{id}"] = "built", "testers"
	places[v3+"/crash-projects/{id}"] = "crashproject"
	places[v3+"/crashes/{id}/attachments/{attachment}"], places["/ops/mail/{id}"] = "attachment", "mail"
	w.ids["attachment"] = uuid.NewString()
	values := map[string]any{"org": w.boot.Organization.ID, "attachment": w.ids["attachment"]}
	for _, name := range []string{"crash", "crashproject", "built", "testers", "build", "run", "suiterun", "tester"} {
		values[name] = w.ids[name]
	}
	for _, statement := range []string{
		`insert into crash_attachments (id, organization_id, crash_id, name, content_type, size, object_key)
			values (:attachment, :org, :crash, 'log.txt', 'text/plain', 0, 'attachments/1')`,
		`insert into symbol_needs (organization_id, crash_project_id, kind, name, digest, looked_for, first_seen, last_seen)
			values (:org, :crashproject, 'native', 'libshop.so', sha256('libshop.so'), jsonb_build_array(jsonb_build_object('type', 'build_id', 'value', '00')), now(), now())`,
		`insert into crash_needs (need_id, crash_id) select id, :crash from symbol_needs`,
		// The suite run was cancelled, before or after the worker made its runs.
		`update test_runs r set suite_run_id = :suiterun where id = :run and not exists (
			select from test_runs o where o.suite_run_id = :suiterun and o.case_id = r.case_id)`,
		`insert into mail_suppressions (organization_id, email, source) values (:org, 'gone@example.com', 'smtp')`,
		`insert into mails (id, organization_id, kind, recipient, subject, text_body, dedupe_key)
			values (gen_random_uuid(), :org, 'sign-in', 'ann@example.com', 'Sign in', 'Sign in', 'one')`,
		`insert into build_installs (organization_id, build_id, user_id, channel)
			select :org, :build, user_id, 'page' from memberships where id = :tester`,
		`insert into project_groups (project_id, tester_group_id) values (:built, :testers) on conflict do nothing`,
		`insert into gate_changes (organization_id, build_id, state, former, cause) values (:org, :build, 'pass', 'unknown', 'conditions')`,
		`insert into crash_version_days (crash_project_id, version, day, crashes) values (:crashproject, '1.0', current_date, 1) on conflict do nothing`,
		`insert into crash_versions (crash_project_id, version, first_seen, last_seen, crashes) values (:crashproject, '1.0', now(), now(), 1) on conflict do nothing`,
	} {
		_, err := w.db.NamedExecContext(w.t.Context(), statement, values)
		require.NoError(w.t, err, statement)
	}
	w.ids["mail"] = w.one(`select min(id::text) from mails`)
}

// spreadRows makes of copies what their pages list one by one.
func (w *surface) spreadRows() {
	w.t.Helper()
	for _, statement := range []string{
		`update webhooks set failures = 1, failing_since = now()`,
		`update builds set version = '1.' || id, version_code = id::text`,
		`update test_cases set tags = array['tag ' || id]`,
		`insert into crash_needs (need_id, crash_id) select n.id, c.crash_id from symbol_needs n, (select crash_id from crash_needs limit 1) c on conflict do nothing`,
		`insert into project_groups (project_id, tester_group_id) select p.id, g.id from projects p, tester_groups g on conflict do nothing`,
		`update projects p set retention_builds = 1, build_count = greatest(build_count,
			(select count(*) from builds b where b.project_id = p.id and b.deleted_at is null))`,
	} {
		_, err := w.db.ExecContext(w.t.Context(), statement)
		require.NoError(w.t, err, statement)
	}
}

// longest is the length of the longest list in a JSON document.
func longest(value any) (n int) {
	switch value := value.(type) {
	case []any:
		n = len(value)
		for _, v := range value {
			n = max(n, longest(v))
		}
	case map[string]any:
		for _, v := range value {
			n = max(n, longest(v))
		}
	}
	return n
}
