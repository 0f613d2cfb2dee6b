package testsync

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Pull writes the cases of a selection into files: a new file for a case that has none,
// and the file of a case that only the server has changed. A file that says the same keeps
// its bytes.
func (c *Config) Pull(ctx context.Context, sel Selection) error {
	s, err := c.suites(ctx)
	if err != nil {
		return err
	}
	cases, err := c.cases(ctx, s, sel)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range cases {
		there[cases[i].ID] = true
		if err := c.pull(ctx, s, cases[i].ID); err != nil {
			return err
		}
	}
	return c.sayGone(ctx, sel, there)
}

// sayGone names the files whose case is not there any more.
func (c *Config) sayGone(ctx context.Context, sel Selection, there map[string]bool) error {
	for _, file := range c.Folder.Files {
		id := file.Case.ID
		if id == "" || there[id] {
			continue
		}
		if sel != (Selection{}) {
			// It may be in another suite.
			switch _, err := c.Client.TestCase(ctx, id); {
			case err == nil:
				continue
			case !client.Is(err, client.Missing):
				return err
			}
		}
		c.Say(Result{Action: Gone, Path: c.Folder.show(file.Path), ID: id, Name: file.Case.Name,
			Detail: "it is not on the server any more: delete the file, or take its id out and push it"})
	}
	return nil
}

func (c *Config) pull(ctx context.Context, s *suites, id string) error {
	one, err := c.Client.TestCase(ctx, id)
	if client.Is(err, client.Missing) {
		return nil // deleted since it was listed
	}
	if err != nil {
		return err
	}
	file := c.Folder.ByID(id)
	var have *testfile.Case
	if file != nil {
		have = file.Case
	}
	server, err := c.fileOf(ctx, s, one, have)
	if err != nil {
		return err
	}
	r := Result{ID: id, Name: server.Name}
	switch {
	case file == nil:
		file, r.Action, r.Diff = c.Folder.add(server), Created, diff(nil, server)
		r.Path = c.Folder.show(file.Path)
		if !c.DryRun {
			err = file.write(server)
		} else {
			file.Case = server
		}
	case file.Case.Same(server):
		r.Path, r.Action = c.Folder.show(file.Path), Unchanged
		if file.Case.Revision != server.Revision && !c.DryRun {
			err = file.restamp(id, server.Revision)
		}
	default:
		r.Path, r.Diff = c.Folder.show(file.Path), diff(file.Case, server)
		err = c.pullOver(file, server, &r)
	}
	if err != nil {
		return err
	}
	c.Say(r)
	return nil
}

// pullOver decides what becomes of a file that says something else than the server.
func (c *Config) pullOver(file *File, server *testfile.Case, r *Result) error {
	switch {
	case file.Case.Revision == server.Revision && !c.Overwrite:
		r.Action, r.Detail = Kept, "changed here: push it"
		return nil
	case file.Case.Changed() && !c.Overwrite:
		r.Action, r.Detail = Conflict, "changed here and on the server: nothing was written"
		return nil
	}
	r.Action = Updated
	if c.DryRun {
		return nil
	}
	return file.write(server)
}

// restamp writes id and revision into a file, and leaves every other byte.
func (file *File) restamp(id, revision string) error {
	text, err := testfile.Restamp(file.Text, id, revision)
	if err != nil {
		return err
	}
	return file.replace(text)
}
