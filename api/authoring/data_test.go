package authoring_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/run"
)

// typing are steps that open a page and type texts.
func typing(texts ...string) []any {
	steps := []any{tree{"tool": tree{"type": "go_to_url", "args": tree{"url": "/login"}}}}
	for _, text := range texts {
		steps = append(steps, tree{"tool": tree{"type": "type_keys", "args": tree{"selector": tree{"type": "css", "value": "#user"},
			"text": text}}})
	}
	return steps
}

func jsonText(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestDataOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Sign in", tree{"steps": typing("{{row:user}}"), "data": tree{
		"rows":   []any{tree{"user": "ann", "password": "s3cret"}, tree{"user": "bob, \"b\"", "password": "x"}},
		"secret": []string{"password"}, "rowName": "user"}})
	path := "/testcases/" + id
	got := w.ok(w.member, 200, "GET", path, "")["data"].(tree)
	require.ElementsMatch(t, []any{"user", "password"}, got["columns"])
	delete(got, "columns")
	require.Equal(t, tree{"secret": []any{"password"}, "rowName": "user", "rowCount": 2.0, "size": 30.0}, got)

	page := w.ok(w.neighbor, 200, "GET", path+"/data?skip=1", "")
	require.Equal(t, []any{tree{"user": `bob, "b"`, "password": nil}}, page["items"])
	require.Equal(t, 2.0, page["total"])
	for _, asked := range []struct{ query, accept string }{{"?format=csv", ""}, {"", "text/csv"}} {
		rec := w.call(w.member, "GET", path+"/data"+asked.query, "", "Accept", asked.accept)
		require.Equal(t, 200, rec.Code)
		require.Equal(t, "text/csv; charset=utf-8", rec.Header().Get("Content-Type"))
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
		require.Contains(t, rec.Body.String(), `"bob, ""b"""`)
		require.NotContains(t, rec.Body.String(), "s3cret")
	}
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", path+"/data", "")
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"/data?format=xml", "", "format: must be one of json, csv")

	// Data of no case, and of an earlier revision.
	before := w.ok(w.member, 200, "GET", path, "")["revisions"].([]any)[0].(tree)["id"].(string)
	changed := w.ok(w.member, 200, "POST", path, jsonText(t, tree{"data": nil, "steps": typing("ann")}))
	require.Nil(t, changed["data"])
	require.Len(t, changed["revisions"], 2, "a change of data makes a revision")
	w.refused(w.member, 404, "TEST_DATA_NOT_FOUND", "GET", path+"/data", "")
	require.Equal(t, 2.0, w.ok(w.member, 200, "GET", path+"/data?revisionId="+before, "")["total"])

	same := jsonText(t, tree{"data": tree{"csv": "user,total\nann,3\n"}})
	require.Len(t, w.ok(w.member, 200, "POST", path, same)["revisions"], 3)
	require.Len(t, w.ok(w.member, 200, "POST", path, same)["revisions"], 3, "the same data")
	require.Equal(t, "INVALID_BODY", codeOf(t, w.call(w.member, "POST", path, `{"data":{"csv":"a\n1\n2,3\n"}}`).Body.Bytes()))
}

func codeOf(t testing.TB, text []byte) string {
	t.Helper()
	var answer struct{ Error struct{ Code string } }
	require.NoError(t, json.Unmarshal(text, &answer))
	return answer.Error.Code
}

func TestDataRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Sign in", tree{"data": tree{"csv": "user\nann\n"}})
	for _, test := range []struct {
		body tree
		says string
	}{
		{tree{"data": tree{"csv": "a\n1\n2,3\n"}}, "data.csv: line 3: has 2 values"},
		{tree{"data": tree{"rows": []any{tree{"a": "1"}, tree{"a": 1}}}}, "data.rows[1].a: must be a string"},
		{tree{"data": tree{"csv": strings.Repeat("a,", 1_000_000)}}, "data.csv: line 1: has more than 100 columns"},
		{tree{"data": tree{"csv": "a\n1", "file": "x"}}, "data.file: is unknown"},
		{tree{"data": []any{}}, "data: must be an object"},
		{tree{"steps": typing("ann", "{{row:total}}")}, "steps[2]: names {{row:total}}, and the data have no column total"},
		{tree{"steps": typing("{{row:user}}"), "data": nil}, "steps[1]: names {{row:user}}, and the test case has no data"},
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id, jsonText(t, test.body), test.says)
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "new", tree{"steps": typing("{{row:user}}")}),
		"steps[1]: names")
	require.Equal(t, 1, w.count(`select count(*) from test_revisions`))
}

