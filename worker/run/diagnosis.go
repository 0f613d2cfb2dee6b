package run

import (
	"context"

	failures "github.com/slipway-qa/slipway/storage/failure"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/reason"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// saw keeps what a playing of the test saw, without secrets.
func (p *execution) saw(result *replay.Result) {
	p.digest, p.console = result.Digest, nil
	if p.digest != nil {
		p.digest = p.digest.Redacted(p.redactor.Text)
	}
	for _, line := range result.Console {
		p.console = append(p.console, p.redactor.Text(line))
	}
}

// explain puts into an end what the test saw where it passed, and why it failed where it did. The
// end is written without where that cannot be said.
func (p *execution) explain(ctx context.Context, end *store.JobEnd) {
	if end.Status == store.Passed && p.digest != nil {
		most := failures.MaxDigest
		if p.work.Job.Row != nil {
			most = failures.MaxOfRow
		}
		packed, err := p.digest.Pack(most)
		if err != nil {
			p.Log.WarnContext(ctx, "what a test saw is not kept", "job_id", p.id, "error", err)
		}
		end.Digest = packed
	}
	if end.Status != store.Failed && end.Status != store.Errored {
		return
	}
	good, err := failures.GoodBefore(ctx, p.DB, p.id)
	if err != nil {
		p.Log.WarnContext(ctx, "a failure is compared with nothing", "job_id", p.id, "error", err)
	}
	end.Diagnosis = reason.Diagnose(reason.Facts{Code: end.ErrorCode, Message: end.Error, Step: failedStep(end.Records),
		Seen: p.digest, Console: p.console, Good: good})
}

// failedStep returns the first step that failed; nil for none.
func failedStep(records []playback.Record) *playback.Record {
	for i := range records {
		if records[i].Status == playback.Failed && records[i].Tool.Type != step.RunGroup {
			return &records[i]
		}
	}
	return nil
}

// withDiagnosis returns an end of a job whose failure says why, by its code where nothing else is
// known.
func withDiagnosis(end store.JobEnd) store.JobEnd {
	if end.Diagnosis == nil && (end.Status == store.Failed || end.Status == store.Errored) {
		end.Diagnosis = reason.Diagnose(reason.Facts{Code: end.ErrorCode, Message: end.Error})
	}
	return end
}
