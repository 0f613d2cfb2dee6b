package authoring

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// settingsBody are the run settings of a body: in the form of generate (target)
// or in the form that answers have (primaryTarget and runTargets).
type settingsBody struct {
	TestURL       *string  `json:"testUrl"`
	SCTunnelName  *string  `json:"scTunnelName"`
	Target        document `json:"target"`
	PrimaryTarget document `json:"primaryTarget"`
	RunTargets    document `json:"runTargets"`
}

// targetBody is a target of a body; Capabilities are nil when they are absent.
type targetBody struct {
	Capabilities step.Capabilities `json:"capabilities"`
	IsRDC        bool              `json:"isRdc"`
}

const settingsPath = "runSettings"

// readSettings reads and checks run settings. target.capabilities becomes both
// the primary target and the only one to run on; without any target the case can
// be run on targets that the run names.
func readSettings(d document) (step.RunSettings, error) {
	var s step.RunSettings
	if !d.given() {
		return s, nil
	}
	var in settingsBody
	if err := d.decode(settingsPath, &in); err != nil {
		return s, err
	}
	if in.TestURL != nil {
		s.TestURL = *in.TestURL
	}
	if in.SCTunnelName != nil && *in.SCTunnelName != "" {
		s.SCTunnelName = in.SCTunnelName
	}
	if err := in.targets(&s); err != nil {
		return s, err
	}
	return s, under(settingsPath, step.CheckSettings(&s))
}

func (in *settingsBody) targets(s *step.RunSettings) error {
	if in.Target.given() {
		if in.PrimaryTarget.given() || in.RunTargets.given() {
			return member(settingsPath+".target", "does not go with primaryTarget and runTargets")
		}
		t, err := readTarget(settingsPath+".target", in.Target)
		if err != nil {
			return err
		}
		if t == nil {
			return member(settingsPath+".target.capabilities", "is required")
		}
		s.PrimaryTarget, s.RunTargets = t, []step.Target{*t}
		return nil
	}
	if in.PrimaryTarget.given() {
		t, err := readTarget(settingsPath+".primaryTarget", in.PrimaryTarget)
		if err != nil {
			return err
		}
		// A case without a target is answered with a primary target that asks for
		// nothing.
		if t != nil && len(t.Capabilities) > 0 {
			s.PrimaryTarget = t
		}
	}
	return in.runTargets(s)
}

func (in *settingsBody) runTargets(s *step.RunSettings) error {
	if !in.RunTargets.given() {
		if s.PrimaryTarget != nil {
			s.RunTargets = []step.Target{*s.PrimaryTarget}
		}
		return nil
	}
	targets, err := readTargets(settingsPath+".runTargets", in.RunTargets)
	if err != nil {
		return err
	}
	s.RunTargets = targets
	if s.PrimaryTarget == nil && len(targets) > 0 {
		s.PrimaryTarget = &targets[0]
	}
	return nil
}

// readTargets reads and checks an array of targets; each needs capabilities.
func readTargets(path string, d document) ([]step.Target, error) {
	all, err := d.elements(path, authoring.MaxTargets)
	if err != nil {
		return nil, err
	}
	targets := make([]step.Target, 0, len(all))
	for i, element := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		t, err := readTarget(at, element)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, member(at+".capabilities", "is required")
		}
		targets = append(targets, *t)
	}
	return targets, nil
}

// readTarget reads and checks a target; nil when it has no capabilities.
func readTarget(path string, d document) (*step.Target, error) {
	if !d.given() {
		return nil, nil
	}
	var in targetBody
	if err := d.decode(path, &in); err != nil || in.Capabilities == nil {
		return nil, err
	}
	t := &step.Target{Capabilities: in.Capabilities, IsRDC: in.IsRDC}
	return t, under(path, step.CheckTarget(t))
}
