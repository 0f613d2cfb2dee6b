// Package datarow shows the data rows of test cases, and those that the jobs of runs have.
//
// Values are written in the order of the columns, and those of secret columns never: null in JSON,
// *** in a line of a report. Beside a job are its row's number and name, and the values only where
// it failed, cut to 200 characters.
package datarow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run"
)

// Values are the values of a row by their columns, in the order of these. Those of secret
// columns are null.
type Values struct {
	Header *rows.Header
	Cells  []string
}

// MarshalJSON writes the values in the order of the columns.
func (r Values) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, column := range r.Header.Columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:", column) // letters, digits and underscores
		if r.Header.IsSecret(column) {
			out = append(out, "null"...)
			continue
		}
		value, err := json.Marshal(r.Cells[i])
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

// View is the data row of a job. values are those of a job that failed, null for those of
// secret columns.
type View struct {
	Index  int     `json:"index"`
	Name   string  `json:"name"`
	Values *Values `json:"values,omitempty"`
}

// ViewOf is the data row of a job, nil without one.
func ViewOf(j *run.Job) *View {
	if j.Row == nil {
		return nil
	}
	return &View{Index: j.Row.Index, Name: j.Row.Name}
}

// maxShownValue cuts values beside a failure, in characters: a page of jobs has many.
const maxShownValue = 200

// Failing are the values of the rows of jobs that failed.
type Failing struct {
	header rows.Header
	of     map[uuid.UUID][]string
}

// ReadFailing reads the rows of the jobs of a run that failed.
func ReadFailing(ctx context.Context, db *storage.DB, r *run.Run) (Failing, error) {
	of, header, err := run.FailingRows(ctx, db, r)
	for _, cells := range of {
		for i := range cells {
			cells[i] = storage.Cut(cells[i], maxShownValue)
		}
	}
	return Failing{header: header, of: of}, err
}

// Put sets the values of a job that failed.
func (f *Failing) Put(j *run.Job, view *View) {
	if cells := f.of[j.ID]; view != nil && len(cells) == len(f.header.Columns) && cells != nil {
		view.Values = &Values{&f.header, cells}
	}
}

// Line is a line of a report: row 3: user=ann, password=***. It is "" where the job has not
// failed.
func (f *Failing) Line(j *run.Job) string {
	if f == nil {
		return ""
	}
	cells := f.of[j.ID]
	if len(cells) == 0 || len(cells) != len(f.header.Columns) {
		return ""
	}
	parts := make([]string, len(cells))
	for i, column := range f.header.Columns {
		value := cells[i]
		if f.header.IsSecret(column) {
			value = "***"
		}
		parts[i] = column + "=" + value
	}
	return fmt.Sprintf("row %d: %s\n", j.Row.Index, strings.Join(parts, ", "))
}
