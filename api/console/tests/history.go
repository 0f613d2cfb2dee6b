package tests

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
	"github.com/slipway-qa/slipway/storage/live"
)

// past is a run of a case or a suite as its history has it.
type past struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	Build        string `json:"build"`
	CreationDate string `json:"creationDate"`
	DurationMS   *int64 `json:"durationMs"`
	Healed       int    `json:"healed"`
	Changed      bool   `json:"changed"`
	// What follows is of the history of one case or suite.
	Attempts    int     `json:"attempts"`
	Flaky       int     `json:"flaky"`
	BuildID     int64   `json:"buildId"`
	Version     string  `json:"version"`
	Commit      string  `json:"commit"`
	Environment string  `json:"environment"`
	Pinned      *pinned `json:"pinned"`
}

// title says of a run what its mark does not.
func (r *past) title() string {
	text := r.CreationDate
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		text = at.UTC().Format("2006-01-02 15:04 UTC")
	}
	if r.Build != "" {
		text += ", " + r.Build
	}
	return text
}

// mark is the run in a strip.
func (r *past) mark(link string) frame.Mark {
	return frame.Mark{State: r.Status, Healed: r.Healed > 0, Changed: r.Changed, Title: r.title(), Link: link}
}

// Day is when the run was asked for, as the head of a narrow column.
func (r *past) Day() string {
	if at, err := time.Parse(time.RFC3339, r.CreationDate); err == nil {
		return at.UTC().Format("01-02")
	}
	return "–"
}

// Title says what the run was.
func (r *past) Title() string { return strings.ToLower(r.Status) + ": " + r.title() }

