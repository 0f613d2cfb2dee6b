package tests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// testCase is a case; Revisions are there where one case is read, the newest last.
type testCase struct {
	ID                   string      `json:"id"`
	TeamID               string      `json:"teamId"`
	TestSuiteID          string      `json:"testSuiteId"`
	Name                 string      `json:"name"`
	Tags                 []string    `json:"tags"`
	CreationDate         string      `json:"creationDate"`
	LastUpdateDate       string      `json:"lastUpdateDate"`
	CreatorUserName      string      `json:"creatorUserName"`
	LastModifierUserName string      `json:"lastModifierUserName"`
	RunSettings          runSettings `json:"runSettings"`
	Revisions            []revision  `json:"revisions"`
	Warnings             []string    `json:"warnings"`
	Quarantine           *quarantine `json:"quarantine"`
	Proposed             *quarantine `json:"quarantineProposed"` // without an end
	Data                 *caseRows   `json:"data"`               // nil without data rows
}

// runSettings are how a case runs.
type runSettings struct {
	TestURL       string        `json:"testUrl"`
	SCTunnelName  *string       `json:"scTunnelName"`
	PrimaryTarget step.Target   `json:"primaryTarget"`
	RunTargets    []step.Target `json:"runTargets"`
	LastBuildName string        `json:"lastBuildName"`
	Strict        bool          `json:"strict"`
	Healing       *string       `json:"healing"`
	Drift         *string       `json:"drift"`
	Trace         *string       `json:"trace"`
	Retries       *int          `json:"retries"`
}

// revision is a state of a case's steps.
type revision struct {
	ID               string      `json:"id"`
	Intent           string      `json:"intent"`
	Steps            []step.Step `json:"steps"`
	SetUp            []step.Step `json:"setUp"`
	TearDown         []step.Step `json:"tearDown"`
	DiscoveredIntent string      `json:"discoveredIntent"`
	Description      string      `json:"description"`
	Reasoning        []reason    `json:"reasoning"`
	CreationDate     string      `json:"creationDate"`
}

// reason is a thought of a generation.
type reason struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

// casesData is the list of cases.
type casesData struct {
	rows[testCase]
	Suites   []named
	SuiteOf  map[string]string
	Teams    []named
	Strips   strips
	Statuses []string
	Tags     []string // suggestions: the first of the organization
	Filtered bool
}

func (p *Pages) cases(c *gin.Context) (err error) {
	q := filters(c)
	data := casesData{Filtered: len(q) > 0, Statuses: statuses()}
	if data.rows, err = read[testCase](p, c, "/testcases", q); err != nil {
		return err
	}
	var suites, ids []string
	for _, one := range data.Items {
		ids = append(ids, one.ID)
		if one.TestSuiteID != "" && !slices.Contains(suites, one.TestSuiteID) {
			suites = append(suites, one.TestSuiteID)
		}
	}
	if data.SuiteOf, err = p.suiteNames(c, suites); err != nil {
		return err
	}
	if data.Suites, err = p.suiteChoice(c); err != nil {
		return err
	}
	if data.Teams, err = p.teamChoice(c); err != nil {
		return err
	}
	if data.Strips, err = p.strips(c, "/testcases", ids); err != nil {
		return err
	}
	tags, err := get[list[named]](p, c, "/testcases/tags", url.Values{"limit": {most}})
	if err != nil {
		return err
	}
	for _, tag := range tags.Items {
		data.Tags = append(data.Tags, tag.Name)
	}
	return p.show(c, "cases", data.Fault, frame.Page{Title: "Test cases", Data: data})
}

// casePath is the path in the interface of the case that the page's path names.
func casePath(c *gin.Context) string { return "/testcases/" + frame.Segment(c, "id") }

// caseData is the page of a case.
type caseData struct {
	Case     *testCase
	Suite    string
	Suites   []named
	Revision *revision // the one that is shown
	Latest   bool
	Runs     list[caseRun]
	History  history
	Open     int // healings that nobody has decided
	Code     list[codeTarget]
	Rows     *dataRows // the first; nil without
}

