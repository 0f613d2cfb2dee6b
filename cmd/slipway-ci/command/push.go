package command

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
)

// pushCommand is `push`: files become tests of the server.
type pushCommand struct {
	syncFlags `embed:""`

	Delete bool `help:"Delete the tests of the suite or tag that have no file; with --all of all."`
}

// Run pushes.
func (c *pushCommand) Run(ctx context.Context, s *Session) error {
	sel := c.selection(s)
	if c.Delete && sel == (testsync.Selection{}) && !c.All {
		return outcome.Fail(outcome.Misused, "--delete needs --suite, --tag or --all: what has no file is deleted")
	}
	return c.sync(s, func(sync *testsync.Config) error { return sync.Push(ctx, sel, c.Delete) })
}
