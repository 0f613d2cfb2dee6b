package testcase

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// Tags serves GET /testcases/tags: the tags of the organization's cases, in
// alphabetical order. Parameters: search (part of a tag), skip, limit.
func (h Cases) Tags(c *gin.Context) error {
	q := request.QueryOf(c)
	search, page := q.Search(), q.Page()
	if q.Err != nil {
		return q.Err
	}
	rows, total, err := authoring.Tags(c.Request.Context(), h.DB, auth.Organization(c), search, page)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, func(t *authoring.Tag) tagView {
		return tagView{Name: t.Name, TestCaseCount: t.Cases}
	}))
}

// tagView is a tag with the number of cases that have it.
type tagView struct {
	Name          string `json:"name"`
	TestCaseCount int    `json:"testCaseCount"`
}
