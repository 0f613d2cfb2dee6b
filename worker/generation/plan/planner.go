package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// planner is one run of Run. Executors (one for each kind of instruction, see
// executorOf) work on it: they look, resolve phrases to elements, and do steps.
type planner struct {
	cfg  Config
	page Page

	// current is what the page shows; nil when something was done since (see look).
	current *view
	// before is what it showed before the last step.
	before *view
	// freshRefs are what freshOf shows that before did not (see fresh).
	freshOf   *view
	freshRefs map[string]bool

	steps     []step.Step
	why       []authoring.Reason // of steps, by index
	tried     int                // steps that were executed, also those not kept
	reported  int                // steps that OnStep was called with
	reasoning []authoring.Reason
	asserted  bool

	// late is how long something may still come; 0: latest.
	late time.Duration
	// waited is set when nothing came that is late; until the next step there is no
	// sense in waiting again.
	waited bool
	// optional is set while what is done need not be there, and when while it is done
	// under a condition: both go to the steps.
	optional bool
	when     *step.Condition
	// searching is set while the page is searched, which needs no further search.
	searching bool

	// opened are the containers that came with steps of the test: they are no banners.
	opened map[string]bool
	seen   int // the steps that were done when opened was last written
	// banners is whether the intent speaks of banners; nil: not known yet.
	banners *bool

	// said are the words of the intent, and of each of its sentences (see sentences).
	said []string
	// forbidden is what the intent says not to do.
	forbidden []intent.Instruction

	clause      intent.Clause
	instruction *intent.Instruction
	coming      *intent.Instruction // the one after it, as far as it is known
	focus       focus
}

// focus is what the text was about last.
type focus struct {
	// target is the ref of the element that the last instruction acted on.
	target string
	// part is the ref of a container that was opened or named last, such as a dialog.
	part string
}

// Run writes the steps for an intent by doing them on the page. Its error is a
// *NotUnderstoodError, a *FailedError, or one of the session or of ctx; the outcome
// has what there was so far in any case.
func Run(ctx context.Context, cfg Config) (*Outcome, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	var forbidden []intent.Instruction
	if cfg.Clauses == nil {
		read := intent.Read(cfg.Intent, intent.Options{})
		cfg.Clauses, forbidden = read.Clauses, read.Forbidden
	}
	p := &planner{forbidden: forbidden, cfg: cfg, page: cfg.Page, opened: map[string]bool{}}
	err := runOf(ctx, p, cfg.Clauses)
	out := &Outcome{Asserted: p.asserted}
	if err != nil || p.asserted {
		out.Steps, out.Reasoning = p.steps, p.reasoning
		return out, err
	}
	out.Alternatives, err = suggestEnd(ctx, p)
	out.Steps, out.Reasoning = p.steps, p.reasoning
	return out, err
}

// suggestEnd adds an assertion to a test without one, if there is room for it, and
// returns others that hold as well.
func suggestEnd(ctx context.Context, p *planner) ([]step.Step, error) {
	if p.cfg.MaxSteps > 0 && len(p.steps) >= p.cfg.MaxSteps || len(p.steps) == 0 {
		return nil, nil
	}
	others, err := suggester{p}.suggest(ctx)
	report(p)
	return others, err
}

func runOf(ctx context.Context, p *planner, clauses []intent.Clause) error {
	if len(clauses) == 0 {
		return &NotUnderstoodError{Sentence: shorten(p.cfg.Intent, 200), Reason: "it asks for nothing"}
	}
	if left := dropped(p.cfg.Intent, clauses, p.forbidden); len(left) > 0 && p.cfg.Ask == nil {
		return leftOut(p, shorten(p.cfg.Intent, 400), nil, left)
	}
	for i, c := range clauses {
		p.clause, p.coming = c, nil
		if i+1 < len(clauses) {
			p.coming = firstOf(clauses[i+1])
		}
		if err := runClause(ctx, p, c); err != nil {
			return err
		}
		report(p)
	}
	return nil
}

