package processtest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestsAsFiles plays a repository that keeps its tests as files.
func TestTestsAsFiles(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	s := &runStory{tester: newTester(in), t: t, in: in, site: newSite(t)}
	p := newCheckout(t, in)
	s.pushesAndPulls(p)
	s.conflicts(p)
	s.deletes(p)
	s.generates(p)
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// caseFile is a test as somebody writes it.
const caseFile = `# Why: the sign-in is what everybody meets first.
name: Sign in
suite: Shop
tags: [smoke, "no"]
url: %s/
targets: [chrome] # one is enough
intent: |-
  Sign in as ada,
  and be greeted.
steps:
  - tool: {type: go_to_url, args: {url: /}}
  - tool: {type: input_text, args: {selector: {type: css, value: "#user"}, text: ada}}
  - tool: {type: input_text, args: {selector: {type: css, value: "#password"}, text: "correct horse"}}
  - tool: {type: click, args: {selector: {type: css, value: "#login"}}}
  - tool: {type: assert, args: {selector: {type: css, value: h1}, matcher: {name: text, args: {value: Hello ada}}}}
`

const signInFile = "tests/slipway/sign-in.yaml"

func (s *runStory) pushesAndPulls(p *checkout) {
	t := s.t
	p.write(signInFile, fmt.Sprintf(caseFile, s.site.URL))
	r := p.exits(0, "push", "--dry-run")
	require.Contains(t, r.stdout, "+name: Sign in")
	require.NotContains(t, p.read(signInFile), "id: ")
	var list struct{ Total int }
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases?limit=0", nil, &list)
	require.Zero(t, list.Total, "a dry run changes nothing")

	p.exits(0, "push")
	pushed := p.read(signInFile)
	require.Contains(t, pushed, "# Why: the sign-in is what everybody meets first.\nid: ")
	require.Contains(t, pushed, "targets: [chrome] # one is enough", "every other byte stays")
	require.Contains(t, p.exits(0, "push").stderr, "unchanged")
	p.exits(0, "pull")
	require.Equal(t, pushed, p.read(signInFile), "what was pushed is pulled byte by byte")
	p.exits(0, "run", signInFile)
	p.exits(0, "pull")
	require.Equal(t, pushed, p.read(signInFile), "a run changes no file")

	// In its one form, from another folder.
	p.exits(0, "pull", "elsewhere", "--suite", "Shop")
	canonical := p.read("elsewhere/sign-in.yaml")
	require.Contains(t, canonical, "suite: Shop\ntags: [smoke, \"no\"]\n")
	require.NotContains(t, canonical, "fingerprint")
	var exported struct{ Code string }
	_, id, _ := strings.Cut(canonical, "id: ")
	id, _, _ = strings.Cut(id, "\n")
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+id+"/code?target=yaml", nil, &exported)
	require.Equal(t, canonical, exported.Code, "an export is what pull writes")
	p.exits(0, "push", "elsewhere")
	p.exits(0, "pull", "elsewhere")
	require.Equal(t, canonical, p.read("elsewhere/sign-in.yaml"))
	require.Contains(t, p.exits(0, "pull", "nowhere", "--tag", "nightly").stderr, "0 tests")

	// A change of one step keeps the others: their ids, and what runs learned of them.
	before := s.steps(p)
	p.write(signInFile, strings.Replace(pushed, "Hello ada", "Hello ada!", 1))
	require.Contains(t, p.exits(0, "push", "--dry-run").stdout, "Hello ada!")
	p.exits(0, "push")
	p.exits(1, "run", signInFile)
	after := s.steps(p)
	require.Len(t, after, 5)
	for i := range 4 {
		require.Equal(t, before[i], after[i], "step %d", i)
	}
	p.write(signInFile, strings.Replace(p.read(signInFile), "Hello ada!", "Hello ada", 1))
	p.exits(0, "push")

	// A lost answer makes no second test.
	text := p.read(signInFile)
	without := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "id: ") && !strings.HasPrefix(line, "revision: ") {
			without += line
		}
	}
	p.write(signInFile, without)
	p.exits(0, "push")
	require.Equal(t, text, p.read(signInFile))

	p.write("tests/slipway/wrong.yaml", "name: Wrong\nsteps:\n  - tool: {type: clik, args: {}}\n")
	require.Contains(t, p.exits(1, "push").stderr, "steps[0].tool")
	p.write("tests/slipway/wrong.yaml", "name: Wrong\nstep: []\n")
	require.Contains(t, p.exits(2, "push").stderr, "tests/slipway/wrong.yaml: line 2: step is unknown here")
	require.NoError(t, os.Remove(filepath.Join(p.dir, "tests/slipway/wrong.yaml")))
}

// steps are the ids and tools of the steps that the server has of the file.
func (s *runStory) steps(p *checkout) (list []string) {
	s.t.Helper()
	var c made
	s.ok(s.t, http.StatusOK, http.MethodGet, "/testcases/"+p.idOf(signInFile), nil, &c)
	for _, step := range c.Revisions[len(c.Revisions)-1].Steps {
		list = append(list, step.ID+" "+string(step.Tool))
	}
	return list
}

// idOf is the id in a file.
func (p *checkout) idOf(name string) string {
	p.t.Helper()
	_, rest, found := strings.Cut(p.read(name), "id: ")
	require.True(p.t, found, p.read(name))
	return strings.Trim(rest[:strings.IndexByte(rest, '\n')], `"`)
}