// A run of rows shows which row a job has, and what was in it where it failed.
func TestRunOfRowsIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "user,password\n"
	for i := range 130 {
		text += fmt.Sprintf("user%d,secret%d\n", i, i)
	}
	id := w.newCase(w.member, "Sign in", tree{"steps": typing("{{row:user}}", "{{row:password}}"),
		"data": tree{"csv": text, "secret": []string{"password"}}})
	two := `"targets":[` + chrome + `,{"capabilities":{"browserName":"firefox"}}]`

	alone := w.start(id, `{"rows":[3],`+two+`}`)
	require.Equal(t, "Sign in [row 3: user3] (target 2: firefox)", jobOf(alone, 1)["name"])
	require.Equal(t, tree{"index": 3.0, "name": "user3"}, jobOf(alone, 1)["row"])
	require.Equal(t, 2.0, alone["jobCount"])
	for n, end := range []store.JobEnd{{Status: store.Failed, ErrorCode: store.CodeAssertionFailed, Error: "no greeting"},
		{Status: store.Passed}} {
		w.begin(idOf(jobOf(alone, n)))
		w.end(idOf(jobOf(alone, n)), end)
	}
	path := "/testcases/" + id + "/runs/"
	ended := w.ok(w.member, 200, "GET", path+alone["id"].(string), "")
	require.Equal(t, tree{"index": 3.0, "name": "user3", "values": tree{"user": "user3", "password": nil}}, jobOf(ended, 0)["row"])
	require.NotContains(t, jobOf(ended, 1)["row"], "values")
	report := w.call(w.member, "GET", path+alone["id"].(string)+"?format=junit", "").Body.String()
	require.Contains(t, report, `name="Sign in [row 3: user3] (target 1: chrome)"`)
	require.Contains(t, report, "row 3: user=user3, password=***")

	for body, says := range map[string]string{`{"rows":[130]}`: "rows[0]: must be 0 to 129",
		`{"rows":[]}`: "rows: must name 1 to 10000", `{"rows":[-1]}`: "rows[0]"} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id+"/run", body, says)
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+w.newCase(w.member, "plain", nil)+"/run", `{"rows":[0]}`,
		"rows: names data rows")

	run := w.start(id, "")
	require.Len(t, run["jobs"], 100)
	require.Equal(t, 130.0, run["jobCount"])
	require.Equal(t, "queued", w.taskState(idOf(run)), "the task of the further jobs")
	require.Equal(t, 95, w.count(`select count(*) from tasks t join test_jobs j on j.id = t.id where t.priority <> (
		select priority from tasks where id = $1) and j.run_id = $2`, idOf(jobOf(run, 0)), idOf(run)))
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, more, err := store.FanOutRows(ctx, tx, idOf(run), 100)
		require.False(t, more)
		return err
	})
	var all []uuid.UUID
	for skip := 0; skip < 130; skip += 50 {
		page := w.ok(w.member, 200, "GET", fmt.Sprintf("%s%s?jobsSkip=%d&jobsLimit=50", path, run["id"], skip), "")
		for n := range page["jobs"].([]any) {
			require.Equal(t, float64(len(all)), jobOf(page, n)["row"].(tree)["index"])
			all = append(all, idOf(jobOf(page, n)))
		}
	}
	require.Len(t, all, 130)
	for i, job := range all {
		end := store.JobEnd{Status: store.Passed}
		if i%13 == 0 {
			end = store.JobEnd{Status: store.Failed, ErrorCode: store.CodeAssertionFailed, Error: "no greeting & no <b>"}
		}
		w.end(job, end)
	}
	failed := w.ok(w.member, 200, "GET", path+run["id"].(string)+"?jobsStatus=FAILED&jobsSkip=8", "")
	require.Equal(t, "FAILED", failed["status"])
	require.Equal(t, 120.0, failed["counts"].(tree)["passed"])
	require.Len(t, failed["jobs"], 2)
	require.Equal(t, "Sign in [row 117: user117]", jobOf(failed, 1)["name"])

	rec := w.call(w.member, "GET", path+run["id"].(string)+"?format=junit", "")
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "application/xml; charset=utf-8", rec.Header().Get("Content-Type"))
	var whole struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suite    struct {
			Tests int `xml:"tests,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Output  string  `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(rec.Body.Bytes(), &whole))
	require.Equal(t, []int{130, 10, 130}, []int{whole.Tests, whole.Failures, whole.Suite.Tests})
	require.Len(t, whole.Suite.Cases, 130)
	for i, c := range whole.Suite.Cases {
		require.Equal(t, fmt.Sprintf("Sign in [row %d: user%d]", i, i), c.Name)
		require.Equal(t, i%13 == 0, c.Failure != nil)
		if c.Failure != nil {
			require.Equal(t, fmt.Sprintf("row %d: user=user%d, password=***\n", i, i), c.Output)
		}
	}
	require.NotContains(t, rec.Body.String(), "secret1")
}

