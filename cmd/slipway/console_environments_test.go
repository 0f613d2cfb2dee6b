package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	testrun "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func TestConsoleEnvironments(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	list := c.shows("/console/tests/environments", "There is no environment yet.")
	typed := url.Values{"name": {"staging"}, "url": {"https://staging.example.com"},
		"variables":   {`{"country": "de", "note": "` + hostile + `"}`},
		"headers":     {`{"x-tenant": "shop", "authorization": "Bearer open-sesame"}`},
		"targets":     {`[{"capabilities": {"browserName": "firefox"}}]`},
		"secret_name": {"password"}, "secret_value": {"correct horse"}}
	with := func(name, value string) url.Values {
		other := url.Values{name: {value}}
		for member, values := range typed {
			if member != name {
				other[member] = values
			}
		}
		return c.filled(list, "secret_name", other)
	}
	const at = "/console/tests/environments"
	c.post(at, with("variables", `{"country":`)).says(t, "The variables are no JSON, in line 1")
	c.post(at, with("headers", `{"x-tenant": 1}`)).says(t, "The headers are an object of texts")
	p := c.post(at, with("name", "Not a name"))
	p.says(t, "name")
	require.NotContains(t, p.text, "correct horse", "what is secret is typed again")
	require.Contains(t, p.text, "x-tenant", "the rest is not")
	p = c.post(at, with("name", "staging"))
	p.says(t, "The environment was created.")
	p.says(t, hostileShown)
	for _, secret := range []string{hostile, "correct horse", "open-sesame"} {
		require.NotContains(t, p.text, secret)
	}
	one := p.path
	c.shows(at, "staging", "firefox", "https://staging.example.com")
	require.NotContains(t, c.shows(at+"?search=other", "No environment fits").text, "firefox")

	// What is not typed again stays; what is not there any more goes.
	version := func() string { return w.one(`select version::text from test_environments`) }
	p = c.does(c.open(one), strings.TrimPrefix(one, "/console"), url.Values{"variables": {`{"city": "Bonn"}`},
		"header-authorization": {"Bearer other"},
		"targets":              {"[]"}}, "The environment was changed.")
	require.NotContains(t, p.text, "country")
	p.says(t, "Bonn")
	p.says(t, "password")
	require.Equal(t, "2", version())
	p = c.does(c.open(one), strings.TrimPrefix(one, "/console"), url.Values{"drop-secret-password": {"1"}}, "The environment was changed.")
	require.NotContains(t, p.text, "<code>password</code>")
	c.does(p, strings.TrimPrefix(one, "/console"), url.Values{"version": {"1"}}, "the environment was changed since")

	// It is named where tests are run.
	_, id := c.importedCase("cart")
	c.targeted(id, "https://shop.example.com/")
	c.does(c.open("/console/tests/cases/"+id), "/run", url.Values{"environment": {"staging"}}, "The run was started.")
	require.Equal(t, "staging", w.one(`select environment from test_runs`))
	suite := c.createdSuite("smoke").path
	c.submit(c.open(suite), "/add", url.Values{"case": {id}})
	c.does(c.open(suite), "/change", url.Values{"environment": {"gone"}}, "names no environment")
	c.does(c.open(suite), "/change", url.Values{"environment": {"staging"}}, "The suite was changed.")
	require.Equal(t, "staging", w.one(`select default_environment from test_suites`))
	c.does(c.open(suite), "/change", url.Values{"environment": {""}}, "The suite was changed.")
	c.does(c.open(suite), "/run", url.Values{"in": {"staging"}}, "The run was started.")
	require.Equal(t, "staging", w.one(`select environment from suite_runs`))

	schedule := c.filled(c.open("/console/tests/schedules"), "cron", url.Values{"cron": {"30 4 * * *"}, "timezone": {"UTC"},
		"environment": {"staging"},
		"suite":       {suite[strings.LastIndexByte(suite, '/')+1:]}})
	p = c.post("/console/tests/schedules", schedule)
	p.says(t, "The schedule was created.")
	p.says(t, "<dt>Environment</dt><dd>staging</dd>")

	username, key := w.member("anna", account.Member)
	p = w.console(username, key).open(one)
	require.NotNil(t, p.form("/delete"), "a member may change those of a team, which the interface decides")
	c.does(c.open(one), "/delete", nil, "The environment was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_environments`))
}

