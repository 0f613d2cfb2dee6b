package tests

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// healing is a selector that found the element of a step, or for a drift the element that
// was found in place of the step's.
type healing struct {
	ID            string        `json:"id"`
	Kind          string        `json:"kind"`
	StepID        string        `json:"stepId"`
	State         string        `json:"state"`
	From          step.Selector `json:"from"`
	To            step.Selector `json:"to"`
	Applied       bool          `json:"applied"`
	Score         float64       `json:"score"`
	Reason        string        `json:"reason"`
	LastRunID     string        `json:"lastRunId"`
	Count         int           `json:"count"`
	FirstSeenDate string        `json:"firstSeenDate"`
	LastSeenDate  string        `json:"lastSeenDate"`
	Decision      *struct {
		Date       string `json:"date"`
		RevisionID string `json:"revisionId"`
	} `json:"decision"`
}

// healingsData is the list of a case's healings.
type healingsData struct {
	rows[healing]
	ID            string
	Name          string
	States, Kinds []string
	Filtered      bool
}

func (p *Pages) healings(c *gin.Context) (err error) {
	q := filters(c)
	data := healingsData{ID: c.Param("id"), Filtered: len(q) > 0,
		States: []string{"OPEN", "ACCEPTED", "REFUSED"}, Kinds: []string{"healing", "drift"}}
	of, err := get[named](p, c, casePath(c), nil)
	if err != nil {
		return err
	}
	data.Name = of.Name
	if data.rows, err = read[healing](p, c, casePath(c)+"/healings", q); err != nil {
		return err
	}
	return p.show(c, "healings", data.Fault, frame.Page{Title: "Healings", Data: data})
}

// decideHealing accepts or refuses what a run has found.
func (p *Pages) decideHealing(c *gin.Context) error {
	action := field(c, "action")
	err := p.do(c, http.MethodPost, casePath(c)+"/healings/"+frame.Segment(c, "healing"), map[string]any{"action": action})
	notice := "It was refused: runs do not do so again."
	if action == "accept" {
		notice = "It was accepted: the test has a new revision."
	}
	return p.End(c, p.Back(c, "/tests/cases/"+frame.Segment(c, "id")+"/healings"), notice, err)
}
