package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/tasks"
)

// addTask inserts a task of an organization; 0 is the installation.
func (w *surface) addTask(kind, state string, organization int64, errorText string) string {
	w.t.Helper()
	id := uuid.NewString()
	_, err := w.db.ExecContext(w.t.Context(),
		`insert into tasks (id, kind, queue, payload, state, max_attempts, attempt, organization_id, error, failures,
			created_at, run_at, started_at, finished_at, worker, heartbeat_at)
		values ($1, $2::text, $6::text, '{}', $3::text, 5, 2, nullif($4::bigint, 0), nullif($5::text, ''),
			case when $5::text <> '' then jsonb_build_array(jsonb_build_object('attempt', 1, 'started_at', now() - interval '5 seconds',
				'ended_at', now(), 'worker', 'shed/7/cafe', 'error', $5::text, 'lost', false)) end,
			now() - interval '1 minute', case when $3::text = 'queued' then now() + interval '1 hour' else now() - interval '50 seconds' end,
			case when $3::text <> 'queued' then now() - interval '40 seconds' end,
			case when $3::text in ('dead', 'cancelled', 'succeeded') then now() - interval '10 seconds' end,
			case when $3::text = 'running' then 'barn/8/beef' end, case when $3::text = 'running' then now() end)`,
		id, kind, state, organization, errorText, tasks.Kinds()[kind].Queue)
	require.NoError(w.t, err)
	return id
}

func TestConsoleOperate(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	rival := w.organization("rival")
	ours := w.boot.Organization.ID
	dead := w.addTask("build:notify", "dead", ours, "<script>alert(1)</script> is no address")
	w.addTask("build:notify", "dead", ours, "refused")
	foreign := w.addTask("suite:run", "dead", ours, "odd")
	theirs := w.addTask("build:notify", "dead", rival.Organization.ID, "another's trouble")
	waiting := w.addTask("mail:send", "queued", ours, "")
	c := w.console("main", w.boot.Owner.AccessKey)

	p := c.open("/console/operate")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	require.Contains(t, p.text, dead)
	require.Contains(t, p.text, "&lt;script&gt;alert(1)")
	require.NotContains(t, p.text, "<script>alert")
	require.NotContains(t, p.text, "another&#39;s trouble")
	require.NotContains(t, p.text, theirs)
	require.Contains(t, p.text, "dead 3")
	require.Contains(t, p.text, "queued 1")
	require.NotContains(t, p.text, "operate/mail", "not for members")

	p = c.submit(p, "/console/operate", url.Values{"type": {"build:notify"}, "error": {"ALERT(1)"}})
	require.Contains(t, p.path, "type=build%3Anotify")
	require.Contains(t, p.text, dead)
	require.NotContains(t, p.text, foreign)
	require.Contains(t, p.text, "1 in all")
	require.Contains(t, c.open("/console/operate?state=succeeded").text, "No task matches")
	for _, odd := range []string{"state=nonsense", "stat=dead", "organization_id=99999", "from=tomorrow", "error=" +
		strings.Repeat("x", 300)} {
		p = c.open("/console/operate?" + odd)
		require.Equal(t, http.StatusOK, p.status, odd)
		require.Contains(t, p.text, "not understood", odd)
	}

	// A task: retried, started, cancelled; what its kind does not allow is said on the page.
	p = c.open("/console/operate/tasks/" + dead)
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	require.Contains(t, p.text, "&lt;script&gt;alert(1)")
	require.NotContains(t, p.text, "shed/7/cafe", "the worker is for operators")
	state := func(id string) string { return w.one(`select state from tasks where id = $1`, id) }
	p = c.submit(p, "/retry", nil)
	require.Equal(t, "/console/operate/tasks/"+dead, p.path)
	require.Contains(t, p.text, "The task is due again.")
	require.Equal(t, "queued", state(dead))
	p = c.submit(c.open("/console/operate/tasks/"+waiting), "/run", nil)
	require.Contains(t, p.text, "The task is due now")
	require.Equal(t, "true", w.one(`select (run_at <= now())::text from tasks where id = $1`, waiting))
	p = c.submit(p, "/cancel", nil)
	require.Contains(t, p.text, "The task is cancelled")
	require.Equal(t, "cancelled", state(waiting))
	p = c.submit(c.open("/console/operate/tasks/"+foreign), "/retry", nil)
	require.Contains(t, p.text, "operator")
	require.Equal(t, "dead", state(foreign))
	require.Equal(t, http.StatusNotFound, c.open("/console/operate/tasks/"+theirs).status)
	require.Equal(t, http.StatusForbidden, c.post("/console/operate/tasks/"+foreign+"/cancel", nil).status, "without the page's token")

	// All that match: first how many, then one request.
	w.addTask("build:notify", "dead", ours, "refused")
	p = c.open("/console/operate?state=dead&type=build%3Anotify")
	to := slices.IndexFunc(p.links(), func(link string) bool { return strings.Contains(link, "/operate/retry?") })
	require.GreaterOrEqual(t, to, 0)
	p = c.open(p.links()[to])
	require.Contains(t, p.text, "2 tasks match.")
	p = c.submit(p, "/operate/retry", nil)
	require.Contains(t, p.text, "2 tasks retried.")
	require.Equal(t, "0",
		w.one(`select count(*)::text from tasks where kind = 'build:notify' and state = 'dead' and organization_id = $1`, ours))
	require.Equal(t, "dead", state(theirs))
	p = c.open("/console/operate/retry?type=build%3Anotify")
	require.Contains(t, p.text, "nothing to retry")
	p = c.submit(c.open("/console/operate/retry?state=queued"), "/operate/retry", nil)
	require.Contains(t, p.text, "other tasks cannot be retried", "what the route refuses is said on the page")
}

