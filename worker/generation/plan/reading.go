package plan

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// The scores of what a reading asks for and the page does not show: another reading
// may fit better, but it may come later as well.
const (
	scoreMissing   = 0.15
	scoreAmbiguous = 0.4
)

// chooseOf returns the reading of a clause that the page allows best. Only targets of the
// first instruction must be there: what comes after it may come with it.
func chooseOf(ctx context.Context, p *planner, c intent.Clause) (intent.Reading, error) {
	v, err := p.look(ctx)
	if err != nil || len(c.Readings) == 1 {
		return c.Readings[0], err
	}
	whole := wholeReadings(&c)
	best, first := bestOf(p, v, whole)
	for end := time.Now().Add(lateness(p)); first <= scoreAmbiguous && time.Now().Before(end); {
		if err := sleep(ctx, lookEvery); err != nil {
			return best, err
		}
		if v, err = lookAgain(ctx, p); err != nil {
			return best, err
		}
		best, first = bestOf(p, v, whole)
	}
	if first <= scoreAmbiguous {
		p.waited = true
	}
	return best, nil
}

// wholeReadings returns the readings of a clause that have all that it certainly says;
// all of them when none does.
func wholeReadings(c *intent.Clause) []intent.Reading {
	var whole []intent.Reading
	for _, r := range c.Readings {
		if len(lost(c, &r)) == 0 {
			whole = append(whole, r)
		}
	}
	if len(whole) == 0 {
		return c.Readings
	}
	return whole
}

// bestOf returns the reading that fits a view best, and how well its first instruction does.
func bestOf(p *planner, v *view, readings []intent.Reading) (best intent.Reading, first float64) {
	top := -1.0
	for _, r := range readings {
		score, fit := r.Prior, 1.0
		for i := range r.Instructions {
			s := feasible(p, v, &r.Instructions[i])
			if i == 0 {
				fit = s
				score *= s
				continue
			}
			score *= 0.6 + 0.4*s
		}
		if score > top {
			top, best, first = score, r, fit
		}
	}
	return best, first
}

// feasible returns from 0 to 1 how well an instruction can be done on what is seen now.
func feasible(p *planner, v *view, in *intent.Instruction) float64 {
	p.instruction = in
	switch in.Kind {
	case intent.Click, intent.DoubleClick, intent.RightClick, intent.Hover:
		return p.exists(v, in.Target, toUse)
	case intent.Fill, intent.Append, intent.Clear:
		if in.Target == nil {
			return either(len(v.fields()) > 0, 0.9, scoreMissing)
		}
		return p.exists(v, in.Target, toFill)
	case intent.Check, intent.Uncheck:
		return existsNamed(p, v, in, toCheck)
	case intent.Choose:
		return existsChoice(p, v, in)
	case intent.Adjust:
		return p.exists(v, in.Target, toAdjust)
	case intent.Expand, intent.Collapse:
		return p.exists(v, in.Target, toExpand)
	case intent.Upload:
		return p.exists(v, in.Target, toUpload)
	case intent.Copy, intent.Drag:
		if in.To == nil {
			return p.exists(v, in.Target, toFind)
		}
		return p.exists(v, in.Target, toFind) * p.exists(v, in.To, toFind)
	case intent.Assert, intent.WaitFor:
		return 0.8
	case intent.Activate:
		return 0.85 * p.exists(v, in.Target, toFind)
	default:
		return 0.9
	}
}

// exists returns how clearly a phrase means something that is seen; without one what
// is needed is not said, and found by the executor.
func (p *planner) exists(v *view, phrase *intent.Phrase, w want) float64 {
	if phrase == nil {
		return 0.8
	}
	list, err := p.pickAll(v, phrase, w)
	switch {
	case isMissing(err):
		return scoreMissing
	case err != nil:
		return scoreAmbiguous
	}
	score := 1.0
	for _, m := range list {
		score = min(score, m.score)
	}
	return score
}

// existsNamed is exists where values are further names of the same kind.
func existsNamed(p *planner, v *view, in *intent.Instruction, w want) float64 {
	score := p.exists(v, in.Target, w)
	for i := range in.Values {
		phrase := intent.Phrase{Text: in.Values[i].Text, Name: in.Values[i].Text, Exact: in.Values[i].Quoted}
		score = min(score, p.exists(v, &phrase, w))
	}
	return score
}

// existsChoice returns how well each of the values can be chosen, from a list that is
// seen or one that its target opens.
func existsChoice(p *planner, v *view, in *intent.Instruction) float64 {
	score := p.exists(v, in.Target, toChoose)
	for i := range in.Values {
		if in.Values[i].Date != nil {
			continue
		}
		w := newWanted(in.Values[i].Text, in.Values[i].Quoted)
		best := bestOption(v, w)
		if best < enough && in.Target != nil { // in a list that is not open
			best = 0.6
		}
		score *= max(best, scoreMissing)
	}
	return score
}

// bestOption returns how well the best option, item or control of the page has a name.
func bestOption(v *view, w *wanted) float64 {
	best := 0.0
	for i := range v.Nodes {
		n := &v.Nodes[i]
		for _, o := range n.Options {
			label := parseText(o.Label)
			best = max(best, w.compare(&label))
		}
		if n.Role == "option" || !n.Hidden && (n.Interactive || n.Role == "text" || isItem(n)) {
			name := parseText(n.Name)
			best = max(best, w.compare(&name))
		}
	}
	return best
}

// fields returns the elements that take text and can be used now.
func (v *view) fields() []int {
	modal := v.modal()
	var list []int
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Editable && !n.Hidden && !n.Disabled && !n.ReadOnly && (modal < 0 || v.inside(i, modal)) {
			list = append(list, i)
		}
	}
	return list
}
