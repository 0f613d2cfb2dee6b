package generation

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/generation/refine"
)

// refine writes the steps of a revision that a further sentence asks for: those of the
// base that stay are executed as they are, and what is new is planned on the page that
// they lead to.
func (d *draft) refine(ctx context.Context) error {
	base := d.job.Base
	p, err := refine.New(refine.Request{Steps: base.Steps, Intent: base.Intent, Sentence: d.job.Intent})
	if err != nil {
		return err
	}
	d.asserted = p.Asserted
	d.reasoning = append(d.reasoning, p.Reasoning...)
	for i, segment := range p.Segments {
		if err := d.segment(ctx, p, segment, lastWritten(p, i)); err != nil {
			return err
		}
	}
	d.changes = Compare(base.Steps, d.steps)
	return nil
}

// lastWritten reports whether nothing but finish follows a segment.
func lastWritten(p *refine.Plan, i int) bool {
	for _, s := range p.Segments[i+1:] {
		if s.Write != nil {
			return false
		}
		for _, k := range s.Keep {
			if p.Steps[k].Tool.Type != step.Finish {
				return false
			}
		}
	}
	return true
}

// segment executes the steps that a segment keeps, or writes its text.
func (d *draft) segment(ctx context.Context, p *refine.Plan, s refine.Segment, last bool) error {
	if s.Write == nil {
		return d.keep(ctx, p, s.Keep)
	}
	before := len(d.steps)
	// Only the end of a test wants an assertion of its own.
	if err := d.plan(ctx, plan.Config{Text: s.Write, NoSuggestion: !last || d.asserted}); err != nil {
		return err
	}
	written := d.steps[before:]
	fresh := make([]string, len(written))
	for i := range written {
		fresh[i], written[i].ID = written[i].ID, ""
	}
	s.Identify(written, d.job.Base.Steps)
	for i := range written {
		if written[i].ID == "" {
			written[i].ID = fresh[i]
		}
	}
	return nil
}

// keep executes steps of the base. One that does not hold any more is written anew from
// its own words, if there is a way; a suggested assertion may go.
func (d *draft) keep(ctx context.Context, p *refine.Plan, list []int) error {
	for _, i := range list {
		s := p.Steps[i]
		record, err := d.live.Do(ctx, s)
		if err != nil {
			return err
		}
		if record.Status == playback.Passed || record.Status == playback.Skipped {
			s.Tool = record.Tool
			s.Result = &record.Result
			d.add(s, authoring.Reason{Title: "Kept: " + describeStep(&s), Description: "the step still holds"})
			continue
		}
		if i == p.Suggested {
			continue
		}
		if slices.Contains(p.Edited, i) && step.Inner(&s.Tool).Type == step.Assert {
			// What the assertion speaks of was not what the sentence changed.
			p.Steps[i] = d.job.Base.Steps[i]
			p.Edited = slices.DeleteFunc(p.Edited, func(k int) bool { return k == i })
			if err := d.keep(ctx, p, []int{i}); err != nil {
				return err
			}
			continue
		}
		if err := d.restate(ctx, s, record.Result.Message); err != nil {
			return err
		}
	}
	return nil
}

// restate writes a step of the base anew that does not hold any more.
func (d *draft) restate(ctx context.Context, s step.Step, message string) error {
	text, ok := refine.Restate(s)
	if !ok {
		return &plan.FailedError{Code: CodeStepFailed, Detail: fmt.Sprintf("the step %s of the test does not hold any more (%s): %s",
			s.ID, describeStep(&s), message)}
	}
	before := len(d.steps)
	if err := d.plan(ctx, plan.Config{Text: &text, NoSuggestion: true}); err != nil {
		return err
	}
	if written := d.steps[before:]; len(written) > 0 {
		written[len(written)-1].ID = s.ID
	}
	return nil
}
