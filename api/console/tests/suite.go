package tests

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
	"github.com/slipway-qa/slipway/storage/live"
)

// suite is a test suite. RunCount is there where one suite is read.
type suite struct {
	ID                   string      `json:"id"`
	TeamID               string      `json:"teamId"`
	Name                 string      `json:"name"`
	Tags                 []string    `json:"tags"`
	CreationDate         string      `json:"creationDate"`
	LastUpdate           string      `json:"lastUpdate"`
	CreatorUserName      string      `json:"creatorUserName"`
	LastModifierUserName string      `json:"lastModifierUserName"`
	Healing              *string     `json:"healing"`
	Drift                *string     `json:"drift"`
	Trace                *string     `json:"trace"`
	Retries              *int        `json:"retries"`
	DefaultEnvironment   *string     `json:"defaultEnvironment"`
	TestCaseCount        int         `json:"testCaseCount"`
	RunCount             int         `json:"runCount"`
	SetUp                []step.Step `json:"setUp"`
	TearDown             []step.Step `json:"tearDown"`
	MaxDuration          *int        `json:"maxDuration"`
	// Filter is there where the suite has no tests of its own.
	Filter    *suiteFilter        `json:"filter"`
	Order     []string            `json:"order"`
	DependsOn map[string][]string `json:"dependsOn"`
	Login     *login              `json:"login"`
}

// HealingMode is the suite's mode of healing; "" for that of the organization.
func (s *suite) HealingMode() string { return text(s.Healing) }

// DriftMode is the suite's mode of drift, likewise.
func (s *suite) DriftMode() string { return text(s.Drift) }

// TraceMode is the suite's mode of traces, likewise.
func (s *suite) TraceMode() string { return text(s.Trace) }

// traceModes are the modes of traces.
func traceModes() []string { return []string{"off", "on_failure", "on"} }

// RetryNumber is the suite's number of retries, likewise.
func (s *suite) RetryNumber() string { return numberText(s.Retries) }

// EnvironmentName is that of runs of the suite that name none; "" for none.
func (s *suite) EnvironmentName() string { return text(s.DefaultEnvironment) }

// suitesData is the list of suites.
type suitesData struct {
	rows[suite]
	Teams    []named
	Strips   strips
	Filtered bool
}

func (p *Pages) suites(c *gin.Context) (err error) {
	q := filters(c)
	data := suitesData{Filtered: len(q) > 0}
	if data.rows, err = read[suite](p, c, "/testsuites", q); err != nil {
		return err
	}
	var ids []string
	for i := range data.Items {
		ids = append(ids, data.Items[i].ID)
	}
	if data.Strips, err = p.strips(c, "/testsuites", ids); err != nil {
		return err
	}
	if data.Teams, err = p.teamChoice(c); err != nil {
		return err
	}
	return p.show(c, "suites", data.Fault, frame.Page{Title: "Test suites", Data: data})
}

func (p *Pages) createSuite(c *gin.Context) error {
	made, err := post[suite](p, c, "/testsuites", map[string]any{"name": field(c, "name"), "tags": words(field(c, "tags"))})
	if err != nil {
		return p.Refused(c, p.Back(c, "/tests/suites"), err)
	}
	return p.Done(c, "/tests/suites/"+made.ID, "The suite was created. Add tests to it.")
}

// suitePath is the path in the interface of the suite that the page's path names.
func suitePath(c *gin.Context) string { return "/testsuites/" + frame.Segment(c, "id") }

// suiteData is the page of a suite. Found are cases that can be added.
type suiteData struct {
	Suite *suite
	rows[testCase]
	Runs                                   list[suiteRun]
	History                                history
	Matrix                                 matrix
	Schedules                              list[named]
	Find                                   string
	Found                                  list[testCase]
	SuiteOf                                map[string]string
	Modes, DriftModes, TraceModes, Numbers []string
}

func (p *Pages) suite(c *gin.Context) error {
	one, err := get[suite](p, c, suitePath(c), filters(c, "find"))
	if err != nil {
		return err
	}
	data := suiteData{Suite: &one, Find: strings.TrimSpace(c.Query("find")),
		Modes: []string{"off", "suggest", "apply"}, DriftModes: []string{"off", "report", "fail"}, TraceModes: traceModes(),
		Numbers: retryNumbers()}
	if data.rows, err = read[testCase](p, c, "/testcases", url.Values{"runBy": {one.ID}}); err != nil {
		return err
	}
	if data.Runs, err = get[list[suiteRun]](p, c, suitePath(c)+"/runs", url.Values{"limit": {"10"}}); err != nil {
		return err
	}
	if data.History, err = p.history(c, suitePath(c), p.Address("/tests/suites/"+one.ID+"/runs")); err != nil {
		return err
	}
	if data.Matrix, err = p.matrix(c); err != nil {
		return err
	}
	data.Schedules, err = get[list[named]](p, c, "/test-schedules", url.Values{"testSuiteIds": {one.ID}, "limit": {most}})
	if err != nil {
		return err
	}
	if err := p.findCases(c, &data); err != nil {
		return err
	}
	return p.show(c, "suite", data.Fault, frame.Page{Title: one.Name, Live: liveSuiteRuns(one.ID, data.Runs.Items), Data: data})
}

