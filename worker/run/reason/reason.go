// Package reason finds out why a test failed: what differs from the last run that passed, and
// whether the product, the test or its environment is to be mended.
//
// Nothing is guessed. A reason is the result of rules (rules, which docs/failing.md has as a table),
// each of which says what it saw. Where none holds the reason is unknown, and where two hold
// that name different reasons it is unknown too and says both. Most rules need a run that passed
// before, of the same case on the same target in the same environment.
//
// The package is pure: facts in, diagnosis out. All texts of its facts are without secrets. What it
// returns is bounded, and takes time in proportion to what it is given.
package reason

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// The bounds of a diagnosis, in characters and sentences.
const (
	maxWhy     = 10
	maxSaid    = 300
	maxKey     = 300
	maxSubject = 160
)

// Facts are what is known of a job that failed.
type Facts struct {
	Code    string // one of storage/run's
	Message string
	// Step is the record of the step that failed; nil: none did.
	Step *playback.Record
	// Seen is what the job saw; nil where it was not played. Console are its errors as they were written.
	Seen    *failure.Digest
	Console []string
	// Good is the last job that passed; nil: there is none.
	Good *failure.Good
}

// facts are Facts with what follows from them.
type facts struct {
	Facts
	comparison *failure.Comparison
	failing    []failure.Request // of the host that is tested: those that fail and did not before
}

// Diagnose returns why a job failed.
func Diagnose(in Facts) *failure.Diagnosis {
	f := &facts{Facts: in}
	f.comparison = compare(&in)
	if f.comparable() {
		for _, r := range f.comparison.Requests {
			if r.Host == f.Seen.Host && r.Before > 0 && r.Before < 400 {
				f.failing = append(f.failing, r)
			}
		}
	}
	d := &failure.Diagnosis{Reason: failure.Unknown, Comparison: f.comparison}
	d.Key, d.Subject = f.cause()
	var found []failure.Reason
	for _, r := range rules() {
		why := r.holds(f)
		if why == "" {
			continue
		}
		if !slices.Contains(found, r.reason) {
			found = append(found, r.reason)
		}
		d.Why = append(d.Why, fmt.Sprintf("%s (%s)", storage.Cut(why, maxSaid), r.reason))
	}
	switch len(found) {
	case 0:
		d.Why = f.observed()
	case 1:
		d.Reason = found[0]
		for i := range d.Why {
			d.Why[i] = strings.TrimSuffix(d.Why[i], fmt.Sprintf(" (%s)", d.Reason))
		}
	default:
		d.Why = append([]string{"What was seen speaks for more than one reason."}, d.Why...)
	}
	d.Why = d.Why[:min(len(d.Why), maxWhy)]
	return d
}

// comparable reports whether the last good job says something of this one: it was tested at the
// same host.
func (f *facts) comparable() bool {
	return f.comparison != nil && f.Seen != nil && f.Good.Digest.Host == f.Seen.Host
}

// quiet reports whether nothing else was seen than in the last good job: no request newly fails, no
// error of the console is new, and the page is much as it was.
func (f *facts) quiet() bool {
	c := f.comparison
	return f.comparable() && len(c.Requests) == 0 && len(c.Console) == 0 &&
		(c.Page == nil || len(c.Page.Removed)+len(c.Page.Added)+c.Page.More <= maxChanged)
}

// maxChanged is how many lines of a page may differ that is much as it was: an element that was
// moved or renamed is two, and what counts up or shows the time some more.
const maxChanged = 10

// cause returns the key and the name of what the failure is grouped by: the request that failed,
// else what the step said.
func (f *facts) cause() (key, subject string) {
	if r := f.culprit(); r != nil {
		what := fmt.Sprint(r.Status)
		if r.Status == 0 {
			what = r.Failure
		}
		return storage.Cut(fmt.Sprintf("%s %s %s", what, r.Method, r.Path), maxKey),
			storage.Cut(fmt.Sprintf("%s of %s", what, r.Path), maxSubject)
	}
	tool, element := "", ""
	if f.Step != nil {
		inner := step.Inner(&f.Step.Tool)
		tool = inner.Type
		if s := inner.Args.Selector; s != nil {
			element = strings.Join([]string{s.Type, s.Value, s.Name}, " ")
		}
	}
	key = strings.Join([]string{f.Code, tool, numbersOut(element), Normalize(f.Message)}, " ")
	return storage.Cut(key, maxKey), storage.Cut(strings.TrimSpace(f.Message), maxSubject)
}

// culprit is the last request to the host that is tested which a server failed to answer, or that
// got no answer, and that was not as bad in the last good job; nil: there is none.
func (f *facts) culprit() *failure.Seen {
	if f.Seen == nil {
		return nil
	}
	for i := len(f.Seen.Requests) - 1; i >= 0; i-- {
		r := &f.Seen.Requests[i]
		if !r.Own || r.Status < 500 && r.Failure == "" || aborted(r.Failure) {
			continue
		}
		if f.comparable() && f.Good.Digest.Network {
			if was := before(f.Good.Digest, r); was != nil && was.Failed() {
				continue
			}
		}
		return r
	}
	return nil
}

// observed says what was seen where no rule holds.
func (f *facts) observed() []string {
	if f.Good == nil {
		return []string{"No earlier run of the case on this target and in this environment has passed, so there is nothing to compare with."}
	}
	if f.comparison == nil {
		return []string{"The test was not played, so there is nothing to compare with."}
	}
	if !f.comparable() {
		return []string{"The last run that passed tested another host: it proves nothing of this one."}
	}
	var list []string
	say := func(format string, args ...any) {
		list = append(list, storage.Cut(fmt.Sprintf(format, args...), maxSaid))
	}
	c := f.comparison
	if often := f.nowAndThen(); often != "" {
		say("%s", often)
	}
	if c.SameSteps {
		say("The same steps have passed before.")
	} else {
		say("Other steps passed then: they have changed since, or only one of the two runs was of a suite with steps around them.")
	}
	switch {
	case c.SameBuild == nil:
		say("It is not known whether the same build was tested: at least one of the two runs names none.")
	case *c.SameBuild:
		say("The same build was tested then.")
	default:
		say("Another build was tested then.")
	}
	for _, r := range c.Requests[:min(len(c.Requests), 3)] {
		say("%s", sentence(r))
	}
	if len(c.Console) > 0 {
		say("The console has %d errors that it had not.", len(c.Console))
	}
	if c.Page != nil && len(c.Page.Removed)+len(c.Page.Added) > 0 {
		say("The page has changed: %d lines are gone, %d are new.", len(c.Page.Removed), len(c.Page.Added))
	}
	return list
}

// sentence says of a request how it went then and now.
func sentence(r failure.Request) string {
	now := fmt.Sprintf("answered %d", r.Status)
	if r.Status == 0 {
		now = "got no answer (" + r.Failure + ")"
	}
	then := "it was not sent in the last run that passed"
	if r.Before > 0 {
		then = fmt.Sprintf("in the last run that passed it answered %d", r.Before)
	}
	return fmt.Sprintf("%s %s%s %s; %s.", r.Method, r.Host, r.Path, now, then)
}
