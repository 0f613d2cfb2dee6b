package testrun

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

const (
	// historyLimit is how many runs a history has unless it says otherwise: as many as a
	// person takes in at a glance. A matrix has no more columns.
	historyLimit = 30
	// maxHistorySkip bounds what a history reads over: the list of runs goes further.
	maxHistorySkip = 10_000
	// maxHistories bounds the ids of one request, as a page of a list does.
	maxHistories = request.MaxLimit
)

// PastView is a run of a case or a suite as its history has it.
type PastView struct {
	ID           uuid.UUID             `json:"id"`
	Status       run.Status            `json:"status"`
	Build        string                `json:"build"`
	RevisionID   string                `json:"revisionId,omitempty"`
	SuiteRunID   *uuid.UUID            `json:"suiteRunId,omitempty"`
	CreationDate string                `json:"creationDate"`
	StartDate    string                `json:"startDate,omitempty"`
	EndDate      string                `json:"endDate,omitempty"`
	DurationMS   *int64                `json:"durationMs,omitempty"`
	Healed       *int                  `json:"healed,omitempty"` // absent where it is not known
	Changed      bool                  `json:"changed"`
	Targets      []settings.TargetView `json:"targets,omitzero"`
}

// ViewPast is how a run of a history is shown.
func ViewPast(p *reading.Past) PastView {
	view := PastView{ID: p.ID, Status: p.Status, Build: p.BuildName, RevisionID: p.RevisionID, SuiteRunID: p.SuiteRunID,
		CreationDate: answer.Stamp(p.CreatedAt), StartDate: answer.StampOnce(p.StartedAt), EndDate: answer.StampOnce(p.FinishedAt),
		Healed: p.Healed, Changed: p.Changed}
	if took, ok := p.Took(); ok {
		ms := took.Milliseconds()
		view.DurationMS = &ms
	}
	for i := range p.Targets {
		view.Targets = append(view.Targets, settings.ViewTarget(&p.Targets[i]))
	}
	return view
}

// historyPage reads the page of a history.
func historyPage(q *request.Query) storage.Page {
	p := storage.Page{Offset: q.Number("skip", 0), Limit: min(q.Number("limit", historyLimit), request.MaxLimit)}
	if p.Offset > maxHistorySkip {
		q.Wrong(&storage.InvalidError{Field: "skip", Msg: fmt.Sprintf("must be at most %d", maxHistorySkip)})
	}
	return p
}

// pastOf are the newest runs of one of several cases or suites.
type pastOf struct {
	ID   string     `json:"id"`
	Runs []PastView `json:"runs"`
}

// viewPasts are the histories in the order of the ids.
func viewPasts(ids []string, found map[string]reading.History) answer.List[pastOf] {
	l := answer.List[pastOf]{Items: make([]pastOf, 0, len(ids)), Total: len(ids)}
	for _, id := range ids {
		one := pastOf{ID: id, Runs: []PastView{}}
		for i := range found[id].Runs {
			one.Runs = append(one.Runs, ViewPast(&found[id].Runs[i]))
		}
		l.Items = append(l.Items, one)
	}
	return l
}

// historyIDs reads the ids of several cases or suites, each once.
func historyIDs(q *request.Query, parse func(text string) (string, error)) []string {
	texts, err := pagination.List(q.Values, "ids")
	q.Wrong(err)
	ids, seen := []string{}, map[string]bool{}
	for _, text := range texts {
		id, err := parse(text)
		q.Wrong(err)
		if !seen[id] {
			seen[id], ids = true, append(ids, id)
		}
	}
	if len(ids) > maxHistories {
		q.Wrong(&storage.InvalidError{Field: "ids", Msg: fmt.Sprintf("must be at most %d", maxHistories)})
	}
	return ids
}

// each reads how many runs of each are asked for.
func each(q *request.Query) int { return min(q.Number("limit", historyLimit), historyLimit) }

// Histories serves GET /testcases/history: the newest runs of several cases, in one
// statement. Parameters: ids (array), limit (of each), endDate (creation).
func (h Runs) Histories(c *gin.Context) error {
	q := request.QueryOf(c)
	ids, most := historyIDs(q, func(text string) (string, error) {
		id, ok := request.ParseHex(text)
		if !ok {
			return "", &storage.InvalidError{Field: "ids", Msg: "must be ids of 24 hexadecimal digits"}
		}
		return id, nil
	}), each(q)
	_, to := q.Dates()
	if q.Err != nil {
		return q.Err
	}
	var found map[string]reading.History
	if len(ids) > 0 {
		var err error
		if found, err = reading.CasesHistory(c.Request.Context(), h.DB, auth.Organization(c), ids, most, to); err != nil {
			return err
		}
	}
	return answer.Data(c, http.StatusOK, viewPasts(ids, found))
}

