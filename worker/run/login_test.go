package run

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	failures "github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/login"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// club is a site that is used only by who has signed in: by a form, over another origin, which
// leaves cookies, items in both storages, and one in that of the other origin.
type club struct {
	*httptest.Server
	mu       sync.Mutex
	sessions map[string]bool
	logins   int
	refuses  bool
}

func newClub(t *testing.T) *club {
	s := &club{sessions: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// other is the address of the same server as another origin.
func (s *club) other() string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }

func (s *club) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	page := func(body string) { fmt.Fprint(w, `<!doctype html><title>Shop</title>`+body) }
	cookie, err := r.Cookie("session")
	_, without := r.Cookie("plain")
	known := err == nil && without == nil && s.sessions[cookie.Value]
	switch {
	case r.URL.Path == "/idp" && r.URL.Query().Has("begin"):
		page(`<script>localStorage.setItem("idp", "remembered-by-the-idp"); location = "` + s.URL + `/signed-in"</script>`)
	case r.URL.Path == "/idp":
		page(`<p id=idp></p><script>document.querySelector("#idp").textContent = localStorage.getItem("idp")</script>`)
	case r.URL.Path == "/login" && !s.refuses:
		s.logins++
		http.Redirect(w, r, s.other()+"/idp?begin", http.StatusSeeOther)
	case r.URL.Path == "/signed-in":
		session := "session-" + rand.Text()
		s.sessions[session] = true
		http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.SetCookie(w, &http.Cookie{Name: "plain", Value: "without-same-site", Path: "/"}) // as most sites set theirs
		page(`<script>localStorage.setItem("token", "token-of-ann-1234567"); sessionStorage.setItem("tab", "tab-of-ann"); location = ` +
			`"/"</script>`)
	case !known:
		page(`<form action=/login method=post><input id=user name=user><button id=go>Sign in</button></form>`)
	default:
		page(`<h1>Hello ann</h1><p id=kept></p><script>document.querySelector("#kept").textContent =
			localStorage.getItem("token") + " " + sessionStorage.getItem("tab")</script>`)
	}
}

// signOut ends all sessions.
func (s *club) signOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

func (s *club) signedIn() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

func found(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }

func textIs(id, css, text string) step.Step {
	return step.Step{ID: id, TimeoutMS: 10_000, Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: found(css),
		Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text}}}}}
}

// caseAt returns a case that begins at an address.
func (w *world) caseAt(name, address string, steps ...step.Step) (c *authoring.Case) {
	w.t.Helper()
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: name,
			Settings: capability.RunSettings{TestURL: address, RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: steps}})
		return err
	})
	return c
}

// loginSuite returns a suite of three cases that need its login.
func (w *world) loginSuite(s *club, when *step.Condition) uuid.UUID {
	w.t.Helper()
	user := "ann"
	signIn := w.caseAt("sign in", s.URL, step.Step{ID: "s1", Tool: step.Tool{Type: step.InputText,
		Args: step.Args{Text: &user, Selector: found("#user")}}},
		step.Step{ID: "s2", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: found("#go")}}}, textIs("s3", "h1", "Hello ann"))
	cases := []string{
		w.caseAt("greets", s.URL, textIs("s1", "h1", "Hello ann")).ID,
		w.caseAt("keeps", s.URL, textIs("s1", "#kept", "token-of-ann-1234567 tab-of-ann")).ID,
		w.caseAt("elsewhere", s.other()+"/idp", textIs("s1", "#idp", "remembered-by-the-idp")).ID,
	}
	var suite *authoring.Suite
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		suite, err = authoring.CreateSuite(ctx, tx, w.writer, authoring.NewSuite{Name: "smoke", Cases: append(cases, signIn.ID),
			Login: &login.Login{TestCaseID: signIn.ID, When: when}})
		return err
	})
	require.Equal(w.t, signIn.ID, suite.Login.TestCaseID)
	return suite.ID
}

// due are the jobs that a worker could begin now, those of logins first.
func (w *world) due() (ids []uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &ids, `select k.id from tasks k join test_jobs j on j.id = k.id
		join test_runs r on r.id = j.run_id where k.state = 'queued' and k.run_at <= now() order by r.login_key is null, k.id`))
	return ids
}

// work plays jobs as long as one is due. What puts itself off waits for somebody to wake it.
func (w *world) work() {
	w.t.Helper()
	for range 50 {
		due := w.due()
		if len(due) == 0 {
			return
		}
		w.workOn(due[0])
	}
	require.Fail(w.t, "jobs go on for ever")
}

