package settings

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// View is how a case runs. A case without a target has a primaryTarget
// without capabilities and no runTargets.
type View struct {
	TestURL           string       `json:"testUrl"`
	SCTunnelName      *string      `json:"scTunnelName"`
	PrimaryTarget     TargetView   `json:"primaryTarget"`
	RunTargets        []TargetView `json:"runTargets"`
	LastBuildName     string       `json:"lastBuildName"`
	Strict            bool         `json:"strict"`
	Healing           *string      `json:"healing"` // null: as the suite, else the organization
	Drift             *string      `json:"drift"`   // likewise
	Trace             *string      `json:"trace"`   // likewise
	Retries           *int         `json:"retries"` // likewise
	capability.Access              // absent members: none
}

// TargetView is where a test runs.
type TargetView struct {
	Capabilities capability.Capabilities `json:"capabilities"`
	IsRDC        bool                    `json:"isRdc"`
}

// ViewOf is how stored settings are shown.
func ViewOf(s *capability.RunSettings) View {
	view := View{TestURL: s.TestURL, SCTunnelName: s.SCTunnelName, PrimaryTarget: ViewTarget(s.PrimaryTarget),
		RunTargets: make([]TargetView, 0, len(s.RunTargets)), LastBuildName: s.LastBuildName,
		Strict: request.Or(s.Strict, true), Healing: Mode(s.Healing), Drift: Mode(s.Drift), Trace: Mode(s.Trace),
		Retries: s.Retries, Access: s.Access}
	for i := range s.RunTargets {
		view.RunTargets = append(view.RunTargets, ViewTarget(&s.RunTargets[i]))
	}
	return view
}

// Mode is a mode of healing, drift or traces, nil without one.
func Mode(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// ViewTarget is how a target is shown; nil is one without capabilities.
func ViewTarget(t *capability.Target) TargetView {
	if t.Empty() {
		return TargetView{Capabilities: capability.Capabilities{}}
	}
	return TargetView{Capabilities: t.Capabilities, IsRDC: t.IsRDC}
}
