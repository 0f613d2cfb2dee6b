package tests

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// attempt is one playing of a job.
type attempt struct {
	Number int      `json:"number"`
	Status string   `json:"status"`
	Error  *failure `json:"error"`
	span
	Steps []record `json:"steps"`
	Files []file   `json:"files"`
}

// Picture is the id of the screenshot of a step of the attempt; "" without one.
func (a attempt) Picture(r record) string { return picture(a.Files, r) }

// Trace is the attempt's trace; nil without one.
func (a attempt) Trace() *file { return traceOf(a.Files) }

// Before are the attempts before the last one, which the page shows as the job.
func (j *job) Before() []attempt { return j.Attempts[:max(0, len(j.Attempts)-1)] }

// repeated is what a run that is run again was given, and which one it repeats itself.
type repeated struct {
	VariableNames []string `json:"variableNames"`
	RerunOf       string   `json:"rerunOf"`
}

// quarantine is why failures of a case fail no suite.
type quarantine struct {
	Reason string `json:"reason"`
	Since  string `json:"since"`
	Until  string `json:"until"`
}

// retryNumbers are what forms offer.
func retryNumbers() []string { return []string{"0", "1", "2", "3"} }

// numberText is a number as a form has it, "" for none.
func numberText(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// retriesIn puts the number of a form into a body; "" is null. The fault is for people.
func retriesIn(body map[string]any, text string) (fault string) {
	if text == "" {
		body["retries"] = nil
		return ""
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return "How often a test is played again is a number."
	}
	body["retries"] = n
	return ""
}

// variableField begins the names of the fields that have values of variables.
const variableField = "variable-"

// rerunBody is what a form asks for that repeats a run.
func rerunBody(c *gin.Context) map[string]any {
	body := map[string]any{}
	if only := field(c, "only"); only != "" {
		body["only"] = only
	}
	variables := map[string]string{}
	for name, values := range c.Request.PostForm {
		if variable, is := strings.CutPrefix(name, variableField); is && len(values) > 0 && values[0] != "" {
			variables[variable] = values[0]
		}
	}
	if len(variables) > 0 {
		body["variables"] = variables
	}
	return body
}

func (p *Pages) rerunCase(c *gin.Context) error {
	if err := c.Request.ParseForm(); err != nil {
		return err
	}
	return p.started(c, p.Back(c, "/tests/cases/"+frame.Segment(c, "id")), runPath(c)+"/rerun", rerunBody(c))
}

func (p *Pages) rerunSuite(c *gin.Context) error {
	if err := c.Request.ParseForm(); err != nil {
		return err
	}
	run, err := post[suiteRun](p, c, suitePath(c)+"/runs/"+frame.Segment(c, "run")+"/rerun", rerunBody(c))
	if err != nil {
		return p.Refused(c, p.Back(c, "/tests/suites/"+frame.Segment(c, "id")), err)
	}
	return p.Done(c, "/tests/suites/"+run.TestSuiteID+"/runs/"+run.ID, "The run was started.")
}

// quarantine puts a case into quarantine until the end of a day.
func (p *Pages) quarantine(c *gin.Context) error {
	back := p.Back(c, "/tests/cases/"+frame.Segment(c, "id"))
	day, err := time.Parse(time.DateOnly, field(c, "until"))
	if err != nil {
		return p.Refused(c, back, wrong("The last day of the quarantine is a date."))
	}
	body := map[string]any{"reason": field(c, "reason"), "until": day.AddDate(0, 0, 1).Add(-time.Second).Format(time.RFC3339)}
	return p.End(c, back, "The test is in quarantine.", p.do(c, http.MethodPost, casePath(c)+"/quarantine", body))
}

func (p *Pages) endQuarantine(c *gin.Context) error {
	err := p.do(c, http.MethodDelete, casePath(c)+"/quarantine", nil)
	return p.End(c, p.Back(c, "/tests/cases/"+frame.Segment(c, "id")), "The quarantine has ended.", err)
}
