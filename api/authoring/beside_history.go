package authoring

import (
	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/run"
)

// What follows is for the room of histories.

type (
	// PastView is a run of a case or a suite as its history has it.
	PastView = pastView
	// PinView is who keeps a run, and since when.
	PinView = pinView
	// RowView is a data row of a job.
	RowView = rowView
)

// ViewPast is a run of a history.
func ViewPast(p *run.Past) PastView { return viewPast(p) }

// ViewPin is the pin of a run; nil without one.
func ViewPin(p *run.Pin) *PinView { return viewPin(p) }

// CaseParam reads the id of a case from the path; the error is INVALID_PARAMS.
func CaseParam(c *gin.Context) (string, error) { return caseID(c) }

// InvalidQuery gives the error of a parameter its code.
func InvalidQuery(err error) error { return invalidQuery(err) }

// Narrowed reads what narrows a history: startDate, endDate (creation), buildId, environment (its
// name), skip and limit.
func Narrowed(c *gin.Context) (f run.Filter, err error) {
	q := queryOf(c)
	f = run.Filter{BuildID: q.rowID("buildId"), Environment: q.environment(), Page: q.historyPage()}
	f.From, f.To = q.dates()
	return f, q.err
}
