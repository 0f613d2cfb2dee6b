// Package testsync keeps tests of a server and files of a repository alike: it pulls
// cases into files, pushes files to cases, and writes tests from sentences.
//
// A file says in its member revision what it was made from (package testfile). So each
// direction knows who has changed since: what only the other side has changed is taken
// over, what only this side has changed stays or is sent, and where both have, nothing is
// written and both are shown. The server checks the revision once more when it changes a
// case, so that nothing that happens meanwhile is lost either.
//
// Files are written whole or not at all: beside, and then renamed.
package testsync

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Action is what became of a test.
type Action string

// The actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
	Kept      Action = "kept"     // changed here only: pull leaves it
	Behind    Action = "behind"   // changed on the server only: push leaves it
	Conflict  Action = "conflict" // changed on both sides
	Gone      Action = "gone"     // not on the server any more
	Deleted   Action = "deleted"
	Failed    Action = "failed" // the server refuses it
)

// Good reports whether nothing is left to be decided.
func (a Action) Good() bool { return a != Conflict && a != Gone && a != Failed }

// Result is what became of a test.
type Result struct {
	Action Action `json:"action"`
	Path   string `json:"path"` // of the file, as people name it
	ID     string `json:"id"`
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"`
	// Diff leads from the server's to the file, where they differ.
	Diff string `json:"diff,omitempty"`
}

// UsageError is something that a command line names and that is not there.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func misused(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Config is what a sync needs.
type Config struct {
	Client *client.Client
	Folder *Folder
	// DryRun says what would be done, and does nothing.
	DryRun bool
	// Overwrite lets the side that a command reads from win over changes of both.
	Overwrite bool
	// Say hears of each result when it is there.
	Say func(Result)
}

// Selection says which cases of the server are meant; without both all.
type Selection struct{ Suite, Tag string }

// suites are the suites of the server.
type suites struct{ list []client.TestSuite }

func (c *Config) suites(ctx context.Context) (*suites, error) {
	list, err := c.Client.TestSuites(ctx, "")
	return &suites{list}, err
}

// label is how a file names a suite: by its name, or by its id where several have the
// name.
func (s *suites) label(id string) string {
	for i := range s.list {
		if s.list[i].ID != id {
			continue
		}
		if same := s.find(s.list[i].Name); len(same) == 1 {
			return s.list[i].Name
		}
	}
	return id
}

// find returns the suites that a label may mean.
func (s *suites) find(label string) (found []client.TestSuite) {
	for _, one := range s.list {
		if one.ID == label {
			return []client.TestSuite{one}
		}
		if one.Name == label {
			found = append(found, one)
		}
	}
	return found
}

// only returns the suite that a label means.
func (s *suites) only(label string) (client.TestSuite, error) {
	switch found := s.find(label); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return client.TestSuite{}, misused("there is no suite %q", label)
	default:
		text := ""
		for _, f := range found {
			text += "\n  " + f.ID + "  " + f.Name
		}
		return client.TestSuite{}, misused("%q is the name of %d suites: name one by its id:%s", label, len(found), text)
	}
}

