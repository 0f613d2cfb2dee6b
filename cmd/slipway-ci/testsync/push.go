package testsync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Push makes a case of each file without id, and changes the case of each file that has
// changed. What the server made of it is written back: id and revision, and where it says
// the same in other words, the whole file.
//
// With remove, cases of the selection that have no file are deleted.
func (c *Config) Push(ctx context.Context, sel Selection, remove bool) error {
	if remove && len(c.Folder.Files) == 0 {
		return misused("%s has no test at all: nothing is deleted", c.Folder.show(c.Folder.Dir))
	}
	s, err := c.suites(ctx)
	if err != nil {
		return err
	}
	for _, file := range c.Folder.Files {
		r := Result{Path: c.Folder.show(file.Path), ID: file.Case.ID, Name: file.Case.Name}
		if err := c.push(ctx, s, file, &r); err != nil {
			if err = refused(err, &r); err != nil {
				return fmt.Errorf("%s: %w", r.Path, err)
			}
		}
		c.Say(r)
	}
	if !remove {
		return nil
	}
	return c.remove(ctx, s, sel)
}

// refused turns the refusal of one file into its result: the others go on.
func refused(err error, r *Result) error {
	var said *client.Error
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		r.Action, r.Detail = Failed, usage.Text
	case errors.As(err, &said) && said.Kind == client.Conflict:
		r.Action, r.Detail = Conflict, "it was changed on the server at this moment: nothing was written"
	case errors.As(err, &said) && said.Kind == client.Misused:
		r.Action, r.Detail = Failed, said.Text
	default:
		return err
	}
	return nil
}

func (c *Config) push(ctx context.Context, s *suites, file *File, r *Result) error {
	if err := c.suiteOf(ctx, s, file.Case); err != nil {
		return err
	}
	if file.Case.ID == "" {
		return c.pushNew(ctx, s, file, r)
	}
	one, err := c.Client.TestCase(ctx, file.Case.ID)
	if client.Is(err, client.Missing) {
		if c.Overwrite {
			return c.create(ctx, s, file, r)
		}
		r.Action, r.Detail = Gone, "it is not on the server any more: delete the file, or take its id out and push it"
		return nil
	}
	if err != nil {
		return err
	}
	return c.pushTo(ctx, s, file, one, r)
}

// pushTo sends a file to its case.
func (c *Config) pushTo(ctx context.Context, s *suites, file *File, one *client.TestCase, r *Result) error {
	server, err := c.fileOf(ctx, s, one, file.Case)
	if err != nil {
		return err
	}
	r.ID = one.ID
	if file.Case.Same(server) {
		r.Action = Unchanged
		if c.DryRun || file.Case.Revision == server.Revision && file.Case.ID == one.ID {
			return nil
		}
		return file.restamp(one.ID, server.Revision)
	}
	r.Diff = diff(server, file.Case)
	if file.Case.Revision != server.Revision && !c.Overwrite {
		if r.Action, r.Detail = Conflict, "changed here and on the server: nothing was written"; !file.Case.Changed() {
			r.Action, r.Detail = Behind, "changed on the server: pull it"
		}
		return nil
	}
	r.Action = Updated
	if c.DryRun {
		return nil
	}
	return c.update(ctx, s, file, one, r)
}

// update changes a case, while it is as it was read.
func (c *Config) update(ctx context.Context, s *suites, file *File, one *client.TestCase, r *Result) error {
	f := file.Case
	latest := one.Latest()
	steps, err := aligned(one, f.Steps, latest.Steps)
	if err != nil {
		return err
	}
	setUp, err := aligned(one, f.SetUp, latest.SetUp)
	if err != nil {
		return err
	}
	tearDown, err := aligned(one, f.TearDown, latest.TearDown)
	if err != nil {
		return err
	}
	data, err := bodyOf(f.Data)
	if err != nil {
		return err
	}
	after, warnings, err := c.Client.UpdateTestCase(ctx, one.ID, client.TestCaseChange{Data: data, Name: f.Name,
		Intent: f.Intent, Description: f.Description,
		Tags: orEmpty(f.Tags), RunSettings: settingsOf(f), Steps: steps, SetUp: around(setUp, latest.SetUp),
		TearDown: around(tearDown, latest.TearDown), BaseRevisionID: one.Latest().ID, BaseUpdateDate: one.LastUpdateDate})
	if err != nil {
		return err
	}
	r.Detail = strings.Join(warnings, "; ")
	to := ""
	if f.Suite != "" {
		in, err := s.only(f.Suite)
		if err != nil {
			return err
		}
		to = in.ID
	}
	if to != after.TestSuiteID {
		if err := c.Client.MoveTestCase(ctx, one.ID, after.TestSuiteID, to); err != nil {
			return err
		}
		after.TestSuiteID = to
	}
	return c.writeBack(ctx, s, file, after)
}

