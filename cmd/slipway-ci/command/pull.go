package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
)

// syncFlags are what pull and push have in common.
type syncFlags struct {
	Dir       string `arg:"" optional:"" help:"Folder of the tests' files. Default: tests of slipway.yaml, else tests/slipway."`
	Suite     string `help:"Only the tests of this suite (name or id). Default: suite of slipway.yaml." placeholder:"SUITE"`
	Tag       string `help:"Only the tests with this tag." placeholder:"TAG"`
	All       bool   `help:"All tests, whatever slipway.yaml says."`
	DryRun    bool   `help:"Show what would be done, and do nothing."`
	Overwrite bool   `help:"Where both sides have changed, let the side that is read win."`
}

// selection says which tests of the server are meant.
func (f *syncFlags) selection(s *Session) testsync.Selection {
	sel := testsync.Selection{Suite: f.Suite, Tag: f.Tag}
	if sel == (testsync.Selection{}) && !f.All {
		sel.Suite = s.File.Suite
	}
	return sel
}

// sync runs a sync, and prints what became of each test.
func (f *syncFlags) sync(s *Session, do func(*testsync.Config) error) error {
	folder, err := testsync.ReadFolder(s.testsDir(f.Dir), []string{s.File.Path}, s.shown)
	if err != nil {
		return misuse(err)
	}
	results, open := []testsync.Result{}, 0
	err = do(&testsync.Config{Client: s.Client, Folder: folder, DryRun: f.DryRun, Overwrite: f.Overwrite, Say: func(r testsync.Result) {
		results = append(results, r)
		s.say(r)
		if f.DryRun || r.Action == testsync.Conflict {
			s.showDiff(r.Diff)
		}
		if !r.Action.Good() {
			open++
		}
	}})
	if said := s.Document(results); err == nil {
		err = said
	}
	if err != nil {
		return misuse(err)
	}
	if open > 0 {
		return outcome.Fail(outcome.Failed, "%d of %d tests are not the same on both sides", open, len(results))
	}
	s.Out.Line("%d tests in %s", len(results), s.shown(folder.Dir))
	return nil
}

// showDiff prints a diff as it is, line by line.
func (s *Session) showDiff(text string) {
	if s.JSON || s.Quiet {
		return
	}
	for line := range strings.Lines(text) {
		// A line begins with its mark, so that no text of a test begins one.
		mark, rest := line[:1], strings.TrimRight(line[1:], "\r\n")
		indent := rest[:len(rest)-len(strings.TrimLeft(rest, " "))]
		fmt.Fprintln(s.World.Out, mark+indent+report.Line(rest))
	}
}

// pullCommand is `pull`: tests of the server become files.
type pullCommand struct {
	syncFlags `embed:""`
}

// Run pulls.
func (c *pullCommand) Run(ctx context.Context, s *Session) error {
	return c.sync(s, func(sync *testsync.Config) error { return sync.Pull(ctx, c.selection(s)) })
}
