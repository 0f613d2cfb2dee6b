package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/codegen"
	"github.com/slipway-qa/slipway/api/authoring/devtools"
	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// maxIntent bounds intent and description, in characters.
const maxIntent = 20_000

// importBody is a test that is stored without generation. Exactly one of Steps, Side, Playwright
// and ChromeRecorder is given; SideTest chooses a test of the project by name or id.
type importBody struct {
	Name           *string  `json:"name"`
	Intent         string   `json:"intent"`
	Description    string   `json:"description"`
	TeamID         *string  `json:"teamId"`
	TestSuiteID    *string  `json:"testSuiteId"`
	Tags           []string `json:"tags"`
	RunSettings    document `json:"runSettings"`
	Steps          document `json:"steps"`
	SetUp          document `json:"setUp"`
	TearDown       document `json:"tearDown"`
	Side           document `json:"side"`
	SideTest       string   `json:"sideTest"`
	Playwright     *string  `json:"playwright"`
	ChromeRecorder document `json:"chromeRecorder"`
	Data           document `json:"data"`
}

// readImport reads and checks the body of an import. The warnings are for its author.
func (h *room) readImport(c *gin.Context) (n authoring.NewCase, warnings []string, err error) {
	var in importBody
	if err = read(c, &in); err != nil {
		return n, nil, err
	}
	if n, err = h.describe(&in); err != nil {
		return n, nil, err
	}
	if n.Data, err = h.readData(in.Data); err != nil {
		return n, nil, err
	}
	warnOfBuildName(c, in.RunSettings, "")
	if in.SetUp.given() {
		if n.Revision.SetUp, err = h.readList(c, step.SetUp, in.SetUp); err != nil {
			return n, nil, err
		}
	}
	if in.TearDown.given() {
		if n.Revision.TearDown, err = h.readList(c, step.TearDown, in.TearDown); err != nil {
			return n, nil, err
		}
	}
	warnings, err = h.readSteps(c.Request.Context(), &in, &n)
	return n, warnings, err
}

// describe reads everything but the steps.
func (h *room) describe(in *importBody) (n authoring.NewCase, err error) {
	if err = in.check(); err != nil {
		return n, err
	}
	n = authoring.NewCase{Name: *in.Name, Tags: tags(in.Tags),
		Revision: authoring.Revision{Intent: in.Intent, Description: in.Description}}
	if n.Team, err = optionalUUID("teamId", in.TeamID); err != nil {
		return n, err
	}
	if n.SuiteID, err = optionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return n, err
	}
	if n.Settings, err = readSettings(in.RunSettings, h.checkTarget); err != nil {
		return n, err
	}
	return n, h.checkSharedTunnel(&n)
}

// checkSharedTunnel refuses targets that no run could have together. A tunnel of
// the case goes before theirs.
func (h *room) checkSharedTunnel(n *authoring.NewCase) error {
	if n.Settings.SCTunnelName != nil {
		return nil
	}
	resolver := step.Resolver{Vendor: h.cfg.Vendor, Case: n.Name, Primary: n.Settings.PrimaryTarget}
	if resolved := resolver.Resolve(n.Settings.RunTargets, nil); resolved.Conflict {
		return h.differentTunnels(settingsPath+".runTargets", resolved)
	}
	return nil
}

func (in *importBody) check() error {
	if err := required(in.Name); err != nil {
		return err
	}
	for _, m := range []struct{ name, text string }{{"intent", in.Intent}, {"description", in.Description}} {
		if utf8.RuneCountInString(m.text) > maxIntent {
			return member(m.name, fmt.Sprintf("must have at most %d characters", maxIntent))
		}
	}
	given := 0
	for _, is := range []bool{in.Steps.given(), in.Side.given(), in.Playwright != nil, in.ChromeRecorder.given()} {
		if is {
			given++
		}
	}
	if given != 1 {
		return member("steps", "exactly one of steps, side, playwright and chromeRecorder must be given")
	}
	if in.SideTest != "" && !in.Side.given() {
		return member("sideTest", "chooses a test of side, which is not given")
	}
	return nil
}

