package replay

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// The part of a step's time that is left when a healing may begin.
const (
	minHealTime = 500 * time.Millisecond
	maxHealTime = 2 * time.Second
	// restTime is how long elements must neither come nor go before the page is
	// searched.
	restTime = 120 * time.Millisecond
	// healPause is what lies between two searches at least; a search of a large page
	// takes long, and three times as long lies before the next.
	healPause = 250 * time.Millisecond
)

// maxHealedSelector bounds a selector that heal.js builds, in bytes: it is made of
// the page's texts, and is proposed as the step's.
const maxHealedSelector = 2 << 10

// healing is the search for the element of an action whose selector finds nothing.
// A nil one does nothing: the action is not healed.
type healing struct {
	elementAction
	want   string
	mode   string // HealSuggest or HealApply
	begin  time.Time
	done   bool   // there is no other search
	reason string // why there is no healing, as far as known
}

// newHealing returns how the action is healed; nil for one that is not.
func (a elementAction) newHealing(want string) *healing {
	at := a.at
	switch {
	case a.Healing == step.HealOff, at.fingerprint == nil, at.stored == nil, at.fingerprint.Partial():
		return nil
	case !reflect.DeepEqual(pageSelectorOf(at.stored), at.selector): // it holds variables
		return nil
	case !agrees(at.stored, at.fingerprint):
		return nil
	}
	h := &healing{elementAction: a, want: want, mode: a.Healing}
	if h.mode == "" {
		h.mode = step.HealApply
		if risky(want, at.fingerprint) {
			h.mode = step.HealSuggest
		}
	}
	left := min(max(a.timeout/5, minHealTime), maxHealTime)
	h.begin = a.deadline.Add(-left)
	return h
}

// wait returns how long a call of act.js may wait, so that the next search is not
// late.
func (h *healing) wait(most time.Duration) time.Duration {
	if h == nil {
		return most
	}
	return min(most, max(time.Until(h.begin), 50*time.Millisecond))
}

// due reports whether the page is to be searched now: nothing was found, not even
// what is hidden, disabled or one of several.
func (h *healing) due(last actResult) bool {
	return h != nil && !h.done && last.State == stateNone && last.Count == 0 &&
		(last.Why == "" || last.Why == stateNone || h.at.guessed) && !time.Now().Before(h.begin)
}

// attempt searches the page, and moves the location of the action to what it finds.
// Last means that there is no other attempt.
func (h *healing) attempt(ctx context.Context, q actQuery, last bool) (bool, error) {
	began := time.Now()
	h.done = last || time.Until(h.deadline) < healPause
	found, frames, err := h.find(ctx, q, h.done)
	h.begin = time.Now().Add(max(healPause, 3*(time.Since(began)-restTime)))
	if h.begin.After(h.deadline) {
		h.begin = h.deadline
	}
	if err != nil || found == nil { // a navigation came between
		h.done = last
		return false, err
	}
	h.reason = h.quote(found.Reason, 300)
	if !found.usable() {
		if found.Found {
			h.reason = "what may be the element has too long a selector"
		}
		return false, nil
	}
	at := *h.at
	at.frames = append(append([]frameLocation(nil), frames...), cssFrames(found.Frames)...)
	at.hosts = cssSelectors(found.Hosts)
	to := found.Selector
	at.selector = pageSelectorOf(&to)
	to.Fingerprint = h.storable(&found.Fingerprint, at.frames)
	healed := &step.Healed{From: *h.at.stored, To: to, Score: min(found.Score, 1), Reason: h.reason}
	if h.holdsSecret(&healed.From) || h.holdsSecret(&to) {
		h.reason = "what may be the element cannot be named without a secret"
		return false, nil
	}
	what := h.showSelector(at.selector) + " (" + h.reason + ")"
	if h.refused(&to) {
		h.reason = "a person refused " + what
		return false, nil
	}
	if h.mode == step.HealSuggest || h.healed != nil { // one element of a drag is healed
		h.suggested, h.reason, h.done = healed, what, true
		return false, nil
	}
	*h.at, h.healed = at, healed
	return true, nil
}

// find searches the frame that the location is in, and the whole page when that frame
// was only guessed by the fingerprint. The result is nil when there is no answer.
func (h *healing) find(ctx context.Context, q actQuery, last bool) (*healResult, []frameLocation, error) {
	missing, err := h.enterFrames(ctx, h.at.frames)
	if err != nil {
		return nil, nil, err
	}
	var found *healResult
	if missing == nil {
		if found, err = h.search(ctx, q, last); err != nil || found != nil && found.Found {
			return found, h.at.frames, err
		}
	}
	if !h.at.guessed || len(h.at.frames) == 0 {
		return found, h.at.frames, nil
	}
	if err := h.leaveFrames(ctx); err != nil {
		return nil, nil, err
	}
	found, err = h.search(ctx, q, last)
	return found, nil, err
}

// search calls heal.js in the current frame. The result is nil when a navigation or
// a dialog came between.
func (h *healing) search(ctx context.Context, q actQuery, last bool) (*healResult, error) {
	var found *healResult
	err := h.execute(ctx, healScript, &found, map[string]any{"fingerprint": h.at.fingerprint, "want": h.want,
		"query": actQuery{Hosts: q.Hosts, Selector: q.Selector}, "quiet": restTime.Milliseconds(), "last": last})
	if err != nil {
		return nil, h.interrupted(ctx, err)
	}
	return found, nil
}

// outcome is what the message of a step that was not healed says about it.
func (h *healing) outcome() string {
	switch {
	case h == nil:
		return ""
	case h.suggested != nil && h.healed != nil:
		return "; it may be " + h.reason + ", but a step is healed once"
	case h.suggested != nil && h.Healing == "":
		return "; it may be " + h.reason + ", which is not used unless healing is set to apply, because of what it is called"
	case h.suggested != nil:
		return "; it may be " + h.reason + ", which healing only suggests"
	case h.reason == "":
		return "; nothing on the page is similar enough to what the step was recorded with"
	}
	return "; nothing on the page is similar enough to what the step was recorded with: " + h.reason
}

// refused reports whether a person refused a healing to a selector.
func (h *healing) refused(to *step.Selector) bool {
	return slices.ContainsFunc(h.Refused[h.Steps[h.index].ID], func(no step.Selector) bool {
		return reflect.DeepEqual(pageSelectorOf(&no), pageSelectorOf(to))
	})
}

// holdsSecret reports whether the text of a selector holds a secret.
func (h *healing) holdsSecret(s *step.Selector) bool {
	for ; s != nil; s = s.Within {
		for _, text := range []string{s.Value, s.Name, s.HasText} {
			if h.withoutSecret(text) != text {
				return true
			}
		}
		if s.Has != nil && h.holdsSecret(s.Has) {
			return true
		}
	}
	return false
}

// healResult is what heal.js returns.
type healResult struct {
	Found       bool             `json:"found"`
	Frames      []string         `json:"frames"`
	Hosts       []string         `json:"hosts"`
	Selector    step.Selector    `json:"selector"`
	Score       float64          `json:"score"`
	Reason      string           `json:"reason"`
	Fingerprint step.Fingerprint `json:"fingerprint"`
}

// usable reports whether an element was found, and in a way that a step can name.
func (r *healResult) usable() bool {
	if !r.Found || len(r.Frames) > step.MaxNesting || len(r.Hosts) > step.MaxNesting {
		return false
	}
	for _, part := range append(append([]string{r.Selector.Value, r.Selector.Name}, r.Frames...), r.Hosts...) {
		if len(part) > maxHealedSelector {
			return false
		}
	}
	return true
}
