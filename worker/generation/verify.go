package generation

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// maxMends bounds how often a draft is changed and replayed again.
const maxMends = 3

// verify replays a draft in fresh sessions until it passes as it is: what is healed
// there is stored as the healing found it, and a suggested assertion that does not
// hold gives way to another one. The result has a code when the draft does not pass.
func (a *author) verify(ctx context.Context, j Job, written *Result, alternatives []step.Step) (Result, error) {
	result := *written
	result.Steps = independent(written.Steps) // those who watch may still read the draft
	for range maxMends {
		played, err := a.play(ctx, j, result.Steps)
		if err != nil {
			return result, err
		}
		mended := false
		switch {
		case played.Status == string(run.Passed) && played.Healed == 0:
			learn(result.Steps, played.Fingerprints)
			return result, nil
		case played.Status == string(run.Passed):
			mended = takeHealed(result.Steps, played.Records)
		default:
			mended = replaceSuggested(&result, played.Records, &alternatives)
		}
		if !mended {
			return notReplayed(result, played), nil
		}
	}
	result.Code, result.Detail = CodeNotReplayed, "the test passes only with healed selectors, each time with others"
	return result, nil
}

// play replays steps once in a fresh session.
func (a *author) play(ctx context.Context, j Job, steps []step.Step) (replay.Result, error) {
	lease, err := j.Acquire(ctx)
	if err != nil {
		return replay.Result{}, err
	}
	cfg := a.replayConfig(lease, nil)
	cfg.TestURL, cfg.Lookup, cfg.Steps, cfg.Healing = j.TestURL, j.Lookup, steps, capability.HealApply
	cfg.Screenshots = false
	broken := true // should Play panic
	defer func() { j.Release(ctx, lease, broken) }()
	played := replay.Play(ctx, cfg)
	broken = played.Broken || ctx.Err() != nil
	if ctx.Err() != nil {
		return played, context.Cause(ctx)
	}
	if played.Status == string(run.Errored) && played.Broken {
		return played, fmt.Errorf("replay of a written test: %s: %s", played.Code, played.Message)
	}
	return played, nil
}

// independent returns steps whose selectors can be changed without changing the
// argument's.
func independent(steps []step.Step) []step.Step {
	out := append([]step.Step{}, steps...)
	for i := range out {
		for tool := &out[i].Tool; tool != nil; tool = tool.Args.Tool {
			if tool.Args.Selector != nil {
				selector := *tool.Args.Selector
				tool.Args.Selector = &selector
			}
			if tool.Args.Tool != nil {
				inner := *tool.Args.Tool
				tool.Args.Tool = &inner
			}
		}
	}
	return out
}

// learn stores fingerprints of steps that have none.
func learn(steps []step.Step, fingerprints map[string]step.Fingerprint) {
	for i := range steps {
		found, ok := fingerprints[steps[i].ID]
		if selector := step.Inner(&steps[i].Tool).Args.Selector; ok && selector != nil && selector.Fingerprint.Partial() {
			selector.Fingerprint = &found
		}
	}
}

// takeHealed stores the selectors by which steps were healed.
func takeHealed(steps []step.Step, records []playback.Record) (changed bool) {
	for i := range min(len(steps), len(records)) {
		healed, inner := records[i].Healed, step.Inner(&steps[i].Tool)
		if healed == nil || inner.Args.Selector == nil {
			continue
		}
		to := healed.To
		to.Fingerprint = inner.Args.Selector.Fingerprint
		inner.Args.Selector = &to
		changed = true
	}
	return changed
}

// replaceSuggested puts the next alternative in the place of a suggested assertion that
// failed, which is the last step. It returns false when something else failed.
func replaceSuggested(result *Result, records []playback.Record, alternatives *[]step.Step) bool {
	last := len(result.Steps) - 1
	if last < 0 || last >= len(records) || records[last].Status != playback.Failed || len(*alternatives) == 0 {
		return false
	}
	next := (*alternatives)[0]
	*alternatives = (*alternatives)[1:]
	next.ID = result.Steps[last].ID
	steps := append([]step.Step{}, result.Steps...)
	steps[last] = next
	result.Steps = steps
	result.Reasoning = append(append([]authoring.Reason{}, result.Reasoning...), authoring.Reason{
		Title:       "Suggested another assertion",
		Description: "The first one did not hold when the test was replayed: " + describeStep(&next),
	})
	result.Description = describe(steps)
	return true
}

// notReplayed returns the result of a draft that fails when it is replayed.
func notReplayed(result Result, played replay.Result) Result {
	result.Code = CodeNotReplayed
	result.Detail = "what was written does not pass again: " + played.Message
	for i := range played.Records {
		if played.Records[i].Status == playback.Failed && i < len(result.Steps) {
			result.Detail = fmt.Sprintf("what was written does not pass again: step %d (%s): %s",
				i+1, describeStep(&result.Steps[i]), played.Message)
			break
		}
	}
	return result
}
