package builds

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/live"
)

// gateState is a build's gate where only the state matters.
type gateState struct {
	State      gate.State `json:"state"`
	Overridden bool       `json:"overridden"`
}

// buildGate is the gate of a build.
type buildGate struct {
	State       gate.State      `json:"state"`
	Evaluated   gate.State      `json:"evaluated_state"`
	Reason      string          `json:"reason"` // why there are no conditions
	Conditions  []gateCondition `json:"conditions"`
	EvaluatedAt *time.Time      `json:"evaluated_at"`
	Overridden  *struct {
		State  gate.State `json:"state"`
		Reason string     `json:"reason"`
		By     string     `json:"by"`
		At     time.Time  `json:"at"`
	} `json:"overridden"`
	Held     bool   `json:"notification_held"`
	Pending  bool   `json:"pending"`
	URL      string `json:"url"`
	BadgeURL string `json:"badge_url"`

	BadgePath string `json:"-"` // of the picture, for this page
}

// gateCondition is what became of a condition.
type gateCondition struct {
	Name     string     `json:"name"`
	Type     gate.Type  `json:"type"`
	State    gate.State `json:"state"`
	Wanted   string     `json:"wanted"`
	Measured string     `json:"measured"`
	Reason   string     `json:"reason"`
	Evidence []evidence `json:"evidence"`
}

// evidence leads to what a condition was measured by.
type evidence struct {
	Kind  gate.EvidenceKind `json:"kind"`
	Title string            `json:"title"`
	URL   string            `json:"url"`
}

// HasPolicy reports whether anything asks whether the build may go on.
func (g *buildGate) HasPolicy() bool { return g.Reason != gate.ReasonNoPolicy }

// Missing are the conditions that nothing was measured for, with what is missing. They matter
// only where no other one failed.
func (g *buildGate) Missing() (list []gateCondition) {
	for _, c := range g.Conditions {
		if c.State == gate.Unknown {
			list = append(list, c)
		}
	}
	return list
}

// Markdown is the badge for a page of others, with a link to the build's page.
func (g *buildGate) Markdown() string { return "[![gate](" + g.BadgeURL + ")](" + g.URL + ")" }

// localEvidence makes the addresses of evidence those of the installation as it was opened.
func (p *Pages) localEvidence(list []gateCondition) {
	for i := range list {
		for k := range list[i].Evidence {
			e := &list[i].Evidence[k]
			e.URL = p.local(e.URL)
		}
	}
}

func gatePath(c *gin.Context) string { return buildPath(frame.Segment(c, "id")) + "/gate" }

// gateOf reads the gate of the build of the page's path.
func (p *Pages) gateOf(c *gin.Context) (*buildGate, error) {
	var answer struct {
		Gate buildGate `json:"gate"`
	}
	err := p.API.Get(c, gatePath(c), nil, &answer)
	g := &answer.Gate
	g.BadgePath = p.local(g.BadgeURL)
	p.localEvidence(g.Conditions)
	return g, err
}

// liveGates are the gates of a list that may still be decided.
func liveGates(list []build) (topics []live.Topic) {
	for i := range list {
		if g := list[i].Gate; g != nil && g.State == gate.Unknown {
			topics = append(topics, live.Of(live.Gate, list[i].ID))
		}
	}
	return topics
}

func (p *Pages) overrideGate(c *gin.Context) error {
	body := map[string]string{"state": c.PostForm("state"), "reason": strings.TrimSpace(c.PostForm("reason"))}
	err := p.API.Send(c, http.MethodPost, gatePath(c)+"/override", body, nil)
	return p.End(c, p.Back(c, "/builds/builds/"+frame.Segment(c, "id")), "The gate was overridden.", err)
}

func (p *Pages) removeOverride(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, gatePath(c)+"/override", nil, nil)
	return p.End(c, p.Back(c, "/builds/builds/"+frame.Segment(c, "id")), "The conditions decide again.", err)
}

// gateChange is a change of a gate's state.
type gateChange struct {
	ID         int64           `json:"id"`
	At         time.Time       `json:"at"`
	State      gate.State      `json:"state"`
	Former     gate.State      `json:"former_state"`
	Cause      gate.Cause      `json:"cause"`
	Actor      string          `json:"actor"`
	Reason     string          `json:"reason"`
	Conditions []gateCondition `json:"conditions"`
}

// Because is the cause in words.
func (ch *gateChange) Because() string {
	switch ch.Cause {
	case gate.ByConditions:
		return "the conditions"
	case gate.ByPolicy:
		return "another policy"
	case gate.ByOverride:
		return "an override"
	case gate.ByOverrideGone:
		return "an override was removed"
	}
	return string(ch.Cause)
}

// gateHistory is the page of the changes of a gate.
func (p *Pages) gateHistory(c *gin.Context) error {
	begun, err := p.beginBuild(c, "gate")
	if err != nil {
		return err
	}
	data := struct {
		buildData
		Changes []gateChange
	}{buildData: begun}
	var answer struct {
		Changes    []gateChange `json:"changes"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, gatePath(c)+"/history", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Changes, data.Pager = answer.Changes, p.PagesOf(c, answer.Pagination)
	for i := range data.Changes {
		p.localEvidence(data.Changes[i].Conditions)
	}
	page := frame.Page{Title: "Gate of " + data.Build.App() + " " + data.Build.Title(), Data: data,
		Live: []live.Topic{live.Of(live.Gate, data.Build.ID)}}
	return p.show(c, "gatehistory", data.Fault, page)
}
