package replay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// sampled is of how many widget cases one is played again, and one looked at: three plays
// of each take minutes of a processor. The soak has all of them.
const sampled = 4

// The cases on widget libraries end as they must, and of a sample, played again with what
// the first play has learnt, no element is taken for another. `go run ./cmd/bench widgets`
// runs them beside Playwright.
func TestWidgets(t *testing.T) { playWidgets(t, sampled) }

// playWidgets plays all cases, and one of every few again.
func playWidgets(t *testing.T, every int) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	cases, err := widget.Cases()
	require.NoError(t, err)
	for i, c := range cases {
		t.Run(c.FullName(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			playSteps := func(steps []step.Step) replay.Result {
				l := lease()
				cfg := replay.Config{Lease: l, TestURL: site.BaseURL() + c.Page, Steps: steps, FirstMatch: c.FirstMatch,
					PageTimeout: max(time.Minute, c.Timeout())}
				if c.Expect != step.Passed || c.Open != "" {
					cfg.StepTimeout, cfg.AssertTimeout = c.Timeout(), c.Timeout() // it is waited for in vain
				}
				result := replay.Play(ctx, patient(cfg))
				release(l, result.Broken)
				return result
			}
			result := playSteps(c.Steps)
			wrong := c.Verdict(result.Status, result.Message)
			if c.Open != "" {
				require.NotEmpty(t, wrong, "the case is no longer open: %s", c.Open)
				return
			}
			require.Empty(t, wrong)
			if i%every != 0 {
				return
			}
			again := playSteps(learnt(c.Steps, result))
			for _, record := range again.Records {
				if record.Drifted != nil {
					t.Errorf("%s: %s", record.StepID, record.Drifted.Text())
				}
			}
		})
	}
}
