// Command slipway-ci is what a pipeline runs: it uploads builds and symbols, runs tests,
// reads crashes, and asks the gate whether a build may go out. It uses the public API
// only (package client); `slipway ci` is the same commands (package command).
//
// Exit codes: 0 passed, 1 failed, 2 wrong use, 3 could not ask, 4 timed out, 5 refused.
package main

import (
	"os"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/command"
)

func main() { os.Exit(command.Run(command.Process("slipway-ci"), os.Args[1:])) }