func (p *Pages) testCase(c *gin.Context) error {
	one, err := get[testCase](p, c, casePath(c), filters(c, "revision"))
	if err != nil {
		return err
	}
	slices.Reverse(one.Revisions) // as the page shows them
	data := caseData{Case: &one}
	if data.Revision, data.Latest = chosen(one.Revisions, c.Query("revision")); data.Revision == nil && c.Query("revision") != "" {
		return p.Refused(c, "/tests/cases/"+one.ID, wrong("That revision is not kept any more. These are the newest steps."))
	}
	if data.Suites, err = p.suiteChoice(c); err != nil {
		return err
	}
	if one.TestSuiteID != "" {
		names, err := p.suiteNames(c, []string{one.TestSuiteID})
		if err != nil {
			return err
		}
		data.Suite = names[one.TestSuiteID]
	}
	if data.Runs, err = get[list[caseRun]](p, c, casePath(c)+"/runs", url.Values{"limit": {"5"}}); err != nil {
		return err
	}
	if data.History, err = p.history(c, casePath(c), p.Address("/tests/cases/"+one.ID+"/runs")); err != nil {
		return err
	}
	open, err := get[list[healing]](p, c, casePath(c)+"/healings", url.Values{"limit": {"0"}, "state": {"OPEN"}})
	if err != nil {
		return err
	}
	data.Open = open.Total
	if data.Code, err = get[list[codeTarget]](p, c, casePath(c)+"/code/targets", nil); err != nil {
		return err
	}
	if data.Rows, err = p.firstRows(c, &one); err != nil {
		return err
	}
	return p.show(c, "case", "", frame.Page{Title: one.Name, Data: data})
}

// chosen is the revision with an id, by default the newest.
func chosen(revisions []revision, id string) (found *revision, latest bool) {
	for i := range revisions {
		if id == "" || revisions[i].ID == id {
			return &revisions[i], i == 0
		}
	}
	return nil, false
}

// editData is the form of a case, with what was typed.
type editData struct {
	ID, Name, Tags, TestURL, Tunnel, Healing, Drift, Trace, Retries, Targets, Steps string
	Strict                                                                          bool
	Modes, DriftModes, TraceModes, Numbers                                          []string
	Tunnels                                                                         list[named]
	Fault                                                                           string
	Opened                                                                          string // tells what was stored when the form was opened
}

// givenStep is a step without what a recording found out, as a person changes it.
type givenStep struct {
	ID        string          `json:"id,omitempty"`
	Tool      json.RawMessage `json:"tool"`
	Optional  bool            `json:"optional,omitempty"`
	When      json.RawMessage `json:"when,omitempty"`
	TimeoutMS int             `json:"timeoutMs,omitempty"`
}

// editForm is the form of a case as it is stored.
func (p *Pages) editForm(c *gin.Context) (data editData, err error) {
	answered, err := get[json.RawMessage](p, c, casePath(c), filters(c))
	if err != nil {
		return data, err
	}
	var one testCase
	var given struct {
		Revisions []struct {
			Steps []givenStep `json:"steps"`
		} `json:"revisions"`
	}
	if err := errors.Join(json.Unmarshal(answered, &one), json.Unmarshal(answered, &given)); err != nil {
		return data, fmt.Errorf("read a case: %w", err)
	}
	settings := &one.RunSettings
	data = editData{ID: one.ID, Name: one.Name, Tags: joined(one.Tags), TestURL: settings.TestURL, Tunnel: text(settings.SCTunnelName),
		Healing: text(settings.Healing), Drift: text(settings.Drift), Trace: text(settings.Trace),
		Retries: numberText(settings.Retries), Strict: settings.Strict}
	if data.Targets, err = indented(primaryFirst(settings)); err != nil {
		return data, err
	}
	steps := []givenStep{}
	if n := len(given.Revisions); n > 0 {
		steps = given.Revisions[n-1].Steps
	}
	data.Steps, err = indented(steps)
	return data, err
}

// primaryFirst are the targets to run on, of which the first is the primary one.
func primaryFirst(s *runSettings) []step.Target {
	targets := slices.Clone(s.RunTargets)
	if len(s.PrimaryTarget.Capabilities) == 0 {
		return targets
	}
	at := slices.IndexFunc(targets, func(t step.Target) bool { return t.Name() == s.PrimaryTarget.Name() })
	if at > 0 {
		targets = slices.Insert(slices.Delete(targets, at, at+1), 0, s.PrimaryTarget)
	}
	return targets
}

func (p *Pages) editCase(c *gin.Context) error {
	data, err := p.editForm(c)
	if err != nil {
		return err
	}
	return p.showEdit(c, data)
}

// digest tells whether what the form was opened on is still what is stored.
func (d editData) digest() string {
	sum := sha256.Sum256(fmt.Append(nil, d.Name, "\n", d.Tags, "\n", d.TestURL, "\n", d.Tunnel, d.Healing, d.Drift,
		d.Trace, d.Retries, d.Strict, "\n", d.Targets, "\n", d.Steps))
	return hex.EncodeToString(sum[:12])
}

func (p *Pages) showEdit(c *gin.Context, data editData) (err error) {
	if data.Opened == "" {
		data.Opened = data.digest()
	}
	data.Modes, data.DriftModes, data.TraceModes = []string{"off", "suggest", "apply"}, []string{"off", "report", "fail"}, traceModes()
	data.Numbers = retryNumbers()
	if data.Tunnels, err = p.tunnelChoice(c); err != nil {
		return err
	}
	return p.show(c, "edit", data.Fault, frame.Page{Title: "Edit " + data.Name, Data: data})
}

