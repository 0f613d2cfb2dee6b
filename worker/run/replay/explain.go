package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// explainTimeout bounds the search for the elements that come nearest to one that a step needs.
const explainTimeout = 3 * time.Second

// sought is the element that a step needs and did not find or cannot use.
type sought struct {
	at   elementLocation
	want string // as of actQuery; "" for an assertion
	why  string // what speaks against those that the selector does find
}

// expecting returns the failure with what was expected and what there was.
func (f *failure) expecting(expected, actual string, element *sought) *failure {
	f.expected, f.actual, f.sought = expected, actual, element
	return f
}

// explain returns what a failed step expected and found.
func (t *testExecution) explain(ctx context.Context, x *stepExecution, f *failure) *step.Failure {
	said := func(text string) string { return t.quote(text, step.MaxSaid) }
	why := &step.Failure{Expected: said(f.expected), Actual: said(f.actual)}
	if f.expected == "" {
		why.Expected, why.Actual = said(titleOf(t, x.index)), said(f.text)
	}
	if f.sought == nil || f.broken || t.live || t.Lease.Mobile || ctx.Err() != nil || isErrorPage(t.href) || !(pageView{x}).responds(ctx) {
		return why
	}
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	why.Candidates = x.nearest(ctx, f.sought)
	return why
}

// nearCandidate is what nearest.js returns of an element.
type nearCandidate struct {
	Selector step.Selector `json:"selector"`
	Role     string        `json:"role"`
	Name     string        `json:"name"`
	Text     string        `json:"text"`
	Against  []string      `json:"against"`
}

// nearest returns the elements that come nearest; none where the page cannot be asked.
func (x *stepExecution) nearest(ctx context.Context, s *sought) []step.Candidate {
	defer x.resetFrame(ctx)
	if missing, err := x.enterFrames(ctx, s.at.frames); err != nil || missing != nil {
		if x.leaveFrames(ctx) != nil {
			return nil
		}
	}
	var found []nearCandidate
	err := x.executeFor(ctx, 2*time.Second, nearestScript, &found, map[string]any{"query": actQuery{Hosts: orEmpty(s.at.hosts), Selector: s.at.selector},
		"fingerprint": s.at.fingerprint, "want": s.want, "why": s.why, "most": step.MaxCandidates})
	if err != nil {
		return nil
	}
	var list []step.Candidate
	for _, c := range found[:min(len(found), step.MaxCandidates)] {
		one := step.Candidate{Selector: &c.Selector, Role: x.quote(c.Role, 60), Name: x.quote(c.Name, 200), Text: x.quote(c.Text, 200)}
		one.Selector.Fingerprint = nil
		if (&healing{elementAction: elementAction{x, &s.at}}).holdsSecret(one.Selector) || len(one.Selector.Value)+len(one.Selector.Name) > maxHealedSelector {
			one.Selector = nil
		}
		for _, text := range c.Against[:min(len(c.Against), step.MaxAgainst)] {
			one.Against = append(one.Against, x.quote(text, 200))
		}
		list = append(list, one)
	}
	return list
}