// cases returns the cases of a selection, in the order of their names.
func (c *Config) cases(ctx context.Context, s *suites, sel Selection) ([]client.TestCase, error) {
	f := client.CaseFilter{Tag: sel.Tag}
	if sel.Suite != "" {
		one, err := s.only(sel.Suite)
		if err != nil {
			return nil, err
		}
		f.Suite = one.ID
	}
	list, err := c.Client.TestCases(ctx, f)
	slices.SortFunc(list, func(a, b client.TestCase) int {
		if a.Name != b.Name {
			return compare(a.Name, b.Name)
		}
		return compare(a.ID, b.ID)
	})
	return list, err
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// fileOf returns a case of the server as a file has it, without ids of steps. have is the
// file, nil for none.
func (c *Config) fileOf(ctx context.Context, s *suites, one *client.TestCase, have *testfile.Case) (*testfile.Case, error) {
	data, err := c.dataOf(ctx, one, have)
	if err != nil {
		return nil, err
	}
	return s.fileOf(one, data)
}

func (s *suites) fileOf(c *client.TestCase, data *testfile.Data) (*testfile.Case, error) {
	f := &testfile.Case{ID: c.ID, Name: c.Name, Tags: c.Tags, URL: c.RunSettings.TestURL, Tunnel: or(c.RunSettings.SCTunnelName),
		FirstMatch: !c.RunSettings.Strict, Healing: or(c.RunSettings.Healing), Drift: or(c.RunSettings.Drift), Trace: or(c.RunSettings.Trace),
		Retries: c.RunSettings.Retries, Intent: c.Latest().Intent, Description: c.Latest().Description, Data: data}
	if b := c.RunSettings.BasicAuth; b != nil {
		f.BasicAuth = &testfile.Access{b.User, b.Password}
	}
	if b := c.RunSettings.ClientCertificate; b != nil {
		f.ClientCertificate = &testfile.Access{b.Certificate, b.Key}
	}
	if c.TestSuiteID != "" {
		f.Suite = s.label(c.TestSuiteID)
	}
	for _, t := range c.RunSettings.RunTargets {
		f.Targets = append(f.Targets, testfile.Target(t))
	}
	if p := c.RunSettings.PrimaryTarget; !empty(p.Capabilities) {
		primary := testfile.Target(p)
		f.Primary = &primary
	}
	latest := c.Latest()
	for _, list := range []struct {
		into *[]testfile.Step
		of   []json.RawMessage
	}{{&f.SetUp, latest.SetUp}, {&f.Steps, latest.Steps}, {&f.TearDown, latest.TearDown}} {
		steps, err := stepsOf(c, list.of)
		if err != nil {
			return nil, err
		}
		*list.into = withoutIDs(steps)
	}
	f.Revision = f.Stamp(c.Latest().ID)
	return f, nil
}

// withoutIDs returns a copy of steps without their ids.
func withoutIDs(steps []testfile.Step) []testfile.Step {
	bare := slices.Clone(steps)
	for i := range bare {
		bare[i].ID = ""
	}
	return bare
}

// stepsOf returns steps of a case, with their ids.
func stepsOf(c *client.TestCase, list []json.RawMessage) ([]testfile.Step, error) {
	var steps []testfile.Step
	for _, text := range list {
		s, err := testfile.StepOf(text)
		if err != nil {
			return nil, fmt.Errorf("test %q: %w", c.Name, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func empty(capabilities json.RawMessage) bool {
	var members map[string]any
	return json.Unmarshal(capabilities, &members) != nil || len(members) == 0
}

func or(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// settingsOf returns the settings of a file as the API takes them.
func settingsOf(f *testfile.Case) client.SettingsChange {
	s := client.SettingsChange{TestURL: orNull(f.URL), SCTunnelName: orNull(f.Tunnel), Strict: !f.FirstMatch, Healing: orNull(f.Healing),
		Drift: orNull(f.Drift), Trace: orNull(f.Trace), Retries: f.Retries, RunTargets: []client.TestTarget{}}
	if b := f.BasicAuth; b != nil {
		s.BasicAuth = &client.BasicAuth{User: b[0], Password: b[1]}
	}
	if b := f.ClientCertificate; b != nil {
		s.ClientCertificate = &client.ClientCertificate{Certificate: b[0], Key: b[1]}
	}
	for _, t := range f.Targets {
		s.RunTargets = append(s.RunTargets, client.TestTarget(t))
	}
	switch {
	case f.Primary != nil:
		primary := client.TestTarget(*f.Primary)
		s.PrimaryTarget = &primary
	case len(s.RunTargets) > 0:
		s.PrimaryTarget = &s.RunTargets[0]
	}
	return s
}

// bodies returns steps as the API takes them: with their ids.
func bodies(steps []testfile.Step) ([]json.RawMessage, error) {
	list := make([]json.RawMessage, len(steps))
	for i, s := range steps {
		if s.ID == "" {
			list[i] = s.Body
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(s.Body, &members); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		id, err := json.Marshal(s.ID)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		members["id"] = id
		if list[i], err = json.Marshal(members); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return list, nil
}

// diff leads from the server's state of a case to that of a file.
func diff(server, file *testfile.Case) string {
	return testfile.Diff(plainText(server), plainText(file))
}

// plainText is a case without what only says what it was made from.
func plainText(c *testfile.Case) string {
	if c == nil {
		return ""
	}
	bare := *c
	bare.ID, bare.Revision = "", ""
	bare.SetUp, bare.Steps, bare.TearDown = withoutIDs(c.SetUp), withoutIDs(c.Steps), withoutIDs(c.TearDown)
	text, err := bare.Write()
	if err != nil {
		return ""
	}
	return string(text)
}
