package generation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// refusing is a page on which a press does not work.
type refusing struct{ did []string }

func (r *refusing) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	return &snapshot.Snapshot{}, nil
}

func (r *refusing) Locate(context.Context, ...string) ([]snapshot.Located, error) { return nil, nil }

func (r *refusing) Do(_ context.Context, s step.Step) (playback.Record, error) {
	r.did = append(r.did, s.Tool.Type)
	if s.Tool.Type == step.Click {
		return playback.Record{Status: playback.Failed, Result: step.Outcome{Message: "it is gone"}}, nil
	}
	return playback.Record{Status: playback.Passed}, nil
}

// What cannot be done again on a fresh page ends the generation: a retry of its task would do all of
// the text once more.
func TestFreshPageThatCannotReplayIsAResult(t *testing.T) {
	t.Parallel()
	click := step.Step{ID: "s1", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#a"}}}}
	for _, optional := range []bool{false, true} {
		d, page := &draft{author: &author{}, job: Job{TestURL: "http://page/"}}, &refusing{}
		click.Optional = optional
		err := d.fresh(t.Context(), page, []step.Step{click})
		require.Equal(t, []string{step.GoToURL, step.ClearState, step.GoToURL, step.Click}, page.did)
		if optional {
			require.NoError(t, err)
			continue
		}
		var failed *plan.FailedError
		require.ErrorAs(t, err, &failed)
		result, err := d.ended(t.Context(), err)
		require.NoError(t, err)
		require.Equal(t, CodeStepFailed, result.Code)
		require.Contains(t, result.Detail, "it is gone")
	}
}

// Where the data are real, nothing is done a second time.
func TestRealDataAreNotReplayed(t *testing.T) {
	t.Parallel()
	a, skips := &author{}, &author{AuthorConfig{SkipReplay: true}}
	require.True(t, a.replays(Job{}))
	require.True(t, a.replays(Job{Explore: plan.ExploreOn}))
	require.False(t, a.replays(Job{Explore: plan.ExploreOff}))
	require.False(t, skips.replays(Job{Explore: plan.ExploreOn}))
}