func TestConsoleOfOperators(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	ours := w.boot.Organization.ID
	dead := w.addTask("build:notify", "dead", ours, "refused")
	running := w.addTask("crash:purge", "running", ours, "")
	for range 4 {
		w.addTask("mail:send", "succeeded", ours, "")
	}
	_, err := w.db.ExecContext(t.Context(),
		`insert into mails (id, organization_id, kind, recipient, subject, text_body, html_body, unsubscribe, state, dedupe_key)
		values (gen_random_uuid(), $1, 'sign-in', 'ann@example.com', '<b>Sign in</b>', 'The <i>link</i>', '<b>HTML part</b>', $2, 'kept', 'one')`,
		ours, w.base+"/mail/unsubscribe/token-of-ann")
	require.NoError(t, err)

	code, answer := w.send(request{method: http.MethodGet, path: v3 + "/operate", as: "operator"})
	require.Equal(t, http.StatusOK, code, "%s", answer)
	var got struct {
		Window struct{ Tasks int }
		Types  []struct {
			Type, Queue                   string
			Waiting, Running, Dead, Ended int
			FailedAttempts                int                   `json:"failed_attempts"`
			WaitingSeconds                struct{ P50 float64 } `json:"waiting_seconds"`
			RunningSeconds                struct{ P99 float64 } `json:"running_seconds"`
		}
		Workers []struct {
			Worker string
			Tasks  []struct{ ID string }
		}
		Periodic, Settings []struct{ Type, Name, Value string }
	}
	require.NoError(t, json.Unmarshal(answer, &got))
	require.Equal(t, 5, got.Window.Tasks)
	types := map[string]int{}
	for i, of := range got.Types {
		types[of.Type] = i
	}
	mail := got.Types[types["mail:send"]]
	require.Equal(t, 4, mail.Ended)
	require.InDelta(t, 10, mail.WaitingSeconds.P50, 0.1)
	require.InDelta(t, 30, mail.RunningSeconds.P99, 0.1)
	require.Equal(t, 1, got.Types[types["build:notify"]].FailedAttempts)
	require.Len(t, got.Workers, 1)
	require.Equal(t, "barn/8/beef", got.Workers[0].Worker)
	require.Equal(t, running, got.Workers[0].Tasks[0].ID)
	require.NotEmpty(t, got.Periodic)
	settings := map[string]string{}
	for _, s := range got.Settings {
		settings[s.Name] = s.Value
	}
	require.Equal(t, "local", settings["SLIPWAY_REGION"])
	require.Equal(t, "(redacted)", settings["SLIPWAY_SIGNING_KEY"])
	require.NotContains(t, string(answer), strings.Repeat("k", 32))
	code, answer = w.send(request{method: http.MethodGet, path: v3 + "/operate"})
	require.Equal(t, http.StatusForbidden, code, "%s", answer)

	c := w.console(w.boot.Operator.Username, w.boot.Operator.Password)
	p := c.open("/console")
	require.Equal(t, "/console/operate", p.path)
	require.Contains(t, p.text, dead)
	require.Contains(t, c.open("/console/operate/tasks/"+dead).text, "shed/7/cafe")
	p = c.open("/console/operate/queues")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	for _, shown := range []string{"barn/8/beef", running, "5 tasks of the last hour", "10.0 s / 10.0 s / 10.0 s",
		"SLIPWAY_REGION", "postgres", "schedule:tick"} {
		require.Contains(t, p.text, shown)
	}
	require.NotContains(t, p.text, strings.Repeat("k", 32))
	for _, link := range slices.Compact(slices.Sorted(slices.Values(p.links()))) {
		if strings.HasPrefix(link, "/console/operate") {
			require.Equal(t, http.StatusOK, c.open(link).status, link)
		}
	}
	p = c.open("/console/operate/mail")
	require.Contains(t, p.text, "ann@example.com")
	require.Contains(t, p.text, "&lt;b&gt;Sign in&lt;/b&gt;")
	require.Contains(t, p.text, "The &lt;i&gt;link&lt;/i&gt;")
	require.Contains(t, c.open("/console/operate/mail?page=0").text, "not understood")
	kept := "/console/operate/mail/" + w.one(`select id::text from mails where recipient = 'ann@example.com'`)
	require.Contains(t, p.links(), kept)
	p = c.shows(kept, "The &lt;i&gt;link&lt;/i&gt;", `<iframe class="mail" src="`+kept+`/html"`, "Message-ID: ")
	require.NotContains(t, p.text, "<b>Sign in</b>")
	require.NotContains(t, p.text, "token-of-ann", "who reads the mail must not unsubscribe its recipient")
	require.Contains(t, p.text, "List-Unsubscribe: &lt;"+w.base+"/mail/unsubscribe/...&gt;")
	part := c.open(kept + "/html")
	require.Equal(t, "<b>HTML part</b>", part.text)
	require.Regexp(t, "; sandbox$", part.header.Get("Content-Security-Policy"), "nothing in it runs or leads anywhere")
	require.Equal(t, http.StatusNotFound, c.open("/console/operate/mail/no-id").status)
	require.Equal(t, http.StatusNotFound, c.open("/console/operate/mail/"+uuid.NewString()).status)
	_, err = w.db.ExecContext(t.Context(), `update mails set state = 'sent' where recipient = 'ann@example.com'`)
	require.NoError(t, err)
	p = c.shows(kept, "The text is hidden")
	require.NotContains(t, p.text, "<iframe")
	require.NotContains(t, p.text, "&lt;i&gt;link")
	require.Empty(t, c.open(kept+"/html").text)
	lost := newConsole(w).open(kept + "/html")
	require.Equal(t, http.StatusUnauthorized, lost.status)
	require.Contains(t, lost.text, "Sign in again")

	member := w.console("main", w.boot.Owner.AccessKey)
	for _, path := range []string{"/console/operate/queues", "/console/operate/mail", kept, kept + "/html",
		"/console/operate/organizations", "/console/operate/webhooks"} {
		require.Equal(t, http.StatusForbidden, member.open(path).status, path)
	}
}

