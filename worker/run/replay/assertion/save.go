package assertion

import (
	"context"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// Save keeps a text of the page under a name: {{saved:name}} in later steps. It waits
// until the element is there and the text matches.
func (x Check) Save(ctx context.Context, at *page.Location, a step.Args) error {
	matcher := &step.Matcher{Name: a.From, Args: step.MatcherArgs{Name: a.Attribute}}
	args := step.Args{Matcher: matcher, Selector: a.Selector}
	if a.From == step.SavedCount {
		matcher.Args.Value = "0"
	}
	rule, err := NewRule(args, x.Quote)
	if err != nil {
		return err
	}
	look := assertion{x.Execution, at, rule}
	q := observeQuery{Want: rule.want(), Hosts: page.OrEmpty(at.Hosts), Selector: at.Selector, First: x.FirstMatch,
		Name: a.Attribute, Max: MaxSeen}
	for {
		got, err := look.observe(ctx, q)
		switch {
		case err != nil:
			return err
		case got != nil && got.Invalid != "":
			return failure.Stepf("%s: %s", x.ShowSelector(at.Selector), x.Quote(got.Invalid, 300))
		}
		text, missing := x.savable(a, look, got)
		if missing == nil {
			return x.keep(ctx, a.Name, text, got.Seen.Secret)
		}
		if time.Now().After(x.Deadline) {
			return missing
		}
		if err := session.Sleep(ctx, session.RetryPause); err != nil {
			return err
		}
	}
}

// savable returns the text to save of an observation, or why there is none.
func (x Check) savable(a step.Args, look assertion, got *observation) (string, *failure.Failure) {
	switch {
	case got == nil:
		return "", failure.Stepf("the page did not answer")
	case got.Several != nil:
		return "", look.SeveralFailure(got.Several)
	case got.Seen == nil:
		return "", failure.Stepf("%s was not found", x.ShowSelector(look.at.Selector))
	case a.From == step.SavedCount:
		return x.matched(a.Match, strconv.Itoa(got.Seen.Count))
	case got.Seen.Text == nil:
		return "", failure.Stepf("%s: %s", x.ShowSelector(look.at.Selector), look.rule.Describe(got.Seen))
	}
	return x.matched(a.Match, *got.Seen.Text)
}

// matched returns the group of a pattern in a text; the text where there is no pattern.
func (x Check) matched(match, text string) (string, *failure.Failure) {
	if match == "" {
		return text, nil
	}
	pattern, err := step.Pattern(match)
	if err != nil || pattern.NumSubexp() != 1 {
		return "", failure.Stepf("the pattern must have one group")
	}
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return "", failure.Stepf("%q does not match %s", x.Quote(text, MaxShown), x.Quote(match, 200))
	}
	return found[1], nil
}

// keep stores what was saved. It is a secret where it came from a password field or has a
// secret in it.
func (x Check) keep(ctx context.Context, name, text string, secret bool) error {
	if len(text) > step.MaxSaved {
		return failure.Stepf("what was found has %d bytes; saved are at most %d: use match", len(text), step.MaxSaved)
	}
	secret = secret || text != "" && x.Secrets.Redact(text) != text
	x.Secrets.KeepSaved(name, text)
	if secret {
		if text != "" {
			x.Secrets.Add(text)
			x.Trace.Hide(text)
		}
		x.Note("saved %s, a secret", name)
		return nil
	}
	x.Note("saved %s: %q", name, x.Quote(text, 200))
	return nil
}
