package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// pipelineStory is a team whose jobs upload builds of an app, run its suite on each, and let
// testers hear of those whose gate is green.
type pipelineStory struct {
	*peopleStory
	folder string
	suite  string
	greets atomic.Bool // whether the page that the suite looks at is as it should be
}

// TestPipelineStory plays a whole pipeline with the program against a real server: an upload
// has the suites run; the gate is unknown while something is not known; it fails by a failed
// test, fails by a crash, and passes; and only then the testers hear of the build.
func TestPipelineStory(t *testing.T) {
	t.Parallel()
	mails := startMailCounter(t)
	dir := t.TempDir()
	in := installed(t, dir, time.Now(), start(t, []string{"SLIPWAY_SMTP_URL=smtp://" + mails.address + "?tls=none",
		"SLIPWAY_MAIL_JOURNAL=" + filepath.Join(t.TempDir(), "journal"), "SLIPWAY_LOG_LEVEL=debug"}, "up", "--data-dir",
		dir, "--listen", "127.0.0.1:0"))
	s := &pipelineStory{peopleStory: &peopleStory{installation: in, t: t, mails: mails}, folder: t.TempDir()}
	s.form(http.MethodPost, "/api/1/testers/", "email=Ann%2Bshop@Example.com&group=Beta&notify=on")
	require.Contains(t, s.mail(1), "Beta", "the welcome")
	s.makeSuite()
	app := s.upload("1.0")
	res, text := s.do(t, http.MethodPut, fmt.Sprintf("/api/v3/crash-projects/%d", in.boot.Crash.Project),
		fmt.Appendf(nil, `{"project_id":%s}`, app.project), asJSON)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)

	s.policy(app.project, "  - {name: smoke, type: suites, suite_ids: ["+s.suite+"]}\n  - {name: quiet, type: crash_groups, hours: 1}\n")
	s.greets.Store(false)
	bad := s.ci(1, "upload", demoAPK(s.t), "--app-version", "1.1", "--notify", "--gate", "--wait", "--timeout", "5m")
	require.Contains(t, bad.stdout, "the testers hear of it when its gate is green")
	require.Contains(t, bad.stdout, `1 of 1 cases of the suite "Smoke" did not pass`)
	require.Contains(t, bad.stderr, "is closed")
	require.Contains(t, bad.stdout, s.base+"/console/tests/suites/", "the link to the evidence")

	s.greets.Store(true)
	crashing := s.upload("1.2", "--notify")
	require.Equal(t, "held", crashing.notification)
	eventually(t, "the suite passed on the build", func() bool {
		return regexp.MustCompile(`(?m)^pass +smoke`).MatchString(s.ci(1, "gate", crashing.build).stdout)
	})
	unknown := s.ci(1, "gate", crashing.build)
	require.Regexp(t, `(?m)^unknown +quiet: .*the time ends at`, unknown.stdout)
	require.Contains(t, unknown.stderr, "is unknown: the time ends at")
	s.crash("1.2")
	closed := s.ci(1, "gate", crashing.build, "--wait", "--timeout", "5m")
	require.Regexp(t, `(?m)^fail +quiet: .*ShopError.*has 1 report`, closed.stdout)

	s.policy(app.project, "  - {name: smoke, type: suites, suite_ids: ["+s.suite+
		"]}\n  - {name: stable, type: crash_free, min_percent: 99, min_sessions: 2}\n")
	good := s.upload("1.3", "--notify")
	require.Equal(t, "held", good.notification)
	s.sessions(app.project, "1.3", 2)
	open := s.ci(0, "gate", good.build, "--wait", "--timeout", "5m")
	require.Regexp(t, `(?m)^pass +smoke`, open.stdout)
	require.Regexp(t, `(?m)^pass +stable`, open.stdout)
	require.Contains(t, s.mail(2), "1.3", "the only build that testers hear of")
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// ci runs a line of the job in its folder, with the exit code that it should have.
func (s *pipelineStory) ci(want int, args ...string) result {
	s.t.Helper()
	r := runProgram(s.t, pipelineBinary, s.folder, []string{"SLIPWAY_SERVER=" + s.base, "SLIPWAY_KEY=" + s.boot.Owner.APIKey}, args...)
	require.Equal(s.t, want, r.code, "slipway-ci %v:\n%s\n%s", args, r.stdout, r.stderr)
	require.NotContains(s.t, r.stdout+r.stderr, s.boot.Owner.APIKey)
	return r
}

