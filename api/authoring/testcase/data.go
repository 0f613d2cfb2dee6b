package testcase

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/rows"
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
	Items    []datarow.Values `json:"items"`
	Total    int              `json:"total"`
	Columns  []string         `json:"columns"`
	Secret   []string         `json:"secret"`
	RowName  string           `json:"rowName"`
	Revision string           `json:"revisionId"`
}

func viewData(h *rows.Header) *dataView {
	view := dataView{Columns: h.Columns, Secret: []string{}, RowName: h.RowName, RowCount: h.Count, Size: h.Size}
	view.Secret = append(view.Secret, h.Secret...)
	return &view
}

// dataOf reads what revisions have of data, by its id.
func (h Cases) dataOf(ctx context.Context, revisions []authoring.Revision) (map[uuid.UUID]rows.Header, error) {
	var ids []uuid.UUID
	for i := range revisions {
		if id := revisions[i].DataID; id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return rows.Headers(ctx, h.DB, ids)
}

// readData reads the member data of a case and seals it; nil when it is not given.
func (h Cases) readData(d request.Document) (*rows.Sealed, error) {
	if !d.Given() {
		return nil, nil
	}
	table, err := rows.Read(d.Bytes())
	if err != nil {
		return nil, err
	}
	return rows.Seal(h.SealKeys, table)
}

// Data serves GET /testcases/{id}/data: the data rows, by page as JSON or whole as CSV.
// Parameters: revisionId (default: the latest), format (json, csv), skip, limit.
func (h Cases) Data(c *gin.Context) error {
	q := request.QueryOf(c)
	page, format := q.Page(), request.OneOf(q, "format", "json", "csv")
	revisionID, ok := strings.TrimSpace(c.Query("revisionId")), true
	if revisionID != "" {
		if revisionID, ok = request.ParseHex(revisionID); !ok {
			q.Wrong(&storage.InvalidError{Field: "revisionId", Msg: "must have 24 hexadecimal digits"})
		}
	}
	if q.Err != nil {
		return q.Err
	}
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	v, err := authoring.RevisionByID(ctx, h.DB, row.ID, revisionID)
	if err != nil {
		return problem.Coded(err, problem.Revision)
	}
	if v.DataID == nil {
		return &respond.Problem{Status: http.StatusNotFound, Authoring: problem.CodeDataNotFound, Text: "the test case has no data"}
	}
	header, err := rows.HeaderOf(ctx, h.DB, *v.DataID)
	if errors.Is(err, storage.ErrNotFound) {
		return &respond.Problem{Status: http.StatusNotFound, Authoring: problem.CodeDataNotFound,
			Text: "the data of the revision are gone", Err: err}
	}
	if err != nil {
		return err
	}
	if format == "csv" || format == "" && c.NegotiateFormat(gin.MIMEJSON, mimeCSV) == mimeCSV {
		return h.writeCSV(c, row.Name, *v.DataID, &header)
	}
	list, err := rows.List(ctx, h.DB, *v.DataID, page.RowOffset(), page.RowLimit())
	if err != nil {
		return err
	}
	of := viewData(&header)
	view := dataPage{Items: make([]datarow.Values, 0, len(list)), Total: header.Count, Columns: of.Columns, Secret: of.Secret,
		RowName: of.RowName, Revision: v.ID}
	for _, cells := range list {
		view.Items = append(view.Items, datarow.Values{Header: &header, Cells: cells})
	}
	return answer.Data(c, http.StatusOK, view)
}

const (
	mimeCSV = "text/csv"
	// csvStep rows are read by one statement.
	csvStep = 500
)

// writeCSV writes all rows as they are read. Values of secret columns are empty.
func (h Cases) writeCSV(c *gin.Context, name string, id uuid.UUID, header *rows.Header) error {
	at, ctx := 0, c.Request.Context()
	next := func() ([][]string, error) {
		list, err := rows.List(ctx, h.DB, id, at, csvStep)
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
