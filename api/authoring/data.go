package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run"
)

// dataView is what is shown of data rows beside a case.
type dataView struct {
	Columns  []string `json:"columns"`
	Secret   []string `json:"secret"`
	RowName  string   `json:"rowName"`
	RowCount int      `json:"rowCount"`
	Size     int      `json:"size"` // bytes
}

// dataPage is a page of data rows.
type dataPage struct {
	Items    []dataRow `json:"items"`
	Total    int       `json:"total"`
	Columns  []string  `json:"columns"`
	Secret   []string  `json:"secret"`
	RowName  string    `json:"rowName"`
	Revision string    `json:"revisionId"`
}

// dataRow are the values of a row by their columns, in the order of these. Those of secret
// columns are null.
type dataRow struct {
	header *rows.Header
	cells  []string
}

// MarshalJSON writes the values in the order of the columns.
func (r dataRow) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, column := range r.header.Columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:", column) // letters, digits and underscores
		if r.header.IsSecret(column) {
			out = append(out, "null"...)
			continue
		}
		value, err := json.Marshal(r.cells[i])
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	return append(out, '}'), nil
}

func viewData(h *rows.Header) *dataView {
	view := dataView{Columns: h.Columns, Secret: []string{}, RowName: h.RowName, RowCount: h.Count, Size: h.Size}
	view.Secret = append(view.Secret, h.Secret...)
	return &view
}

// dataOf reads what revisions have of data, by its id.
func (h *room) dataOf(ctx context.Context, revisions []authoring.Revision) (map[uuid.UUID]rows.Header, error) {
	var ids []uuid.UUID
	for i := range revisions {
		if id := revisions[i].DataID; id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return rows.Headers(ctx, h.cfg.DB, ids)
}

// readData reads the member data of a case and seals it; nil when it is not given.
func (h *room) readData(d document) (*rows.Sealed, error) {
	if !d.given() {
		return nil, nil
	}
	table, err := rows.Read(d.text)
	if err != nil {
		return nil, err
	}
	return rows.Seal(h.cfg.SealKeys, table)
}

// data serves GET /testcases/{id}/data: the data rows, by page as JSON or whole as CSV.
// Parameters: revisionId (default: the latest), format (json, csv), skip, limit.
func (h cases) data(c *gin.Context) error {
	q := queryOf(c)
	page, format := q.page(), oneOf(q, "format", "json", "csv")
	revisionID, ok := strings.TrimSpace(c.Query("revisionId")), true
	if revisionID != "" {
		if revisionID, ok = parseHex(revisionID); !ok {
			q.wrong(&storage.InvalidError{Field: "revisionId", Msg: "must have 24 hexadecimal digits"})
		}
	}
	if q.err != nil {
		return q.err
	}
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	v, err := authoring.RevisionByID(ctx, h.cfg.DB, row.ID, revisionID)
	if err != nil {
		return problem(err, revision)
	}
	if v.DataID == nil {
		return &respond.Problem{Status: http.StatusNotFound, Authoring: codeDataNotFound, Text: "the test case has no data"}
	}
	header, err := rows.HeaderOf(ctx, h.cfg.DB, *v.DataID)
	if errors.Is(err, storage.ErrNotFound) {
		return &respond.Problem{Status: http.StatusNotFound, Authoring: codeDataNotFound, Text: "the data of the revision are gone", Err: err}
	}
	if err != nil {
		return err
	}
	if format == "csv" || format == "" && c.NegotiateFormat(gin.MIMEJSON, mimeCSV) == mimeCSV {
		return h.writeCSV(c, row.Name, *v.DataID, &header)
	}
	list, err := rows.List(ctx, h.cfg.DB, *v.DataID, page.RowOffset(), page.RowLimit())
	if err != nil {
		return err
	}
	of := viewData(&header)
	view := dataPage{Items: make([]dataRow, 0, len(list)), Total: header.Count, Columns: of.Columns, Secret: of.Secret,
		RowName: of.RowName, Revision: v.ID}
	for _, cells := range list {
		view.Items = append(view.Items, dataRow{&header, cells})
	}
	return data(c, http.StatusOK, view)
}

const (
	mimeCSV = "text/csv"
	// csvStep rows are read by one statement.
	csvStep = 500
)

// writeCSV writes all rows as they are read. Values of secret columns are empty.
func (h *room) writeCSV(c *gin.Context, name string, id uuid.UUID, header *rows.Header) error {
	at, ctx := 0, c.Request.Context()
	next := func() ([][]string, error) {
		list, err := rows.List(ctx, h.cfg.DB, id, at, csvStep)
		at += len(list)
		return list, err
	}
	first, err := next() // an error of it can still be answered
	if err != nil {
		return err
	}
	head := c.Writer.Header()
	head.Set("Content-Type", mimeCSV+"; charset=utf-8")
	head.Set("Content-Disposition", respond.Attachment(name+".csv", "data.csv"))
	head.Set("X-Content-Type-Options", "nosniff")
	c.Status(http.StatusOK)
	return rows.WriteCSV(struct{ io.Writer }{c.Writer}, header.Columns, func() ([][]string, error) {
		if first != nil {
			list := first
			first = nil
			return list, nil
		}
		return next()
	})
}

// rowView is the data row of a job. values are those of a job that failed, null for those of
// secret columns.
type rowView struct {
	Index  int      `json:"index"`
	Name   string   `json:"name"`
	Values *dataRow `json:"values,omitempty"`
}

func viewRow(j *run.Job) *rowView {
	if j.Row == nil {
		return nil
	}
	return &rowView{Index: j.Row.Index, Name: j.Row.Name}
}

// maxShownValue cuts values beside a failure, in characters: a page of jobs has many.
const maxShownValue = 200

// failingRows are the values of the rows of jobs that failed.
type failingRows struct {
	header rows.Header
	of     map[uuid.UUID][]string
}

func (h *room) failingRows(ctx context.Context, r *run.Run) (failingRows, error) {
	of, header, err := run.FailingRows(ctx, h.cfg.DB, r)
	for _, cells := range of {
		for i := range cells {
			cells[i] = storage.Cut(cells[i], maxShownValue)
		}
	}
	return failingRows{header, of}, err
}

// put sets the values of a job that failed.
func (f *failingRows) put(j *run.Job, view *rowView) {
	if cells := f.of[j.ID]; view != nil && len(cells) == len(f.header.Columns) && cells != nil {
		view.Values = &dataRow{&f.header, cells}
	}
}

// line is a line of a report: row 3: user=ann, password=***. It is "" where the job has not
// failed.
func (f *failingRows) line(j *run.Job) string {
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
