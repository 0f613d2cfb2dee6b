package run

import (
	"context"
	"errors"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// newTrace returns the recorder of the test's trace; nil where none is kept.
func (p *execution) newTrace() *trace.Recorder {
	if p.work.Trace == capability.TraceOff {
		return nil
	}
	browser, _ := p.work.Job.Target.Capabilities["browserName"].(string)
	return trace.New(trace.Config{Title: p.work.Run.CaseName, Browser: browser, Redact: p.redactor.Text, Began: p.began,
		Always: p.work.Trace == capability.TraceOn})
}

// storeTrace keeps the trace of the test as a file of its last step, unless the test passed
// and only others are kept. Who cancelled a test has no use for one.
func (p *execution) storeTrace(ctx context.Context, result replay.Result) {
	if !p.trace.Keeps(result.Status == playback.Passed) {
		return
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout) {
		return
	}
	data, err := p.trace.Zip()
	if err != nil {
		p.Log.WarnContext(ctx, "trace not stored", "error", err)
		return
	}
	last := 0
	for i := range result.Records {
		if result.Records[i].Status != playback.Skipped {
			last = i
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	p.files.Capture(ctx, replay.Artifact{Kind: store.Trace, Step: last, ContentType: "application/zip", Data: data})
}
