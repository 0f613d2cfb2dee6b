package sentence

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const (
	// maxSteps of a test: more than any sentence of the set needs.
	maxSteps = 50
	// judgeTimeout is how long a page may take to record what the last step did.
	judgeTimeout = 10 * time.Second
	// harmTimeout is how long a step of a test that must fail waits.
	harmTimeout = 3 * time.Second
	// recordTimeout bounds the reading of a record.
	recordTimeout = 30 * time.Second
)

// Trial writes the tests of pairs and replays them. It tries one at a time, for its
// site shows one change at a time.
type Trial struct {
	Site   *Site
	Pool   *browser.Pool
	Author generation.Author
	// Timeout bounds a generation, and StepTimeout a step of a replay.
	Timeout, StepTimeout time.Duration
}

// Ending is how the writing of a test ended.
type Ending struct {
	// Code is one of generation's; "" is COMPLETED.
	Code, Detail string
	Result       generation.Result
	// Wrong is what the page says is wrong with what was done while the test was
	// written, and Again while it was verified.
	Wrong, Again string
	Took         time.Duration
}

// Bad returns what is wrong with how it ended for a pair; "" if nothing is.
func (e *Ending) Bad(p *Pair) string {
	if len(p.Codes) > 0 && p.Oracle != "" && e.Wrong != "" {
		return "WRONG: harm was done: " + e.Wrong
	}
	for _, code := range p.Codes {
		if code == e.Code && (code != "" || e.Wrong == "" && e.Again == "") {
			return e.unnamed(p)
		}
	}
	switch {
	case len(p.Codes) > 0 && e.Code != "":
		return fmt.Sprintf("%s, expected %s: %s", e.Code, strings.Join(p.Codes, " or "), e.Detail)
	case len(p.Codes) > 0 && e.Wrong == "":
		return "COMPLETED, expected " + strings.Join(p.Codes, " or ")
	case e.Code != "":
		return e.Code + ": " + e.Detail
	case e.Wrong != "":
		return "WRONG: " + e.Wrong
	case e.Again != "":
		return "WRONG in the verification: " + e.Again
	}
	return ""
}

// unnamed returns what is wrong with the reason of a refusal: it must name what cannot be
// done.
func (e *Ending) unnamed(p *Pair) string {
	if e.Code == "" || len(p.Names) == 0 {
		return ""
	}
	detail := strings.ToLower(e.Detail)
	for _, name := range p.Names {
		if strings.Contains(detail, strings.ToLower(name)) {
			return ""
		}
	}
	return fmt.Sprintf("refused without any of %q: %s", p.Names, e.Detail)
}

// Guessed reports whether something was COMPLETED that the sentence does not ask for.
func (e *Ending) Guessed(p *Pair) bool {
	return e.Code == "" && e.Bad(p) != ""
}

// Write writes a test for a sentence of a pair. Its error is one of the service.
func (t *Trial) Write(ctx context.Context, p *Pair, sentence string) (*Ending, error) {
	t.Site.Change(Plain, p)
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	var wrong []string // of each session
	job := generation.Job{
		Intent: sentence, TestURL: t.Site.Address(p), MaxSteps: maxSteps,
		Lookup: func(step.Reference) (string, bool, bool) { return "", false, false },
		Acquire: func(ctx context.Context) (*browser.Lease, error) {
			return t.acquire(ctx)
		},
		Release: func(ctx context.Context, lease *browser.Lease, broken bool) {
			wrong = append(wrong, judge(ctx, lease, p))
			lease.Release(ctx, broken)
		},
		Capture:  func(context.Context, replay.Artifact) string { return "" },
		Progress: nil,
		Now:      time.Now,
	}
	start := time.Now()
	result, err := t.Author.Write(ctx, job)
	ending := &Ending{Code: result.Code, Detail: result.Detail, Result: result, Took: time.Since(start)}
	if err != nil && ctx.Err() != nil {
		ending.Code, ending.Detail, err = generation.CodeTimeout, err.Error(), nil
	}
	if len(wrong) > 0 {
		ending.Again = wrong[len(wrong)-1]
		// The session before the last one is the last draft's, unless nothing was verified.
		ending.Wrong = wrong[max(0, len(wrong)-2)]
	}
	return ending, err
}

