package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// maxIterationText bounds what the record keeps of a row that failed, in bytes.
const maxIterationText = 500

// forEach does some tools in each row that the selector finds: each tool acts on what is
// within the row. Rows are counted once, at the beginning, and found again by their
// place, since a page may draw them anew.
func (x toolStep) forEach(ctx context.Context, at *page.Location, a, stored step.Args) error {
	count, err := assertion.Check{Execution: x.Execution}.CountRows(ctx, at, a)
	if err != nil {
		return err
	}
	defer x.Network.EnterRows()()
	for i := range count {
		started := time.Now()
		err := x.inRow(ctx, at, a, stored, i)
		it := step.Iteration{Index: i, Status: playback.Passed, Result: step.Outcome{Success: true},
			StartMS: started.Sub(x.Began).Milliseconds(), TookMS: time.Since(started).Milliseconds()}
		if err == nil {
			x.Iterations = append(x.Iterations, it)
			continue
		}
		f := x.FailureOf(ctx, err)
		it.Status, it.Result = playback.Failed, step.Outcome{Message: failure.Bounded(x.Secrets.Redact(f.Text), maxIterationText)}
		x.Iterations = append(x.Iterations, it)
		inRow := *f
		inRow.Text = fmt.Sprintf("row %d of %d: ", i+1, count) + f.Text
		return &inRow
	}
	x.Note("%d rows", count)
	return nil
}

// inRow does the tools in one row. Each has the time of the step.
func (x toolStep) inRow(ctx context.Context, at *page.Location, a, stored step.Args, i int) error {
	row := *a.Selector
	row.Index = &i
	for n := range stored.Tools {
		tool, err := step.ExpandTool(stored.Tools[n], x.Value)
		if err != nil {
			return x.Unknown(err)
		}
		tool = x.Move().Tool(tool)
		x.Network.BeginStep()
		if tool.Args.Selector != nil {
			tool.Args.Selector = step.Within(tool.Args.Selector, &row)
			tool.Args.Selector.Fingerprint = nil // of one row
		}
		if tool.Args.Target != nil {
			tool.Args.Target = step.Within(tool.Args.Target, &row)
			tool.Args.Target.Fingerprint = nil
		}
		x.Timeout = x.EachTimeout
		if tool.Type == step.Assert {
			x.Timeout = min(x.Timeout, x.AssertTimeout)
		}
		x.Deadline = time.Now().Add(x.Timeout)
		here := &page.Location{Frames: at.Frames, Hosts: at.Hosts}
		err = x.useTool(ctx, tool, step.Tool{Type: tool.Type}, here)
		var f *failure.Failure
		if errors.As(err, &f) && n > 0 && len(stored.Tools) > 1 {
			inTool := *f
			inTool.Text = tool.Type + ": " + f.Text
			return &inTool
		}
		if err != nil {
			return err
		}
		x.ResetFrame(ctx)
	}
	return nil
}