// readSteps reads the steps of the body or of its project, whose base address
// stands in for a testUrl.
func (h *room) readSteps(ctx context.Context, in *importBody, n *authoring.NewCase) (warnings []string, err error) {
	urlPath, stepsPath := settingsPath+".testUrl", "steps"
	if in.Steps.given() {
		n.Revision.Steps, warnings, err = readGivenSteps("steps", in.Steps)
	} else {
		urlPath, stepsPath, warnings, err = in.readRecording(n)
	}
	if err != nil {
		return nil, err
	}
	if err := step.Validate(n.Revision.Steps); err != nil {
		return nil, under(stepsPath, err)
	}
	if err := step.CheckPlatform(n.Revision.Steps, n.Settings.Targets()); err != nil {
		return nil, under(stepsPath, err)
	}
	return warnings, h.checkAddresses(ctx, urlPath, n.Settings.TestURL, stepsPath, n.Revision.Steps)
}

// readRecording reads what another tool has recorded. It returns where the address of the test
// and its steps come from.
func (in *importBody) readRecording(n *authoring.NewCase) (urlPath, stepsPath string, warnings []string, err error) {
	urlPath = settingsPath + ".testUrl"
	var test *recording.Test
	switch {
	case in.Side.given():
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
		if text, err = in.ChromeRecorder.objectOrText(stepsPath); err == nil {
			test, err = devtools.Read(text)
		}
	}
	if err := under(stepsPath, err); err != nil {
		return "", "", nil, err
	}
	n.Revision.Steps, warnings = test.Steps, append(warnings, test.Warnings...)
	if n.Settings.TestURL == "" {
		urlPath, n.Settings.TestURL = stepsPath+".url", test.URL
		err = under(stepsPath, step.CheckSettings(&n.Settings))
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
		return member(path, wrong.Msg)
	}
	return member(path, wrong.Path+": "+wrong.Msg)
}

const firstMatchWarning = "a selector that finds several elements takes the first, as in Selenium IDE: runSettings.strict is false"

// strictOfSide is the strictness of a project's test: Selenium IDE takes the first of
// several elements, so its tests do too, unless the body says otherwise.
func (in *importBody) strictOfSide() (*bool, error) {
	var settings settingsBody
	if in.RunSettings.given() {
		if err := in.RunSettings.decode(settingsPath, &settings); err != nil {
			return nil, err
		}
	}
	given, err := valueOf(settings.Strict, settingsPath+".strict", false)
	if err != nil {
		return nil, err
	}
	if strict := or(given, false); !strict {
		return &strict, nil
	}
	return nil, nil
}

// givenStep is a step as answers show it. What a recording found out does not come with
// it: result and screenshot are those of another case, and stay there.
type givenStep struct {
	ID            string          `json:"id"`
	Tool          step.Tool       `json:"tool"`
	Optional      bool            `json:"optional"`
	When          *step.Condition `json:"when"`
	TimeoutMS     int             `json:"timeoutMs"`
	Result        *step.Outcome   `json:"result"`
	ScreenshotURL string          `json:"screenshotUrl"`
}

// readGivenSteps reads the list of steps that a body has at a path. The warnings are of what has no effect.
func readGivenSteps(list string, d document) (steps []step.Step, warnings []string, err error) {
	all, err := d.elements(list, step.MaxSteps)
	if err != nil {
		return nil, nil, err
	}
	steps = make([]step.Step, len(all))
	for i, element := range all {
		path := fmt.Sprintf("%s[%d]", list, i)
		if !element.given() {
			return nil, nil, member(path, "must be an object")
		}
		var given givenStep
		if err := element.decode(path, &given); err != nil {
			return nil, nil, err
		}
		steps[i] = step.Step{ID: given.ID, Tool: given.Tool, Optional: given.Optional, When: given.When, TimeoutMS: given.TimeoutMS}
	}
	for _, path := range step.TakeIgnored(steps) {
		warnings = append(warnings, fmt.Sprintf("%s%s has no effect in this matcher and was ignored", list, path))
	}
	return steps, warnings, nil
}

// readSide reads a Selenium IDE project.
func readSide(d document, which string) (*recording.Test, error) {
	text, err := d.objectOrText("side")
	if err != nil {
		return nil, err
	}
	test, err := seleniumide.Import(text, which)
	return test, under("side", err)
}

// objectOrText returns the text of a document that is an object, or of one that a string holds.
func (d document) objectOrText(path string) ([]byte, error) {
	if len(d.text) > 0 && d.text[0] == '"' {
		var text string
		if err := d.decode(path, &text); err != nil {
			return nil, err
		}
		d.text = []byte(text)
	}
	var object map[string]json.RawMessage
	if err := d.decode(path, &object); err != nil {
		return nil, err
	}
	return d.text, nil
}
