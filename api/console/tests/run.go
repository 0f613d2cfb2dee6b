package tests

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
	"github.com/slipway-qa/slipway/storage/live"
)

// caseRun is a run of a case.
type caseRun struct {
	ID           string `json:"id"`
	Build        string `json:"build"`
	CreationDate string `json:"creationDate"`
	Jobs         []job  `json:"jobs"`
	TestCaseID   string `json:"testCaseId"`
	TestCaseName string `json:"testCaseName"`
	TestURL      string `json:"testUrl"`
	Status       string `json:"status"`
	RevisionID   string `json:"revisionId"`
	SuiteRunID   string `json:"suiteRunId"`
	SCTunnelName string `json:"scTunnelName"`
	Environment  string `json:"environment"`
	span
	Healed     int         `json:"healed"`
	Drifted    int         `json:"drifted"`
	Unreviewed int         `json:"unreviewed"`
	Flaky      int         `json:"flaky"`
	JobCount   int         `json:"jobCount"`
	Counts     counts      `json:"counts"`
	Quarantine *quarantine `json:"quarantine"`
	Pinned     *pinned     `json:"pinned"`
	Login      bool        `json:"login"`
	repeated
}

// Failed reports whether there is something that failed to run again.
func (r *caseRun) Failed() bool {
	return slices.ContainsFunc(r.Jobs, func(j job) bool { return j.Status == "FAILED" || j.Status == "ERROR" })
}

// span is when something began and ended.
type span struct {
	StartDate string `json:"startDate"`
	EndDate   string `json:"endDate"`
}

// Took is how long it ran; nil before its end.
func (s span) Took() any {
	began, err := time.Parse(time.RFC3339, s.StartDate)
	if err != nil {
		return nil
	}
	ended, err := time.Parse(time.RFC3339, s.EndDate)
	if err != nil {
		return nil
	}
	return ended.Sub(began)
}

// job is the run on one target.
type job struct {
	ID     string      `json:"id"`
	Target step.Target `json:"target"`
	Name   string      `json:"name"`
	Status string      `json:"status"`
	Error  *failure    `json:"error"`
	Row    *jobRow     `json:"row"`
	span
	Healed     int `json:"healed"`
	Drifted    int `json:"drifted"`
	Unreviewed int `json:"unreviewed"`
	// CurrentStep is the number of the step that is done now, from 1; 0 when none is.
	CurrentStep int      `json:"currentStep"`
	Steps       []record `json:"steps"`
	Files       []file   `json:"files"`
	// Attempts are all of them, where there are several.
	Attempts []attempt `json:"attempts"`
	diagnosis
}