// sent is a build as its upload was answered.
type sent struct{ build, project, notification string }

func (s *pipelineStory) upload(version string, more ...string) sent {
	s.t.Helper()
	r := s.ci(0, append([]string{"upload", demoAPK(s.t), "--app-version", version, "--json"}, more...)...)
	var out struct {
		Uploads []struct {
			Build        string `json:"build_id"`
			Project      string `json:"project_id"`
			Notification string
		}
	}
	require.NoError(s.t, json.Unmarshal([]byte(r.stdout), &out), r.stdout)
	require.Len(s.t, out.Uploads, 1)
	return sent{out.Uploads[0].Build, out.Uploads[0].Project, out.Uploads[0].Notification}
}

// makeSuite makes a suite of one test, which looks at a page that is not always as it should be.
func (s *pipelineStory) makeSuite() {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := "Sorry"
		if s.greets.Load() {
			text = "Welcome"
		}
		writePage(w, "<h1>"+text+"</h1>")
	}))
	s.t.Cleanup(page.Close)
	api := newTester(s.installation)
	var made, suite struct{ ID string }
	heading := obj{"type": "css", "value": "h1"}
	api.ok(s.t, http.StatusCreated, http.MethodPost, "/testcases", obj{"name": "It greets",
		"runSettings": obj{"testUrl": page.URL, "target": obj{"capabilities": obj{"browserName": "chrome"}}},
		"steps": []obj{{"tool": obj{"type": "go_to_url", "args": obj{"url": page.URL}}},
			{"tool": obj{"type": "assert", "args": obj{"selector": heading, "matcher": obj{"name": "toHaveText",
				"args": []string{"Welcome"}}}}}}}, &made)
	api.ok(s.t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": "Smoke", "testCases": []string{made.ID}}, &suite)
	s.suite = suite.ID
}

// policy writes slipway.yaml with the conditions, and stores its policy.
func (s *pipelineStory) policy(app, conditions string) {
	s.t.Helper()
	text := fmt.Sprintf("app: %q\ngroups: [Beta]\ngate:\n  hold_notifications: true\n  run_suites: [{suite_id: %s}]\n  conditions:\n%s", app,
		s.suite, conditions)
	require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, "slipway.yaml"), []byte(text), 0o600))
	s.ci(0, "gate", "policy", "push")
	s.ci(0, "gate", "policy", "check")
}

// crash posts a crash of a version of the app.
func (s *pipelineStory) crash(version string) {
	s.t.Helper()
	var report map[string]any
	require.NoError(s.t, json.Unmarshal(sample(uuid.New(), "ShopError", "buy"), &report))
	report["attributes"].(map[string]any)["application.version"] = version
	doc, err := json.Marshal(report)
	require.NoError(s.t, err)
	s.post(s.t, s.boot.Crash.Token, doc)
}

// sessions records sessions of a version that end well.
func (s *pipelineStory) sessions(app, version string, n int) {
	s.t.Helper()
	var token struct{ Secret string }
	res, text := s.do(s.t, http.MethodPost, "/api/v3/projects/"+app+"/sdk-tokens", []byte(`{"name":"story"}`), asJSON)
	require.Equal(s.t, http.StatusCreated, res.StatusCode, "%s", text)
	require.NoError(s.t, json.Unmarshal(text, &token))
	for range n {
		id := uuid.NewString()
		s.fromApp("", token.Secret, fmt.Sprintf(`{"session_id":%q,"version":%q}`, id, version))
		s.fromApp("/"+id+"/end", token.Secret, `{"duration":12,"crashed":false}`)
	}
}

func (s *pipelineStory) fromApp(path, token, body string) {
	s.t.Helper()
	res, text := caller{base: s.base}.do(s.t, http.MethodPost, "/api/1/sdk/sessions"+path, []byte(body), func(r *http.Request) {
		asJSON(r)
		r.Header.Set("X-SDK-Token", token)
	})
	require.Less(s.t, res.StatusCode, http.StatusMultipleChoices, "%s", text)
}
