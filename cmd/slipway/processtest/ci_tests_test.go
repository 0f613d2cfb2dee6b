package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is a job of a pipeline in the folder of a repository.
type checkout struct {
	t   *testing.T
	dir string
	env []string
}

func newCheckout(t *testing.T, in *installation) *checkout {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	return &checkout{t: t, dir: dir, env: []string{"PATH=" + os.Getenv("PATH"), "SLIPWAY_SERVER=" + in.base,
		"SLIPWAY_KEY=" + in.boot.Owner.APIKey}}
}

// with is the job with further variables.
func (p *checkout) with(variables ...string) *checkout {
	other := *p
	other.env = append(append([]string{}, p.env...), variables...)
	return &other
}

func (p *checkout) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, append([]string{"ci"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// exits runs a command line, which must end with the code.
func (p *checkout) exits(code int, args ...string) result {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), longWait)
	defer cancel()
	cmd := p.command(ctx, args...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("slipway-ci %s: %v", strings.Join(args, " "), err)
	}
	r := result{cmd.ProcessState.ExitCode(), out.String(), log.String()}
	require.Equal(p.t, code, r.code, "slipway-ci %s:\n%s\n%s", strings.Join(args, " "), r.stdout, r.stderr)
	return r
}

func (p *checkout) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(p.t, err)
	return string(text)
}

func (p *checkout) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
}

// flakyPage fails each test of it the first time, and passes it the second.
func flakyPage(t *testing.T) *httptest.Server {
	t.Helper()
	var visits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		if visits.Add(1)%2 == 1 {
			writePage(w, `<h1>Not yet</h1>`)
			return
		}
		writePage(w, `<h1>Ready</h1>`)
	}))
	t.Cleanup(server.Close)
	return server
}

// junitReport is what a test reads of a report.
type junitReport struct {
	Failures   int `xml:"failures,attr"`
	Skipped    int `xml:"skipped,attr"`
	Properties []struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	} `xml:"properties>property"`
	Cases []struct {
		Name    string `xml:"name,attr"`
		Class   string `xml:"classname,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
		} `xml:"failure"`
		Reruns  []struct{} `xml:"rerunFailure"`
		Flaky   []struct{} `xml:"flakyFailure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
		Output string `xml:"system-out"`
	} `xml:"testcase"`
}

func (p *checkout) junit(name string) (r junitReport) {
	p.t.Helper()
	require.NoError(p.t, xml.Unmarshal([]byte(p.read(name)), &r))
	return r
}