// workOn plays a job as the worker does.
func (w *world) workOn(id uuid.UUID) {
	w.t.Helper()
	claim := w.claim(tasks.TestJob, id)
	err := w.handler.Handle(w.t.Context(), claim)
	if err == nil {
		return
	}
	var snooze *tasks.SnoozeError
	require.ErrorAs(w.t, err, &snooze)
	_, err = w.ledger.Release(w.t.Context(), []ledger.Token{claim.Tasks[0].Token()}, snooze.For)
	require.NoError(w.t, err)
}

// results are the states of the jobs of a suite run, by the names of their cases.
func (w *world) results(run *store.SuiteRun) map[string]string {
	w.t.Helper()
	var rows []struct{ Name, State, Code string }
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &rows, `select r.case_name as name, j.state, j.error_code as code
		from test_jobs j join test_runs r on r.id = j.run_id where r.suite_run_id = $1 order by j.id`, run.ID))
	results := map[string]string{}
	for _, row := range rows {
		results[row.Name] = strings.TrimSpace(results[row.Name] + " " + row.State + row.Code)
	}
	return results
}

func (w *world) startLogin(suite uuid.UUID) *store.SuiteRun {
	w.t.Helper()
	run := w.startSuite(suite)
	require.Equal(w.t, 3, run.RunCount, "the login is no case of its own")
	require.NoError(w.t, w.suite().Handle(w.t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	require.Len(w.t, w.due(), 1, "the others wait for the login")
	require.Equal(w.t, 4, w.number(`select run_count from suite_runs`))
	require.Equal(w.t, 1, w.number(`select count(*) from test_runs where login_key is not null`))
	return run
}

func (w *world) realShop() *club {
	pool, proxy := realBrowsers(w.t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	return newClub(w.t)
}

// The login is played once; its cookies and storages are in the browser of each other job,
// and gone with the suite run.
func TestLoginOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := w.realShop()
	run := w.startLogin(w.loginSuite(site, nil))
	w.workOn(w.due()[0])
	require.Equal(t, 1, w.number(`select count(*) from suite_logins where length(sealed) > 100`))
	require.Zero(t, w.number(`select count(*) from suite_logins where position('session-'::bytea in sealed) > 0`))
	require.Len(t, w.due(), 3, "the end of the login wakes the others")
	w.work()
	require.Equal(t, map[string]string{"sign in": "PASSED", "greets": "PASSED", "keeps": "PASSED", "elsewhere": "PASSED"}, w.results(run))
	require.Equal(t, 1, site.signedIn())
	require.Equal(t, 1, w.number(`select count(*) from suite_runs where state = 'PASSED'`))
	require.Zero(t, w.number(`select count(*) from suite_logins`))
}

// A job that finds itself signed out has the login played once more, and goes on.
func TestLoginThatDoesNotLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := w.realShop()
	visible := &step.Condition{Selector: found("#go"), Matcher: &step.Matcher{Name: step.Visible}}
	run := w.startLogin(w.loginSuite(site, visible))
	w.workOn(w.due()[0])
	site.signOut()
	w.work()
	require.Equal(t, map[string]string{"sign in": "PASSED PASSED", "greets": "PASSED", "keeps": "PASSED", "elsewhere": "PASSED"},
		w.results(run))
	require.Equal(t, 2, site.signedIn())

	run = w.startLoginAgain(run)
	site.mu.Lock()
	site.refuses = true // a second login does not help
	site.mu.Unlock()
	w.work()
	results := w.results(run)
	require.Equal(t, "FAILEDASSERTION_FAILED", results["sign in"])
	require.Equal(t, "ERRORLOGIN_FAILED", results["greets"])
	require.Equal(t, "ERRORLOGIN_FAILED", results["elsewhere"])
	require.Equal(t, 1, w.number(`select count(*) from suite_runs where state = 'FAILED'`))
	text := ""
	require.NoError(t, w.db.GetContext(t.Context(), &text, `select error from test_jobs where error_code = 'LOGIN_FAILED' limit 1`))
	require.Regexp(t, `^the login of the suite failed: css h1: expected text .+ \(test case [0-9a-f]{24}, run .+\)$`, text)
}

// A test that is signed out again says on which page and by what, and shows the page.
func TestSignedOutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := w.realShop()
	run := w.startLogin(w.loginSuite(site, &step.Condition{Selector: found("#idp"), Matcher: &step.Matcher{Name: step.Visible}}))
	w.work()
	require.Equal(t, map[string]string{"sign in": "PASSED PASSED", "greets": "PASSED", "keeps": "PASSED",
		"elsewhere": "ERRORLOGIN_FAILED"}, w.results(run))
	text := ""
	require.NoError(t, w.db.GetContext(t.Context(), &text, `select error from test_jobs where error_code = 'LOGIN_FAILED'`))
	require.Equal(t,
		fmt.Sprintf("the page %q shows that the test is not signed in: css #idp is visible, also after the suite's login was played again",
			site.other()+"/idp"), text)
	require.Equal(t, 1, w.number(`select count(*) from run_files f join test_jobs j on j.id = f.job_id
		where j.error_code = 'LOGIN_FAILED' and f.kind = 'source'`))
}

