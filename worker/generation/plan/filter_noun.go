package plan

import (
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// ofList returns the words that tell which of a list are meant, without the one that says what all of it
// is: "blue" of "blue vans" where the list is of "6 vans"; nil where none does.
func (p *planner) ofList(d *intent.Description) []intent.Word {
	n := len(d.Words)
	if n < 2 || d.Quoted || d.Noun != "" || p.model == nil {
		return nil
	}
	for _, at := range []int{n - 1, 0} {
		w := d.Words[at]
		all := intent.Description{Span: w.Span, Noun: w.Text, NounSpan: w.Span, All: true}
		f := find.Description(p.model, &all, p.want(p.model, find.Record))
		if len(f.Candidates) < 2 || len(f.Missing)+len(f.Assumed) > 0 || !wholeList(p.model, f.Candidates) {
			continue
		}
		p.use(f.Candidates[0].Used...)
		p.useSpan(w.Span, "what the list is of")
		if at == 0 {
			return d.Words[1:]
		}
		return d.Words[:at]
	}
	return nil
}
