package main

import (
	pipeline "github.com/slipway-qa/slipway/cmd/slipway-ci/command"
	"github.com/slipway-qa/slipway/cmd/slipway/exit"
)

// ciCommand is the line of the help; its words are read by slipway-ci, which has flags of
// its own.
type ciCommand struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"See slipway ci --help."`
}

// ci runs a command of slipway-ci and returns its exit code.
func ci(args []string) int { return pipeline.Run(pipeline.Process("slipway ci"), args) }

// Run is for lines with flags before ci, which it does not have.
func (c *ciCommand) Run() error {
	if code := ci(c.Args); code != 0 {
		return &exit.Error{Code: code, Text: "slipway ci failed"}
	}
	return nil
}