// A rerun runs the rows that still are there.
func TestRerunOfRowsThatAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Sign in", tree{"data": tree{"csv": "user\nann\nbob\ncid\n"}})
	run := w.start(id, "")
	for n, status := range []store.Status{store.Passed, store.Failed, store.Failed} {
		w.begin(idOf(jobOf(run, n)))
		w.end(idOf(jobOf(run, n)), store.JobEnd{Status: status})
	}
	path := "/testcases/" + id + "/runs/" + run["id"].(string) + "/rerun"
	change := func(csv string) { w.ok(w.member, 200, "POST", "/testcases/"+id, `{"data":{"csv":"`+csv+`"}}`) }
	change(`user\nann\nbob\n`)
	again := w.ok(w.member, 200, "POST", path, `{"only":"failed"}`)
	require.Equal(t, 1.0, again["jobCount"])
	require.Equal(t, tree{"index": 1.0, "name": "bob"}, jobOf(again, 0)["row"])
	change(`user\nann\n`)
	w.refused(w.member, 400, "NOTHING_TO_RERUN", "POST", path, `{"only":"failed"}`)
}

// A report that is streamed has the form of one that is not.
func TestStreamedReportHasTheSameForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "user\n"
	for i := range 101 {
		text += fmt.Sprintf("user%d\n", i)
	}
	id := w.newCase(w.member, "Sign in", tree{"data": tree{"csv": text}})
	var reports []string
	for _, body := range []string{`{"rows":[0]}`, ""} {
		run := w.start(id, body)
		text := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+run["id"].(string)+"?format=junit", "").Body.String()
		_, text, _ = strings.Cut(text, "<testcase")
		first, end, ok := strings.Cut(text, "</testcase>")
		require.True(t, ok)
		reports = append(reports, first+end[strings.Index(end, "\n </testsuite>"):])
	}
	require.Equal(t, reports[0], reports[1])
}

// Code has the rows, or a value of one from its environment, and a warning says that it runs once.
func TestCodeOfRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Sign in", tree{"steps": typing("{{row:user}}"), "data": tree{"csv": "user\nann\n"}})
	secret := w.newCase(w.member, "Secret", tree{"steps": typing("{{row:user}}"), "data": tree{"csv": "user\nbob\n",
		"secret": []string{"user"}}})
	for target, repeats := range map[string]bool{"javascript_playwright": true, "javascript_webdriverio": true,
		"javascript_cypress": true, "yaml": true,
		"python_selenium": true, "java_selenium": true, "side": false, "yaml_maestro": false} {
		code := w.ok(w.member, 200, "GET", "/testcases/"+id+"/code?target="+target, "")
		if repeats {
			require.Contains(t, code["code"], "ann", target)
			require.NotContains(t, code, "warnings", target)
		} else {
			require.Contains(t, code["code"], "ROW_USER", target)
			require.Equal(t, []any{"the data rows are not exported: the code runs once, with {{row:user}} from the environment variable ROW_USER"},
				code["warnings"])
		}
		code = w.ok(w.member, 200, "GET", "/testcases/"+secret+"/code?target="+target, "")
		require.NotContains(t, code["code"], "bob", target)
		require.Contains(t, code["warnings"].([]any)[0], "they have secret columns, which stay here", target)
	}
}