// failure says why a job has not passed.
type failure struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// file is a stored file of a job. Step counts from 0.
type file struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Step int    `json:"step"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

// Picture reports whether the file is one.
func (f file) Picture() bool {
	return slices.Contains([]string{"screenshot", "expected", "actual", "difference", "finding"}, f.Kind)
}

// Text says what the file has.
func (f file) Text() string {
	switch f.Kind {
	case "console":
		return "Console messages"
	case "source":
		return "Page source"
	}
	return f.Kind
}

// record is what a run found out about a step.
type record struct {
	ID            string       `json:"id"`
	Tool          step.Tool    `json:"tool"`
	Status        string       `json:"status"`
	Result        step.Outcome `json:"result"`
	Healed        *healed      `json:"healed"`
	Suggested     *healed      `json:"suggested"`
	Drifted       *drifted     `json:"drifted"`
	Findings      *findings    `json:"findings"`
	Look          *look        `json:"look"`
	Failure       *stepFailure `json:"failure"`
	HealingID     string       `json:"healingId"`
	Phase         string       `json:"phase"`
	Group         *inGroup     `json:"group"`
	StartMS       int64        `json:"startMs"`
	TookMS        int64        `json:"tookMs"`
	ScreenshotURL string       `json:"screenshotUrl"`
}

// In says in which phase of the test the step stands; "" in its own steps.
func (r *record) In() string {
	switch r.Phase {
	case "setUp":
		return "set-up"
	case "tearDown":
		return "tear-down"
	}
	return ""
}

// healed is the element that a step was, or would have been, healed with.
type healed struct {
	From   step.Selector `json:"from"`
	To     step.Selector `json:"to"`
	Score  float64       `json:"score"`
	Reason string        `json:"reason"`
}

// drifted is another element than the step was recorded with.
type drifted struct {
	Expected described `json:"expected"`
	Found    described `json:"found"`
	Reason   string    `json:"reason"`
	Acted    bool      `json:"acted"`
}

// described is an element in words.
type described struct {
	Role string   `json:"role"`
	Name string   `json:"name"`
	Row  []string `json:"row"`
}

// String is the element as people call it.
func (d described) String() string {
	element := strconv.Quote(d.Name)
	if d.Role != "" {
		element = d.Role + " " + element
	}
	if len(d.Row) > 0 {
		element += " beside " + joined(d.Row)
	}
	return element
}

// Picture is the id of the screenshot of a step of the job; "" without one.
func (j *job) Picture(r record) string { return picture(j.Files, r) }

func picture(files []file, r record) string {
	for _, f := range files {
		if r.ScreenshotURL != "" && f.URL == r.ScreenshotURL {
			return f.ID
		}
	}
	return ""
}

// Newest is the id of the newest screenshot of a job that runs; "" without one.
func (j *job) Newest() string {
	if j.CurrentStep == 0 {
		return ""
	}
	for i := len(j.Steps) - 1; i >= 0; i-- {
		if id := j.Picture(j.Steps[i]); id != "" {
			return id
		}
	}
	return ""
}

// Trace is the job's trace; nil without one.
func (j *job) Trace() *file { return traceOf(j.Files) }

func traceOf(files []file) *file {
	for i := range files {
		if files[i].Kind == "trace" {
			return &files[i]
		}
	}
	return nil
}

// Texts are the files that are neither pictures nor the trace.
func (j *job) Texts() (texts []file) {
	for _, f := range j.Files {
		if !f.Picture() && f.Kind != "trace" {
			texts = append(texts, f)
		}
	}
	return texts
}

// runs reports whether a state is one before the end.
func runs(status string) bool {
	return status == "QUEUED" || status == "RUNNING" || status == "IN_PROGRESS"
}

// runPath is the path in the interface of the run that the page's path names.
func runPath(c *gin.Context) string { return casePath(c) + "/runs/" + frame.Segment(c, "run") }

// chosenTargets are those that a form asks for: some of the case's, or one that it describes.
// nil leaves it to the case.
func chosenTargets(c *gin.Context, of []step.Target) (targets []any, fault string) {
	described, fault := describedTarget(c)
	if fault != "" {
		return nil, fault
	}
	if described != nil {
		return []any{described}, ""
	}
	for _, at := range c.PostFormArray("target") {
		if i, err := strconv.Atoi(at); err == nil && i >= 0 && i < len(of) {
			targets = append(targets, map[string]any{"capabilities": of[i].Capabilities, "isRdc": of[i].IsRDC})
		}
	}
	if len(targets) == len(of) {
		return nil, ""
	}
	return targets, ""
}

func (p *Pages) runCase(c *gin.Context) error {
	back := p.Back(c, "/tests/cases/"+frame.Segment(c, "id"))
	of, err := get[testCase](p, c, casePath(c), nil)
	if err != nil {
		return err
	}
	targets, fault := chosenTargets(c, of.RunSettings.RunTargets)
	if fault != "" {
		return p.Refused(c, back, wrong(fault))
	}
	body := map[string]any{"buildName": field(c, "build")}
	if name := field(c, "environment"); name != "" {
		body["environment"] = name
	}
	if targets != nil {
		body["targets"] = targets
	}
	for _, place := range words(field(c, "rows")) {
		row, err := strconv.Atoi(place)
		if err != nil {
			return p.Refused(c, back, wrong("Data rows are numbers from 0, with commas between them: 0, 3"))
		}
		chosen, _ := body["rows"].([]int)
		body["rows"] = append(chosen, row)
	}
	path := casePath(c) + "/run"
	if revision := field(c, "revision"); revision != "" {
		path += "/" + url.PathEscape(revision)
	}
	return p.started(c, back, path, body)
}

// started starts a run and leads to its page.
func (p *Pages) started(c *gin.Context, back, path string, body map[string]any) error {
	run, err := post[caseRun](p, c, path, body)
	if err != nil {
		return p.Refused(c, back, err)
	}
	return p.Done(c, "/tests/cases/"+run.TestCaseID+"/runs/"+run.ID, "The run was started.")
}

// repeatCaseRun runs the same revision on the same targets again, in the same environment.
func (p *Pages) repeatCaseRun(c *gin.Context) error {
	was, err := get[caseRun](p, c, runPath(c), url.Values{"jobsLimit": {"500"}})
	if err != nil {
		return err
	}
	targets, rows := was.sameAgain()
	body := map[string]any{"buildName": was.Build, "targets": targets, "scTunnelName": orNull(was.SCTunnelName)}
	if rows != nil {
		body["rows"] = rows
	}
	if was.Environment != "" {
		body["environment"] = was.Environment
	}
	return p.started(c, p.Back(c, "/tests/cases/"+was.TestCaseID), casePath(c)+"/run/"+url.PathEscape(was.RevisionID), body)
}

func (p *Pages) cancelCaseRun(c *gin.Context) error {
	err := p.do(c, http.MethodPost, runPath(c)+"/cancel", nil)
	return p.End(c, "/tests/cases/"+frame.Segment(c, "id")+"/runs/"+frame.Segment(c, "run"), "The run was cancelled.", err)
}

// caseRunsData is the list of a case's runs.
type caseRunsData struct {
	rows[caseRun]
	ID, Name string
	Filtered bool
}

func (p *Pages) caseRuns(c *gin.Context) (err error) {
	q := filters(c)
	data := caseRunsData{ID: c.Param("id"), Filtered: len(q) > 0}
	of, err := get[named](p, c, casePath(c), nil)
	if err != nil {
		return err
	}
	data.Name = of.Name
	if data.rows, err = read[caseRun](p, c, casePath(c)+"/runs", q); err != nil {
		return err
	}
	topics := append(liveRuns(data.Items), live.Of(live.CaseRuns, of.ID))
	return p.show(c, "runs", data.Fault, frame.Page{Title: "Runs", Live: topics, Data: data})
}

// liveRuns are the runs that have not ended.
func liveRuns(list []caseRun) (topics []live.Topic) {
	for i := range list {
		if runs(list[i].Status) {
			topics = append(topics, live.Of(live.Run, list[i].ID))
		}
	}
	return topics
}

// caseRunData is the page of a run.
type caseRunData struct {
	Run      *caseRun
	Status   string // that the jobs have; "": any
	Pager    *frame.Pager
	Compared map[string]*compared // by the job that failed
	Open     map[string]bool      // healings that nobody has decided
}

// Going reports whether the run has not ended.
func (d caseRunData) Going() bool { return runs(d.Run.Status) }

func (p *Pages) caseRun(c *gin.Context) error {
	run, pager, err := p.jobsOf(c)
	if err != nil {
		return err
	}
	data := caseRunData{Run: &run, Status: c.Query("status"), Pager: pager, Open: map[string]bool{}}
	if slices.ContainsFunc(run.Jobs, func(j job) bool {
		return slices.ContainsFunc(j.Steps, func(r record) bool { return r.HealingID != "" })
	}) {
		open, err := get[list[healing]](p, c, casePath(c)+"/healings", url.Values{"limit": {most}, "state": {"OPEN"}})
		if err != nil {
			return err
		}
		for _, h := range open.Items {
			data.Open[h.ID] = true
		}
	}
	if data.Compared, err = p.compare(c, &run); err != nil {
		return err
	}
	page := frame.Page{Title: "Run of " + run.TestCaseName, Data: data}
	if data.Going() {
		page.Live = []live.Topic{live.Of(live.Run, run.ID)}
	}
	return p.show(c, "run", "", page)
}

// caseReport serves the run as a report for build servers.
func (p *Pages) caseReport(c *gin.Context) error {
	return p.API.Pass(c, authoring+runPath(c), url.Values{"format": {"junit"}})
}
