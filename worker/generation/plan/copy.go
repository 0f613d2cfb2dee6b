package plan

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// copies does a goal that takes a text of the page elsewhere: "copy the code into the field", or
// "copy the code" where the goal after it says where "it" goes. False where it is another deed, for
// which there is a control: "copy the invoice".
func (p *planner) copies(ctx context.Context, g *intent.Goal) (bool, error) {
	pastes := p.pastesNext()
	if len(g.Target) != 1 || len(g.Fields) > 0 || g.Effect != intent.Copy && !pastes || !takesUp[g.Effect] {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	from, into := g.Target[0], g.To
	if pastes && into != nil { // "the text in the box"
		from.In, into = into, nil
	}
	if len(from.Having) == 1 && from.In == nil && holds(from.Having[0].Kind) { // "the code from the table"
		from.In, from.Having = &from.Having[0], nil
	}
	if !pastes {
		if into == nil {
			return false, nil
		}
		if f := find.Description(m, into, p.want(m, find.Field)); len(f.Candidates) == 0 || len(f.Missing) > 0 {
			return false, nil // a thing that goes to another place
		}
	}
	v := intent.Value{Span: g.Target[0].Span, Text: p.words(from.Span), From: &from}
	if g.To != nil && into == nil {
		v.Span.To = max(v.Span.To, g.To.Span.To)
	}
	if err := p.shownValue(ctx, &v, into); err != nil {
		return false, err
	}
	if v.From != nil {
		return false, nil // nothing shows it
	}
	p.useSpan(g.Verb, "it is shown")
	if pastes {
		p.copied = &v
		return true, nil
	}
	return true, p.setOn(ctx, g, newForm([]intent.Field{{Name: into, Value: v, Span: into.Span}}), nil)
}

// takesUp are the effects whose goal may only say what the next one puts somewhere: "read the code,
// type it into the field".
var takesUp = map[intent.Effect]bool{intent.Copy: true, intent.Act: true, intent.Open: true, intent.Select: true, intent.Search: true}

// holds reports whether a kind of thing has others in it.
func holds(k intent.Kind) bool {
	return k == intent.Table || k == intent.List || k == intent.Section || k == intent.Form || k == intent.Dialog || k == intent.Card
}

// pastesNext reports whether the next goal puts what this one speaks of into a field: "paste it
// into the box".
func (p *planner) pastesNext() bool {
	if len(p.next) == 0 {
		return false
	}
	switch n := &p.next[0]; n.Effect {
	case intent.Set, intent.Add:
		return len(n.Fields) == 1 && len(n.Target) == 0 && p.refers(&n.Fields[0].Value)
	case intent.Type:
		return n.Text != nil && p.refers(n.Text)
	}
	return false
}

// save keeps what the page shows under a name, by a step of the test, and returns the name; ""
// where no step can read it.
func (p *planner) save(ctx context.Context, m *page.Model, c *find.Candidate, text string) (string, error) {
	args := step.Args{Reasoning: "what the page shows is used further on"}
	args.From, args.Name = step.SavedText, "copied"
	for n := 2; p.saved(args.Name) >= 0; n++ {
		args.Name = fmt.Sprintf("copied_%d", n)
	}
	if c.Node < 0 || len(text) > step.MaxSaved {
		return "", nil
	}
	node := &m.Nodes[c.Node]
	whole := nodeShows(m, c.Node)
	switch {
	case len(node.Options) > 0 || node.Password:
		return "", nil // what it holds is not what it shows
	case node.HasValue:
		args.From, whole = step.SavedValue, text
	}
	if whole != text {
		before, after, ok := strings.Cut(whole, text)
		if !ok || strings.Contains(after, text) {
			return "", nil
		}
		args.Match = `^\s*` + spaced(before) + `(.+?)` + spaced(after) + `\s*$`
	}
	found, err := p.cfg.Page.Locate(ctx, node.Ref)
	if err != nil || len(found) == 0 || found[0].Selector.Type == "" {
		return "", err
	}
	args.Selector = selectorFor(&found[0], &assertion{own: true})
	if err := p.full(); err != nil {
		return "", err
	}
	s := step.Step{ID: p.newID(), Tool: inFrames(step.Tool{Type: step.Save, Args: args}, found[0].Frames), TimeoutMS: tryTimeMS}
	model := p.model
	record, err := p.execute(ctx, s)
	if err != nil {
		return "", err
	}
	p.model = model // to read a text changes nothing
	p.trace("  save %s: %s %s", args.Name, record.Status, record.Result.Message)
	if record.Status != playback.Passed {
		return "", nil
	}
	s.TimeoutMS = 0
	s.Tool, s.Result, s.ScreenshotID = record.Tool, &record.Result, record.ScreenshotID
	p.keep(s, args.Reasoning)
	p.savedAs[text] = args.Name
	return args.Name, nil
}

// spaced is a pattern of a text in which any white space stands for white space.
func spaced(text string) string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	pattern := strings.Join(words, `\s+`)
	if text != "" && strings.TrimLeft(text, " ") != text {
		pattern = `\s*` + pattern
	}
	if text != "" && strings.TrimRight(text, " ") != text {
		pattern += `\s*`
	}
	return pattern
}

// saved returns the step that saves a text under a name; -1.
func (p *planner) saved(name string) int {
	for i := range p.steps {
		if in := step.Inner(&p.steps[i].Tool); in.Type == step.Save && in.Args.Name == name {
			return i
		}
	}
	return -1
}

// dropUnused takes steps out that save what nothing uses: it was chosen from a list.
func (p *planner) dropUnused() {
	for i := len(p.steps) - 1; i >= 0; i-- {
		if in := step.Inner(&p.steps[i].Tool); in.Type == step.Save && !p.uses(in.Args.Name) {
			p.cut(i, i+1)
		}
	}
}

// uses reports whether a step types what another one has saved under a name.
func (p *planner) uses(name string) bool {
	return name != "" && slices.ContainsFunc(p.steps, func(s step.Step) bool {
		text := step.Inner(&s.Tool).Args.Text
		return text != nil && strings.Contains(*text, intent.SavedText(name))
	})
}
