package crashes

import (
	"net/url"
	"strconv"
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
		"States": choices(c, "state", "processed", "stored", "failed"), "Conditions": conditions(c),
		"Kept": kept(c, "project", "state", "version", "uuid", "from", "to")}})
}

// neighbours are the reports of a group before and after one, by the time of the crash; ""
// where there is none.
func (p *Pages) neighbours(c *gin.Context, r *report) (newer, older string, err error) {
	if r.GroupID == nil || r.OccurredAt == nil {
		return "", "", nil
	}
	at := r.OccurredAt.UTC().Format(time.RFC3339Nano)
	list := func(name string, page int) (l reportList, place int, err error) {
		q := url.Values{name: {at}, "page": {strconv.Itoa(page)}}
		err = p.API.Get(c, "/api/v3/crash-groups/"+strconv.FormatInt(*r.GroupID, 10)+"/crashes", q, &l)
		for i := range l.Crashes {
			if l.Crashes[i].ID == r.ID {
				return l, i, err
			}
		}
		return l, -1, err
	}
	before, place, err := list("to", 1)
	if err != nil {
		return "", "", err
	}
	if place >= 0 && place+1 < len(before.Crashes) {
		older = before.Crashes[place+1].ID
	}
	// The newest come first: the next newer one is on the last page.
	after, place, err := list("from", 1)
	page := 1
	if last := (after.Pagination.Total + 24) / 25; err == nil && place < 0 && after.Pagination.HasNext == nil && last > 1 {
		page = last
		after, place, err = list("from", page)
	}
	switch {
	case err != nil || place < 0:
		return "", older, err
	case place > 0:
		return after.Crashes[place-1].ID, older, nil
	case page > 1:
		previous, _, err := list("from", page-1)
		if err != nil || len(previous.Crashes) == 0 {
			return "", older, err
		}
		return previous.Crashes[len(previous.Crashes)-1].ID, older, nil
	}
	return "", older, nil
}
