package replay

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// testExecution is the execution of one test: its session, and what came of the
// steps so far.
type testExecution struct {
	*session.Session
	began         time.Time
	screenshotter *session.Screenshotter

	mu      sync.Mutex // of the records: captures store their files in them
	records []playback.Record
	result  Result

	reporting sync.Mutex // of Progress, in its order
	reported  int        // steps

	first  int  // the first step that needs the test's address to be open
	opened bool // it is

	looked   bool // whether the first page says that the test is not signed in
	lookedAt int  // before which step
}

func newTestExecution(ctx context.Context, cfg Config) *testExecution {
	t := &testExecution{Session: session.NewSession(cfg), began: time.Now()}
	t.first = group.FirstOnPage(cfg.Steps, cfg.Places)
	t.result = Result{Status: string(run.Passed), Fingerprints: map[string]step.Fingerprint{}}
	for i := range cfg.Steps {
		t.records = append(t.records, t.newRecord(i, playback.Skipped))
	}
	t.screenshotter = session.NewScreenshotter(ctx, t.Session, t.storeScreenshotID)
	return t
}

// runStep executes a step and records it. The failure is that of a required step.
func (t *testExecution) runStep(ctx context.Context, i int) *failure.Failure {
	s := &t.Steps[i]
	started := time.Now()
	t.Tracer.Begin(t.actionOf(i))
	t.Tracer.BeginStep(i)
	if t.Network != nil {
		t.Network.BeginStep()
	}
	x, not, err := t.meetCondition(ctx, i)
	if not == nil && err == nil {
		x = t.newStep(i)
		err = toolStep{x}.run(ctx, s.Tool)
	}
	var failed *failure.Failure
	if err != nil {
		failed = t.FailureOf(ctx, err)
	}
	optional := failed != nil && failed.Skips(s)
	var record playback.Record
	if not != nil {
		record = t.skippedRecord(x, not)
	} else {
		record = t.record(x, failed, optional)
	}
	record.StartMS, record.TookMS = started.Sub(t.began).Milliseconds(), time.Since(started).Milliseconds()
	if record.Status == playback.Failed {
		record.Failure = t.explain(ctx, x, failed)
	}
	t.keep(i, record)
	t.Tracer.EndStep(ctx, x, record, failed)
	switch {
	case failed != nil && !optional:
		switch {
		case failed.Broken:
		case t.Live:
			t.screenshotter.CaptureUnreached(ctx, x, failed)
		default:
			t.screenshotter.CaptureFailure(ctx, x)
		}
	case t.Screenshots && !t.Lease.Mobile && !x.LeavesDialog(ctx) && s.Tool.Type != step.Finish:
		// A page with an open dialog cannot be captured.
		t.screenshotter.Take(ctx, x)
	}
	t.progress(i + 1)
	if optional {
		return nil
	}
	return failed
}

// meetCondition waits for the condition of a step, if it has one. It returns the
// execution of the condition and, when it does not hold, why.
func (t *testExecution) meetCondition(ctx context.Context, i int) (x *session.Execution, not *failure.Failure, err error) {
	s := &t.Steps[i]
	if s.When == nil {
		return nil, nil, nil
	}
	c := t.newCondition(i)
	not, err = c.holds(ctx, s.When, s.Tool)
	return c.Execution, not, err
}

// skippedRecord returns the record of a step whose condition does not hold.
func (t *testExecution) skippedRecord(x *session.Execution, not *failure.Failure) playback.Record {
	record := t.newRecord(x.Index, playback.Skipped)
	not.Text = "skipped: " + not.Text
	record.Result.Message = x.Message(not)
	return record
}