func (t *Trial) acquire(ctx context.Context) (*browser.Lease, error) {
	return t.Pool.Acquire(ctx, browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
}

// Replay replays a written test on a page with a change, in a fresh session, and returns
// what is wrong with how that ended.
func (t *Trial) Replay(ctx context.Context, p *Pair, steps []step.Step, change string) (string, error) {
	t.Site.Change(change, p)
	p, err := t.Site.renamed(p, change)
	if err != nil {
		return "", err
	}
	lease, err := t.acquire(ctx)
	if err != nil {
		return "", err
	}
	timeout := t.StepTimeout
	if !Harmless(change) {
		timeout = harmTimeout
	}
	played := replay.Play(ctx, replay.Config{Lease: lease, TestURL: t.Site.Address(p), Steps: steps,
		StepTimeout: timeout, Grace: time.Minute, Log: slog.New(slog.DiscardHandler)})
	wrong := ""
	switch {
	case Harmless(change) && played.Status != string(run.Passed):
		wrong = played.Status + ": " + played.Message
	case Harmless(change):
		if wrong = judge(ctx, lease, p); wrong != "" {
			wrong = "PASSED, but WRONG: " + wrong
		}
	case played.Status == string(run.Passed):
		wrong = "PASSED, though it was changed"
	}
	lease.Release(ctx, played.Broken)
	return wrong, ctx.Err()
}

// judge returns what is wrong with the record of the page in a session, which it waits
// for.
func judge(ctx context.Context, lease *browser.Lease, p *Pair) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	deadline := time.Now().Add(judgeTimeout)
	for {
		wrong := judgeNow(ctx, lease, p)
		if wrong == "" || ctx.Err() != nil || time.Now().After(deadline) {
			return wrong
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// judgeNow returns what is wrong with the page in a session as it is.
func judgeNow(ctx context.Context, lease *browser.Lease, p *Pair) string {
	var text string
	script := RecordScript
	if p.Oracle != "" {
		script = p.oracleScript()
	}
	if err := executeAnywhere(ctx, lease, script, &text); err != nil {
		return "no record: " + err.Error()
	}
	if p.Oracle != "" {
		return text
	}
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return "no record: " + err.Error()
	}
	return p.Judge(r)
}

// executeAnywhere executes a script in a session, whichever window, frame or dialog it was
// left in.
func executeAnywhere(ctx context.Context, lease *browser.Lease, script string, text *string) error {
	s := lease.Session
	_ = s.Dialog.Dismiss(ctx)
	err := s.TopFrame(ctx)
	if err == nil {
		if err = s.Execute(ctx, script, text); err == nil {
			return nil
		}
	}
	windows, listing := s.Windows(ctx)
	if listing != nil {
		return listing
	}
	for _, w := range windows {
		if s.SwitchWindow(ctx, w) == nil && s.Execute(ctx, script, text) == nil {
			return nil
		}
	}
	return err
}

// Check returns what is wrong with a pair that has an oracle, on a page with a change: it must be
// false on the page as it opens, and true after the solution.
func (t *Trial) Check(ctx context.Context, p *Pair, change string) (string, error) {
	t.Site.Change(change, p)
	p, err := t.Site.renamed(p, change)
	if err != nil {
		return "", err
	}
	lease, err := t.acquire(ctx)
	if err != nil {
		return "", err
	}
	broken := false
	defer func() { lease.Release(ctx, broken) }()
	if err := lease.Session.Navigate(ctx, t.Site.Address(p)); err != nil {
		return "the page does not open: " + err.Error(), ctx.Err()
	}
	var text string
	if err := executeAnywhere(ctx, lease, p.oracleScript(), &text); err != nil {
		return "the oracle fails on the page as it opens: " + err.Error(), ctx.Err()
	}
	if text == "" {
		return "the oracle is true before anything was done", ctx.Err()
	}
	played := replay.Play(ctx, replay.Config{Lease: lease, TestURL: t.Site.Address(p), Steps: p.Solution,
		StepTimeout: t.StepTimeout, Grace: time.Minute, Log: slog.New(slog.DiscardHandler)})
	broken = played.Broken
	if played.Status != string(run.Passed) {
		return "the solution: " + played.Status + ": " + played.Message, ctx.Err()
	}
	if wrong := judge(ctx, lease, p); wrong != "" {
		return "after the solution " + wrong, ctx.Err()
	}
	return "", ctx.Err()
}

// Why a change is not made.
const (
	NothingToChange = "nothing to change"
	AnotherTask     = "it would make another task"
	StepsFail       = "the pair's own steps do not work"
)

// Left is a change that is not made.
type Left struct {
	Change string
	// Why is one of the reasons above, and Detail what the steps met.
	Why, Detail string
}

// Redesign is how the page of a pair can look otherwise, so that the pair's own solution still does
// what is asked for.
type Redesign struct {
	// Changes are what to replay on: Other, or each of the Parts where they cannot be made at once.
	Changes []string
	// Parts are those of Other that change something.
	Parts []string
	// Left are those of Other and its parts that are not made.
	Left []Left
}

// More reports whether more than the theme is changed.
func (r *Redesign) More() bool {
	return slices.ContainsFunc(r.Parts, func(part string) bool { return part != Theme })
}

// Together reports whether all that can be changed is changed at once.
func (r *Redesign) Together() bool { return slices.Equal(r.Changes, []string{Other}) }

// Redesign returns how the page of a pair can be changed. That the pair's own steps do not work on
// the page as it is, is an error.
func (t *Trial) Redesign(ctx context.Context, p *Pair) (r Redesign, err error) {
	if p.Oracle == "" {
		return t.redesignOwn(p)
	}
	wrong, err := t.checkTwice(ctx, p, Plain)
	if err != nil {
		return r, err
	}
	if wrong != "" {
		return r, fmt.Errorf("%s: %s", p.Name, wrong)
	}
	whole, err := t.makes(ctx, p, Other, true, &r)
	if err != nil {
		return r, err
	}
	for _, change := range Parts {
		ok, err := t.makes(ctx, p, change, !whole, &r)
		if err != nil {
			return r, err
		}
		if ok {
			r.Parts = append(r.Parts, change)
		}
	}
	r.Changes = r.Parts
	if whole {
		r.Changes = []string{Other}
	}
	return r, nil
}

// redesignOwn returns how the page of a pair can be changed that records what is done on it.
func (t *Trial) redesignOwn(p *Pair) (r Redesign, err error) {
	for _, change := range Parts {
		if change == Theme || !p.Has(change) {
			continue
		}
		ok, err := t.Site.changes(p, change)
		if err != nil {
			return r, err
		}
		if ok {
			r.Parts = append(r.Parts, change)
		}
	}
	r.Changes = r.Parts
	return r, nil
}

// makes reports whether a change can be made; if not, it is among those that are left. Where the
// change is to be checked, the pair's own steps must work with it.
func (t *Trial) makes(ctx context.Context, p *Pair, change string, check bool, r *Redesign) (bool, error) {
	left := Left{Change: change}
	changes, err := t.Site.changes(p, change)
	if err != nil {
		return false, err
	}
	switch {
	case slices.Contains(p.Without, change):
		left.Why = AnotherTask
	case !changes:
		left.Why = NothingToChange
	case check:
		if left.Detail, err = t.checkTwice(ctx, p, change); err != nil {
			return false, err
		}
		if left.Detail != "" {
			left.Why = StepsFail
		}
	}
	if left.Why != "" {
		r.Left = append(r.Left, left)
	}
	return left.Why == "", nil
}

// checkTwice checks a pair, and once more if something is wrong: a machine that is busy is not what
// a change is to be left for.
func (t *Trial) checkTwice(ctx context.Context, p *Pair, change string) (string, error) {
	wrong, err := t.Check(ctx, p, change)
	if wrong == "" || err != nil {
		return wrong, err
	}
	return t.Check(ctx, p, change)
}
