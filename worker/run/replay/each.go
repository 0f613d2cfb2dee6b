package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// maxIterationText bounds what the record keeps of a row that failed, in bytes.
const maxIterationText = 500

// forEach does some tools in each row that the selector finds: each tool acts on what is
// within the row. Rows are counted once, at the beginning, and found again by their
// place, since a page may draw them anew.
func (x *stepExecution) forEach(ctx context.Context, at *elementLocation, a, stored step.Args) error {
	count, err := x.countRows(ctx, at, a)
	if err != nil {
		return err
	}
	defer x.network.EnterRows()()
	for i := range count {
		started := time.Now()
		err := x.inRow(ctx, at, a, stored, i)
		it := step.Iteration{Index: i, Status: step.Passed, Result: step.Outcome{Success: true},
			StartMS: started.Sub(x.began).Milliseconds(), TookMS: time.Since(started).Milliseconds()}
		if err == nil {
			x.iterations = append(x.iterations, it)
			continue
		}
		f := x.failureOf(ctx, err)
		it.Status, it.Result = step.Failed, step.Outcome{Message: bounded(x.secrets.redact(f.text), maxIterationText)}
		x.iterations = append(x.iterations, it)
		inRow := *f
		inRow.text = fmt.Sprintf("row %d of %d: ", i+1, count) + f.text
		return &inRow
	}
	x.note("%d rows", count)
	return nil
}

// countRows waits until there are rows and returns how many.
func (x *stepExecution) countRows(ctx context.Context, at *elementLocation, a step.Args) (int, error) {
	rule, err := newRule(step.Args{Selector: a.Selector, Matcher: &step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: "1", Mode: step.AtLeast}}}, x.quote)
	if err != nil {
		return 0, err
	}
	most := step.MaxIterations
	if a.Max != nil {
		most = *a.Max
	}
	look := assertion{x, at, rule}
	q := observeQuery{Want: rule.want(), Hosts: orEmpty(at.hosts), Selector: at.selector, First: x.FirstMatch, Max: maxSeen}
	count := 0
	err = x.until(ctx, retryPause, func() (bool, *failure, error) {
		none := stepf("%s: there is no row", x.showSelector(at.selector))
		got, err := look.observe(ctx, q)
		switch {
		case err != nil || got == nil:
			return false, none, err
		case got.Invalid != "":
			return false, nil, stepf("%s: %s", x.showSelector(at.selector), x.quote(got.Invalid, 300))
		case got.Several != nil:
			return false, x.severalFailure(got.Several), nil
		case got.Seen == nil || got.Seen.Count == 0:
			return false, none, nil
		case got.Seen.Count > most:
			return false, nil, stepf("%s: there are %d rows, and the step goes through at most %d", x.showSelector(at.selector), got.Seen.Count, most)
		}
		count = got.Seen.Count
		return true, nil, nil
	})
	return count, err
}

// inRow does the tools in one row. Each has the time of the step.
func (x *stepExecution) inRow(ctx context.Context, at *elementLocation, a, stored step.Args, i int) error {
	row := *a.Selector
	row.Index = &i
	for n := range stored.Tools {
		tool, err := step.ExpandTool(stored.Tools[n], x.value)
		if err != nil {
			return x.unknown(err)
		}
		tool = x.move().Tool(tool)
		x.network.BeginStep()
		if tool.Args.Selector != nil {
			tool.Args.Selector = step.Within(tool.Args.Selector, &row)
			tool.Args.Selector.Fingerprint = nil // of one row
		}
		if tool.Args.Target != nil {
			tool.Args.Target = step.Within(tool.Args.Target, &row)
			tool.Args.Target.Fingerprint = nil
		}
		x.timeout = x.eachTimeout
		if tool.Type == step.Assert {
			x.timeout = min(x.timeout, x.AssertTimeout)
		}
		x.deadline = time.Now().Add(x.timeout)
		here := &elementLocation{frames: at.frames, hosts: at.hosts}
		err = x.useTool(ctx, tool, step.Tool{Type: tool.Type}, here)
		var f *failure
		if errors.As(err, &f) && n > 0 && len(stored.Tools) > 1 {
			inTool := *f
			inTool.text = tool.Type + ": " + f.text
			return &inTool
		}
		if err != nil {
			return err
		}
		x.resetFrame(ctx)
	}
	return nil
}