// record returns the record of a step that was executed, and stores what the test
// learnt from it.
func (t *testExecution) record(x *session.Execution, failed *failure.Failure, optional bool) playback.Record {
	s := &t.Steps[x.Index]
	record := t.newRecord(x.Index, playback.Passed)
	record.Findings, record.Look = x.Findings, x.Look
	if failed != nil {
		record.Suggested = x.Suggested
	}
	if x.Healed != nil { // also when the step failed: it has acted on this element, or tried to
		record.Healed = x.Healed
		t.result.Healed++
		x.Note("found by its fingerprint at %s", x.ShowSelector(page.SelectorOf(&x.Healed.To)))
	}
	if x.Drifted != nil {
		record.Drifted = x.Drifted
		t.result.Drifted++
		if x.Drifted.Acted {
			x.Note("the element is another one than the step was recorded with: %s", x.Drifted.Text())
		}
	}
	switch {
	case optional:
		record.Status, failed.Text = playback.Skipped, "optional: "+failed.Text
	case failed != nil:
		record.Status = playback.Failed
	case x.Healed == nil && x.Fingerprint != nil:
		t.result.Fingerprints[s.ID] = *x.Fingerprint
	}
	record.Result = step.Outcome{Success: failed == nil, Message: x.Message(failed)}
	record.Iterations = x.Iterations
	return record
}

// fail ends the test.
func (t *testExecution) fail(f *failure.Failure) {
	t.result.Status, t.result.Code = string(f.Status()), f.Code
	t.result.Message = failure.Bounded(t.Secrets.Redact(f.Text), 2000)
	t.result.Broken = t.result.Broken || f.Broken
}

// end returns the result, after the captures.
func (t *testExecution) end() Result {
	t.result.Records = t.firstRecords(len(t.records))
	t.result.Fingerprints = maps.Clone(t.result.Fingerprints)
	return t.result
}

// progress reports the records of the first n steps; with 0 those that were reported
// before, of which one has its screenshot by now.
func (t *testExecution) progress(n int) {
	if t.Progress == nil {
		return
	}
	t.reporting.Lock()
	defer t.reporting.Unlock()
	t.reported = max(t.reported, n)
	if t.reported > 0 {
		t.Progress(t.firstRecords(t.reported))
	}
}

// firstRecords copies the first n records: captures still write to them.
func (t *testExecution) firstRecords(n int) []playback.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]playback.Record{}, t.records[:n]...)
}

// storeScreenshotID stores the file of a step's screenshot.
func (t *testExecution) storeScreenshotID(i int, id string) {
	t.mu.Lock()
	if i < len(t.records) { // the page of a test without steps
		t.records[i].ScreenshotID = id
	}
	t.mu.Unlock()
	t.progress(0)
}

const (
	// scrollToTimeout is how long scroll_to takes where the step does not say it: twenty swipes
	// of some two seconds each.
	scrollToTimeout = time.Minute
	// optionalTimeout is how long an optional step waits: long enough for a popup,
	// short enough not to be noticed when there is none.
	optionalTimeout = 3 * time.Second
)

// newStep returns the execution of a step, whose time begins now.
func (t *testExecution) newStep(i int) *session.Execution {
	s := &t.Steps[i]
	x := &session.Execution{Session: t.Session, Screenshotter: t.screenshotter, Index: i, Timeout: t.StepTimeout, Began: t.began}
	if next := t.following(i); next < len(t.Steps) {
		x.Next = t.Steps[next].Tool.Type
		x.AssertedNext = next == i+1 && t.asserts(next)
	}
	if t.Live {
		x.Next = step.HandleDialog // it may be
	}
	switch {
	case s.TimeoutMS > 0:
		x.Timeout = time.Duration(s.TimeoutMS) * time.Millisecond
	case s.Tool.Type == step.ScrollTo:
		x.Timeout = max(x.Timeout, scrollToTimeout)
	case s.Optional:
		x.Timeout = min(x.Timeout, optionalTimeout)
	case session.Innermost(s.Tool).Type == step.Assert && !assertion.TakesPictures(s.Tool):
		x.Timeout = min(x.Timeout, t.AssertTimeout)
	}
	x.Deadline, x.EachTimeout = time.Now().Add(x.Timeout), x.Timeout
	return x
}

// asserts reports whether a step is an assertion that is made in any case, with the
// page as it is: no dialog is expected after it.
func (t *testExecution) asserts(i int) bool {
	s := &t.Steps[i]
	next := t.following(i)
	dialog := next < len(t.Steps) && t.Steps[next].Tool.Type == step.HandleDialog
	tool := session.Innermost(s.Tool)
	return tool.Type == step.Assert && !step.IsNetwork(&tool) && s.When == nil && !dialog
}
