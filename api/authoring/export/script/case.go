package script

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Case is what is exported.
type Case struct {
	ID           string
	Name         string
	TestURL      string
	Capabilities capability.Capabilities // of the primary target; may be nil
	Steps        []step.Step
	// Places are where the steps stand (group.Plan); nil where the case has neither step
	// groups nor steps before and after it.
	Places []group.Place
	// FirstMatch takes the first match of a selector that has several, in place of
	// failing.
	FirstMatch bool
	// Data are the rows that the test is run with; nil for none, and where their values are no
	// part of an export. Then {{row:user}} is an environment variable.
	Data *testfile.Data
	// File is the case as the target YAML writes it; other targets need none.
	File *testfile.Case
}
