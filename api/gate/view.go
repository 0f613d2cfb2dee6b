package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/gate"
)

// resultView is a condition as it is shown.
type resultView struct {
	Name     string         `json:"name"`
	Type     gate.Type      `json:"type"`
	State    gate.State     `json:"state"`
	Wanted   string         `json:"wanted"`
	Measured string         `json:"measured"`
	Reason   string         `json:"reason"`
	URL      string         `json:"url"`
	Evidence []evidenceView `json:"evidence"`
}

// evidenceView leads to what a condition was measured by.
type evidenceView struct {
	Kind  gate.EvidenceKind `json:"kind"`
	ID    string            `json:"id"`
	Title string            `json:"title"`
	URL   string            `json:"url"`
}

// overrideView is what a person decided.
type overrideView struct {
	State  gate.State `json:"state"`
	Reason string     `json:"reason"`
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
}

// gateView is a gate as it is shown.
type gateView struct {
	BuildID        int64         `json:"build_id"`
	State          gate.State    `json:"state"`
	EvaluatedState gate.State    `json:"evaluated_state"`
	Reason         string        `json:"reason"`
	Conditions     []resultView  `json:"conditions"`
	EvaluatedAt    *time.Time    `json:"evaluated_at"`
	Overridden     *overrideView `json:"overridden"`
	Held           bool          `json:"notification_held"`
	Pending        bool          `json:"pending"`
	URL            string        `json:"url"`
	BadgeURL       string        `json:"badge_url"`
}

func (h *Handlers) view(ctx context.Context, g *gate.Gate) (*gateView, error) {
	secret, err := h.installationSecret(ctx)
	if err != nil {
		return nil, err
	}
	v := &gateView{BuildID: g.BuildID, State: g.State, EvaluatedState: g.Evaluated, Reason: g.Reason, Conditions: h.results(g.Conditions),
		EvaluatedAt: utc(g.EvaluatedAt), Held: g.Held, Pending: g.Due, URL: h.page(gate.Evidence{Kind: gate.OfBuild, ID: fmt.Sprint(g.BuildID)}),
		BadgeURL: h.cfg.Links.Path(fmt.Sprintf("/api/v3/builds/%d/gate/badge.svg?token=%s", g.BuildID, badgeToken(secret, g.BuildID)))}
	if o := g.Override; o != nil {
		v.Overridden = &overrideView{State: o.State, Reason: o.Reason, By: o.By, At: o.At.UTC()}
	}
	return v, nil
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	at := t.UTC()
	return &at
}

func (h *Handlers) results(list []gate.Result) []resultView {
	views := make([]resultView, 0, len(list))
	for i := range list {
		r := &list[i]
		v := resultView{Name: r.Name, Type: r.Type, State: r.State, Wanted: r.Wanted, Measured: r.Measured, Reason: r.Reason,
			Evidence: []evidenceView{}}
		for _, e := range r.Evidence {
			v.Evidence = append(v.Evidence, evidenceView{Kind: e.Kind, ID: e.ID, Title: e.Title, URL: h.page(e)})
		}
		if len(v.Evidence) > 0 {
			v.URL = v.Evidence[0].URL
		}
		views = append(views, v)
	}
	return views
}

// page is the page of the console that shows a piece of evidence.
func (h *Handlers) page(e gate.Evidence) string {
	id := e.ID
	path := map[gate.EvidenceKind]string{
		gate.OfSuiteRun:   "/console/tests/suites/" + e.SuiteID + "/runs/" + id,
		gate.OfCrashGroup: "/console/crashes/groups/" + id,
		gate.OfFeedback:   "/console/builds/feedback/" + id,
		gate.OfBuild:      "/console/builds/builds/" + id,
		gate.OfInstalls:   "/console/builds/builds/" + id + "/installs",
		gate.OfSymbols:    "/console/crashes/symbols/missing",
		gate.OfVersion:    "/console/crashes/projects/" + id + "/versions",
	}[e.Kind]
	return h.cfg.Links.Path(path)
}

// changeView is a change of a gate.
type changeView struct {
	ID         int64        `json:"id"`
	At         time.Time    `json:"at"`
	State      gate.State   `json:"state"`
	Former     gate.State   `json:"former_state"`
	Cause      gate.Cause   `json:"cause"`
	Actor      string       `json:"actor"`
	Reason     string       `json:"reason"`
	Conditions []resultView `json:"conditions"`
}

func (h *Handlers) changeView(p *gate.Past) changeView {
	return changeView{ID: p.ID, At: p.At.UTC(), State: p.State, Former: p.Former, Cause: p.Cause, Actor: p.Actor, Reason: p.Reason,
		Conditions: h.results(p.Conditions)}
}

// policyView is the policy of an app.
type policyView struct {
	gate.Policy
	Version   int64     `json:"version"`
	UpdatedAt time.Time `json:"updated_at"`
	UpdatedBy string    `json:"updated_by"`
}

func policyViewOf(p *gate.StoredPolicy) policyView {
	return policyView{Policy: p.Policy, Version: p.Version, UpdatedAt: p.UpdatedAt.UTC(), UpdatedBy: p.UpdatedBy}
}