// firstOf returns the instruction that a clause most likely begins with; nil without one.
func firstOf(c intent.Clause) *intent.Instruction {
	if len(c.Readings) == 0 || len(c.Readings[0].Instructions) == 0 {
		return nil
	}
	return &c.Readings[0].Instructions[0]
}

func runClause(ctx context.Context, p *planner, c intent.Clause) error {
	var not *NotUnderstoodError
	if p.cfg.Ask == nil || !p.cfg.AskAlways {
		err := understand(ctx, p, c)
		if p.cfg.Ask == nil || !errors.As(err, &not) {
			return err
		}
	}
	steps, err := p.cfg.Ask(ctx, c, not, p.steps)
	for _, s := range steps {
		tool := step.Inner(&s.Tool)
		p.keep(s, tool.Args.Reasoning)
		p.asserted = p.asserted || tool.Type == step.Assert
	}
	p.current = nil
	return err
}

// understand does the reading of a clause that the page allows best.
func understand(ctx context.Context, p *planner, c intent.Clause) error {
	if len(c.Readings) == 0 {
		reason := c.Reason
		if reason == "" {
			reason = "it asks for nothing that is known"
		}
		return &NotUnderstoodError{Sentence: c.Text, Reason: reason}
	}
	reading, err := chooseOf(ctx, p, c)
	if err != nil {
		return err
	}
	if left := lost(&c, &reading); len(left) > 0 {
		return leftOut(p, c.Text, &reading, left)
	}
	after := p.coming
	for i := range reading.Instructions {
		p.coming = after
		if i+1 < len(reading.Instructions) {
			p.coming = &reading.Instructions[i+1]
		}
		if err := execute(ctx, p, &reading.Instructions[i]); err != nil {
			return err
		}
	}
	return nil
}

// leftOut returns the error for a sentence of which a part was not understood.
func leftOut(p *planner, sentence string, r *intent.Reading, left []string) error {
	err := &NotUnderstoodError{Sentence: sentence, Reason: "what it says of " + strings.Join(left, ", ") + " was not understood"}
	if r != nil && len(r.Instructions) > 0 {
		err.Understood = describe(&r.Instructions[0])
	}
	return err
}

// execute does one instruction, if its condition holds.
func execute(ctx context.Context, p *planner, in *intent.Instruction) error {
	p.instruction = in
	run := executorOf(in.Kind)
	if run == nil {
		return p.notUnderstood(fmt.Sprintf("there is no way to do %q", in.Kind))
	}
	if len(in.Details) > 0 && !usesDetails(in.Kind) {
		return p.notUnderstood("what is said of " + in.Details[0].Name + " " + in.Details[0].Value.Text + " cannot be done")
	}
	mark := p.mark()
	do, err := conditional(ctx, p, in)
	if err != nil || !do {
		return err
	}
	err = run(ctx, p, in)
	skip := in.Optional && isNotUnderstood(err) && p.mark() == mark
	p.optional, p.when = false, nil
	if skip {
		p.note(describe(in), "Skipped: it is not there now, and need not be.")
		return nil
	}
	if err != nil {
		return err
	}
	noteSteps(p, in, mark)
	return nil
}

// noteSteps adds to the reasoning how an instruction was done.
func noteSteps(p *planner, in *intent.Instruction, mark int) {
	var how []string
	for _, r := range p.why[min(mark, len(p.why)):] {
		text := r.Title
		if r.Description != "" {
			text += ": " + r.Description
		}
		how = append(how, text)
	}
	p.note(describe(in), strings.Join(how, "; "))
}

// notUnderstood returns the error for the current instruction.
func (p *planner) notUnderstood(reason string, nearest ...Candidate) error {
	return &NotUnderstoodError{Sentence: p.clause.Text, Understood: p.understood(), Reason: reason, Candidates: nearest}
}

func (p *planner) understood() string {
	if p.instruction == nil {
		return ""
	}
	return describe(p.instruction)
}

// note adds to the reasoning what was understood or decided.
func (p *planner) note(title, description string) {
	p.reasoning = append(p.reasoning, authoring.Reason{Title: title, Description: description})
}
