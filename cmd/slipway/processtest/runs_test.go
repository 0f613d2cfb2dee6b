package processtest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRuns tells the story of a team that imports its tests, runs them in a real
// browser, and looks at what came out.
func TestRuns(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	s := &runStory{tester: newTester(in), t: t, in: in, site: newSite(t)}
	s.passes()
	s.fails()
	s.heals()
	s.sides()
	s.secrets()
	s.tunnels()
	s.refusals()
	s.suites()
	s.cancels()
	s.exports()
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// tester calls the authoring interface with the owner's access key.
type tester struct{ base, user, key string }

func newTester(in *installation) tester {
	return tester{base: in.base, user: in.boot.Owner.Username, key: in.boot.Owner.AccessKey}
}

// do sends a JSON body, nil for none, and gives status and body.
func (a tester) do(t *testing.T, method, path string, body any, change ...func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	var reader io.Reader
	if body != nil {
		doc, err := json.Marshal(body)
		require.NoError(t, err)
		reader = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+"/v1/ai-authoring"+path, reader)
	require.NoError(t, err)
	req.SetBasicAuth(a.user, a.key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, text
}

// ok wants a status and reads the member data of the answer. A read that finds the service busy is
// repeated, as the clients of the documents do it: other tests load the same servers.
func (a tester) ok(t *testing.T, want int, method, path string, body, into any) {
	t.Helper()
	res, text := a.do(t, method, path, body)
	for end := time.Now().Add(longWait); method == http.MethodGet && res.StatusCode == http.StatusServiceUnavailable &&
		time.Now().Before(end); {
		select {
		case <-t.Context().Done():
		case <-time.After(200 * time.Millisecond):
		}
		res, text = a.do(t, method, path, body)
	}
	require.Equal(t, want, res.StatusCode, "%s %s: %s", method, path, text)
	if into != nil {
		require.NoError(t, json.Unmarshal(text, &struct{ Data any }{into}), "%s", text)
	}
}

// refused wants a status and a code.
func (a tester) refused(t *testing.T, status int, code, method, path string, body any) string {
	t.Helper()
	res, text := a.do(t, method, path, body)
	var answer struct{ Error struct{ Code, Detail string } }
	require.NoError(t, json.Unmarshal(text, &answer), "%s", text)
	require.Equal(t, status, res.StatusCode, "%s", text)
	require.Equal(t, code, answer.Error.Code, "%s", text)
	return answer.Error.Detail
}

type obj = map[string]any

// openPage, click and the like are the steps of tests, as a client writes them.
func openPage(address string) obj {
	return obj{"tool": obj{"type": "go_to_url", "args": obj{"url": address}}}
}

func onElement(tool, css string, more obj) obj {
	args := obj{"selector": obj{"type": "css", "value": css}}
	for k, v := range more {
		args[k] = v
	}
	return obj{"tool": obj{"type": tool, "args": args}}
}

func click(css string) obj      { return onElement("click", css, nil) }
func fill(css, text string) obj { return onElement("input_text", css, obj{"text": text}) }

// assertText waits for longer than a test does by itself: the machine may be busy.
func assertText(css, text string) obj {
	s := onElement("assert", css, obj{"matcher": obj{"name": "text", "args": obj{"value": text}}})
	s["timeoutMs"] = 20_000
	return s
}

// chrome is a target that the managed chromedriver serves.
func chrome() obj { return obj{"capabilities": obj{"browserName": "chrome"}} }

// made is a case as the interface answers.
type made struct {
	ID        string
	Name      string
	Revisions []struct {
		ID    string
		Steps []struct {
			ID   string
			Tool json.RawMessage
		}
	}
}

func (s *runStory) add(name string, steps []obj, more obj) made {
	s.t.Helper()
	body := obj{"name": name, "steps": steps, "runSettings": obj{"target": chrome()}}
	for k, v := range more {
		body[k] = v
	}
	var c made
	s.ok(s.t, http.StatusCreated, http.MethodPost, "/testcases", body, &c)
	require.Regexp(s.t, `^[0-9a-f]{24}$`, c.ID)
	return c
}

// ran is a run of a case as the interface answers.
type ran struct {
	ID         string
	Build      string
	TestCaseID string
	TestURL    string
	Status     string
	Jobs       []struct {
		ID      string
		Name    string
		Status  string
		Success *bool
		Error   *struct{ Code, Detail string }
		Target  struct{ Capabilities map[string]any }
		Steps   []struct {
			ID     string
			Status string
			Result struct {
				Success bool
				Message string
			}
			Healed        *struct{ To struct{ Value string } }
			ScreenshotURL string
		}
		Files []struct{ ID, Kind, URL string }
	}
}

// run runs a case and waits for its end.
func (s *runStory) run(id string, body any) ran {
	s.t.Helper()
	var r ran
	s.ok(s.t, http.StatusOK, http.MethodPost, "/testcases/"+id+"/run", body, &r)
	return s.wait("/testcases/" + id + "/runs/" + r.ID)
}

func (s *runStory) wait(path string) ran {
	s.t.Helper()
	var r ran
	deadline := time.Now().Add(longWait)
	for {
		s.ok(s.t, http.StatusOK, http.MethodGet, path+"?wait=20", nil, &r)
		if r.Status != "QUEUED" && r.Status != "RUNNING" {
			return r
		}
		require.True(s.t, time.Now().Before(deadline), "%s has not ended: %+v", path, r)
	}
}

type runStory struct {
	tester
	t    *testing.T
	in   *installation
	site *site
}

// loginSteps are a test of the site's sign-in.
func (s *runStory) loginSteps(password string) []obj {
	return []obj{openPage(s.site.URL + "/"), fill("#user", "ada"), fill("#password", password), click("#login"),
		assertText("h1", "Hello ada")}
}

func (s *runStory) passes() {
	t := s.t
	c := s.add("Sign in", s.loginSteps("correct horse"), nil)
	r := s.run(c.ID, obj{"buildName": "build 7"})
	require.Equal(t, "PASSED", r.Status, "%+v", r)
	require.Equal(t, "build 7", r.Build)
	require.Equal(t, c.ID, r.TestCaseID)
	require.Len(t, r.Jobs, 1)
	job := r.Jobs[0]
	require.True(t, job.Success != nil && *job.Success)
	require.Len(t, job.Steps, 5)
	for _, step := range job.Steps {
		require.Equal(t, "PASSED", step.Status)
		require.Equal(t, "image", s.mediaOf(step.ScreenshotURL), "a screenshot of each step")
	}
	require.Equal(t, "chrome", job.Target.Capabilities["browserName"])
	require.Equal(t, obj{"name": "Sign in", "build": "build 7"}, job.Target.Capabilities["slipway:options"])

	// A file is also to be had with the key, and not without.
	var list struct{ Total int }
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+c.ID+"/runs", nil, &list)
	require.Equal(t, 1, list.Total)
	require.NotEmpty(t, job.Files)
	res, picture := s.do(t, http.MethodGet, "/files/"+job.Files[0].ID, nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NotEmpty(t, picture)
	res, _ = tester{base: s.base, user: "x", key: "y"}.do(t, http.MethodGet, "/files/"+job.Files[0].ID, nil)
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)

	// The revision that ran learned what its elements are.
	var after made
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+c.ID, nil, &after)
	require.Contains(t, string(after.Revisions[0].Steps[3].Tool), "fingerprint")
	again := s.wait("/testcases/" + c.ID + "/runs/" + s.runRevision(c.ID, after.Revisions[0].ID).ID)
	require.Equal(t, "PASSED", again.Status)
	s.refused(t, http.StatusNotFound, "TEST_CASE_REVISION_NOT_FOUND", http.MethodPost, "/testcases/"+c.ID+"/run/"+
		strings.Repeat("0", 24), obj{})
}

