// Package overview reads what happened lately in an organization: crashes by day and
// version, groups that are new or came back, the newest builds and suite runs, schedules
// that are due next, tasks that are late or failed, and webhooks that fail.
//
// Each part is read by one or two statements, however many crash projects, apps or rows
// there are, and each statement is served by an index that begins with the organization.
// Numbers of rows are true up to Reach; beyond it a Count says that there are more. A
// failure of one part is the caller's to return: none is shown half.
package overview

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Reach is how far rows are counted, as in the lists that the numbers lead to.
const Reach = storage.CountReach

// Count is a number of rows; not Exact where there are more than Reach.
type Count struct {
	Total int
	Exact bool
}

// counted is what a statement found when it counted up to one more than Reach.
func counted(n int) Count { return Count{Total: min(n, Reach), Exact: n <= Reach} }

// number counts rows of a source.
func number(ctx context.Context, q storage.Querier, what, source string, args ...any) (Count, error) {
	total, err := storage.CountUpTo(ctx, q, Reach, "select "+source, args...)
	return Count{Total: total.Rows, Exact: total.Exact}, storage.Wrap(err, "count "+what)
}

// Times are the moments that the parts refer to.
type Times struct {
	// Now is when the overview is made.
	Now time.Time
	// Since begins yesterday, in UTC: what came after it is new.
	Since time.Time
	// First is the first day of the chart, in UTC; the last is that of Now.
	First time.Time
}

// ChartDays are the days of the chart, today included.
const ChartDays = 14

// At returns the times of an overview that is made now.
func At(now time.Time) Times {
	now = now.UTC()
	today := now.Truncate(24 * time.Hour)
	return Times{Now: now, Since: today.AddDate(0, 0, -1), First: today.AddDate(0, 0, 1-ChartDays)}
}

// end is the day after the last, as dates are compared.
func (t Times) end() time.Time { return t.First.AddDate(0, 0, ChartDays) }

func dateText(t time.Time) string { return t.Format(time.DateOnly) }
