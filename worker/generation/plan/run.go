package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/reading"
)

// Run writes the steps for an intent by doing them on the page. Its error is a
// *NotUnderstoodError, a *FailedError, or one of the session or of ctx; the outcome has what
// there was so far in any case.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxTries == 0 {
		cfg.MaxTries = defaultTries
	}
	if cfg.MaxTime == 0 {
		cfg.MaxTime = defaultTime
	}
	p := &planner{cfg: cfg, deadline: time.Now().Add(cfg.MaxTime)}
	if p.text = cfg.Text; p.text == nil {
		text := reading.Read(cfg.Intent)
		p.text = &text
	}
	p.cfg.Intent = p.text.Source
	err := p.run(ctx)
	out := &Outcome{Steps: p.steps, Asserted: p.asserted, Trivial: p.trivial, Decided: p.decided}
	if suggests := err == nil && !p.asserted && !cfg.NoSuggestion; suggests {
		out.Alternatives, err = p.suggest(ctx)
		out.Steps = p.steps
	}
	p.report()
	out.Reasoning = append(slices.Clone(p.why), p.reasoning...)
	return out, err
}

// run does the readings, best first, until one is done wholly. The next one is tried only where
// nothing that the one before did can matter: where nothing was done, or the page can begin
// afresh and nothing may have been deleted, paid or sent.
func (p *planner) run(ctx context.Context) error {
	if err := p.prepareReadings(ctx); err != nil {
		return err
	}
	if len(p.text.Readings) == 0 {
		return p.say("it asks for nothing that is known")
	}
	first := p.readings(ctx, 0)
	var not *NotUnderstoodError
	if !errors.As(first, &not) {
		return first
	}
	if len(p.harmed) > 0 {
		return first // what may have been deleted, paid or sent is not done by another reading
	}
	more, err := p.askReadings(ctx, not)
	if err != nil {
		return err
	}
	if len(more) == 0 {
		return first
	}
	t := *p.text
	from := len(t.Readings)
	t.Readings = append(slices.Clone(t.Readings), more...)
	p.text = &t
	if err := p.readings(ctx, from); err == nil || !isNotUnderstood(err) {
		return err
	}
	return first
}

// readings does those of the text from one on, until one is done wholly.
func (p *planner) readings(ctx context.Context, from int) error {
	var first error
	for i := from; i < len(p.text.Readings); i++ {
		r := &p.text.Readings[i]
		if len(r.Unread) > 0 {
			if first == nil {
				first = p.unread(r)
			}
			continue
		}
		if len(p.harmed) > 0 {
			break // what may have been deleted, paid or sent is not done by another reading
		}
		if i > 0 && (p.mark() > 0 || p.touched) {
			if p.cfg.Fresh == nil || p.cfg.Explore == ExploreOff || p.spent() {
				if first == nil {
					first = p.say("the page cannot begin afresh for another reading")
				}
				break
			}
			if err := p.cfg.Fresh(ctx, nil); err != nil {
				return err
			}
		}
		p.begin(r)
		err := p.read(ctx)
		if err == nil {
			return nil
		}
		var not *NotUnderstoodError
		if first == nil {
			first = err
		}
		if !errors.As(err, &not) {
			break
		}
		if not.final {
			return err
		}
	}
	return first
}

// begin forgets what an earlier reading did.
func (p *planner) begin(r *intent.Reading) {
	p.reading, p.model, p.before, p.first, p.seen, p.lists = r, nil, nil, nil, nil, nil
	p.drop(0)
	p.report()
	p.used, p.them, p.pending, p.kept, p.trivial, p.asserted, p.confirmed = nil, nil, nil, nil, nil, false, false
	p.sortedBy = find.Sorted{}
	p.near, p.prompted, p.unsent, p.copied, p.sources, p.savedAs = "", nil, false, nil, nil, map[string]string{}
	p.touched, p.harmed, p.filled, p.noted = false, map[string]bool{}, map[string]bool{}, map[string]string{}
}

// unread is the error for a reading that has words which no slot took.
func (p *planner) unread(r *intent.Reading) error {
	var list []string
	for _, s := range r.Unread {
		list = append(list, fmt.Sprintf("%q", p.words(s)))
	}
	return p.say("what it says of " + strings.Join(list, ", ") + " was not understood")
}

// read does the goals of the reading one after the other.
func (p *planner) read(ctx context.Context) error {
	if len(p.reading.Goals) == 0 {
		return p.say("it asks for nothing that is known")
	}
	if _, err := p.look(ctx); err != nil {
		return err
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	skipped := false
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		p.goal, p.next = g, p.reading.Goals[i+1:]
		p.enterScope(g)
		p.forgetLists()
		if g.Forbidden {
			continue
		}
		do, err := p.condition(ctx, g, skipped)
		if err != nil {
			return p.clauses(err, i)
		}
		if skipped = !do; skipped {
			p.useGoal(g, "its condition does not hold")
			continue
		}
		if err := p.reach(ctx, g); err != nil {
			if g.Optional && isNotUnderstood(err) {
				p.useGoal(g, "it is not there, and need not be")
				continue
			}
			return p.clauses(err, i)
		}
		p.note(describe(g), p.words(g.Span))
	}
	p.goal = nil
	p.forgetLists()
	return p.finish(ctx)
}