// Open tasks that match are cancelled or started by one form each, which says first how many.
func TestConsoleOperateMany(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	rival := w.organization("rival")
	ours := w.boot.Organization.ID
	for range 3 {
		w.addTask("symbol:index", "queued", ours, "")
	}
	running := w.addTask("symbol:index", "running", ours, "")
	locked := w.addTask("test:job", "queued", ours, "")
	theirs := w.addTask("symbol:index", "queued", rival.Organization.ID, "")
	c := w.console("main", w.boot.Owner.AccessKey)
	follow := func(p *page, part string) *page {
		t.Helper()
		at := slices.IndexFunc(p.links(), func(link string) bool { return strings.Contains(link, part) })
		require.GreaterOrEqual(t, at, 0, "no link to %s in %.3000s", part, p.text)
		return c.open(p.links()[at])
	}
	p := c.open("/console/operate")
	require.NotContains(t, p.text, "Retry all that match", "no task is dead")
	p = follow(p, "/operate/run?")
	require.Contains(t, p.text, "4 tasks match.")
	require.NotContains(t, p.text, running)
	p = c.submit(p, "/operate/run", nil)
	require.Contains(t, p.text, "3 tasks due now. 1 task skipped: you may not start them.")
	require.Equal(t, "3", w.one(`select count(*)::text from tasks where state = 'queued' and run_at <= now()`))

	p = follow(c.open("/console/operate?type=symbol%3Aindex"), "/operate/cancel?")
	require.Contains(t, p.text, "4 tasks match.")
	require.NotContains(t, p.text, theirs)
	p = c.submit(p, "/operate/cancel", nil)
	require.Contains(t, p.text, "4 tasks cancelled, or asked to stop.")
	require.Equal(t, "3", w.one(`select count(*)::text from tasks where state = 'cancelled'`))
	require.Equal(t, "true", w.one(`select cancel_requested::text from tasks where id = $1`, running))
	for _, id := range []string{locked, theirs} {
		require.Equal(t, "queued", w.one(`select state from tasks where id = $1`, id))
	}
	require.Contains(t, c.open("/console/operate/cancel?type=symbol%3Aindex&state=queued").text, "nothing to cancel")
	require.Contains(t, c.open("/console/operate/run?stat=queued").text, "not understood")
	p = c.submit(c.open("/console/operate/cancel?type=test%3Ajob"), "/operate/cancel", nil)
	require.Contains(t, p.text, "operator", "what the route refuses is said on the page")
	require.Equal(t, http.StatusForbidden, c.post("/console/operate/cancel", url.Values{"filters": {"type=test:job"}}).status,
		"without the page's token")
}

