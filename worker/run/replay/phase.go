package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// TearDownGrace is how long the steps after a test may take whose own time is over.
const TearDownGrace = time.Minute

// part is a list of steps of a test, from the first to behind the last.
type part struct {
	phase    string
	from, to int
}

// parts are the lists that the steps come from, in their order.
func (t *testExecution) parts() (list []part) {
	for i := range t.Steps {
		at := t.Place(i)
		if i == 0 || at.Part != t.Place(i-1).Part {
			list = append(list, part{phase: at.Phase, from: i})
		}
		list[len(list)-1].to = i + 1
	}
	return list
}

// newRecord returns the record of a step, with where it stands.
func (t *testExecution) newRecord(i int, status string) playback.Record {
	at := t.Place(i)
	return playback.Record{StepID: t.Steps[i].ID, Tool: t.Steps[i].Tool, Status: status, Phase: at.Phase, Group: at.Group}
}

// keep stores the record of a step.
func (t *testExecution) keep(i int, record playback.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.records[i] = record
}

// run executes the steps before the test, those of the test up to the first that fails or
// finishes, and whatever came of these those after it.
func (t *testExecution) run(ctx context.Context) {
	p := t.newPreparation()
	parts := t.parts()
	t.runPrepared(ctx, p, parts)
	t.leaveLogin(ctx, slices.ContainsFunc(parts, func(p part) bool { return p.phase == step.TearDown }))
	t.tearDown(ctx, parts)
}

// runPrepared executes the parts before tear-down, once the session is set up.
func (t *testExecution) runPrepared(ctx context.Context, p preparation, parts []part) {
	if err := t.prepare(ctx, p); err != nil {
		t.screenshotter.CaptureUnreached(ctx, p.Execution, err)
		t.fail(t.FailureOf(ctx, err))
		return
	}
	t.runParts(ctx, parts)
}

// prepare sets the session up, and opens the test's address unless steps come before its page.
func (t *testExecution) prepare(ctx context.Context, p preparation) error {
	if err := p.run(ctx); err != nil || t.following(-1) < t.first {
		return err
	}
	t.opened = true
	return p.openTest(ctx)
}

// openTest opens the test's address, once, behind the steps that set what its page is to find.
func (t *testExecution) openTest(ctx context.Context) *failure.Failure {
	if t.opened {
		return nil
	}
	t.opened = true
	p := t.newPreparation() // its time begins now
	err := p.openTest(ctx)
	if err == nil {
		return nil
	}
	t.screenshotter.CaptureUnreached(ctx, p.Execution, err)
	return t.FailureOf(ctx, err)
}

// runParts executes the steps before the test and those of the test.
func (t *testExecution) runParts(ctx context.Context, parts []part) {
	for i, p := range parts {
		if p.phase == step.TearDown {
			break
		}
		f := t.runPart(ctx, p)
		switch {
		case f == nil:
		case p.phase == step.SetUp:
			why := "skipped: the set-up failed"
			if t.result.SignedOut {
				why = "skipped: the test is not signed in"
			} else {
				f.Text = "set-up: " + f.Text
			}
			t.fail(f)
			for _, left := range parts[i+1:] {
				if left.phase != step.TearDown {
					t.skip(left.from, left.to, why)
				}
			}
			return
		default:
			t.fail(f)
		}
	}
	if t.result.Status == playback.Passed { // steps that only set something see the page all the same
		if f := t.openTest(ctx); f != nil {
			t.fail(f)
		}
	}
}

// runPart executes the steps of a part, which are one action of the trace unless they are
// those of the test.
func (t *testExecution) runPart(ctx context.Context, p part) *failure.Failure {
	if p.phase == "" {
		return t.runSteps(ctx, p.from, p.to)
	}
	t.Tracer.BeginWhole(phaseOf(p.phase))
	f := t.runSteps(ctx, p.from, p.to)
	if f == nil {
		t.Tracer.EndWhole("")
	} else {
		t.Tracer.EndWhole(t.say(f.Text))
	}
	return f
}

// tearDown executes the steps after the test while there is a browser. Where the test passed
// their first failure fails it. One list of them that fails does not keep the next from
// being executed.
func (t *testExecution) tearDown(ctx context.Context, parts []part) {
	var lists []part
	for _, p := range parts {
		if p.phase == step.TearDown {
			lists = append(lists, p)
		}
	}
	if len(lists) == 0 {
		return
	}
	timedOut := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if ctx.Err() != nil && !timedOut || t.result.Broken && !timedOut {
		for _, p := range lists {
			t.skip(p.from, p.to, "skipped: the browser cannot be used any more")
		}
		return
	}
	ctx, cancel := withGrace(ctx)
	defer cancel()
	defer t.Tracer.Wait(ctx) // the page after the last step is still being read
	for _, p := range lists {
		f := t.runPart(ctx, p)
		if f == nil {
			continue
		}
		f.Text = "tear-down: " + f.Text
		if t.result.Status == playback.Passed {
			t.fail(f)
		}
		t.result.Broken = t.result.Broken || f.Broken
	}
}

// withGrace returns a context that has TearDownGrace at least, whatever the time of ctx is.
// It ends with ctx where that is cancelled.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	until := time.Now().Add(TearDownGrace)
	if given, ok := ctx.Deadline(); ok && given.After(until) {
		return context.WithCancel(ctx)
	}
	longer, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return longer, func() { stop(); cancel() }
}

// runSteps executes steps up to the first that fails or finishes.
func (t *testExecution) runSteps(ctx context.Context, from, to int) *failure.Failure {
	for i := from; i < to; {
		if i == t.first {
			if f := t.openTest(ctx); f != nil {
				return f
			}
		}
		if f := t.lookSignedIn(ctx, i); f != nil {
			return f
		}
		next, f := i+1, (*failure.Failure)(nil)
		if t.Steps[i].Tool.Type == step.RunGroup {
			next, f = t.runGroup(ctx, i)
		} else {
			f = t.runStep(ctx, i)
		}
		if f = t.lookAfter(ctx, i, f); f != nil {
			return f
		}
		if t.Steps[i].Tool.Type == step.Finish {
			return nil
		}
		i = next
	}
	return nil
}

// skip says why steps are not executed.
func (t *testExecution) skip(from, to int, why string) {
	for i := from; i < to; i++ {
		record := t.newRecord(i, playback.Skipped)
		record.Result.Message = why
		t.keep(i, record)
	}
}
