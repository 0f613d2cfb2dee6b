package testcase

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/codegen"
	"github.com/slipway-qa/slipway/api/authoring/devtools"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// maxIntent bounds intent and description, in characters.
const maxIntent = 20_000

// importBody is a test that is stored without generation. Exactly one of Steps, Side, Playwright
// and ChromeRecorder is given; SideTest chooses a test of the project by name or id.
type importBody struct {
	Name           *string          `json:"name"`
	Intent         string           `json:"intent"`
	Description    string           `json:"description"`
	TeamID         *string          `json:"teamId"`
	TestSuiteID    *string          `json:"testSuiteId"`
	Tags           []string         `json:"tags"`
	RunSettings    request.Document `json:"runSettings"`
	Steps          request.Document `json:"steps"`
	SetUp          request.Document `json:"setUp"`
	TearDown       request.Document `json:"tearDown"`
	Side           request.Document `json:"side"`
	SideTest       string           `json:"sideTest"`
	Playwright     *string          `json:"playwright"`
	ChromeRecorder request.Document `json:"chromeRecorder"`
	Data           request.Document `json:"data"`
}

// readImport reads and checks the body of an import. The warnings are for its author.
func (h Cases) readImport(c *gin.Context) (n authoring.NewCase, warnings []string, err error) {
	var in importBody
	if err = h.Read(c, &in); err != nil {
		return n, nil, err
	}
	if n, err = h.describe(&in); err != nil {
		return n, nil, err
	}
	if n.Data, err = h.readData(in.Data); err != nil {
		return n, nil, err
	}
	settings.WarnOfBuildName(c, in.RunSettings, "")
	if in.SetUp.Given() {
		if n.Revision.SetUp, err = h.ReadSteps(c, step.SetUp, in.SetUp); err != nil {
			return n, nil, err
		}
	}
	if in.TearDown.Given() {
		if n.Revision.TearDown, err = h.ReadSteps(c, step.TearDown, in.TearDown); err != nil {
			return n, nil, err
		}
	}
	warnings, err = h.readTest(c.Request.Context(), &in, &n)
	return n, warnings, err
}

// describe reads everything but the steps.
func (h Cases) describe(in *importBody) (n authoring.NewCase, err error) {
	if err = in.check(); err != nil {
		return n, err
	}
	n = authoring.NewCase{Name: *in.Name, Tags: answer.Tags(in.Tags),
		Revision: authoring.Revision{Intent: in.Intent, Description: in.Description}}
	if n.Team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return n, err
	}
	if n.SuiteID, err = request.OptionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return n, err
	}
	if n.Settings, err = settings.Read(in.RunSettings, h.CheckTarget); err != nil {
		return n, err
	}
	return n, h.checkSharedTunnel(&n)
}

// checkSharedTunnel refuses targets that no run could have together. A tunnel of
// the case goes before theirs.
func (h Cases) checkSharedTunnel(n *authoring.NewCase) error {
	if n.Settings.SCTunnelName != nil {
		return nil
	}
	resolver := capability.Resolver{Vendor: h.Vendor, Case: n.Name, Primary: n.Settings.PrimaryTarget}
	if resolved := resolver.Resolve(n.Settings.RunTargets, nil); resolved.Conflict {
		return h.DifferentTunnels(settings.Path+".runTargets", resolved)
	}
	return nil
}

func (in *importBody) check() error {
	if err := request.Required(in.Name); err != nil {
		return err
	}
	for _, m := range []struct{ name, text string }{{"intent", in.Intent}, {"description", in.Description}} {
		if utf8.RuneCountInString(m.text) > maxIntent {
			return problem.Member(m.name, fmt.Sprintf("must have at most %d characters", maxIntent))
		}
	}
	given := 0
	for _, is := range []bool{in.Steps.Given(), in.Side.Given(), in.Playwright != nil, in.ChromeRecorder.Given()} {
		if is {
			given++
		}
	}
	if given != 1 {
		return problem.Member("steps", "exactly one of steps, side, playwright and chromeRecorder must be given")
	}
	if in.SideTest != "" && !in.Side.Given() {
		return problem.Member("sideTest", "chooses a test of side, which is not given")
	}
	return nil
}

