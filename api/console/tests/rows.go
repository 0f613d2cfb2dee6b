package tests

import (
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// caseRows are the data rows of a case, without the rows.
type caseRows struct {
	RowCount int    `json:"rowCount"`
	RowName  string `json:"rowName"`
}

// dataRows are the first data rows of a case. Values of secret columns are nil.
type dataRows struct {
	Items   []map[string]*string `json:"items"`
	Total   int                  `json:"total"`
	Columns []string             `json:"columns"`
}

// shownRows is how many data rows the page of a case has.
const shownRows = 10

// firstRows reads the first data rows of a case; nil when it has none.
func (p *Pages) firstRows(c *gin.Context, one *testCase) (*dataRows, error) {
	if one.Data == nil {
		return nil, nil
	}
	found, err := get[dataRows](p, c, casePath(c)+"/data", url.Values{"limit": {strconv.Itoa(shownRows)}})
	if absent(err) {
		return nil, nil // taken away since the case was read
	}
	return &found, err
}

// jobRow is the data row of a job. Values are those of one that failed, nil in secret columns.
type jobRow struct {
	Index  int                `json:"index"`
	Name   string             `json:"name"`
	Values map[string]*string `json:"values"`
}

// jobsPerPage are shown of a run: all of one without data rows.
const jobsPerPage = 20

// jobsOf reads a run with the page of its jobs that the address asks for, by the parameters
// page and status.
func (p *Pages) jobsOf(c *gin.Context) (run caseRun, pager *frame.Pager, err error) {
	page := pageNumber(c)
	q := url.Values{"jobsLimit": {strconv.Itoa(jobsPerPage)}, "jobsSkip": {strconv.Itoa((page - 1) * jobsPerPage)}}
	status := c.Query("status")
	if status != "" {
		q.Set("jobsStatus", status)
	}
	if run, err = get[caseRun](p, c, runPath(c), q); err != nil {
		return run, nil, err
	}
	total := run.JobCount
	for _, n := range run.Counts.ByStatus() {
		if n.Status == status {
			total = n.Number
		}
	}
	if total > jobsPerPage || page > 1 {
		pager = p.Pages(c, page, jobsPerPage, total)
	}
	return run, pager, nil
}

// sameAgain are the targets and the data rows of a run: no rows for one without, and for one
// of more than are read at once, which is run with all rows again.
func (r *caseRun) sameAgain() (targets []any, rows []int) {
	seen := map[int]bool{}
	for _, j := range r.Jobs {
		if j.Row == nil || j.Row.Index == r.Jobs[0].Row.Index {
			targets = append(targets, map[string]any{"capabilities": j.Target.Capabilities, "isRdc": j.Target.IsRDC})
		}
		if j.Row != nil && !seen[j.Row.Index] {
			seen[j.Row.Index], rows = true, append(rows, j.Row.Index)
		}
	}
	if r.JobCount > len(r.Jobs) {
		return targets, nil
	}
	return targets, rows
}