// bodyOf returns data as the API takes them; nil where they stay.
func bodyOf(d *testfile.Data) (json.RawMessage, error) {
	if d == nil {
		return nil, nil
	}
	return d.Body()
}

// aligned returns the steps of a file with the ids of the server's.
func aligned(of *client.TestCase, steps []testfile.Step, server []json.RawMessage) ([]json.RawMessage, error) {
	known, err := stepsOf(of, server)
	if err != nil {
		return nil, err
	}
	testfile.Align(steps, known)
	return bodies(steps)
}

// around is what a change sends of steps around a test: nothing where there are and were
// none, which servers without them take too.
func around(steps, server []json.RawMessage) *[]json.RawMessage {
	if len(steps)+len(server) == 0 {
		return nil
	}
	return &steps
}

// writeBack writes what the server has made of a file.
func (c *Config) writeBack(ctx context.Context, s *suites, file *File, after *client.TestCase) error {
	server, err := c.fileOf(ctx, s, after, file.Case)
	if err != nil {
		return err
	}
	if file.Case.Same(server) {
		return file.restamp(after.ID, server.Revision)
	}
	return file.write(server)
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// suiteOf makes the suite of a file that is not there yet.
func (c *Config) suiteOf(ctx context.Context, s *suites, f *testfile.Case) error {
	if f.Suite == "" {
		return nil
	}
	switch found := s.find(f.Suite); {
	case len(found) == 1:
		f.Suite = s.label(found[0].ID)
		return nil
	case len(found) > 1:
		_, err := s.only(f.Suite)
		return err
	case c.DryRun:
		s.list = append(s.list, client.TestSuite{ID: f.Suite, Name: f.Suite})
		return nil
	}
	made, err := c.Client.CreateTestSuite(ctx, f.Suite)
	if err != nil {
		return err
	}
	s.list = append(s.list, *made)
	return nil
}

// pushNew makes a case of a file without id. A case of the same name that has no file may
// be the one that an earlier push has made, whose answer or file was lost.
func (c *Config) pushNew(ctx context.Context, s *suites, file *File, r *Result) error {
	like, err := c.Client.TestCases(ctx, client.CaseFilter{Search: file.Case.Name})
	if err != nil {
		return err
	}
	for i := range like {
		if like[i].Name != file.Case.Name || c.Folder.ByID(like[i].ID) != nil {
			continue
		}
		one, err := c.Client.TestCase(ctx, like[i].ID)
		if client.Is(err, client.Missing) {
			continue
		}
		if err != nil {
			return err
		}
		if err := c.pushTo(ctx, s, file, one, r); err != nil || r.Action != Conflict {
			return err
		}
		r.Detail = "another test of this name is on the server: pull it, or give this one another name"
		return nil
	}
	return c.create(ctx, s, file, r)
}

func (c *Config) create(ctx context.Context, s *suites, file *File, r *Result) error {
	f := file.Case
	if r.Action, r.Diff = Created, diff(nil, f); c.DryRun {
		return nil
	}
	if len(f.Steps) == 0 {
		return misused("a new test needs steps; slipway-ci generate writes them from a sentence")
	}
	n := client.NewTestCase{Name: f.Name, Intent: f.Intent, Description: f.Description, Tags: orEmpty(f.Tags), RunSettings: settingsOf(f)}
	if f.Suite != "" {
		in, err := s.only(f.Suite)
		if err != nil {
			return err
		}
		n.TestSuiteID = in.ID
	}
	var err error
	if n.Steps, err = bodies(f.Steps); err != nil {
		return err
	}
	if n.SetUp, err = bodies(f.SetUp); err != nil {
		return err
	}
	if n.TearDown, err = bodies(f.TearDown); err != nil {
		return err
	}
	if n.Data, err = bodyOf(f.Data); err != nil {
		return err
	}
	after, warnings, err := c.Client.CreateTestCase(ctx, n)
	if err != nil {
		return err
	}
	r.ID, r.Detail = after.ID, strings.Join(warnings, "; ")
	return c.writeBack(ctx, s, file, after)
}

// remove deletes the cases of a selection that have no file.
func (c *Config) remove(ctx context.Context, s *suites, sel Selection) error {
	cases, err := c.cases(ctx, s, sel)
	if err != nil {
		return err
	}
	for i := range cases {
		if c.Folder.ByID(cases[i].ID) != nil {
			continue
		}
		if !c.DryRun {
			if err := c.Client.DeleteTestCase(ctx, cases[i].ID); err != nil && !client.Is(err, client.Missing) {
				return err
			}
		}
		c.Say(Result{Action: Deleted, ID: cases[i].ID, Name: cases[i].Name})
	}
	return nil
}
