package action

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// nearCandidate is what nearest.js returns of an element.
type nearCandidate struct {
	Selector step.Selector `json:"selector"`
	Role     string        `json:"role"`
	Name     string        `json:"name"`
	Text     string        `json:"text"`
	Against  []string      `json:"against"`
}

// Nearest returns the elements that come nearest; none where the page cannot be asked.
func (a Action) Nearest(ctx context.Context, s *failure.Sought) []playback.Candidate {
	defer a.ResetFrame(ctx)
	if missing, err := a.EnterFrames(ctx, s.At.Frames); err != nil || missing != nil {
		if a.LeaveFrames(ctx) != nil {
			return nil
		}
	}
	var found []nearCandidate
	err := a.ExecuteFor(ctx, 2*time.Second, page.NearestScript, &found,
		map[string]any{"query": page.ActQuery{Hosts: page.OrEmpty(s.At.Hosts), Selector: s.At.Selector},
			"fingerprint": s.At.Fingerprint, "want": s.Want, "why": s.Why, "most": playback.MaxCandidates})
	if err != nil {
		return nil
	}
	var list []playback.Candidate
	for _, c := range found[:min(len(found), playback.MaxCandidates)] {
		one := playback.Candidate{Selector: &c.Selector, Role: a.Quote(c.Role, 60), Name: a.Quote(c.Name, 200), Text: a.Quote(c.Text, 200)}
		one.Selector.Fingerprint = nil
		if a.HoldsSecret(one.Selector) || len(one.Selector.Value)+len(one.Selector.Name) > maxHealedSelector {
			one.Selector = nil
		}
		for _, text := range c.Against[:min(len(c.Against), playback.MaxAgainst)] {
			one.Against = append(one.Against, a.Quote(text, 200))
		}
		list = append(list, one)
	}
	return list
}
