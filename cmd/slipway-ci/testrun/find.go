package testrun

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Test is a test case to run.
type Test struct {
	ID, Name string
	Suite    string // name; "": in none, or not known
	named    bool   // by the command line, not as one of a suite or tag
}

// Plan is what to run: suites as a whole, and single cases.
type Plan struct {
	Suites []client.TestSuite
	Tests  []Test
	others []Test // of the other shards
}

// Names says what a plan has, for the name of its report.
func (p *Plan) Names() string {
	var names []string
	for _, s := range p.Suites {
		names = append(names, s.Name)
	}
	for i := range p.Tests {
		if name := p.Tests[i].Suite; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		} else if name == "" && len(p.Tests) < 4 {
			names = append(names, p.Tests[i].Name)
		}
	}
	if len(names) == 0 {
		return "Tests"
	}
	return strings.Join(names, ", ")
}

var (
	suiteID = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	caseID  = regexp.MustCompile(`^[0-9a-fA-F]{24}$`)
)

const (
	tagMark = "tag:"
	// mostNamed bounds the candidates of a name that are shown.
	mostNamed = 10
)

// Find finds what the words of a command line name: suites and cases by name or id, cases
// by tag (tag:smoke) or by their file. path returns a file's path as it is opened.
func Find(ctx context.Context, api *client.Client, words []string, path func(string) string) (*Plan, error) {
	p := &Plan{}
	for _, word := range words {
		if err := p.find(ctx, api, strings.TrimSpace(word), path); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) find(ctx context.Context, api *client.Client, word string, path func(string) string) error {
	switch {
	case word == "":
		return misused("a name of a suite or a test must not be empty")
	case strings.HasPrefix(word, tagMark):
		return p.findTag(ctx, api, strings.TrimPrefix(word, tagMark))
	case suiteID.MatchString(word):
		s, err := api.TestSuite(ctx, word)
		if err != nil {
			return err
		}
		p.addSuite(*s)
		return nil
	case caseID.MatchString(word):
		c, err := api.TestCase(ctx, strings.ToLower(word))
		if err != nil {
			return err
		}
		p.addTest(Test{ID: c.ID, Name: c.Name, named: true})
		return nil
	case strings.HasSuffix(word, testfile.Extension):
		if text, err := os.ReadFile(path(word)); err == nil {
			return p.findFile(ctx, api, word, text)
		}
	}
	return p.findName(ctx, api, word)
}

func (p *Plan) findTag(ctx context.Context, api *client.Client, tag string) error {
	cases, err := api.TestCases(ctx, client.CaseFilter{Tag: tag})
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		tags, err := api.TestTags(ctx)
		if err != nil {
			return err
		}
		return misused("no test has the tag %q; there are: %s", tag, orNone(tags))
	}
	for i := range cases {
		p.addTest(Test{ID: cases[i].ID, Name: cases[i].Name})
	}
	return nil
}

func (p *Plan) findFile(ctx context.Context, api *client.Client, name string, text []byte) error {
	f, err := testfile.Read(text)
	if err != nil {
		return misused("%s: %v", name, err)
	}
	if f.ID == "" {
		return misused("%s has no id: push it first", name)
	}
	c, err := api.TestCase(ctx, f.ID)
	if err != nil {
		return err
	}
	p.addTest(Test{ID: c.ID, Name: c.Name, named: true})
	return nil
}

// findName finds what has a name: in its own letters, else in any.
func (p *Plan) findName(ctx context.Context, api *client.Client, name string) error {
	suites, err := api.TestSuites(ctx, name)
	if err != nil {
		return err
	}
	cases, err := api.TestCases(ctx, client.CaseFilter{Search: name})
	if err != nil {
		return err
	}
	for _, same := range []func(string) bool{
		func(other string) bool { return other == name },
		func(other string) bool { return strings.EqualFold(other, name) },
	} {
		var found []string
		found = append(found, candidates("suite", suites, func(s *client.TestSuite) (string, string) { return s.ID, s.Name }, same)...)
		found = append(found, candidates("test", cases, func(c *client.TestCase) (string, string) { return c.ID, c.Name }, same)...)
		switch len(found) {
		case 0:
			continue
		case 1:
			p.addNamed(suites, cases, same)
			return nil
		}
		return misused("%q is the name of %d: name one by its id:\n%s", name, len(found), lines(found))
	}
	any := func(string) bool { return true }
	near := append(candidates("suite", suites, func(s *client.TestSuite) (string, string) { return s.ID, s.Name }, any),
		candidates("test", cases, func(c *client.TestCase) (string, string) { return c.ID, c.Name }, any)...)
	if len(near) > 0 {
		return misused("no suite or test has the name %q; there are:\n%s", name, lines(near))
	}
	return misused("no suite or test has the name %q", name)
}

// SuiteID returns the id of a suite that a word names: its id, or its name.
func SuiteID(ctx context.Context, api *client.Client, word string) (string, error) {
	if suiteID.MatchString(word) {
		return word, nil
	}
	suites, err := api.TestSuites(ctx, word)
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(slices.Clone(suites), func(s client.TestSuite) bool { return s.Name != word })
	switch len(found) {
	case 0:
		return "", misused("no suite has the name %q", word)
	case 1:
		return found[0].ID, nil
	}
	all := candidates("suite", found, func(s *client.TestSuite) (string, string) { return s.ID, s.Name }, func(string) bool { return true })
	return "", misused("%q is the name of %d suites: name one by its id:\n%s", word, len(found), lines(all))
}

func candidates[T any](kind string, list []T, of func(*T) (id, name string), want func(string) bool) (found []string) {
	for i := range list {
		if id, name := of(&list[i]); want(name) {
			found = append(found, fmt.Sprintf("%s %s  %s", kind, id, name))
		}
	}
	return found
}

func (p *Plan) addNamed(suites []client.TestSuite, cases []client.TestCase, same func(string) bool) {
	for i := range suites {
		if same(suites[i].Name) {
			p.addSuite(suites[i])
		}
	}
	for i := range cases {
		if same(cases[i].Name) {
			p.addTest(Test{ID: cases[i].ID, Name: cases[i].Name, named: true})
		}
	}
}

func (p *Plan) addSuite(s client.TestSuite) {
	if !slices.ContainsFunc(p.Suites, func(other client.TestSuite) bool { return other.ID == s.ID }) {
		p.Suites = append(p.Suites, s)
	}
}

func (p *Plan) addTest(t Test) {
	if !slices.ContainsFunc(p.Tests, func(other Test) bool { return other.ID == t.ID }) {
		p.Tests = append(p.Tests, t)
	}
}

func lines(list []string) string {
	if more := len(list) - mostNamed; more > 0 {
		list = append(slices.Clone(list[:mostNamed]), fmt.Sprintf("and %d more", more))
	}
	return "  " + strings.Join(list, "\n  ")
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	if more := len(list) - mostNamed; more > 0 {
		list = append(slices.Clone(list[:mostNamed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