func (w *world) startLoginAgain(run *store.SuiteRun) *store.SuiteRun {
	w.t.Helper()
	again := w.startSuite(run.SuiteID)
	require.NoError(w.t, w.suite().Handle(w.t.Context(), w.claim(tasks.SuiteRun, again.ID)))
	return again
}

// Without WebDriver BiDi the login fails at once, before its steps.
func TestLoginWithoutBiDi(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := newClub(t)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Lease = &browser.Lease{Mobile: true}
		return replay.Play(ctx, cfg)
	}
	run := w.startLogin(w.loginSuite(site, nil))
	w.work()
	for name, result := range w.results(run) {
		require.Equal(t, "ERRORLOGIN_FAILED", result, name)
	}
	require.Zero(t, site.signedIn())
	require.Equal(t, 1, w.number(`select count(*) from suite_runs where state = 'ERROR'`))
	groups, err := failures.Groups(t.Context(), w.db, run.ID, 50, 20)
	require.NoError(t, err)
	require.Len(t, groups, 1, "what could not begin failed by the login")
	require.Equal(t, [2]int{4, 4}, [2]int{groups[0].Count, groups[0].Jobs})
	require.NotContains(t, groups[0].Subject, "the login of the suite failed")
	require.Equal(t, 3, w.number(`select count(*) from test_jobs where diagnosis -> 'why' ->> 0 like 'The login of the suite failed%'`))
}

// What could not begin has the reason of the login's failure.
func TestReasonOfALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.Play = func(_ context.Context, _ replay.Config) replay.Result {
		return replay.Result{Status: string(store.Errored), Code: store.CodeEnvironment, Message: "its headers are for another site"}
	}
	run := w.startLogin(w.loginSuite(newClub(t), nil))
	w.work()
	groups, err := failures.Groups(t.Context(), w.db, run.ID, 50, 20)
	require.NoError(t, err)
	require.Len(t, groups, 1)
	require.Equal(t, failures.Environment, groups[0].Reason)
	require.Equal(t, 4, groups[0].Count)
}

// A login whose worker dies is played by the next one; one that is cancelled leaves nobody
// waiting.
func TestLoginOfALostWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	site := newClub(t)
	run := w.startLogin(w.loginSuite(site, nil))
	signIn := w.due()[0]
	lost := w.claim(tasks.TestJob, signIn)
	require.NoError(t, w.wake(), "a job that begins too early waits")
	next := w.again(tasks.TestJob, signIn)
	require.ErrorIs(t, w.handler.Handle(t.Context(), lost), storage.ErrStale)
	require.NoError(t, w.handler.Handle(t.Context(), next)) // passes, and leaves nothing
	w.work()
	require.Equal(t, map[string]string{"sign in": "PASSED", "greets": "ERRORLOGIN_FAILED", "keeps": "ERRORLOGIN_FAILED",
		"elsewhere": "ERRORLOGIN_FAILED"}, w.results(run))
}

// wake lets the jobs begin that wait, as the end of their time does.
func (w *world) wake() error {
	w.exec(`update tasks set run_at = now() where state = 'queued' and kind = 'test:job'`)
	for _, id := range w.due() {
		w.workOn(id)
	}
	if n := w.number(`select count(*) from test_jobs where state = 'RUNNING'`); n > 0 {
		return fmt.Errorf("%d jobs have begun", n)
	}
	return nil
}

// The case of a login may be gone when the suite runs.
func TestLoginThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.loginSuite(newClub(t), nil)
	w.exec(`delete from test_cases where name = 'sign in'`)
	run := w.startSuite(suite)
	require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, run.ID)))
	w.work()
	for name, result := range w.results(run) {
		require.Equal(t, "ERRORLOGIN_FAILED", result, name)
	}
	require.Equal(t, 3, w.number(`select count(*) from test_jobs where error like '%test case was deleted%'`))
}
