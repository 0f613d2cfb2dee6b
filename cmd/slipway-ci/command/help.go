package command

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// printHelp prints the help of a command, and of the whole with the exit codes.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	whole := ctx.Selected() == nil
	options.Compact, options.NoExpandSubcommands = true, whole
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if whole {
		fmt.Fprint(ctx.Stdout, "\n"+outcome.Codes)
	}
	return nil
}