// liveSuiteRuns is what runs of a suite wait for: new ones, and changes of those that have not
// ended.
func liveSuiteRuns(suite string, list []suiteRun) []live.Topic {
	topics := []live.Topic{live.Of(live.SuiteRuns, suite)}
	for i := range list {
		if runs(list[i].Status) {
			topics = append(topics, live.Of(live.SuiteRun, list[i].ID))
		}
	}
	return topics
}

// findCases reads the cases that can be added: those whose name has a text, else those of
// no suite.
func (p *Pages) findCases(c *gin.Context, data *suiteData) (err error) {
	q := url.Values{"limit": {most}}
	if data.Find == "" {
		q.Set("testSuiteId", "null")
	} else {
		q.Set("search", data.Find)
	}
	if data.Found, err = get[list[testCase]](p, c, "/testcases", q); err != nil {
		return err
	}
	data.Found.Items = slices.DeleteFunc(data.Found.Items, func(of testCase) bool { return of.TestSuiteID == data.Suite.ID })
	var ids []string
	for _, of := range data.Found.Items {
		if of.TestSuiteID != "" && !slices.Contains(ids, of.TestSuiteID) {
			ids = append(ids, of.TestSuiteID)
		}
	}
	data.SuiteOf, err = p.suiteNames(c, ids)
	return err
}

// changeCases adds cases to a suite, or removes them.
func (p *Pages) changeCases(c *gin.Context, notice string, members ...string) error {
	back, ids := p.Back(c, "/tests/suites/"+frame.Segment(c, "id")), c.PostFormArray("case")
	if len(ids) == 0 {
		return p.Refused(c, back, wrong("Choose at least one test."))
	}
	body := map[string]any{}
	for _, member := range members {
		body[member] = ids
	}
	err := p.do(c, http.MethodPost, suitePath(c), body)
	return p.End(c, back, notice, err)
}

func (p *Pages) addToSuite(c *gin.Context) error {
	return p.changeCases(c, "The tests are in the suite.", "addTestCases")
}

func (p *Pages) removeFromSuite(c *gin.Context) error {
	return p.changeCases(c, "The tests are no longer in the suite.", "removeTestCases", "removeSharedTestCases")
}

func (p *Pages) changeSuite(c *gin.Context) error {
	body := map[string]any{"name": field(c, "name"), "tags": words(field(c, "tags")), "healing": orNull(field(c, "healing")),
		"drift": orNull(field(c, "drift")), "trace": orNull(field(c, "trace"))}
	if fault := retriesIn(body, field(c, "retries")); fault != "" {
		return p.Refused(c, p.Back(c, "/tests/suites"), wrong(fault))
	}
	if err := loginIn(c, body); err != nil {
		return p.Refused(c, p.Back(c, "/tests/suites"), err)
	}
	body["defaultEnvironment"] = orNull(field(c, "environment"))
	err := p.do(c, http.MethodPost, suitePath(c), body)
	return p.End(c, p.Back(c, "/tests/suites"), "The suite was changed.", err)
}

func (p *Pages) deleteSuite(c *gin.Context) error {
	body := map[string]any{"deleteTestCases": c.PostForm("cases") != ""}
	if err := p.do(c, http.MethodDelete, suitePath(c), body); err != nil {
		return p.Refused(c, p.Back(c, "/tests/suites"), err)
	}
	return p.Done(c, "/tests/suites", "The suite was deleted.")
}

// suiteRun is a run of a suite; CaseRuns are there where one is read.
type suiteRun struct {
	ID          string `json:"id"`
	BuildName   string `json:"buildName"`
	Environment string `json:"environment"`
	MaxDuration *int   `json:"maxDuration"`
	// Shard is there where the run is a part of the suite.
	Shard *struct {
		Index int `json:"index"`
		Of    int `json:"of"`
	} `json:"shard"`
	TestSuiteID   string  `json:"testSuiteId"`
	TestSuiteName string  `json:"testSuiteName"`
	Status        string  `json:"status"`
	Error         *string `json:"error"`
	CreationDate  string  `json:"creationDate"`
	span
	Counts     counts    `json:"counts"`
	Healed     int       `json:"healed"`
	Drifted    int       `json:"drifted"`
	Unreviewed int       `json:"unreviewed"`
	CaseRuns   []caseRun `json:"caseRuns"`
	Pinned     *pinned   `json:"pinned"`
	// Groups are the failures by their cause, where one run is read.
	Groups []failureGroup `json:"failureGroups"`
	repeated
}

// Flaky is the number of tests that passed after they had failed.
func (r *suiteRun) Flaky() int { return r.Counts.Flaky }

// Failed reports whether there is something that failed to run again.
func (r *suiteRun) Failed() bool { return r.Counts.Failed+r.Counts.Error+r.Counts.Quarantined > 0 }