// The queues page has windows of a day and a week, and what stands in Redis; the pages beside
// it have the organizations and the webhooks that fail.
func TestConsoleOfOperatorsOverTime(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.stopWorker()
	ours := w.boot.Organization.ID
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := w.db.ExecContext(t.Context(), statement, args...)
		require.NoError(t, err, statement)
	}
	exec(`delete from tasks`)
	exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, run_at, started_at, finished_at)
		select gen_random_uuid(), 'mail:send', 'mail', '{}', 'succeeded', 5, at - interval '30 seconds', at - interval '20 seconds', at
		from (select now() - make_interval(hours => n, mins => 12) as at from generate_series(0, 99) n) h`)
	exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, run_at, started_at, finished_at)
		select gen_random_uuid(), 'mail:send', 'mail', '{}', 'dead', 5, at, at, at from (select now() - interval '50 hours' as at) h`)
	for more := true; more; {
		var err error
		more, err = w.services.Ledger.CountEnded(t.Context())
		require.NoError(t, err)
	}
	read := func(query string) (got operateDocument) {
		t.Helper()
		code, answer := w.send(request{method: http.MethodGet, path: v3 + "/operate", query: query, as: "operator"})
		require.Equal(t, http.StatusOK, code, "%s", answer)
		require.NoError(t, json.Unmarshal(answer, &got))
		return got
	}
	for query, want := range map[string]struct{ least, most, died, hours int }{
		"": {1, 1, 0, 25}, "?window=hour": {1, 1, 0, 25}, "?window=day": {24, 25, 0, 25}, "?window=week": {101, 101, 1, 169},
	} {
		got := read(query)
		require.GreaterOrEqual(t, got.Window.Tasks, want.least, query)
		require.LessOrEqual(t, got.Window.Tasks, want.most, query)
		require.Len(t, got.Hours, want.hours, query)
		require.Equal(t, want.least > 1, got.Window.Estimated, query)
		i := slices.IndexFunc(got.Types, func(of operateType) bool { return of.Type == "mail:send" })
		require.Equal(t, want.died, got.Types[i].Died, query)
		require.InEpsilon(t, 10, got.Types[i].WaitingSeconds.P50, 0.1, query)
		require.InEpsilon(t, 20, got.Types[i].RunningSeconds.P95, 0.1, query)
		require.Empty(t, got.Redis.Error)
		require.Len(t, got.Redis.Queues, len(tasks.Queues()))
	}
	for _, odd := range []string{"?window=month", "?window=", "?windows=day", "?window=day&window=week"} {
		code, answer := w.send(request{method: http.MethodGet, path: v3 + "/operate", query: odd, as: "operator"})
		require.Equal(t, http.StatusBadRequest, code, "%s: %s", odd, answer)
	}

	c := w.console(w.boot.Operator.Username, w.boot.Operator.Password)
	p := c.open("/console/operate/queues?window=week")
	require.Contains(t, p.text, "101 tasks of the last week")
	require.Contains(t, p.text, "at most a tenth off")
	require.Contains(t, p.text, `aria-label="Tasks that ended, by hour (UTC)"`)
	require.Contains(t, p.text, "Oldest waits for")
	p = c.open("/console/operate/queues?window=month")
	require.Contains(t, p.text, "not understood")
	require.Contains(t, p.text, "of the last hour")

	// Who takes what.
	exec(`insert into quota_usage (organization_id, resource, day, amount) values ($1, 'stored_bytes', '-infinity', 3072)`, ours)
	exec(`insert into organization_quotas (organization_id, resource, bound) values ($1, 'stored_bytes', 1048576)`, ours)
	exec(`update organizations set name = '<script>alert(1)</script>' where id = $1`, ours)
	w.addTask("mail:send", "dead", ours, "refused")
	w.addTask("mail:send", "queued", ours, "")
	p = c.open("/console/operate/organizations")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	for _, shown := range []string{"&lt;script&gt;alert(1)", " of 1.0 MiB", "not counted", "state=dead"} {
		require.Contains(t, p.text, shown)
	}
	require.NotContains(t, p.text, "<script>alert")
	require.Contains(t, c.open("/console/operate/organizations?page=0").text, "not understood")
	code, answer := w.send(request{method: http.MethodGet, path: v3 + "/operate/organizations", query: "?per_page=1", as: "operator"})
	require.Equal(t, http.StatusOK, code)
	var list struct {
		Organizations []struct {
			ID        int64
			OpenTasks int `json:"open_tasks"`
			DeadTasks int `json:"dead_tasks"`
			Members   int
		}
	}
	require.NoError(t, json.Unmarshal(answer, &list))
	require.Len(t, list.Organizations, 1)
	require.Equal(t, []int{1, 1}, []int{list.Organizations[0].OpenTasks, list.Organizations[0].DeadTasks})
	require.Positive(t, list.Organizations[0].Members)

	// Webhooks: the host, and nothing of what may be secret.
	require.Contains(t, c.open("/console/operate/webhooks").text, "No webhook fails")
	exec(`insert into webhooks (organization_id, name, url, status, secret, failures, failing_since)
		values ($1, 'fine', 'https://fine.example.com', 'active', 'x', 0, null), ($1, 'broken', 'https://hooks.example.com/hush?token=hush', 'active', 'x', 7, now())`, ours)
	p = c.open("/console/operate/webhooks")
	require.Contains(t, p.text, "hooks.example.com")
	require.NotContains(t, p.text, "hush")
	require.NotContains(t, p.text, "fine.example.com")

	for _, path := range []string{"/operate/organizations", "/operate/webhooks"} {
		code, _ = w.send(request{method: http.MethodGet, path: v3 + path})
		require.Equal(t, http.StatusForbidden, code, "a member: %s", path)
		code, _ = w.send(request{method: http.MethodGet, path: v3 + path, as: "none"})
		require.Equal(t, http.StatusUnauthorized, code, path)
	}

	// Bookmarks of the former page lead there, and the page asks who it is.
	for _, path := range []string{"/ops/queues", "/ops/queues/", "/ops/queues/queues/mail"} {
		p = c.open(path)
		require.Equal(t, "/console/operate/queues", p.path, path)
		require.Contains(t, p.text, "Oldest waits for")
		require.Contains(t, newConsole(w).open(path).path, "/console/sign-in")
	}
}

