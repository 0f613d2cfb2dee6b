package action

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
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
	Action
	want   string
	mode   string // HealSuggest or HealApply
	begin  time.Time
	done   bool   // there is no other search
	reason string // why there is no healing, as far as known
}

// newHealing returns how the action is healed; nil for one that is not.
func (a Action) newHealing(want string) *healing {
	at := a.At
	switch {
	case a.Healing == capability.HealOff, at.Fingerprint == nil, at.Stored == nil, at.Fingerprint.Partial():
		return nil
	case !reflect.DeepEqual(page.SelectorOf(at.Stored), at.Selector): // it holds variables
		return nil
	case !agrees(at.Stored, at.Fingerprint):
		return nil
	}
	h := &healing{Action: a, want: want, mode: a.Healing}
	if h.mode == "" {
		h.mode = capability.HealApply
		if risky(want, at.Fingerprint) {
			h.mode = capability.HealSuggest
		}
	}
	left := min(max(a.Timeout/5, minHealTime), maxHealTime)
	h.begin = a.Deadline.Add(-left)
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
func (h *healing) due(last page.ActResult) bool {
	return h != nil && !h.done && last.State == page.StateNone && last.Count == 0 &&
		(last.Why == "" || last.Why == page.StateNone || h.At.Guessed) && !time.Now().Before(h.begin)
}

// attempt searches the page, and moves the location of the action to what it finds.
// Last means that there is no other attempt.
func (h *healing) attempt(ctx context.Context, q page.ActQuery, last bool) (bool, error) {
	began := time.Now()
	h.done = last || time.Until(h.Deadline) < healPause
	found, frames, err := h.find(ctx, q, h.done)
	h.begin = time.Now().Add(max(healPause, 3*(time.Since(began)-restTime)))
	if h.begin.After(h.Deadline) {
		h.begin = h.Deadline
	}
	if err != nil || found == nil { // a navigation came between
		h.done = last
		return false, err
	}
	h.reason = h.Quote(found.Reason, 300)
	if !found.usable() {
		if found.Found {
			h.reason = "what may be the element has too long a selector"
		}
		return false, nil
	}
	at := *h.At
	at.Frames = append(append([]page.Frame(nil), frames...), page.CSSFrames(found.Frames)...)
	at.Hosts = page.CSSSelectors(found.Hosts)
	to := found.Selector
	at.Selector = page.SelectorOf(&to)
	to.Fingerprint = h.Storable(&found.Fingerprint, at.Frames)
	healed := &playback.Healed{From: *h.At.Stored, To: to, Score: min(found.Score, 1), Reason: h.reason}
	if h.HoldsSecret(&healed.From) || h.HoldsSecret(&to) {
		h.reason = "what may be the element cannot be named without a secret"
		return false, nil
	}
	what := h.ShowSelector(at.Selector) + " (" + h.reason + ")"
	if h.refused(&to) {
		h.reason = "a person refused " + what
		return false, nil
	}
	if h.mode == capability.HealSuggest || h.Healed != nil { // one element of a drag is healed
		h.Suggested, h.reason, h.done = healed, what, true
		return false, nil
	}
	*h.At, h.Healed = at, healed
	return true, nil
}

// find searches the frame that the location is in, and the whole page when that frame
// was only guessed by the fingerprint. The result is nil when there is no answer.
func (h *healing) find(ctx context.Context, q page.ActQuery, last bool) (*healResult, []page.Frame, error) {
	missing, err := h.EnterFrames(ctx, h.At.Frames)
	if err != nil {
		return nil, nil, err
	}
	var found *healResult
	if missing == nil {
		if found, err = h.search(ctx, q, last); err != nil || found != nil && found.Found {
			return found, h.At.Frames, err
		}
	}
	if !h.At.Guessed || len(h.At.Frames) == 0 {
		return found, h.At.Frames, nil
	}
	if err := h.LeaveFrames(ctx); err != nil {
		return nil, nil, err
	}
	found, err = h.search(ctx, q, last)
	return found, nil, err
}

// search calls heal.js in the current frame. The result is nil when a navigation or
// a dialog came between.
func (h *healing) search(ctx context.Context, q page.ActQuery, last bool) (*healResult, error) {
	var found *healResult
	err := h.Execute(ctx, page.HealScript, &found, map[string]any{"fingerprint": h.At.Fingerprint, "want": h.want,
		"query": page.ActQuery{Hosts: q.Hosts, Selector: q.Selector}, "quiet": restTime.Milliseconds(), "last": last})
	if err != nil {
		return nil, h.Interrupted(ctx, err)
	}
	return found, nil
}

// outcome is what the message of a step that was not healed says about it.
func (h *healing) outcome() string {
	switch {
	case h == nil:
		return ""
	case h.Suggested != nil && h.Healed != nil:
		return "; it may be " + h.reason + ", but a step is healed once"
	case h.Suggested != nil && h.Healing == "":
		return "; it may be " + h.reason + ", which is not used unless healing is set to apply, because of what it is called"
	case h.Suggested != nil:
		return "; it may be " + h.reason + ", which healing only suggests"
	case h.reason == "":
		return "; nothing on the page is similar enough to what the step was recorded with"
	}
	return "; nothing on the page is similar enough to what the step was recorded with: " + h.reason
}

// refused reports whether a person refused a healing to a selector.
func (h *healing) refused(to *step.Selector) bool {
	return slices.ContainsFunc(h.Refused[h.Steps[h.Index].ID], func(no step.Selector) bool {
		return reflect.DeepEqual(page.SelectorOf(&no), page.SelectorOf(to))
	})
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
