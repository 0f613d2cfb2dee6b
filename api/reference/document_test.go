package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs is the folder of the documentation.
const docs = "../../docs"

// area is a page of docs/reference/ with the tags of the description whose calls it lists.
type area struct {
	name, title string
	tags        []string
}

// areas are the pages, in the order of the index. Each tag of the description is on one.
var areas = []area{
	{"tests", "Tests and suites", []string{"test cases", "test generation", "test runs", "test suites", "test suite runs",
		"step groups", "test schedules",
		"test files", "test baselines", "test variables", "test environments", "tunnels"}},
	{"builds", "Apps and builds", []string{"upload", "apps", "builds", "gates", "install pages", "objects"}},
	{"people", "People", []string{"testers", "groups", "teams", "devices"}},
	{"crashes", "Crashes and symbols", []string{"crash submission", "crashes", "symbols"}},
	{"sessions", "Sessions of apps", []string{"sdk", "sessions"}},
	{"accounts", "Accounts, events and mail", []string{"accounts", "agents", "audit", "webhooks", "commit status", "mail"}},
	{"operation", "Operation", []string{"service", "tasks", "search"}},
	{"older", "Versions 1 and 2", []string{"version 1", "version 2"}},
}

// credentials are the ways in that the description has, by what a caller sends. They are
// written as in the description, since "one of these" is a list there.
var credentials = map[string]string{
	`[]`: "public",
	`[{"apiKey":[]},{"bearer":[]},{"basic":[]},{"oidcConfigKey":[],"oidcToken":[]},{}]`:  "API key, also in the form, or CI token",
	`[{"apiKey":[]},{"bearer":[]},{"basic":[]},{"oidcConfigKey":[],"oidcToken":[]}]`:     "API key, or CI token",
	`[{"apiKey":[]},{"bearer":[]},{"basic":[]}]`:                                         "API key",
	`[{"apiKey":[]},{"basic":[]},{}]`:                                                    "API key, also in the address",
	`[{"apiKey":[]},{"bearer":[]},{"accessKey":[]},{"oidcConfigKey":[],"oidcToken":[]}]`: "API key, CI token, or access key",
	`[{"basic":[]}]`:    "operator",
	`[{"basic":[]},{}]`: "operator, or public by setting",
}

// methods are in the order in which a page lists those of one path.
var methods = []string{"get", "head", "post", "put", "patch", "delete", "options"}

type operation struct {
	ID         string          `json:"operationId"`
	Tags       []string        `json:"tags"`
	Summary    string          `json:"summary"`
	Security   json.RawMessage `json:"security"`
	Deprecated bool            `json:"deprecated"`

	method, path string
}

// description is what the pages are made of.
type description struct {
	Tags  []struct{ Name, Description string }
	Paths map[string]map[string]json.RawMessage
}

// operations returns the calls of a tag, sorted by path.
func (d description) operations(t *testing.T, tag string) []operation {
	t.Helper()
	var list []operation
	for path, item := range d.Paths {
		for _, method := range methods {
			raw, ok := item[method]
			if !ok {
				continue
			}
			o := operation{method: method, path: path}
			require.NoError(t, json.Unmarshal(raw, &o), path)
			require.Len(t, o.Tags, 1, "%s %s", method, path)
			if o.Tags[0] == tag {
				list = append(list, o)
			}
		}
	}
	slices.SortFunc(list, func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(slices.Index(methods, a.method), slices.Index(methods, b.method)))
	})
	return list
}

// row is a line of a table: the call with its place on the page /docs of `make up`.
func (o operation) row(t *testing.T, tag string) string {
	t.Helper()
	who, ok := credentials[strings.Join(strings.Fields(string(o.Security)), "")]
	require.True(t, ok, "%s %s: no words for the security %s", o.method, o.path, o.Security)
	what := strings.ReplaceAll(o.Summary, "|", `\|`)
	if o.Deprecated {
		what += " (deprecated)"
	}
	return fmt.Sprintf("| [`%s %s`](http://127.0.0.1:8080/docs#/%s/%s) | %s | %s |\n", strings.ToUpper(o.method), o.path,
		strings.ReplaceAll(tag, " ", "%20"), o.ID, what, who)
}

// page returns the text of an area's page, and how many calls it lists.
func (a area) page(t *testing.T, d description) (string, int) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# Reference: %s\n\nMade from the description of the API; a call leads to its place on the page `/docs` of `make up`, "+
		"with parameters, bodies and errors. "+
		"[reference.md](../reference.md) has the other areas, and says what the credentials are.\n", strings.ToLower(a.title[:1])+a.title[1:])
	calls := 0
	for _, tag := range a.tags {
		at := slices.IndexFunc(d.Tags, func(of struct{ Name, Description string }) bool { return of.Name == tag })
		require.GreaterOrEqual(t, at, 0, "the description has no tag %q", tag)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Call | What it does | Credentials |\n|---|---|---|\n", strings.ToUpper(tag[:1])+tag[1:],
			d.Tags[at].Description)
		for _, o := range d.operations(t, tag) {
			b.WriteString(o.row(t, tag))
			calls++
		}
	}
	return b.String(), calls
}

// indexHead is the end of docs/reference.md that is written by hand.
const indexHead = "## All calls\n\n| Area | Calls |\n|---|---|\n"

// The pages of docs/reference/ and their index are those of the description, without a call
// too many or too few. With UPDATE_DOCS=1 the test writes them.
func TestReferenceIsPublished(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	var d description
	require.NoError(t, json.Unmarshal(raw, &d))
	index, pages, listed := strings.Builder{}, map[string]string{}, 0
	index.WriteString(indexHead)
	for _, a := range areas {
		text, calls := a.page(t, d)
		pages[filepath.Join("reference", a.name+".md")] = text
		listed += calls
		fmt.Fprintf(&index, "| [%s](reference/%s.md) | %d: %s |\n", a.title, a.name, calls, strings.Join(a.tags, ", "))
	}
	all := 0
	for _, item := range d.Paths {
		for _, method := range methods {
			if _, ok := item[method]; ok {
				all++
			}
		}
	}
	require.Equal(t, all, listed, "each tag of the description is in areas once")
	old, err := os.ReadFile(filepath.Join(docs, "reference.md"))
	require.NoError(t, err)
	before, _, found := strings.Cut(string(old), indexHead)
	require.True(t, found, "docs/reference.md ends with the index")
	pages["reference.md"] = before + index.String()

	there, err := filepath.Glob(filepath.Join(docs, "reference", "*"))
	require.NoError(t, err)
	if os.Getenv("UPDATE_DOCS") != "" {
		for _, path := range there {
			require.NoError(t, os.Remove(path))
		}
		require.NoError(t, os.MkdirAll(filepath.Join(docs, "reference"), 0o755))
		for name, text := range pages {
			require.NoError(t, os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644))
		}
		return
	}
	require.Len(t, there, len(areas), "a page of docs/reference/ that is of no area")
	for name, text := range pages {
		now, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		require.Equal(t, text, string(now), "docs/%s: UPDATE_DOCS=1 go test -run %s ./api/reference writes it", name, t.Name())
	}
}