// summary is what the runs of a history say together.
type summary struct {
	Runs         int      `json:"runs"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Error        int      `json:"error"`
	Cancelled    int      `json:"cancelled"`
	Open         int      `json:"open"`
	Healed       int      `json:"healed"`
	Compared     int      `json:"compared"`
	Changed      int      `json:"changed"`
	FlakyShare   *float64 `json:"flakyShare"`
	MeanMS       *int64   `json:"meanMs"`
	P95MS        *int64   `json:"p95Ms"`
	LastGood     *past    `json:"lastGood"`
	FailingSince *past    `json:"failingSince"`
	PassRate     *float64 `json:"passRate"`
	Flaky        int      `json:"flaky"`
	Flakiness    struct {
		Builds     int      `json:"builds"`
		BuildNames int      `json:"buildNames"`
		Days       int      `json:"days"`
		Both       int      `json:"both"`
		Share      *float64 `json:"share"`
	} `json:"flakiness"`
	Cases *struct {
		Runs     int       `json:"runs"`
		Slowest  []caseSum `json:"slowest"`
		Flakiest []caseSum `json:"flakiest"`
	} `json:"cases"`
}

// caseSum is what a case did in the runs of its suite.
type caseSum struct {
	TestCaseID   string `json:"testCaseId"`
	TestCaseName string `json:"testCaseName"`
	Runs         int    `json:"runs"`
	Failed       int    `json:"failed"`
	Groups       int    `json:"groups"`
	Both         int    `json:"both"`
	MeanMS       int64  `json:"meanMs"`
	P95MS        int64  `json:"p95Ms"`
}

// Groups says what the runs were compared within.
func (s summary) Groups() string {
	var parts []string
	for _, of := range []struct {
		n         int
		one, many string
	}{{s.Flakiness.Builds, "build", "builds"}, {s.Flakiness.BuildNames, "name of a build", "names of builds"},
		{s.Flakiness.Days, "day without a build", "days without a build"}} {
		switch of.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+of.one)
		default:
			parts = append(parts, strconv.Itoa(of.n)+" "+of.many)
		}
	}
	return strings.Join(parts, ", ")
}

// history are the newest runs of a case or suite. At is the address below which they are.
type history struct {
	Summary summary `json:"summary"`
	Items   []past  `json:"items"`
	More    bool    `json:"more"`
	At      string  `json:"-"`
}

// Marks are the runs in a strip, each with its link.
func (h history) Marks() []frame.Mark {
	marks := make([]frame.Mark, len(h.Items))
	for i := range h.Items {
		marks[i] = h.Items[i].mark(h.At + "/" + h.Items[i].ID)
	}
	return marks
}

// Durations are the runs that have ended as bars, the oldest first.
func (h history) Durations() template.HTML {
	var bars []frame.Bar
	for i := len(h.Items) - 1; i >= 0; i-- {
		r := &h.Items[i]
		if r.DurationMS == nil {
			continue
		}
		series := 5
		switch r.Status {
		case "PASSED":
			series = 2
		case "FAILED", "ERROR":
			series = 1
		}
		bars = append(bars, frame.Bar{Label: r.title(), Link: h.At + "/" + r.ID,
			Parts: []frame.Part{{Series: series, Name: strings.ToLower(r.Status), Value: *r.DurationMS}}})
	}
	if len(bars) < 2 { // one bar is no trend
		return ""
	}
	return frame.Bars("Duration of each run in milliseconds", bars)
}

// history reads the history at a path, whose runs are below an address.
func (p *Pages) history(c *gin.Context, path, at string) (history, error) {
	h, err := get[history](p, c, path+"/history", nil)
	h.At = at
	return h, err
}

// strips are the newest runs of the rows of a page, by the ids of these.
type strips map[string][]past

// Of are the runs of a row in a strip. They are no links: a page would have hundreds.
func (s strips) Of(id string) []frame.Mark {
	marks := make([]frame.Mark, len(s[id]))
	for i := range s[id] {
		marks[i] = s[id][i].mark("")
	}
	return marks
}

// Last is the newest run of a row; nil without one.
func (s strips) Last(id string) *past {
	if len(s[id]) == 0 {
		return nil
	}
	return &s[id][0]
}

// matrixRuns is how many columns a matrix has: its cells are hundreds.
const matrixRuns = "15"

// strips reads the histories of all rows of a page at once. The path is that of the list.
func (p *Pages) strips(c *gin.Context, path string, ids []string) (strips, error) {
	found := strips{}
	if len(ids) == 0 {
		return found, nil
	}
	read, err := get[list[struct {
		ID   string `json:"id"`
		Runs []past `json:"runs"`
	}]](p, c, path+"/history", url.Values{"ids": ids})
	for _, one := range read.Items {
		found[one.ID] = one.Runs
	}
	return found, err
}

// matrix is what became of the cases of a suite in its newest runs.
type matrix struct {
	Runs  []past `json:"runs"`
	Items []struct {
		TestCaseID   string  `json:"testCaseId"`
		TestCaseName string  `json:"testCaseName"`
		Results      []*past `json:"results"`
	} `json:"items"`
	Total int `json:"total"`
}

// Mark draws a cell.
func (r *past) Mark() template.HTML { return frame.OneMark(r.mark("")) }

// Words say what a cell is: the case, and when it ran.
func (m matrix) Words(name string, column int, r *past) string {
	words := strings.ToLower(r.Status)
	if r.Healed > 0 {
		words = fmt.Sprintf("%s, %d healed", words, r.Healed)
	}
	return name + ", " + m.Runs[column].title() + ": " + words
}

// matrix reads the page of the matrix that shows the cases of the page's list.
func (p *Pages) matrix(c *gin.Context) (matrix, error) {
	return get[matrix](p, c, suitePath(c)+"/matrix", url.Values{"runs": {matrixRuns}, "limit": {strconv.Itoa(perPage)},
		"skip": {strconv.Itoa((pageNumber(c) - 1) * perPage)}})
}

// statuses are those of runs, for a choice.
func statuses() []string {
	return []string{"PASSED", "FAILED", "ERROR", "CANCELLED", "RUNNING", "QUEUED"}
}

// allRunsData is the list of the runs of all cases.
type allRunsData struct {
	rows[caseRun]
	Statuses []string
	Filtered bool
	May      bool // start runs
}

func (p *Pages) allRuns(c *gin.Context) (err error) {
	q := filters(c)
	data := allRunsData{Filtered: len(q) > 0, Statuses: statuses(), May: frame.May(c, auth.RunTests)}
	if data.rows, err = read[caseRun](p, c, "/runs", q); err != nil {
		return err
	}
	return p.show(c, "allruns", data.Fault, frame.Page{Title: "Test runs", Live: append(liveRuns(data.Items), live.List(live.Runs)),
		Data: data})
}

// listedGeneration is a generation of the list.
type listedGeneration struct {
	TaskID         string   `json:"taskId"`
	Status         string   `json:"status"`
	Name           string   `json:"name"`
	Intent         string   `json:"intent"`
	TestCaseID     string   `json:"testCaseId"`
	BaseTestCaseID string   `json:"baseTestCaseId"`
	Error          *failure `json:"error"`
	CreationDate   string   `json:"creationDate"`
	span
}

// generationsData is the list of generations.
type generationsData struct {
	rows[listedGeneration]
	Statuses []string
	Filtered bool
}

func (p *Pages) generations(c *gin.Context) (err error) {
	q := filters(c)
	data := generationsData{Filtered: len(q) > 0, Statuses: []string{"QUEUED", "IN_PROGRESS", "COMPLETED", "FAILED"}}
	if data.rows, err = read[listedGeneration](p, c, "/testcases/generate", q); err != nil {
		return err
	}
	topics := []live.Topic{live.List(live.Generations)}
	for i := range data.Items {
		if runs(data.Items[i].Status) {
			topics = append(topics, live.Of(live.Generation, data.Items[i].TaskID))
		}
	}
	return p.show(c, "generations", data.Fault, frame.Page{Title: "Generations", Live: topics, Data: data})
}

// compared is a job that has not passed beside the last good one.
type compared struct {
	JobID string `json:"jobId"`
	Good  *struct {
		RunID        string `json:"runId"`
		JobID        string `json:"jobId"`
		Build        string `json:"build"`
		RevisionID   string `json:"revisionId"`
		CreationDate string `json:"creationDate"`
		SameSteps    bool   `json:"sameSteps"`
	} `json:"good"`
	Steps []beside `json:"steps"`
}

// beside is a step in both runs.
type beside struct {
	Number  int      `json:"-"`
	Differs []string `json:"differs"`
	Then    *record  `json:"then"`
	Now     *record  `json:"now"`
}

// Step is the step as the newer run had it, if it had.
func (b beside) Step() *record {
	if b.Now != nil {
		return b.Now
	}
	return b.Then
}

// Picture is the id of the screenshot of a step; "" without one.
func (r *record) Picture() string {
	if r == nil {
		return ""
	}
	return step.FileOf(r.ScreenshotURL)
}

// Differing are the steps that differ, without those that the run did not reach.
func (d *compared) Differing() (list []beside) {
	failed := false
	for _, pair := range d.Steps {
		if len(pair.Differs) > 0 && !pair.unreached(failed) {
			list = append(list, pair)
		}
		failed = failed || pair.Now != nil && pair.Now.Status == "FAILED"
	}
	return list
}

// Unreached counts the steps that the run did not reach, since one before them had failed.
func (d *compared) Unreached() (n int) {
	failed := false
	for _, pair := range d.Steps {
		if pair.unreached(failed) {
			n++
		}
		failed = failed || pair.Now != nil && pair.Now.Status == "FAILED"
	}
	return n
}

func (b beside) unreached(failed bool) bool {
	return failed && b.Now != nil && b.Now.Status == "SKIPPED"
}

// compare reads what differs from the last good runs, by the jobs of a run that failed.
func (p *Pages) compare(c *gin.Context, of *caseRun) (map[string]*compared, error) {
	by := map[string]*compared{}
	if of.Status != "FAILED" && of.Status != "ERROR" {
		return by, nil
	}
	found, err := get[list[compared]](p, c, runPath(c)+"/comparison", nil)
	for i := range found.Items {
		one := &found.Items[i]
		for k := range one.Steps {
			one.Steps[k].Number = k + 1
		}
		by[one.JobID] = one
	}
	return by, err
}
