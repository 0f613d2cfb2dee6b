package tests

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// pinned is who keeps a run, and since when.
type pinned struct {
	UserName string `json:"userName"`
	Date     string `json:"date"`
}

// pinCaseRun keeps a run of a case, and unpinCaseRun leaves it to retention.
func (p *Pages) pinCaseRun(c *gin.Context) error {
	return p.pinned(c, http.MethodPost, runPath(c), p.caseRunPage(c), "The run is kept.")
}

func (p *Pages) unpinCaseRun(c *gin.Context) error {
	return p.pinned(c, http.MethodDelete, runPath(c), p.caseRunPage(c), "The run is no longer kept.")
}

func (p *Pages) pinSuiteRun(c *gin.Context) error {
	return p.pinned(c, http.MethodPost, suitePath(c)+"/runs/"+frame.Segment(c, "run"), p.suiteRunPage(c), "The run is kept.")
}

func (p *Pages) unpinSuiteRun(c *gin.Context) error {
	return p.pinned(c, http.MethodDelete, suitePath(c)+"/runs/"+frame.Segment(c, "run"), p.suiteRunPage(c), "The run is no longer kept.")
}

func (p *Pages) caseRunPage(c *gin.Context) string {
	return "/tests/cases/" + frame.Segment(c, "id") + "/runs/" + frame.Segment(c, "run")
}

func (p *Pages) suiteRunPage(c *gin.Context) string {
	return "/tests/suites/" + frame.Segment(c, "id") + "/runs/" + frame.Segment(c, "run")
}

func (p *Pages) pinned(c *gin.Context, method, run, page, done string) error {
	return p.End(c, page, done, p.do(c, method, run+"/pin", nil))
}