// finish looks whether all was done, and nothing that must not be.
func (p *planner) finish(ctx context.Context) error {
	if p.pending != nil || p.prompted != nil {
		return p.clauses(p.say("a question was left open that it does not answer"), len(p.reading.Goals))
	}
	if err := p.forbidden(ctx); err != nil {
		return p.clauses(err, len(p.reading.Goals))
	}
	if err := p.account(); err != nil {
		return p.clauses(err, len(p.reading.Goals))
	}
	if !slices.ContainsFunc(p.reading.Goals, func(g intent.Goal) bool { return !g.Forbidden }) {
		return p.clauses(p.say("it only says what is not to be done"), len(p.reading.Goals))
	}
	p.dropUnused()
	return nil
}

// clauses adds to an error how far each goal came; those before n were done.
func (p *planner) clauses(err error, n int) error {
	var not *NotUnderstoodError
	if !errors.As(err, &not) || not.Clauses != nil {
		return err
	}
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		left := p.left(g)
		c := Clause{Text: p.words(g.Span), Done: i < n && (len(left) == 0 || g.Forbidden)}
		for _, s := range left {
			c.Left = append(c.Left, p.words(s))
		}
		not.Clauses = append(not.Clauses, c)
	}
	return err
}

func isNotUnderstood(err error) bool {
	var not *NotUnderstoodError
	return errors.As(err, &not)
}

// condition reports whether a goal is to be done: whether its condition holds now.
func (p *planner) condition(ctx context.Context, g *intent.Goal, skipped bool) (bool, error) {
	if g.Otherwise {
		return skipped, nil
	}
	if g.If == nil {
		return true, nil
	}
	e, err := p.evidence(ctx, g.If)
	if err != nil {
		return false, err
	}
	if !e.Known {
		return false, p.unsure(g.If, &e)
	}
	p.use(e.Used...)
	p.useSpan(g.If.Span, "the condition")
	return e.Holds, nil
}

// reach does one goal.
func (p *planner) reach(ctx context.Context, g *intent.Goal) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if g.Effect != intent.Check && p.pending == nil { // what answers a question is the end of the deed before it
		p.before = m
	}
	p.recall(m)
	if m.Dialog != nil && g.Effect == intent.Close {
		return p.answer(ctx, asAbandon(g))
	}
	if m.Dialog != nil {
		if as := p.asAnswer(g); as != nil {
			if err := p.answer(ctx, as); err != nil {
				return err
			}
			p.useGoal(g, "the question was answered")
			return nil
		}
	}
	if err := p.into(ctx, g); err != nil {
		return err
	}
	if g, err = p.without(ctx, g); err != nil {
		return err
	}
	if done, err := p.restate(ctx, g); err != nil || done {
		return err
	}
	if done, err := p.copies(ctx, g); err != nil || done {
		return err
	}
	run := executorOf(g.Effect)
	if run == nil {
		run = (*planner).deed
	}
	if err := p.bracketed(g); err != nil {
		return err
	}
	asks := g.Effect == intent.Confirm || g.Effect == intent.Check
	if !asks {
		p.filledBefore = p.unsent
		p.confirmed, p.unsent = false, false
	}
	waiting := p.pending
	if err := run(p, ctx, g); err != nil {
		return err
	}
	if waiting != nil && p.pending == waiting && inDialog(g) {
		p.pending = nil
		if err := p.pressed(ctx, waiting, g); err != nil {
			return err
		}
	}
	if !asks && g.Effect != intent.Sort {
		p.sortedBy = find.Sorted{}
	}
	p.unsent = p.unsent || fills[g.Effect]
	p.useSpan(g.Verb, "done")
	p.report()
	return nil
}

// fills are the effects that only fill in: what they did may still have to be handed in.
var fills = map[intent.Effect]bool{intent.Set: true, intent.Choose: true, intent.Edit: true, intent.Append: true,
	intent.Toggle: true, intent.Type: true}

// executorOf returns who does the goals of an effect that are more than one deed on a target.
func executorOf(e intent.Effect) func(*planner, context.Context, *intent.Goal) error {
	return map[intent.Effect]func(*planner, context.Context, *intent.Goal) error{
		intent.Check: (*planner).check, intent.Set: (*planner).set, intent.Choose: (*planner).choose, intent.Add: (*planner).add,
		intent.Edit: (*planner).edit, intent.Append: (*planner).edit, intent.Search: (*planner).search, intent.Filter: (*planner).filter,
		intent.Sort: (*planner).sort, intent.Toggle: (*planner).toggle, intent.SignIn: (*planner).signIn,
		intent.Submit: (*planner).submit, intent.Confirm: (*planner).answer, intent.Abandon: (*planner).answer,
		intent.Navigate: (*planner).navigate, intent.Type: (*planner).typeKeys, intent.Wait: (*planner).wait,
		intent.Scroll: (*planner).scroll, intent.Resize: (*planner).resize, intent.Window: (*planner).window,
		intent.Upload: (*planner).upload, intent.Clear: (*planner).empty, intent.Rate: (*planner).rate,
	}[e]
}