func TestConsoleStepGroups(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	form := c.shows("/console/tests/groups/new", "New step group")
	steps := `[{"tool": {"type": "go_to_url", "args": {"url": "/{{param:path}}"}}}]`
	typed := func(parameters, steps string) url.Values {
		return c.filled(form, "parameters", url.Values{"name": {"Open " + hostile}, "description": {"opens a page"},
			"parameters": {parameters}, "steps": {steps}})
	}
	c.post("/console/tests/groups", typed(`[{"name": "path"}]`, `[{`)).says(t, "The steps are no JSON, in line 1")
	p := c.post("/console/tests/groups", typed(`[]`, steps))
	p.says(t, "{{param:path}}")
	p.says(t, "Open "+hostileShown)
	p = c.post("/console/tests/groups", typed(`[{"name": "path"}]`, steps))
	p.says(t, "The step group was created.")
	require.NotContains(t, p.text, hostile)
	at := p.path
	c.shows("/console/tests/groups", "Open "+hostileShown)

	edit := c.shows(at+"/edit", "{{param:path}}")
	c.does(edit, "/edit", url.Values{"parameters": {`[{"name": "path", "default": "cart"}]`}, "description": {"opens the cart"}},
		"The step group was changed.")
	require.Equal(t, "2", w.one(`select count(*)::text from step_group_revisions`))
	c.does(c.open(at+"/edit"), "/edit", url.Values{"name": {"Open"}}, "The step group was changed.")
	require.Equal(t, "2", w.one(`select count(*)::text from step_group_revisions`), "a name is no revision")
	c.does(edit, "/edit", url.Values{"name": {"late"}}, "was changed since this form was opened")
	require.Equal(t, "Open", w.one(`select name from step_groups`))

	// A run folds the steps of the group under the step that runs it.
	_, id := c.importedCase("cart")
	c.targeted(id, "https://shop.example.com/")
	group := at[strings.LastIndexByte(at, '/')+1:]
	c.does(c.open("/console/tests/cases/"+id+"/edit"), "/edit",
		url.Values{"steps": {`[{"tool": {"type": "run_group", "args": {"groupId": "` + group + `", "with": {}}}}]`}},
		"The test was changed.")
	run := c.does(c.open("/console/tests/cases/"+id), "/run", nil, "The run was started.").path
	w.wait("job", `select id::text from test_jobs where state = 'QUEUED' and position = 0`)
	w.endedInGroup(w.ids["job"], group)
	p = c.shows(run, "<summary>1 step of the group</summary>", "no page "+hostileShown)
	require.Contains(t, p.text, `<details class="inner" open`)
	require.Equal(t, 1, strings.Count(p.text, `<details class="inner"`))
	p.says(t, "Download the trace of this attempt")
	p.says(t, "/console/tests/files/"+w.one(`select id::text from run_files where kind = 'trace'`))
}

// endedInGroup ends a job in a step of a group, after an attempt of which a trace was kept.
func (w *surface) endedInGroup(job, group string) {
	w.t.Helper()
	ctx, id, file := w.t.Context(), uuid.MustParse(job), uuid.New()
	end := testrun.JobEnd{Status: testrun.Failed, ErrorCode: testrun.CodeStepFailed, Error: "no page", Records: []playback.Record{
		{StepID: "s1", Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: group}}, Status: playback.Failed},
		{StepID: "s1/s1", Tool: step.Tool{Type: step.GoToURL}, Status: playback.Failed, Result: step.Outcome{Message: "no page " + hostile},
			Group: &step.InGroup{ID: group, Name: "Open", Depth: 1}}}}
	in := func(change func(*storage.Tx) error) { require.NoError(w.t, w.db.InTx(ctx, change)) }
	begin := func(tx *storage.Tx) error {
		_, _, err := testrun.BeginJob(ctx, tx, id)
		return err
	}
	in(begin)
	in(func(tx *storage.Tx) error {
		first := end
		first.Files = []testrun.NewFile{{ID: file, Kind: testrun.Trace, Key: testrun.FileKey(id, file), ContentType: "application/zip", Size: 7}}
		_, err := attempt.End(ctx, tx, id, first)
		return err
	})
	in(begin)
	in(func(tx *storage.Tx) error {
		_, err := testrun.EndJob(ctx, tx, id, end)
		return err
	})
}
