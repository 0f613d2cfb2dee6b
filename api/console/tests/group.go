package tests

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// stepGroup is a list of steps that tests share. Steps and UsedBy are there where one is
// read.
type stepGroup struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Description    string      `json:"description"`
	Parameters     []parameter `json:"parameters"`
	RevisionNumber int         `json:"revisionNumber"`
	StepCount      int         `json:"stepCount"`
	UserCount      int         `json:"userCount"`
	LastUpdateDate string      `json:"lastUpdateDate"`
	Steps          []step.Step `json:"steps"`
	UsedBy         struct {
		TestCases  []named `json:"testCases"`
		TestSuites []named `json:"testSuites"`
		StepGroups []named `json:"stepGroups"`
		Total      int     `json:"total"`
	} `json:"usedBy"`
}

// parameter is a parameter of a group. Without a default, run_group must give a value.
type parameter struct {
	Name    string  `json:"name"`
	Default *string `json:"default"`
}

// groupsData is the list of step groups.
type groupsData struct {
	rows[stepGroup]
	Filtered bool
}

func (p *Pages) groups(c *gin.Context) (err error) {
	q := filters(c)
	data := groupsData{Filtered: len(q) > 0}
	if data.rows, err = read[stepGroup](p, c, "/step-groups", q); err != nil {
		return err
	}
	return p.show(c, "groups", data.Fault, frame.Page{Title: "Step groups", Data: data})
}

func groupPath(c *gin.Context) string { return "/step-groups/" + url.PathEscape(c.Param("group")) }

func (p *Pages) group(c *gin.Context) error {
	one, err := get[stepGroup](p, c, groupPath(c), nil)
	if err != nil {
		return err
	}
	return p.show(c, "group", "", frame.Page{Title: one.Name, Data: one})
}

func (p *Pages) deleteGroup(c *gin.Context) error {
	if err := p.do(c, http.MethodDelete, groupPath(c), nil); err != nil {
		return p.Refused(c, "/tests/groups/"+url.PathEscape(c.Param("group")), err)
	}
	return p.Done(c, "/tests/groups", "The step group was deleted.")
}

// inGroup is the step group that a step stands in.
type inGroup struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Depth int    `json:"depth"`
}

// runGroup is the type of the steps that run a group.
const runGroup = "run_group"

// shownStep is a step of a job as the page shows it. Inner are the steps of the group that it runs,
// also those of groups in that.
type shownStep struct {
	Index   int
	Record  *record
	Picture string // the id of its screenshot; "" without one
	Inner   []shownStep
}

// Failed reports whether a step of the group has failed.
func (s shownStep) Failed() bool {
	return slices.ContainsFunc(s.Inner, func(inner shownStep) bool { return inner.Record.Status == "FAILED" })
}

// Shown are the steps, with those of groups under the steps that run these.
func (j *job) Shown() (list []shownStep) {
	for i := range j.Steps {
		r := &j.Steps[i]
		one := shownStep{Index: i, Record: r, Picture: j.Picture(*r)}
		if n := len(list); r.Group != nil && n > 0 && list[n-1].Record.Tool.Type == runGroup {
			list[n-1].Inner = append(list[n-1].Inner, one)
		} else {
			list = append(list, one)
		}
	}
	return list
}
