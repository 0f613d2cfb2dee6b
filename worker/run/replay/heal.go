package replay

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
)

// healResult is what heal.js returns.
type healResult struct {
	Found       bool             `json:"found"`
	Frames      []string         `json:"frames"`
	Hosts       []string         `json:"hosts"`
	Selector    string           `json:"selector"`
	Score       float64          `json:"score"`
	Second      float64          `json:"second"`
	Reason      string           `json:"reason"`
	Fingerprint step.Fingerprint `json:"fingerprint"`
}

// maxHealedSelector bounds a selector that heal.js builds, in bytes: it is made of
// the page's texts, and is proposed as the step's.
const maxHealedSelector = 2 << 10

// usable reports whether an element was found, and in a way that a step can name.
func (r *healResult) usable() bool {
	if r == nil || !r.Found || len(r.Frames) > step.MaxNesting || len(r.Hosts) > step.MaxNesting {
		return false
	}
	for _, part := range append(append([]string{r.Selector}, r.Frames...), r.Hosts...) {
		if len(part) > maxHealedSelector {
			return false
		}
	}
	return true
}

// heal searches for the element of a fingerprint, first in the frame that the location
// is in, and in the whole page when that frame was only guessed by the fingerprint.
// The location becomes that of what it finds.
func (a elementAction) heal(ctx context.Context, want string) (bool, error) {
	at := a.at
	missing, err := a.enterFrames(ctx, at.frames)
	if err != nil {
		return false, err
	}
	found, frames := (*healResult)(nil), at.frames
	if missing == nil {
		if found, err = a.search(ctx, want); err != nil {
			return false, err
		}
	}
	if (found == nil || !found.Found) && at.guessed && len(at.frames) > 0 {
		if err := a.leaveFrames(ctx); err != nil {
			return false, err
		}
		frames = nil
		if found, err = a.search(ctx, want); err != nil {
			return false, err
		}
	}
	if !found.usable() {
		return false, nil
	}
	at.frames = append(append([]frameLocation(nil), frames...), cssFrames(found.Frames)...)
	at.hosts, at.shadow = cssSelectors(found.Hosts), nil
	at.selector = pageSelector{Type: step.CSS, Value: found.Selector}
	to := step.Selector{Type: step.CSS, Value: found.Selector, Fingerprint: a.storable(&found.Fingerprint, nil)}
	if a.withoutSecret(to.Value) == to.Value {
		a.healed = &step.Healed{From: *at.stored, To: to, Score: min(found.Score, 1), Reason: a.quote(found.Reason, 300)}
	}
	return true, nil
}

// search calls heal.js in the current frame. The result is nil when a navigation or
// a dialog came between.
func (a elementAction) search(ctx context.Context, want string) (*healResult, error) {
	var found *healResult
	err := a.execute(ctx, healScript, &found, map[string]any{"fingerprint": a.at.fingerprint, "want": want})
	if err != nil {
		return nil, a.interrupted(ctx, err)
	}
	return found, nil
}