// TestTestsInAPipeline plays what a job of a pipeline meets when it runs tests.
func TestTestsInAPipeline(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	s := &runStory{tester: newTester(in), t: t, in: in, site: newSite(t)}
	shaky := flakyPage(t)
	good := s.add("Sign in", s.loginSteps("correct horse"), obj{"tags": []string{"smoke"}})
	bad := s.add("Wrong password", s.loginSteps("wrong"), nil)
	flaky := s.add("Shaky", []obj{openPage(shaky.URL + "/"), assertText("h1", "Ready")}, nil)
	var suite, other struct{ ID string }
	s.ok(t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": "Shop", "testCases": []string{good.ID, flaky.ID}}, &suite)
	s.ok(t, http.StatusCreated, http.MethodPost, "/testsuites", obj{"name": "Broken", "testCases": []string{bad.ID}}, &other)
	p := newCheckout(t, in)

	r := p.exits(0, "run", "sign in", "--json")
	var doc struct {
		Passed bool
		Tests  []struct{ Name, Outcome, Target, URL string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &doc), r.stdout)
	require.True(t, doc.Passed)
	require.Len(t, doc.Tests, 1)
	require.Equal(t, "passed", doc.Tests[0].Outcome)
	require.True(t, strings.HasPrefix(doc.Tests[0].URL, in.base+"/console/tests/cases/"+good.ID+"/runs/"), doc.Tests[0].URL)
	require.Contains(t, r.stderr, "Sign in")
	require.NotContains(t, r.stderr, "\x1b", "a log has no escape sequences")

	// A suite in which one test passes at its second try; the job is repeated, and joins
	// nothing that has ended.
	job := p.with("GITHUB_ACTIONS=true", "GITHUB_SHA=0123456789abcdef", "GITHUB_SERVER_URL=https://git.example.com", "GITHUB_REPOSITORY=a/b",
		"GITHUB_RUN_ID=7", "GITHUB_JOB=test", "GITHUB_STEP_SUMMARY="+filepath.Join(p.dir, "summary.md"))
	job.exits(0, "run", "Shop", "--retries", "1", "--junit", "junit.xml")
	report := p.junit("junit.xml")
	require.Len(t, report.Cases, 2)
	for _, c := range report.Cases {
		require.Equal(t, "Shop", c.Class)
		require.Nil(t, c.Failure)
		require.Len(t, c.Flaky, map[string]int{"Shaky": 1}[c.Name], c.Name)
	}
	require.Contains(t, fmt.Sprint(report.Properties), "0123456789ab")
	require.Contains(t, p.read("summary.md"), "1 passed in the end (flaky), 1 passed")
	before := s.site.visits()
	job.exits(0, "run", "Shop", "--retries", "1", "--junit", "again.xml")
	require.Greater(t, s.site.visits(), before, "a run that has ended is not joined")

	// A failed test, twice, with its screenshots and the line in its file.
	p.exits(0, "pull", "--suite", "Broken")
	fails := job.exits(1, "run", "Broken", "--retries", "1", "--junit", "failed.xml", "--code-quality", "quality.json", "--artifacts", "shots")
	report = p.junit("failed.xml")
	require.Equal(t, 1, report.Failures)
	require.Contains(t, report.Cases[0].Failure.Message, "Hello ada")
	require.Len(t, report.Cases[0].Reruns, 1)
	shot := strings.SplitN(report.Cases[0].Output[strings.Index(report.Cases[0].Output, "[[ATTACHMENT|")+len("[[ATTACHMENT|"):], "]]", 2)[0]
	picture := p.read(shot)
	require.Equal(t, "image", strings.SplitN(http.DetectContentType([]byte(picture)), "/", 2)[0])
	line := 1 + strings.Count(strings.SplitN(p.read("tests/slipway/wrong-password.yaml"), "type: assert", 2)[0], "\n")
	require.Contains(t, fails.stdout, fmt.Sprintf("::error file=tests/slipway/wrong-password.yaml,line=%d,", line-1), fails.stdout)
	require.Contains(t, p.read("quality.json"), `"path": "tests/slipway/wrong-password.yaml"`)
	allowed := job.exits(0, "run", "Broken", "--allow-failure")
	require.Contains(t, allowed.stderr, "1 of 1 did not pass")
	p.exits(1, "run", "tests/slipway/wrong-password.yaml")

	// Shards have each test once.
	var names []string
	for n := range 3 {
		file := fmt.Sprintf("shard%d.xml", n+1)
		p.exits(0, "run", "Shop", "--shard", fmt.Sprintf("%d/3", n+1), "--shard-at", "2026-01-01T00:00:00Z", "--retries", "1", "--junit", file)
		for _, c := range p.junit(file).Cases {
			names = append(names, c.Name)
		}
	}
	require.ElementsMatch(t, []string{"Sign in", "Shaky"}, names)

	s.refusesWords(p)
	s.inputs(p)
	s.ends(p, good.ID)
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// refusesWords plays command lines that name nothing, or several things.
func (s *runStory) refusesWords(p *checkout) {
	t := s.t
	s.add("Twice", s.loginSteps("correct horse"), nil)
	s.add("Twice", s.loginSteps("correct horse"), nil)
	r := p.exits(2, "run", "Twice")
	require.Equal(t, 2, strings.Count(r.stderr, "Twice")-1, r.stderr)
	r = p.exits(2, "run", "Sign")
	require.Contains(t, r.stderr, "Sign in")
	r = p.exits(2, "run", "tag:nightly")
	require.Contains(t, r.stderr, "smoke")
	p.exits(2, "run", "Shop", "--shard", "4/3")
	p.exits(2, "run", "Shop", "--retries", "4")
	p.exits(2, "run", "Shop", "--var-env", "NOT_THERE")
	p.exits(2, "run", "Shop", "--target", "{")
	p.exits(2, "run")
	p.exits(2, "run", "00000000-0000-0000-0000-000000000000")
	p.exits(5, "run", "Shop", "--key-file", p.keyFile("not a key"))
	require.Zero(t, strings.Count(p.exits(0, "run", "tag:smoke").stderr, "failed"))
}

func (p *checkout) keyFile(key string) string {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "key")
	require.NoError(p.t, os.WriteFile(path, []byte(strings.ReplaceAll(key, " ", "-")), 0o600))
	return path
}

// inputs plays a run against another address, with a secret of the environment.
func (s *runStory) inputs(p *checkout) {
	t := s.t
	c := s.add("Preview", s.loginSteps("{{secret_word}}"), obj{"runSettings": obj{"target": chrome(), "testUrl": s.site.URL + "/"}})
	preview := newSite(t)
	r := p.with("SHOP_PASSWORD=correct horse").exits(0, "run", c.ID, "--url", preview.URL+"/", "--var-env", "secret_word=SHOP_PASSWORD",
		"--target", "chrome", "--build", "1.2.3", "--junit", "preview.xml")
	require.Equal(t, 1, preview.visits(), "the address of the command line is visited")
	require.NotContains(t, r.stderr+r.stdout+p.read("preview.xml"), "correct horse")
	var list struct{ Items []ran }
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+c.ID+"/runs", nil, &list)
	require.Equal(t, "1.2.3", list.Items[0].Build)
	p.exits(1, "run", c.ID, "--url", preview.URL+"/", "--var", "secret_word=another")
}

// ends plays a job that is interrupted, and one whose time is over.
func (s *runStory) ends(p *checkout, id string) {
	t := s.t
	last := func() string {
		var list struct{ Items []ran }
		s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+id+"/runs?limit=1", nil, &list)
		return list.Items[0].Status
	}
	open := s.site.hold()
	visits := s.site.visits()
	job := launch(t, p.command(context.WithoutCancel(t.Context()), "run", id, "--junit", "interrupted.xml"))
	eventually(t, "the page is asked for", func() bool { return s.site.visits() > visits })
	require.Equal(t, 130, job.signal(t, os.Interrupt), job.stderr.String())
	require.Equal(t, "CANCELLED", last())
	require.Equal(t, 1, p.junit("interrupted.xml").Skipped)

	p.exits(4, "run", id, "--timeout", "10s")
	require.Equal(t, "CANCELLED", last())

	// Two jobs of one pipeline run it once; what one leaves, the other waits for.
	job1 := p.with("GITLAB_CI=true", "CI_SERVER_URL=https://git.example.com", "CI_PIPELINE_ID=9", "CI_JOB_NAME=test")
	left := job1.exits(4, "run", id, "--timeout", "10s", "--detach")
	require.Contains(t, left.stderr, "goes on")
	require.NotEqual(t, "CANCELLED", last())
	again := launch(t, job1.command(context.WithoutCancel(t.Context()), "run", id))
	again.await(t, again.stderr, `joined the run`)
	open()
	require.Zero(t, again.wait(t), again.stderr.String())
	require.Equal(t, "PASSED", last())
}