// counts count case runs by their state.
type counts struct {
	Total     int `json:"total"`
	Queued    int `json:"queued"`
	Running   int `json:"running"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Error     int `json:"error"`
	Cancelled int `json:"cancelled"`
	// Quarantined have failed and are in no other count; flaky ones are among those that passed.
	Quarantined int `json:"quarantined"`
	Flaky       int `json:"flaky"`
}

// count is the number of case runs in one state.
type count struct {
	Status string
	Number int
}

// ByStatus are the counts in the order of the page.
func (n counts) ByStatus() []count {
	return []count{{"PASSED", n.Passed}, {"FAILED", n.Failed}, {"ERROR", n.Error},
		{"RUNNING", n.Running}, {"QUEUED", n.Queued}, {"CANCELLED", n.Cancelled}}
}

func (p *Pages) runSuite(c *gin.Context) error {
	body := map[string]any{"buildName": field(c, "build")}
	if environment, again := c.GetPostForm("environment"); again { // that of the run, none too, and not the suite's default
		body["environment"] = environment
	} else if chosen := field(c, "in"); chosen != "" {
		body["environment"] = chosen
	}
	run, err := post[suiteRun](p, c, suitePath(c)+"/run", body)
	if err != nil {
		return p.Refused(c, p.Back(c, "/tests/suites"), err)
	}
	return p.Done(c, "/tests/suites/"+run.TestSuiteID+"/runs/"+run.ID, "The run was started.")
}

func (p *Pages) cancelSuiteRun(c *gin.Context) error {
	err := p.do(c, http.MethodPost, suitePath(c)+"/runs/"+frame.Segment(c, "run")+"/cancel", nil)
	return p.End(c, "/tests/suites/"+frame.Segment(c, "id")+"/runs/"+frame.Segment(c, "run"), "The run was cancelled.", err)
}

// suiteRunsData is the list of a suite's runs.
type suiteRunsData struct {
	rows[suiteRun]
	ID, Name string
	Filtered bool
}

func (p *Pages) suiteRuns(c *gin.Context) (err error) {
	q := filters(c)
	data := suiteRunsData{ID: c.Param("id"), Filtered: len(q) > 0}
	of, err := get[named](p, c, suitePath(c), nil)
	if err != nil {
		return err
	}
	data.Name = of.Name
	if data.rows, err = read[suiteRun](p, c, suitePath(c)+"/runs", q); err != nil {
		return err
	}
	return p.show(c, "suiteruns", data.Fault, frame.Page{Title: "Runs", Live: liveSuiteRuns(of.ID, data.Items), Data: data})
}

// suiteRunData is the page of a suite run: a row for each case run, a column for each
// target.
type suiteRunData struct {
	Run     *suiteRun
	Status  string
	Targets []string
	Rows    []matrixRow
	Fault   string
}

// matrixRow is a case run with its jobs by the target; nil where it has none.
type matrixRow struct {
	Run  *caseRun
	Jobs []*job
}

// Going reports whether the run has not ended.
func (d suiteRunData) Going() bool { return runs(d.Run.Status) }

func (p *Pages) suiteRun(c *gin.Context) error {
	run, err := get[suiteRun](p, c, suitePath(c)+"/runs/"+frame.Segment(c, "run"), filters(c, "status"))
	if err != nil {
		return err
	}
	data := suiteRunData{Run: &run, Status: c.Query("status")}
	if !slices.ContainsFunc(run.Counts.ByStatus(), func(n count) bool { return data.Status == "" || n.Status == data.Status }) {
		data.Fault = "This filter was not understood: status is one of PASSED, FAILED, ERROR, RUNNING, QUEUED, CANCELLED."
	}
	data.matrix()
	page := frame.Page{Title: "Run of " + run.TestSuiteName, Data: data}
	if data.Going() {
		page.Live = []live.Topic{live.Of(live.SuiteRun, run.ID)}
	}
	return p.show(c, "suiterun", data.Fault, page)
}

// matrix puts the jobs of the case runs that are shown below their targets.
func (d *suiteRunData) matrix() {
	for i := range d.Run.CaseRuns {
		of := &d.Run.CaseRuns[i]
		if d.Status != "" && of.Status != d.Status {
			continue
		}
		row := matrixRow{Run: of, Jobs: make([]*job, len(d.Targets))}
		for k := range of.Jobs {
			name := of.Jobs[k].Target.Name()
			at := slices.Index(d.Targets, name)
			if at < 0 {
				at = len(d.Targets)
				d.Targets = append(d.Targets, name)
			}
			for len(row.Jobs) <= at {
				row.Jobs = append(row.Jobs, nil)
			}
			if row.Jobs[at] == nil {
				row.Jobs[at] = &of.Jobs[k]
			}
		}
		d.Rows = append(d.Rows, row)
	}
	for i := range d.Rows {
		for len(d.Rows[i].Jobs) < len(d.Targets) {
			d.Rows[i].Jobs = append(d.Rows[i].Jobs, nil)
		}
	}
}

// suiteReport serves the run as a report for build servers.
func (p *Pages) suiteReport(c *gin.Context) error {
	return p.API.Pass(c, authoring+suitePath(c)+"/runs/"+frame.Segment(c, "run"), url.Values{"format": {"junit"}})
}