func (s *runStory) runRevision(id, revision string) ran {
	s.t.Helper()
	var r ran
	s.ok(s.t, http.StatusOK, http.MethodPost, "/testcases/"+id+"/run/"+revision, nil, &r)
	return r
}

// mediaOf fetches a signed link without credentials and gives the first half of
// its type.
func (s *runStory) mediaOf(link string) string {
	s.t.Helper()
	require.NotEmpty(s.t, link)
	res, err := http.Get(link)
	require.NoError(s.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s", body)
	require.NotEmpty(s.t, body)
	kind, _, _ := strings.Cut(http.DetectContentType(body), "/")
	return kind
}

// fails runs a test that must fail: it fails, says why, and leaves what helps to understand
// it.
func (s *runStory) fails() {
	t := s.t
	c := s.add("Sign in with a wrong password", append(s.loginSteps("wrong"), click("#never")), nil)
	r := s.run(c.ID, nil)
	require.Equal(t, "FAILED", r.Status)
	job := r.Jobs[0]
	require.True(t, job.Success != nil && !*job.Success)
	require.Equal(t, "ASSERTION_FAILED", job.Error.Code)
	require.Contains(t, job.Error.Detail, "Hello ada")
	require.Contains(t, job.Error.Detail, "Wrong password")
	require.Equal(t, "FAILED", job.Steps[4].Status)
	require.Equal(t, "SKIPPED", job.Steps[5].Status)
	kinds := map[string]string{}
	for _, f := range job.Files {
		kinds[f.Kind] = f.URL
	}
	require.Equal(t, "text", s.mediaOf(kinds["source"]))
	require.Contains(t, kinds, "screenshot")

	// JUnit, by header and by parameter.
	path := "/testcases/" + c.ID + "/runs/" + r.ID
	for _, ask := range []func() (*http.Response, []byte){
		func() (*http.Response, []byte) { return s.do(t, http.MethodGet, path+"?format=junit", nil) },
		func() (*http.Response, []byte) {
			return s.do(t, http.MethodGet, path, nil, func(r *http.Request) { r.Header.Set("Accept", "application/xml") })
		},
	} {
		res, text := ask()
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Contains(t, res.Header.Get("Content-Type"), "xml")
		var report struct {
			Suites []struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Cases    []struct {
					Name    string `xml:"name,attr"`
					Failure *struct {
						Message string `xml:"message,attr"`
					} `xml:"failure"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		require.NoError(t, xml.Unmarshal(text, &report), "%s", text)
		require.Len(t, report.Suites, 1)
		require.Equal(t, 1, report.Suites[0].Failures)
		require.Contains(t, report.Suites[0].Cases[0].Failure.Message, "Wrong password")
	}
}

// heals moves an id, which is healed and reported for actions; an assertion stays as hard as
// it was.
func (s *runStory) heals() {
	t := s.t
	// What buys is only suggested unless the case says otherwise.
	c := s.add("Buy", []obj{openPage(s.site.URL + "/shop"), click("#lamp-button"), assertText("#result", "bought")},
		obj{"runSettings": obj{"target": chrome(), "healing": "apply"}})
	require.Equal(t, "PASSED", s.run(c.ID, nil).Status)
	s.site.release(2)
	r := s.run(c.ID, nil)
	require.Equal(t, "PASSED", r.Status, "%+v", r.Jobs)
	require.NotNil(t, r.Jobs[0].Steps[1].Healed)
	require.Equal(t, "button", r.Jobs[0].Steps[1].Healed.To.Value) // a role, with the name
	s.site.release(3)                                              // the result is elsewhere now
	r = s.run(c.ID, nil)
	require.Equal(t, "FAILED", r.Status)
	require.Equal(t, "ASSERTION_FAILED", r.Jobs[0].Error.Code)
	s.site.release(1)
}

// sides imports a recording of Selenium IDE and runs it.
func (s *runStory) sides() {
	t := s.t
	project := obj{"id": "p", "version": "2.0", "name": "Shop", "url": s.site.URL, "tests": []obj{{"id": "t", "name": "Sign in",
		"commands": []obj{
			{"id": "1", "comment": "", "command": "open", "target": "/", "targets": []any{}, "value": ""},
			{"id": "2", "comment": "", "command": "type", "target": "id=user", "targets": []any{}, "value": "ada"},
			{"id": "3", "comment": "", "command": "type", "target": "name=password", "targets": []any{}, "value": "correct horse"},
			{"id": "4", "comment": "", "command": "click", "target": "css=#login", "targets": []any{}, "value": ""},
			{"id": "5", "comment": "", "command": "assertText", "target": "xpath=//h1", "targets": []any{}, "value": "Hello ada"},
		}}}, "suites": []any{}, "urls": []any{}, "plugins": []any{}}
	var c made
	s.ok(t, http.StatusCreated, http.MethodPost, "/testcases", obj{"name": "Recorded", "side": project,
		"runSettings": obj{"target": chrome()}}, &c)
	require.Equal(t, "PASSED", s.run(c.ID, nil).Status)
	project["tests"].([]obj)[0]["commands"].([]obj)[3]["command"] = "executeScript"
	detail := s.refused(t, http.StatusBadRequest, "INVALID_BODY", http.MethodPost, "/testcases", obj{"name": "Recorded", "side": project})
	require.Contains(t, detail, "commands[3]")
}

// secrets are typed and nowhere to be found afterwards.
func (s *runStory) secrets() {
	t := s.t
	const secret = "hunter2-and-some<more>"
	var v struct{ ID, Value string }
	s.ok(t, http.StatusCreated, http.MethodPost, "/variables", obj{"scope": "org", "name": "password", "value": secret, "isSecret": true}, &v)
	require.Empty(t, v.Value)
	steps := []obj{openPage(s.site.URL + "/echo"), fill("#word", "{{password}}"), click("#send"), assertText("#heard", "something else")}
	c := s.add("Echo", steps, nil)
	r := s.run(c.ID, nil)
	require.Equal(t, "FAILED", r.Status)
	require.Equal(t, []string{secret}, s.site.words(), "the page got the secret")
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(doc), "hunter2")
	for _, f := range r.Jobs[0].Files {
		res, err := http.Get(f.URL)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NotContains(t, string(body), "hunter2", f.Kind)
	}
	require.NotContains(t, s.in.stderr.String(), "hunter2")
	// One that nobody defined.
	c = s.add("Undefined", []obj{openPage(s.site.URL + "/echo"), fill("#word", "{{nothing}}")}, nil)
	r = s.run(c.ID, nil)
	require.Equal(t, "VARIABLE_NOT_FOUND", r.Jobs[0].Error.Code)
	require.Contains(t, r.Jobs[0].Error.Detail, "nothing")
}

// tunnels lead to hosts that only they know.
func (s *runStory) tunnels() {
	t := s.t
	var mu sync.Mutex
	asked := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "inner.invalid" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mu.Lock()
		asked++
		mu.Unlock()
		_, _ = io.WriteString(w, `<!doctype html><h1>Inside</h1>`)
	}))
	t.Cleanup(proxy.Close)
	c := s.add("Behind the tunnel", []obj{openPage("http://inner.invalid/"), assertText("h1", "Inside")}, nil)
	s.refused(t, http.StatusBadRequest, "SC_TUNNEL_NOT_FOUND", http.MethodPost, "/testcases/"+c.ID+"/run", obj{"scTunnelName": "office"})
	s.ok(t, http.StatusCreated, http.MethodPost, "/tunnels", obj{"name": "office", "url": proxy.URL}, nil)
	require.Equal(t, "PASSED", s.run(c.ID, obj{"scTunnelName": "office"}).Status)
	mu.Lock()
	require.Positive(t, asked)
	mu.Unlock()
	r := s.run(c.ID, nil)
	require.Equal(t, "TARGET_UNREACHABLE", r.Jobs[0].Error.Code)
	s.ok(t, http.StatusNoContent, http.MethodDelete, "/tunnels/office", nil, nil)
}

// refusals are capabilities that nobody serves and addresses that no test may
// open.
func (s *runStory) refusals() {
	t := s.t
	c := s.add("Sign in elsewhere", s.loginSteps("correct horse"), nil)
	r := s.run(c.ID, obj{"targets": []obj{{"capabilities": obj{"browserName": "firefox", "platformName": "Windows 11"}}, chrome()}})
	require.Equal(t, "ERROR", r.Status)
	require.Equal(t, "SESSION_NOT_CREATED", r.Jobs[0].Error.Code)
	require.Equal(t, "PASSED", r.Jobs[1].Status)
	s.refused(t, http.StatusBadRequest, "INVALID_BODY", http.MethodPost, "/testcases/"+c.ID+"/run",
		obj{"targets": []obj{{"capabilities": obj{"browserName": "chrome", "goog:chromeOptions": obj{"binary": "/bin/sh"}}}}})
	for _, address := range []string{"file:///etc/passwd", "http://169.254.169.254/latest/meta-data/"} {
		s.refused(t, http.StatusBadRequest, "INVALID_BODY", http.MethodPost, "/testcases",
			obj{"name": "Spy", "steps": []obj{openPage(address)}, "runSettings": obj{"target": chrome()}})
		// Behind a variable or a redirect it is found when it is opened.
		c := s.add("Spy", []obj{openPage(s.site.URL + "/to?address=" + url.QueryEscape(address)), assertText("h1", "x")}, nil)
		r := s.run(c.ID, nil)
		require.NotEqual(t, "PASSED", r.Status)
		require.Contains(t, []string{"ADDRESS_REFUSED", "TARGET_UNREACHABLE"}, r.Jobs[0].Error.Code, "%+v", r.Jobs[0].Error)
	}
	none := s.add("Nowhere", s.loginSteps("correct horse"), obj{"runSettings": obj{}})
	s.refused(t, http.StatusBadRequest, "NO_RUN_TARGETS", http.MethodPost, "/testcases/"+none.ID+"/run", nil)
	s.refused(t, http.StatusBadRequest, "APP_NOT_FOUND", http.MethodPost, "/testcases/"+none.ID+"/run",
		obj{"targets": []obj{{"capabilities": obj{"platformName": "Android", "appium:app": "storage:99999"}, "isRdc": true}}})
}

// suites run all their cases and count them.
func (s *runStory) suites() {
	t := s.t
	var ids []string
	for n := range 4 {
		ids = append(ids, s.add(fmt.Sprintf("Sign in %d", n), s.loginSteps("correct horse"), nil).ID)
	}
	ids = append(ids, s.add("Sign in wrongly", s.loginSteps("wrong"), nil).ID)
	var suite struct {
		ID                      string
		TestCaseCount, RunCount int
	}
	s.ok(t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": "Sign-ins", "testCases": ids}, &suite)
	require.Equal(t, 5, suite.TestCaseCount)
	var started struct {
		ID, BuildName string
		RunCount      int
	}
	key := func(r *http.Request) { r.Header.Set("Idempotency-Key", "nightly-1") }
	for range 2 { // the second answers as the first
		res, text := s.do(t, http.MethodPost, "/testsuites/"+suite.ID+"/run", obj{}, key)
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		former := started.ID
		require.NoError(t, json.Unmarshal(text, &struct{ Data any }{&started}))
		require.True(t, former == "" || former == started.ID)
	}
	require.Equal(t, "Sign-ins", started.BuildName)
	require.Equal(t, 5, started.RunCount)
	path := "/testsuites/" + suite.ID + "/runs/" + started.ID
	r := s.wait(path)
	require.Equal(t, "FAILED", r.Status)
	var counts struct {
		Counts   struct{ Passed, Failed, Running int }
		CaseRuns []struct{ Status string }
	}
	s.ok(t, http.StatusOK, http.MethodGet, path, nil, &counts)
	require.Equal(t, 4, counts.Counts.Passed)
	require.Equal(t, 1, counts.Counts.Failed)
	require.Zero(t, counts.Counts.Running)
	res, text := s.do(t, http.MethodGet, path+"?format=junit", nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, 5, strings.Count(string(text), "<testcase "))
	s.ok(t, http.StatusOK, http.MethodGet, "/testsuites/"+suite.ID, nil, &suite)
	require.Equal(t, 1, suite.RunCount)
	s.ok(t, http.StatusNoContent, http.MethodDelete, "/testsuites/"+suite.ID, obj{"deleteTestCases": true}, nil)
	s.refused(t, http.StatusNotFound, "TEST_CASE_NOT_FOUND", http.MethodGet, "/testcases/"+ids[0], nil)
}

// cancels ends a run that would take long.
func (s *runStory) cancels() {
	t := s.t
	c := s.add("Long", []obj{openPage(s.site.URL + "/"), {"tool": obj{"type": "pause", "args": obj{"time": 300_000}}}}, nil)
	var r ran
	s.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+c.ID+"/run", nil, &r)
	path := "/testcases/" + c.ID + "/runs/" + r.ID
	eventually(t, "the run begins", func() bool {
		s.ok(t, http.StatusOK, http.MethodGet, path, nil, &r)
		return r.Status == "RUNNING"
	})
	s.ok(t, http.StatusOK, http.MethodPost, path+"/cancel", nil, &r)
	require.Equal(t, "CANCELLED", r.Status)
	require.Equal(t, http.StatusConflict, func() int { res, _ := s.do(t, http.MethodPost, path+"/cancel", nil); return res.StatusCode }())
	// The slot is free again.
	require.Equal(t, "PASSED", s.run(s.add("After", s.loginSteps("correct horse"), nil).ID, nil).Status)
}

// exports returns a case as code.
func (s *runStory) exports() {
	t := s.t
	c := s.add("Sign in: \"exported\"", s.loginSteps("correct horse"), nil)
	for _, target := range []string{"javascript_playwright", "javascript_webdriverio", "javascript_cypress", "python_selenium",
		"java_selenium", "side", "yaml_maestro", "yaml"} {
		var file struct{ Code, FileName string }
		s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+c.ID+"/code?target="+target, nil, &file)
		require.Contains(t, file.Code, "#login", target)
	}
	s.refused(t, http.StatusNotFound, "CODE_GENERATION_TARGET_NOT_FOUND", http.MethodGet, "/testcases/"+c.ID+"/code?target=cobol", nil)
	s.refused(t, http.StatusBadRequest, "CODE_GENERATION_TARGET_INVALID", http.MethodGet, "/testcases/"+c.ID+"/code", nil)
}
