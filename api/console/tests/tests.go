// Package tests has the console's pages of tests: cases with their steps, runs and healings,
// the generation and import of cases, step groups, suites, schedules, variables, environments and
// tunnels.
//
// All of it asks the authoring interface, whose answers stand in {"data": ...}; ask.go reads
// them. A list passes the parameters of its address on, so that what the interface does not
// know is said on the page. The package step writes steps and selectors in words.
//
// What a form sends and the interface refuses is said on the page that follows; where one
// has typed much (steps, sentences, imports, schedules), the form comes back with the text.
package tests

import (
	"embed"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/route"
)

//go:embed page
var files embed.FS

// Pages serves the pages of the area.
type Pages struct {
	*frame.Frame
	pages *frame.Templates
}

// New returns the pages of the area.
func New(f *frame.Frame) (*Pages, error) {
	templates, err := f.Templates(files)
	if err != nil {
		return nil, err
	}
	return &Pages{Frame: f, pages: templates}, nil
}

// maxImport is the bound that the interface has for the file of an import.
const maxImport = 4 << 20

// Routes are the pages and forms.
func (p *Pages) Routes() []route.Route {
	const read, change, run, variables, tunnels = auth.ReadTests, auth.ChangeTests, auth.RunTests, auth.ChangeVariables, auth.ManageTunnels
	const remove, schedule = auth.DeleteTests, auth.ManageSchedules
	importFile := p.Form("/tests/import/file", change, p.importCase)
	importFile.Body = maxImport
	return []route.Route{
		p.Open("/tests", read, p.cases),
		p.Open("/tests/runs", read, p.allRuns),
		p.Open("/tests/cases/:id", read, p.testCase),
		p.Open("/tests/cases/:id/edit", read, p.editCase),
		p.Form("/tests/cases/:id/edit", change, p.changeCase),
		p.Form("/tests/cases/:id/rename", change, p.renameCase),
		p.Form("/tests/cases/:id/duplicate", change, p.duplicateCase),
		p.Form("/tests/cases/:id/delete", remove, p.deleteCase),
		p.Form("/tests/cases/:id/quarantine", change, p.quarantine),
		p.Form("/tests/cases/:id/quarantine/end", change, p.endQuarantine),
		p.Form("/tests/cases/:id/suite", change, p.moveCase),
		p.Form("/tests/cases/:id/refine", change, p.refineCase),
		p.Form("/tests/cases/:id/revisions/:revision/restore", change, p.restoreRevision),
		p.Open("/tests/cases/:id/code", read, p.code),
		p.Open("/tests/cases/:id/code/file", read, p.codeFile),
		p.Open("/tests/cases/:id/healings", read, p.healings),
		p.Form("/tests/cases/:id/healings/:healing", change, p.decideHealing),
		p.Open("/tests/cases/:id/baselines", read, p.baselines),
		p.Open("/tests/cases/:id/baselines/:baseline/picture", read, p.baselinePicture),
		p.Form("/tests/cases/:id/baselines/:baseline", auth.ReviewLooks, p.decideBaseline),
		p.Form("/tests/cases/:id/runs/:run/looks", auth.ReviewLooks, p.acceptLooks),
		p.Form("/tests/cases/:id/runs/:run/findings", auth.ReviewLooks, p.acceptFindings),
		p.Form("/tests/cases/:id/run", run, p.runCase),
		p.Open("/tests/cases/:id/runs", read, p.caseRuns),
		p.Open("/tests/cases/:id/runs/:run", read, p.caseRun),
		p.Open("/tests/cases/:id/runs/:run/junit", read, p.caseReport),
		p.Form("/tests/cases/:id/runs/:run/cancel", run, p.cancelCaseRun),
		p.Form("/tests/cases/:id/runs/:run/again", run, p.repeatCaseRun),
		p.Form("/tests/cases/:id/runs/:run/rerun", run, p.rerunCase),
		p.Form("/tests/cases/:id/runs/:run/pin", change, p.pinCaseRun),
		p.Form("/tests/cases/:id/runs/:run/unpin", change, p.unpinCaseRun),
		p.Open("/tests/files/:id", read, p.file),

		p.Open("/tests/generations", read, p.generations),
		p.Open("/tests/generate", read, p.generateForm),
		p.Form("/tests/generate", change, p.generate),
		p.Open("/tests/generate/:task", read, p.generation),
		p.Form("/tests/generate/:task/cancel", change, p.cancelGeneration),
		p.Form("/tests/import", change, p.importCase),
		importFile,

		p.Open("/tests/groups", read, p.groups),
		p.Form("/tests/groups", change, p.createGroup),
		p.Open("/tests/groups/new", read, p.newGroup),
		p.Open("/tests/groups/:group", read, p.group),
		p.Open("/tests/groups/:group/edit", read, p.editGroup),
		p.Form("/tests/groups/:group/edit", change, p.changeGroup),
		p.Form("/tests/groups/:group/delete", remove, p.deleteGroup),

		p.Open("/tests/suites", read, p.suites),
		p.Form("/tests/suites", change, p.createSuite),
		p.Open("/tests/suites/:id", read, p.suite),
		p.Form("/tests/suites/:id/change", change, p.changeSuite),
		p.Form("/tests/suites/:id/add", change, p.addToSuite),
		p.Form("/tests/suites/:id/remove", change, p.removeFromSuite),
		p.Form("/tests/suites/:id/delete", remove, p.deleteSuite),
		p.Form("/tests/suites/:id/run", run, p.runSuite),
		p.Open("/tests/suites/:id/runs", read, p.suiteRuns),
		p.Open("/tests/suites/:id/runs/:run", read, p.suiteRun),
		p.Open("/tests/suites/:id/runs/:run/junit", read, p.suiteReport),
		p.Form("/tests/suites/:id/runs/:run/cancel", run, p.cancelSuiteRun),
		p.Form("/tests/suites/:id/runs/:run/rerun", run, p.rerunSuite),
		p.Form("/tests/suites/:id/runs/:run/looks", auth.ReviewLooks, p.acceptSuiteLooks),
		p.Form("/tests/suites/:id/runs/:run/pin", change, p.pinSuiteRun),
		p.Form("/tests/suites/:id/runs/:run/unpin", change, p.unpinSuiteRun),

		p.Open("/tests/schedules", read, p.schedules),
		p.Form("/tests/schedules", schedule, p.createSchedule),
		p.Open("/tests/schedules/:id", read, p.schedule),
		p.Form("/tests/schedules/:id", schedule, p.changeSchedule),
		p.Form("/tests/schedules/:id/state", schedule, p.switchSchedule),
		p.Form("/tests/schedules/:id/run", run, p.runSchedule),
		p.Form("/tests/schedules/:id/delete", schedule, p.deleteSchedule),

		p.Open("/tests/variables", read, p.variables),
		p.Form("/tests/variables", variables, p.createVariable),
		p.Open("/tests/variables/:id", read, p.variable),
		p.Form("/tests/variables/:id", variables, p.changeVariable),
		p.Form("/tests/variables/:id/delete", variables, p.deleteVariable),

		p.Open("/tests/environments", read, p.environments),
		p.Form("/tests/environments", variables, p.createEnvironment),
		p.Open("/tests/environments/:id", read, p.environment),
		p.Form("/tests/environments/:id", variables, p.changeEnvironment),
		p.Form("/tests/environments/:id/delete", variables, p.deleteEnvironment),

		p.Open("/tests/tunnels", read, p.tunnels),
		p.Form("/tests/tunnels", tunnels, p.createTunnel),
		p.Form("/tests/tunnels/delete", tunnels, p.deleteTunnel),
	}
}

// show writes a page of the area; with a fault its status is that of a wrong request.
func (p *Pages) show(c *gin.Context, name, fault string, page frame.Page) error {
	page.Area = "/tests"
	if fault != "" {
		return p.pages.Render(c, badRequest, name, page)
	}
	return p.pages.Show(c, name, page)
}
