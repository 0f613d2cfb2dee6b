package tests

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// look is what a step that compares pictures found.
type look struct {
	State       string  `json:"state"`
	BaselineID  string  `json:"baselineId"`
	CandidateID string  `json:"candidateId"`
	Share       float64 `json:"share"`
	OtherFonts  bool    `json:"otherFonts"`
}

// Deciding is the picture that can be accepted; "" where there is nothing to decide.
func (l *look) Deciding() string {
	if l.CandidateID == "" && l.State == "UNREVIEWED" {
		return l.BaselineID
	}
	return l.CandidateID
}

// findings are what a step that checks accessibility found.
type findings struct {
	Total    int       `json:"total"`
	Accepted int       `json:"accepted"`
	Failing  int       `json:"failing"`
	Unseen   int       `json:"unseen"`
	List     []finding `json:"list"`
}

type finding struct {
	Key        string `json:"key"`
	Rule       string `json:"rule"`
	Impact     string `json:"impact"`
	Help       string `json:"help"`
	HelpURL    string `json:"helpUrl"`
	Element    string `json:"element"`
	HTML       string `json:"html"`
	Accepted   bool   `json:"accepted"`
	Fails      bool   `json:"fails"`
	PictureURL string `json:"pictureUrl"`
}

// Picture is the id of the finding's picture; "" without one.
func (f finding) Picture() string { return f.PictureURL[strings.LastIndex(f.PictureURL, "/")+1:] }

// pictures are those that a step compared, by the kinds of their files; "" where there is none.
type pictures struct{ Expected, Actual, Difference string }

// Pictures are those that a step compared.
func (j *job) Pictures(step int) (p pictures) {
	for _, f := range j.Files {
		if f.Step != step {
			continue
		}
		switch f.Kind {
		case "expected":
			p.Expected = f.ID
		case "actual":
			p.Actual = f.ID
		case "difference":
			p.Difference = f.ID
		}
	}
	return p
}

// Undecided counts the pictures of a run that can be accepted.
func (r *caseRun) Undecided() (n int) {
	for i := range r.Jobs {
		for _, s := range r.Jobs[i].Steps {
			if s.Look != nil && s.Look.Deciding() != "" {
				n++
			}
		}
	}
	return n
}

// Undecided reports whether pictures of a suite run can be accepted. A run that passed shows none of
// its steps, but counts those that nobody has decided about.
func (r *suiteRun) Undecided() bool {
	return r.Unreviewed > 0 || slices.ContainsFunc(r.CaseRuns, func(c caseRun) bool { return c.Undecided() > 0 })
}

// pictured is a picture that a case is compared with, or may be.
type pictured struct {
	ID             string `json:"id"`
	StepID         string `json:"stepId"`
	Name           string `json:"name"`
	Target         string `json:"target"`
	State          string `json:"state"`
	BrowserVersion string `json:"browserVersion"`
	Width          int    `json:"width"`
	Height         int    `json:"height"`
	LastRunID      string `json:"lastRunId"`
	LastSeenDate   string `json:"lastSeenDate"`
	Decision       *struct {
		Date string `json:"date"`
	} `json:"decision"`
}

// Acceptable reports whether it can be accepted.
func (b pictured) Acceptable() bool { return b.State != "ACCEPTED" }

// Rejectable reports whether it can be rejected.
func (b pictured) Rejectable() bool { return b.State != "REJECTED" }

// baselinesData is the list of a case's baselines.
type baselinesData struct {
	rows[pictured]
	ID, Name string
	States   []string
	Filtered bool
}

func (p *Pages) baselines(c *gin.Context) (err error) {
	q := filters(c)
	data := baselinesData{ID: c.Param("id"), Filtered: len(q) > 0, States: []string{"UNREVIEWED", "CANDIDATE", "ACCEPTED",
		"REJECTED", "FORMER"}}
	of, err := get[named](p, c, casePath(c), nil)
	if err != nil {
		return err
	}
	data.Name = of.Name
	if data.rows, err = read[pictured](p, c, casePath(c)+"/baselines", q); err != nil {
		return err
	}
	return p.show(c, "baselines", data.Fault, frame.Page{Title: "Baselines", Data: data})
}

// baselinePicture shows a picture.
func (p *Pages) baselinePicture(c *gin.Context) error {
	return p.API.Pass(c, authoring+casePath(c)+"/baselines/"+frame.Segment(c, "baseline")+"/picture", filters(c))
}

// decideBaseline accepts or rejects a picture.
func (p *Pages) decideBaseline(c *gin.Context) error {
	action, notice := "reject", "It was rejected: a step that looks like it fails, unless another picture is accepted."
	if field(c, "action") == "accept" {
		action, notice = "accept", "It was accepted: runs are compared with it."
	}
	err := p.do(c, http.MethodPost, casePath(c)+"/baselines/"+frame.Segment(c, "baseline")+"/"+action, map[string]any{})
	return p.End(c, p.Back(c, "/tests/cases/"+frame.Segment(c, "id")+"/baselines"), notice, err)
}

// acceptLooks accepts all pictures of a run.
func (p *Pages) acceptLooks(c *gin.Context) error {
	err := p.do(c, http.MethodPost, runPath(c)+"/baselines/accept", map[string]any{})
	return p.End(c, "/tests/cases/"+frame.Segment(c, "id")+"/runs/"+frame.Segment(c, "run"), "The pictures of the run were accepted.", err)
}

// acceptSuiteLooks accepts all pictures of a suite run, so many at a time.
func (p *Pages) acceptSuiteLooks(c *gin.Context) error {
	got, err := post[struct {
		More bool `json:"more"`
	}](p, c, suitePath(c)+"/runs/"+frame.Segment(c, "run")+"/baselines/accept", map[string]any{})
	notice := "The pictures of the run were accepted."
	if got.More {
		notice = "Many pictures of the run were accepted; there are others: accept them in the same way."
	}
	return p.End(c, p.suiteRunPage(c), notice, err)
}

// acceptFindings accepts findings of a step: one, or all that failed it.
func (p *Pages) acceptFindings(c *gin.Context) error {
	body := map[string]any{"runId": frame.Segment(c, "run"), "stepId": field(c, "step")}
	if key := field(c, "key"); key != "" {
		body["findings"] = []string{key}
	}
	got, err := post[struct {
		Findings int `json:"findings"`
	}](p, c, casePath(c)+"/accessibility/accept", body)
	notice := fmt.Sprintf("Accepted: runs show %d findings, and do not fail by them.", got.Findings)
	return p.End(c, "/tests/cases/"+frame.Segment(c, "id")+"/runs/"+frame.Segment(c, "run"), notice, err)
}
