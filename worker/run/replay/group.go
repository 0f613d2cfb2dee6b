package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// runGroup executes the steps of the group that a step runs, and records it. next is the
// step behind them. The failure is that of a step of the group, unless run_group is
// optional and the step could have been.
func (t *testExecution) runGroup(ctx context.Context, i int) (next int, failed *failure.Failure) {
	s, end, started := &t.Steps[i], t.Place(i).End, time.Now()
	if end <= i {
		return i + 1, failure.Stepf("the steps of the group are missing")
	}
	t.Tracer.BeginWhole(t.actionOf(i))
	x, not, err := t.meetCondition(ctx, i)
	record := t.newRecord(i, playback.Passed)
	switch {
	case err != nil:
		failed = t.FailureOf(ctx, err)
	case not != nil:
		record = t.skippedRecord(x, not)
		t.skip(i+1, end, "skipped with its step group")
	default:
		failed = t.runSteps(ctx, i+1, end)
	}
	optional := failed != nil && failed.Skips(s)
	switch {
	case optional:
		record.Status = playback.Skipped
		record.Result.Message = t.say("optional: " + failed.Text)
		t.forgive(i+1, end)
	case failed != nil:
		record.Status = playback.Failed
		record.Result.Message = t.say(failed.Text)
	case not == nil:
		record.Result = step.Outcome{Success: true, Message: fmt.Sprintf("step group %q", t.groupName(i))}
	}
	record.StartMS, record.TookMS = started.Sub(t.began).Milliseconds(), time.Since(started).Milliseconds()
	t.keep(i, record)
	t.Tracer.EndGroup(record)
	if t.Progress != nil {
		t.Progress(t.firstRecords(end))
	}
	if optional {
		return end, nil
	}
	return end, failed
}

// say is a text as records have it.
func (t *testExecution) say(text string) string { return failure.Bounded(t.Secrets.Redact(text), 2000) }

// groupName is the name of the group whose steps follow a step.
func (t *testExecution) groupName(i int) string {
	if in := t.Place(i + 1).Group; in != nil && i+1 < t.Place(i).End {
		return in.Name
	}
	return ""
}

// forgive turns the failure in an optional group into one that fails nothing.
func (t *testExecution) forgive(from, to int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := from; i < to; i++ {
		r := &t.records[i]
		switch {
		case r.Status == playback.Failed:
			r.Status, r.Result.Message = playback.Skipped, "optional: "+r.Result.Message
		case r.Status == playback.Skipped && r.Result.Message == "":
			r.Result.Message = "skipped with its step group"
		}
	}
}

// following is the place of the step that is executed after one, which no run_group is;
// the number of steps after the last.
func (t *testExecution) following(i int) int {
	for i++; i < len(t.Steps) && t.Steps[i].Tool.Type == step.RunGroup; i++ {
	}
	return i
}