// readTest reads the steps of the body or of its project, whose base address
// stands in for a testUrl.
func (h Cases) readTest(ctx context.Context, in *importBody, n *authoring.NewCase) (warnings []string, err error) {
	urlPath, stepsPath := settings.Path+".testUrl", "steps"
	if in.Steps.Given() {
		n.Revision.Steps, warnings, err = handler.ReadGivenSteps("steps", in.Steps)
	} else {
		urlPath, stepsPath, warnings, err = in.readRecording(n)
	}
	if err != nil {
		return nil, err
	}
	if err := step.Validate(n.Revision.Steps); err != nil {
		return nil, problem.Under(stepsPath, err)
	}
	if err := capability.CheckPlatform(n.Revision.Steps, n.Settings.Targets()); err != nil {
		return nil, problem.Under(stepsPath, err)
	}
	return warnings, h.CheckAddresses(ctx, urlPath, n.Settings.TestURL, stepsPath, n.Revision.Steps)
}

// readRecording reads what another tool has recorded. It returns where the address of the test
// and its steps come from.
func (in *importBody) readRecording(n *authoring.NewCase) (urlPath, stepsPath string, warnings []string, err error) {
	urlPath = settings.Path + ".testUrl"
	var test *recording.Test
	switch {
	case in.Side.Given():
		stepsPath = "side"
		if test, err = readSide(in.Side, in.SideTest); err != nil {
			return "", "", nil, err
		}
		if n.Settings.Strict, err = in.strictOfSide(); err != nil {
			return "", "", nil, err
		}
		if n.Settings.Strict != nil {
			warnings = append(warnings, firstMatchWarning)
		}
	case in.Playwright != nil:
		stepsPath = "playwright"
		if test, err = codegen.Read(*in.Playwright); err != nil {
			return "", "", nil, ofLine(stepsPath, err)
		}
	default:
		stepsPath = "chromeRecorder"
		var text []byte
		if text, err = in.ChromeRecorder.ObjectOrText(stepsPath); err == nil {
			test, err = devtools.Read(text)
		}
	}
	if err := problem.Under(stepsPath, err); err != nil {
		return "", "", nil, err
	}
	n.Revision.Steps, warnings = test.Steps, append(warnings, test.Warnings...)
	if n.Settings.TestURL == "" {
		urlPath, n.Settings.TestURL = stepsPath+".url", test.URL
		err = problem.Under(stepsPath, capability.CheckSettings(&n.Settings))
	}
	return urlPath, stepsPath, warnings, err
}

// ofLine is an error of code, whose place is a line.
func ofLine(path string, err error) error {
	var wrong *step.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Path == "" {
		return problem.Member(path, wrong.Msg)
	}
	return problem.Member(path, wrong.Path+": "+wrong.Msg)
}

const firstMatchWarning = "a selector that finds several elements takes the first, as in Selenium IDE: runSettings.strict is false"

// strictOfSide is the strictness of a project's test: Selenium IDE takes the first of
// several elements, so its tests do too, unless the body says otherwise.
func (in *importBody) strictOfSide() (*bool, error) {
	var own settings.Body
	if in.RunSettings.Given() {
		if err := in.RunSettings.Decode(settings.Path, &own); err != nil {
			return nil, err
		}
	}
	given, err := request.Value(own.Strict, settings.Path+".strict", false)
	if err != nil {
		return nil, err
	}
	if strict := request.Or(given, false); !strict {
		return &strict, nil
	}
	return nil, nil
}

// readSide reads a Selenium IDE project.
func readSide(d request.Document, which string) (*recording.Test, error) {
	text, err := d.ObjectOrText("side")
	if err != nil {
		return nil, err
	}
	test, err := seleniumide.Import(text, which)
	return test, problem.Under("side", err)
}
