package replay

import (
	"context"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// savedText is what a step has saved for the steps after it.
type savedText struct {
	text   string
	secret bool
}

// save keeps a text of the page under a name: {{saved:name}} in later steps. It waits
// until the element is there and the text matches.
func (x *stepExecution) save(ctx context.Context, at *elementLocation, a step.Args) error {
	matcher := &step.Matcher{Name: a.From, Args: step.MatcherArgs{Name: a.Attribute}}
	args := step.Args{Matcher: matcher, Selector: a.Selector}
	if a.From == step.SavedCount {
		matcher.Args.Value = "0"
	}
	rule, err := newRule(args, x.quote)
	if err != nil {
		return err
	}
	look := assertion{x, at, rule}
	q := observeQuery{Want: rule.want(), Hosts: orEmpty(at.hosts), Selector: at.selector, First: x.FirstMatch, Name: a.Attribute, Max: maxSeen}
	for {
		got, err := look.observe(ctx, q)
		switch {
		case err != nil:
			return err
		case got != nil && got.Invalid != "":
			return stepf("%s: %s", x.showSelector(at.selector), x.quote(got.Invalid, 300))
		}
		text, missing := x.savable(a, look, got)
		if missing == nil {
			return x.keep(ctx, a.Name, text, got.Seen.Secret)
		}
		if time.Now().After(x.deadline) {
			return missing
		}
		if err := sleep(ctx, retryPause); err != nil {
			return err
		}
	}
}

// savable returns the text to save of an observation, or why there is none.
func (x *stepExecution) savable(a step.Args, look assertion, got *observation) (string, *failure) {
	switch {
	case got == nil:
		return "", stepf("the page did not answer")
	case got.Several != nil:
		return "", look.severalFailure(got.Several)
	case got.Seen == nil:
		return "", stepf("%s was not found", x.showSelector(look.at.selector))
	case a.From == step.SavedCount:
		return x.matched(a.Match, strconv.Itoa(got.Seen.Count))
	case got.Seen.Text == nil:
		return "", stepf("%s: %s", x.showSelector(look.at.selector), look.rule.describe(got.Seen))
	}
	return x.matched(a.Match, *got.Seen.Text)
}

// matched returns the group of a pattern in a text; the text where there is no pattern.
func (x *stepExecution) matched(match, text string) (string, *failure) {
	if match == "" {
		return text, nil
	}
	pattern, err := step.Pattern(match)
	if err != nil || pattern.NumSubexp() != 1 {
		return "", stepf("the pattern must have one group")
	}
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return "", stepf("%q does not match %s", x.quote(text, maxShown), x.quote(match, 200))
	}
	return found[1], nil
}

// keep stores what was saved. It is a secret where it came from a password field or has a
// secret in it.
func (x *stepExecution) keep(ctx context.Context, name, text string, secret bool) error {
	if len(text) > step.MaxSaved {
		return stepf("what was found has %d bytes; saved are at most %d: use match", len(text), step.MaxSaved)
	}
	secret = secret || text != "" && x.secrets.redact(text) != text
	if x.secrets.saved == nil {
		x.secrets.saved = map[string]savedText{}
	}
	x.secrets.saved[name] = savedText{text, secret}
	if secret {
		if text != "" {
			x.secrets.add(text)
			x.Trace.Hide(text)
		}
		x.note("saved %s, a secret", name)
		return nil
	}
	x.note("saved %s: %q", name, x.quote(text, 200))
	return nil
}