// conflicts plays two who change the same test.
func (s *runStory) conflicts(p *checkout) {
	t := s.t
	id, mine := p.idOf(signInFile), p.read(signInFile)
	change := func(members obj) { t.Helper(); s.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+id, members, nil) }
	change(obj{"tags": []string{"theirs"}})
	require.Contains(t, p.exits(0, "push").stderr, "behind")
	require.Equal(t, mine, p.read(signInFile))

	edited := strings.Replace(mine, "and be greeted.", "and be welcomed.", 1)
	p.write(signInFile, edited)
	for _, command := range []string{"push", "pull"} {
		r := p.exits(1, command)
		require.Contains(t, r.stderr, "conflict")
		require.Contains(t, r.stdout, "theirs")
		require.Contains(t, r.stdout, "and be welcomed.")
		require.Equal(t, edited, p.read(signInFile), "%s overwrites nothing", command)
	}
	p.exits(0, "push", "--overwrite")
	var c struct {
		Tags      []string
		Revisions []struct{ Intent string }
	}
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+id, nil, &c)
	require.Equal(t, []string{"smoke", "no"}, c.Tags)
	require.Equal(t, "Sign in as ada,\nand be welcomed.", c.Revisions[len(c.Revisions)-1].Intent)

	// What only the server has changed is pulled; what only the file has, is left.
	change(obj{"name": "Sign in, renamed"})
	p.exits(0, "pull")
	require.Contains(t, p.read(signInFile), "name: Sign in, renamed")
	p.write(signInFile, strings.Replace(p.read(signInFile), "renamed", "again", 1))
	require.Contains(t, p.exits(0, "pull").stderr, "kept")
	require.Contains(t, p.read(signInFile), "name: Sign in, again")
	p.exits(0, "pull", "--overwrite")
	require.Contains(t, p.read(signInFile), "name: Sign in, renamed")

	// To another suite, which is made.
	p.write(signInFile, strings.Replace(p.read(signInFile), "suite: Shop", "suite: Accounts", 1))
	p.exits(0, "push")
	p.exits(0, "run", "Accounts")
}

// deletes plays files and tests that are gone.
func (s *runStory) deletes(p *checkout) {
	t := s.t
	id := p.idOf(signInFile)
	text := p.read(signInFile)
	p.exits(2, "push", "--delete")
	require.NoError(t, os.Remove(filepath.Join(p.dir, signInFile)))
	p.exits(2, "push", "--delete", "--all")
	p.write("tests/slipway/other.yaml", strings.ReplaceAll(fmt.Sprintf(caseFile, s.site.URL), "Sign in\n", "Other\n"))
	require.Contains(t, p.exits(0, "push", "--delete", "--suite", "Accounts", "--dry-run").stderr, "deleted")
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+id, nil, nil)
	p.exits(0, "push", "--delete", "--suite", "Accounts")
	s.refused(t, http.StatusNotFound, "TEST_CASE_NOT_FOUND", http.MethodGet, "/testcases/"+id, nil)
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+p.idOf("tests/slipway/other.yaml"), nil, nil)

	p.write(signInFile, text)
	require.Contains(t, p.exits(1, "push").stderr, "not on the server any more")
	require.Contains(t, p.exits(1, "pull", "--all").stderr, "gone")
	require.Equal(t, text, p.read(signInFile))
	require.NoError(t, os.Remove(filepath.Join(p.dir, signInFile)))
}

// generates plays sentences that become tests, and stay the same tests.
func (s *runStory) generates(p *checkout) {
	t := s.t
	const file, written = "docs/shop.md", "tests/slipway/log-in.yaml"
	text := "---\nurl: " + s.site.URL + "/\nsuite: Written\ntags: [generated]\n---\n# The shop\n\n## Log in\n\n" +
		"Enter \"ada\" into the field User. Enter \"correct horse\" into the field Password. Click the button \"Log in\".\n" +
		"Verify that the heading says \"Hello ada\".\n"
	p.write(file, text)
	r := p.exits(0, "generate", file)
	require.Contains(t, r.stderr, `1. input_text textbox "User" with "ada"`)
	require.Contains(t, r.stderr, `created`)
	id := p.idOf(written)
	require.Contains(t, p.read(file), "## Log in\n<!-- slipway: "+id+" ")
	require.Contains(t, p.read(written), "suite: Written\ntags: [generated]\n")
	p.exits(0, "run", "Written")
	marked, first := p.read(file), p.read(written)
	require.Contains(t, p.exits(0, "generate", file).stderr, "unchanged")
	require.Equal(t, marked, p.read(file))
	require.Equal(t, first, p.read(written))

	// Another sentence, the same test.
	p.write(file, strings.ReplaceAll(marked, "ada", "bob"))
	require.Contains(t, p.exits(0, "generate", file).stderr, "updated")
	require.Equal(t, id, p.idOf(written))
	require.NotEqual(t, first, p.read(written))
	var list struct{ Total int }
	s.ok(t, http.StatusOK, http.MethodGet, "/testcases?search=Log+in", nil, &list)
	require.Equal(t, 1, list.Total, "no draft is left")
	p.exits(0, "run", "Written")

	// What somebody has changed by hand is not undone.
	s.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+id, obj{"tags": []string{"mine"}}, nil)
	p.write(file, strings.ReplaceAll(p.read(file), "bob", "eve"))
	require.Contains(t, p.exits(1, "generate", file).stderr, "changed by hand")

	fails := p.exits(1, "generate", `Click on the button "Fly to the moon"`, "--url", s.site.URL+"/")
	require.Contains(t, fails.stderr, "INTENT_NOT_UNDERSTOOD")
	p.exits(2, "generate", "Click it.")
	p.write("docs/none.md", "# Nothing\n")
	require.Contains(t, p.exits(2, "generate", "docs/none.md").stderr, "docs/none.md: line 1: the test \"Nothing\" has no sentence")
}
