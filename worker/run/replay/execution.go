package replay

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// testExecution is the execution of one test: its session, and what came of the
// steps so far.
type testExecution struct {
	*session
	began         time.Time
	screenshotter *screenshotter

	mu      sync.Mutex // of the records: captures store their files in them
	records []step.Record
	result  Result

	reporting sync.Mutex // of Progress, in its order
	reported  int        // steps

	first  int  // the first step that needs the test's address to be open
	opened bool // it is

	looked   bool // whether the first page says that the test is not signed in
	lookedAt int  // before which step
}

func newTestExecution(ctx context.Context, cfg Config) *testExecution {
	t := &testExecution{session: newSession(cfg), began: time.Now()}
	t.first = group.FirstOnPage(cfg.Steps, cfg.Places)
	t.result = Result{Status: string(run.Passed), Fingerprints: map[string]step.Fingerprint{}}
	for i := range cfg.Steps {
		t.records = append(t.records, t.newRecord(i, step.Skipped))
	}
	t.screenshotter = newScreenshotter(ctx, t.session, t.storeScreenshotID)
	return t
}

// runStep executes a step and records it. The failure is that of a required step.
func (t *testExecution) runStep(ctx context.Context, i int) *failure {
	s := &t.Steps[i]
	started := time.Now()
	t.tracer.begin(t.actionOf(i))
	t.tracer.beginStep(i)
	if t.network != nil {
		t.network.BeginStep()
	}
	x, not, err := t.meetCondition(ctx, i)
	if not == nil && err == nil {
		x = t.newStep(i)
		err = x.run(ctx, s.Tool)
	}
	var failed *failure
	if err != nil {
		failed = t.failureOf(ctx, err)
	}
	optional := failed != nil && failed.skips(s)
	var record step.Record
	if not != nil {
		record = t.skippedRecord(x, not)
	} else {
		record = t.record(x, failed, optional)
	}
	record.StartMS, record.TookMS = started.Sub(t.began).Milliseconds(), time.Since(started).Milliseconds()
	if record.Status == step.Failed {
		record.Failure = t.explain(ctx, x, failed)
	}
	t.keep(i, record)
	t.tracer.endStep(ctx, x, record, failed)
	switch {
	case failed != nil && !optional:
		switch {
		case failed.broken:
		case t.live:
			t.screenshotter.captureUnreached(ctx, x, failed)
		default:
			t.screenshotter.captureFailure(ctx, x)
		}
	case t.Screenshots && !t.Lease.Mobile && !x.leavesDialog(ctx) && s.Tool.Type != step.Finish:
		// A page with an open dialog cannot be captured.
		t.screenshotter.take(ctx, x)
	}
	t.progress(i + 1)
	if optional {
		return nil
	}
	return failed
}

// meetCondition waits for the condition of a step, if it has one. It returns the
// execution of the condition and, when it does not hold, why.
func (t *testExecution) meetCondition(ctx context.Context, i int) (x *stepExecution, not *failure, err error) {
	s := &t.Steps[i]
	if s.When == nil {
		return nil, nil, nil
	}
	c := t.newCondition(i)
	not, err = c.holds(ctx, s.When, s.Tool)
	return c.stepExecution, not, err
}

// skippedRecord returns the record of a step whose condition does not hold.
func (t *testExecution) skippedRecord(x *stepExecution, not *failure) step.Record {
	record := t.newRecord(x.index, step.Skipped)
	not.text = "skipped: " + not.text
	record.Result.Message = x.message(not)
	return record
}

// skips reports whether a step is skipped by the failure: it is optional, and the
// page is what failed it.
func (f *failure) skips(s *step.Step) bool {
	return s.Optional && !f.broken && (f.code == run.CodeStepFailed || f.code == run.CodeUnreachable || f.code == run.CodeDrifted)
}

// record returns the record of a step that was executed, and stores what the test
// learnt from it.
func (t *testExecution) record(x *stepExecution, failed *failure, optional bool) step.Record {
	s := &t.Steps[x.index]
	record := t.newRecord(x.index, step.Passed)
	record.Findings, record.Look = x.findings, x.look
	if failed != nil {
		record.Suggested = x.suggested
	}
	if x.healed != nil { // also when the step failed: it has acted on this element, or tried to
		record.Healed = x.healed
		t.result.Healed++
		x.note("found by its fingerprint at %s", x.showSelector(pageSelectorOf(&x.healed.To)))
	}
	if x.drifted != nil {
		record.Drifted = x.drifted
		t.result.Drifted++
		if x.drifted.Acted {
			x.note("the element is another one than the step was recorded with: %s", x.drifted.Text())
		}
	}
	switch {
	case optional:
		record.Status, failed.text = step.Skipped, "optional: "+failed.text
	case failed != nil:
		record.Status = step.Failed
	case x.healed == nil && x.fingerprint != nil:
		t.result.Fingerprints[s.ID] = *x.fingerprint
	}
	record.Result = step.Outcome{Success: failed == nil, Message: x.message(failed)}
	record.Iterations = x.iterations
	return record
}

// fail ends the test.
func (t *testExecution) fail(f *failure) {
	t.result.Status, t.result.Code = string(f.status()), f.code
	t.result.Message = bounded(t.secrets.redact(f.text), 2000)
	t.result.Broken = t.result.Broken || f.broken
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
func (t *testExecution) firstRecords(n int) []step.Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]step.Record{}, t.records[:n]...)
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