// Histories serves GET /testsuites/history; parameters as runs.histories. What was healed is
// not known here.
func (h SuiteRuns) Histories(c *gin.Context) error {
	q := request.QueryOf(c)
	ids, most := historyIDs(q, func(text string) (string, error) {
		id, err := request.ParseUUID("ids", text)
		return id.String(), err
	}), each(q)
	if q.Err != nil {
		return q.Err
	}
	var found map[string]reading.History
	if len(ids) > 0 {
		of := make([]uuid.UUID, len(ids))
		for i, id := range ids {
			of[i] = uuid.MustParse(id)
		}
		var err error
		if found, err = reading.SuitesHistory(c.Request.Context(), h.DB, auth.Organization(c), of, most); err != nil {
			return err
		}
	}
	return answer.Data(c, http.StatusOK, viewPasts(ids, found))
}

// matrixView is what became of the cases of a suite in its newest runs.
type matrixView struct {
	Runs  []PastView  `json:"runs"` // the columns, newest first
	Items []matrixRow `json:"items"`
	Total int         `json:"total"` // cases of the suite
}

// matrixRow is a case. Results are in the order of the runs; null: it was not in that one.
type matrixRow struct {
	TestCaseID   string        `json:"testCaseId"`
	TestCaseName string        `json:"testCaseName"`
	Results      []*matrixCell `json:"results"`
}

// matrixCell is the run of a case.
type matrixCell struct {
	ID     uuid.UUID  `json:"id"`
	Status run.Status `json:"status"`
	Healed int        `json:"healed"`
}

// Matrix serves GET /testsuites/{id}/matrix. Parameters: runs (how many; at most 30), skip,
// limit (of the cases).
func (h SuiteRuns) Matrix(c *gin.Context) error {
	q := request.QueryOf(c)
	f := authoring.CaseFilter{OrganizationID: auth.Organization(c), Page: q.Page()}
	most := min(q.Number("runs", historyLimit), historyLimit)
	if q.Err != nil {
		return q.Err
	}
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	if _, err := authoring.SuiteByID(ctx, h.DB, f.OrganizationID, id); err != nil {
		return err
	}
	f.RunBy = &id
	cases, total, err := authoring.Cases(ctx, h.DB, f)
	if err != nil {
		return err
	}
	past, err := reading.NewestOfSuite(ctx, h.DB, f.OrganizationID, id, most)
	if err != nil {
		return err
	}
	runIDs, caseIDs := make([]uuid.UUID, len(past)), make([]string, len(cases))
	for i := range past {
		runIDs[i] = past[i].ID
	}
	for i := range cases {
		caseIDs[i] = cases[i].ID
	}
	cells, err := reading.Cells(ctx, h.DB, f.OrganizationID, runIDs, caseIDs)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewMatrix(past, cases, total, cells))
}

func viewMatrix(past []reading.Past, cases []authoring.Case, total int, cells []reading.Cell) matrixView {
	view := matrixView{Runs: make([]PastView, 0, len(past)), Items: make([]matrixRow, len(cases)), Total: total}
	column, row := map[uuid.UUID]int{}, map[string]int{}
	for i := range past {
		column[past[i].ID] = i
		view.Runs = append(view.Runs, ViewPast(&past[i]))
	}
	for i := range cases {
		row[cases[i].ID] = i
		view.Items[i] = matrixRow{TestCaseID: cases[i].ID, TestCaseName: cases[i].Name, Results: make([]*matrixCell, len(past))}
	}
	for _, cell := range cells {
		view.Items[row[cell.CaseID]].Results[column[cell.SuiteRunID]] = &matrixCell{ID: cell.ID, Status: cell.Status, Healed: cell.Healed}
	}
	return view
}

// All serves GET /runs: the runs of all cases, newest first. Parameters: status, startDate,
// endDate (creation), buildId, environment (its name), browser (browserName of a target), tag (of the case as it is now), skip, limit.
func (h Runs) All(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) reading.AllFilter {
		f := reading.AllFilter{OrganizationID: auth.Organization(c), Status: request.OneOf(q, "status", run.Statuses()...),
			BuildID: q.RowID("buildId"), Environment: environmentNamed(q), Browser: browserNamed(q), Tags: q.Tags(), Page: q.Page()}
		f.From, f.To = q.Dates()
		return f
	}, reading.All, viewRun)
}

// maxBrowser bounds the name of a browser, in characters.
const maxBrowser = 100

// browserNamed reads the name of a browser; "" for all.
func browserNamed(q *request.Query) string {
	name := strings.TrimSpace(q.Values.Get("browser"))
	if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 || utf8.RuneCountInString(name) > maxBrowser {
		q.Wrong(&storage.InvalidError{Field: "browser", Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", maxBrowser)})
		return ""
	}
	return name
}

// Narrowed reads what narrows a history: startDate, endDate (creation), buildId, environment (its
// name), skip and limit.
func Narrowed(c *gin.Context) (f reading.Filter, err error) {
	q := request.QueryOf(c)
	f = reading.Filter{BuildID: q.RowID("buildId"), Environment: environmentNamed(q), Page: historyPage(q)}
	f.From, f.To = q.Dates()
	return f, q.Err
}