// changeCase sends what the form changes: steps and targets that are what they were stay.
func (p *Pages) changeCase(c *gin.Context) error {
	stored, err := p.editForm(c)
	if err != nil {
		return err
	}
	data := editData{ID: stored.ID, Name: field(c, "name"), Tags: field(c, "tags"), TestURL: field(c, "url"), Tunnel: field(c, "tunnel"),
		Healing: field(c, "healing"), Drift: field(c, "drift"), Trace: field(c, "trace"), Retries: field(c, "retries"),
		Targets: c.PostForm("targets"), Steps: c.PostForm("steps"),
		Strict: c.PostForm("strict") != ""}
	settings := map[string]any{"testUrl": orNull(data.TestURL), "scTunnelName": orNull(data.Tunnel), "strict": data.Strict,
		"healing": orNull(data.Healing), "drift": orNull(data.Drift), "trace": orNull(data.Trace)}
	if data.Fault = retriesIn(settings, data.Retries); data.Fault != "" {
		return p.showEdit(c, data)
	}
	body := map[string]any{"name": data.Name, "tags": words(data.Tags), "runSettings": settings}
	data.Opened = stored.digest()
	if opened := c.PostForm("opened"); opened != "" && opened != data.Opened {
		data.Fault = "The test was changed since this form was opened: look at the test first. Saving once more replaces that by what stands here."
		return p.showEdit(c, data)
	}
	if data.Fault = over(settings, stored.Targets, data.Targets, "runTargets", "The targets"); data.Fault == "" {
		data.Fault = over(body, stored.Steps, data.Steps, "steps", "The steps")
	}
	if data.Fault != "" {
		return p.showEdit(c, data)
	}
	if targets, ok := settings["runTargets"].(json.RawMessage); ok {
		settings["primaryTarget"] = first(targets)
	}
	changed, err := post[testCase](p, c, casePath(c), body)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showEdit(c, data)
	}
	return p.Done(c, "/tests/cases/"+changed.ID, said("The test was changed.", changed.Warnings))
}

// over sets the member of a body to the JSON that was typed, unless it says what is stored.
// The fault says where it is no JSON.
func over(body map[string]any, stored, typed, member, what string) (fault string) {
	compact, fault := readJSON(typed, what)
	if fault != "" {
		return fault
	}
	if was, _ := readJSON(stored, what); string(was) != string(compact) {
		body[member] = compact
	}
	return ""
}

// first is the first element of an array, null where there is none.
func first(array json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(array, &all) != nil || len(all) == 0 {
		return json.RawMessage("null")
	}
	return all[0]
}

func (p *Pages) renameCase(c *gin.Context) error {
	err := p.do(c, http.MethodPost, casePath(c)+"/rename", map[string]any{"name": field(c, "name")})
	return p.End(c, p.Back(c, "/tests"), "The test was renamed.", err)
}

func (p *Pages) duplicateCase(c *gin.Context) error {
	body := map[string]any{}
	if name := field(c, "name"); name != "" {
		body["name"] = name
	}
	made, err := post[testCase](p, c, casePath(c)+"/duplicate", body)
	if err != nil {
		return p.Refused(c, p.Back(c, "/tests"), err)
	}
	return p.Done(c, "/tests/cases/"+made.ID, "This is the copy.")
}

func (p *Pages) deleteCase(c *gin.Context) error {
	if err := p.do(c, http.MethodDelete, casePath(c), nil); err != nil {
		return p.Refused(c, p.Back(c, "/tests"), err)
	}
	return p.Done(c, "/tests", "The test was deleted.")
}

// moveCase puts a case into a suite, or takes it out of its own.
func (p *Pages) moveCase(c *gin.Context) error {
	back, to := p.Back(c, "/tests"), field(c, "suite")
	change, suite, notice := "addTestCases", to, "The test is in the suite."
	if to == "" {
		change, suite, notice = "removeTestCases", field(c, "from"), "The test is in no suite."
	}
	if suite == "" {
		return p.Done(c, back, notice)
	}
	err := p.do(c, http.MethodPost, "/testsuites/"+url.PathEscape(suite), map[string]any{change: []string{c.Param("id")}})
	return p.End(c, back, notice, err)
}

func (p *Pages) restoreRevision(c *gin.Context) error {
	err := p.do(c, http.MethodPost, casePath(c)+"/revisions/"+frame.Segment(c, "revision")+"/restore", map[string]any{})
	return p.End(c, "/tests/cases/"+frame.Segment(c, "id"), "The steps are as they were then, in a new revision.", err)
}

// file serves a picture, or another file of a run: the interface leads to a signed link.
func (p *Pages) file(c *gin.Context) error {
	return p.API.Pass(c, authoring+"/files/"+frame.Segment(c, "id"), filters(c))
}
