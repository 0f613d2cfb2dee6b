package run

import (
	"encoding/json"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// redacted returns records whose texts contain no secrets. The argument is not changed.
func (p *execution) redacted(records []playback.Record) []playback.Record {
	records = slices.Clone(records)
	for i := range records {
		r := &records[i]
		r.Result.Message = p.redactor.Text(r.Result.Message)
		r.Healed, r.Suggested = p.redactedHealing(r.Healed), p.redactedHealing(r.Suggested)
		r.Drifted = p.redactedDrift(r.Drifted)
		r.Iterations = slices.Clone(r.Iterations)
		for n := range r.Iterations {
			r.Iterations[n].Result.Message = p.redactor.Text(r.Iterations[n].Result.Message)
		}
		r.Findings, r.Failure = p.redactedFindings(r.Findings), r.Failure.Redacted(p.redactor.Text)
	}
	return records
}

// redactedHealing returns a healing whose reason contains no secret. A selector that
// does is left out: masked, it would find something else.
func (p *execution) redactedHealing(h *playback.Healed) *playback.Healed {
	if h == nil {
		return nil
	}
	clean := *h
	clean.Reason = p.redactor.Text(clean.Reason)
	text, err := json.Marshal(clean.To)
	if err != nil || p.redactor.Text(string(text)) != string(text) {
		clean.To = step.Selector{}
	}
	return &clean
}

// redactedFindings returns findings whose texts contain no secret.
func (p *execution) redactedFindings(f *step.Findings) *step.Findings {
	if f == nil {
		return nil
	}
	clean := *f
	clean.List = slices.Clone(f.List)
	for i := range clean.List {
		one := &clean.List[i]
		one.Element, one.HTML, one.Help = p.redactor.Text(one.Element), p.redactor.Text(one.HTML), p.redactor.Text(one.Help)
	}
	return &clean
}

// redactedDrift returns a drift whose texts contain no secret. A fingerprint that does is
// left out.
func (p *execution) redactedDrift(d *playback.Drifted) *playback.Drifted {
	if d == nil {
		return nil
	}
	clean := *d
	for _, e := range []*playback.Described{&clean.Expected, &clean.Found} {
		e.Role, e.Name, e.Row = p.redactor.Text(e.Role), p.redactor.Text(e.Name), slices.Clone(e.Row)
		for i := range e.Row {
			e.Row[i] = p.redactor.Text(e.Row[i])
		}
	}
	text, err := json.Marshal(clean.To)
	if err != nil || p.redactor.Text(string(text)) != string(text) {
		clean.To = step.Selector{}
	}
	return &clean
}