// operateDocument is how the installation works, as far as the test looks.
type operateDocument struct {
	Window struct {
		Tasks     int
		Estimated bool
	}
	Hours []struct{ Ended int }
	Types []operateType
	Redis struct {
		Error  string
		Queues []struct{ Queue string }
	}
}

type operateType struct {
	Type           string
	Died           int
	WaitingSeconds struct{ P50 float64 } `json:"waiting_seconds"`
	RunningSeconds struct{ P95 float64 } `json:"running_seconds"`
}

// A Redis that is away is said on the page; the ledger's side is there all the same.
func TestConsoleOfOperatorsWithoutRedis(t *testing.T) {
	t.Parallel()
	w := newSurface(t, func(s *setting.Settings) { s.RedisURL = setting.Secret(servicetest.RedisServer(t)) })
	w.stopWorker()
	_ = w.services.Redis.Client().ShutdownNoSave(t.Context())
	require.Eventually(t, func() bool { return w.services.Redis.Check(t.Context()) != nil }, time.Minute, 20*time.Millisecond)
	dead := w.addTask("mail:send", "dead", w.boot.Organization.ID, "refused")
	c := w.console(w.boot.Operator.Username, w.boot.Operator.Password)
	p := c.open("/console/operate/queues")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	require.Contains(t, p.text, "Redis did not respond")
	require.Contains(t, p.text, "mail:send")
	require.NotContains(t, p.text, "Oldest waits for")
	require.Contains(t, c.open("/console/operate?state=dead").text, dead)
}
