package processtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// generated is the status of a generation.
type generated struct {
	Status     string
	TestCaseID string
	RevisionID string
	Error      *struct{ Code, Detail string }
	Steps      []struct {
		ID            string
		Tool          struct{ Type string }
		ScreenshotURL string
	}
	Changes struct{ Kept, Changed, Added, Removed []string }
}

const signIn = `Enter "ada" into the field User. Enter "{{login}}" into the field Password. Click the button "Log in". Verify that the heading says "Hello ada".`

// generate starts a generation and returns the path of its status.
func (s *runStory) generate(path string, body obj) string {
	s.t.Helper()
	res, text := s.do(s.t, http.MethodPost, path, body)
	require.Equal(s.t, http.StatusAccepted, res.StatusCode, "%s", text)
	var answer struct{ Data struct{ TaskID string } }
	require.NoError(s.t, json.Unmarshal(text, &answer))
	status := "/testcases/generate/" + answer.Data.TaskID
	require.Regexp(s.t, `^http://127\.0\.0\.1(:\d+)?/v1/ai-authoring`+status+`$`, res.Header.Get("Location"))
	return status
}

// generation waits for the end of a generation.
func (s *runStory) generation(status string) (g generated) {
	s.t.Helper()
	deadline := time.Now().Add(longWait)
	for g.Status != "COMPLETED" && g.Status != "FAILED" {
		require.True(s.t, time.Now().Before(deadline), "%s has not ended: %+v", status, g)
		s.ok(s.t, http.StatusOK, http.MethodGet, status+"?detail=1&wait=20", nil, &g)
	}
	return g
}

func (s *runStory) sentence(intent string, target obj) obj {
	return obj{"name": "Generated", "promptSettings": obj{"intent": intent}, "runSettings": obj{"testUrl": s.site.URL + "/", "target": target}}
}

// TestGenerations tells the story of a team that asks for a test in a sentence, runs
// it, and refines it.
func TestGenerations(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	s := &runStory{tester: newTester(in), t: t, in: in, site: newSite(t)}
	s.ok(t, http.StatusCreated, http.MethodPost, "/variables", obj{"scope": "org", "name": "login", "value": "correct horse",
		"isSecret": true}, nil)
	g := s.generation(s.generate("/testcases/generate", s.sentence(signIn, chrome())))
	require.Equal(t, "COMPLETED", g.Status, "%+v", g.Error)
	require.Greater(t, len(g.Steps), 3, "%+v", g)
	for _, step := range g.Steps {
		if step.ScreenshotURL != "" {
			res, _ := s.do(t, http.MethodGet, step.ScreenshotURL[len(s.base+"/v1/ai-authoring"):], nil)
			require.Equal(t, http.StatusOK, res.StatusCode)
		}
	}
	require.NotEmpty(t, g.Steps[1].ScreenshotURL)
	r := s.run(g.TestCaseID, nil)
	require.Equal(t, "PASSED", r.Status, "%+v", r)

	more := s.generation(s.generate("/testcases/"+g.TestCaseID+"/generate",
		obj{"promptSettings": obj{"intent": `Verify that the title is "Site"`}}))
	require.Equal(t, "COMPLETED", more.Status, "%+v", more.Error)
	require.NotEqual(t, g.RevisionID, more.RevisionID)
	require.NotEmpty(t, more.Changes.Kept)
	require.NotEmpty(t, more.Changes.Added)
	require.Equal(t, "PASSED", s.run(g.TestCaseID, nil).Status)

	g = s.generation(s.generate("/testcases/generate", s.sentence(`Click on the button "Fly to the moon"`, chrome())))
	require.Equal(t, "FAILED", g.Status)
	require.Equal(t, "INTENT_NOT_UNDERSTOOD", g.Error.Code, g.Error.Detail)
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
	require.NotContains(t, in.stderr.String(), "correct horse")
}

// TestGenerationsSurviveTheirWorker kills the worker of a generation while its first page
// loads: another one begins anew.
func TestGenerationsSurviveTheirWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true", "SLIPWAY_WEBDRIVER_URL="+startDriver(t),
		"SLIPWAY_WORKER_DRAIN=100ms")
	var key json.RawMessage
	answer(t, c.variables, &key, "admin", "key", "create", "acme", "ada@example.com", "--kind", "access")
	_, at := c.api(t, quietPort(t))
	c.tier(t, "scheduler")
	s := &runStory{tester: tester{base: at.base, user: c.owned(t), key: secretIn(t, key)}, t: t, site: newSite(t)}
	target := obj{"capabilities": obj{"browserName": "chrome", "goog:chromeOptions": obj{
		"args": append(localservice.BrowserArguments(), "--headless=new")}}}

	one, _ := c.tier(t, "worker")
	other, _ := c.tier(t, "worker")
	release := s.site.hold()
	status := s.generate("/testcases/generate", s.sentence(`Enter "ada" into the field User.`, target))
	eventually(t, "the generation has a page", func() bool { return s.site.visits() > 0 })
	var holder string
	require.NoError(t, c.db.GetContext(t.Context(), &holder, `select worker from tasks where kind = 'test:generate'`))
	if strings.Contains(holder, fmt.Sprintf("/%d/", one.cmd.Process.Pid)) {
		one.kill()
	} else {
		other.kill()
	}
	release()
	eventually(t, "another worker begins", func() bool { return c.count(t, `select attempt from tasks where kind = 'test:generate'`) > 1 })
	g := s.generation(status)
	require.Equal(t, "COMPLETED", g.Status, "%+v", g.Error)
}
