package crashes

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// report is a single crash in a list.
type report struct {
	ID            string     `json:"id"`
	GroupID       *int64     `json:"group_id"`
	Project       named      `json:"project"`
	UUID          string     `json:"uuid"`
	State         string     `json:"state"`
	Format        string     `json:"format"`
	Error         string     `json:"error"`
	OccurredAt    *time.Time `json:"occurred_at"`
	ReceivedAt    time.Time  `json:"received_at"`
	Lang          string     `json:"lang"`
	Agent         string     `json:"agent"`
	Classifier    string     `json:"classifier"`
	Severity      string     `json:"severity"`
	Message       string     `json:"message"`
	Version       string     `json:"version"`
	Host          string     `json:"host"`
	Duplicates    int        `json:"duplicates"`
	BuildID       *int64     `json:"build_id"`
	Symbolication string     `json:"symbolication_state"`
}

// reportList is a page of crashes.
type reportList struct {
	Crashes    []report `json:"crashes"`
	Pagination envelope `json:"pagination"`
}

// reports serves GET /console/crashes/reports: all crashes, with a group or without one.
func (p *Pages) reports(c *gin.Context) error {
	var list reportList
	fault, err := refused(p.API.Get(c, "/api/v3/crashes", frame.Valued(c.Request.URL.Query()), &list))
	if err != nil {
		return err
	}
	groups := make([]group, len(list.Crashes))
	for i := range list.Crashes {
		groups[i].Project = list.Crashes[i].Project
	}
	projects, err := p.projectChoices(c, groups)
	if err != nil {
		return err
	}
	return p.show(c, "reports", fault, frame.Page{Title: "Crash reports", Data: map[string]any{"Fault": fault, "Reports": list.Crashes,
		"Pagination": list.Pagination, "Pager": p.pager(c, list.Pagination), "Projects": projects,
		"States": choices(c, "state", "processed", "stored", "failed"), "Severities": severities(c), "Conditions": conditions(c),
		"Kept": kept(c, "project", "state", "version", "severity", "uuid", "from", "to")}})
}
