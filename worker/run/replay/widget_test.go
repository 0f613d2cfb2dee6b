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

// The cases on widget libraries end as they must, and played again with what the first
// play has learnt, none of their elements is taken for another. `go run ./cmd/bench
// widgets` runs them beside Playwright.
func TestWidgets(t *testing.T) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	cases, err := widget.Cases()
	require.NoError(t, err)
	for _, c := range cases {
		t.Run(c.FullName(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			playSteps := func(steps []step.Step) replay.Result {
				l := lease()
				cfg := replay.Config{Lease: l, TestURL: site.BaseURL() + c.Page, Steps: steps, FirstMatch: c.FirstMatch,
					PageTimeout: time.Duration(c.TimeoutMS) * time.Millisecond}
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
			again := playSteps(learnt(c.Steps, result))
			for _, record := range again.Records {
				if record.Drifted != nil {
					t.Errorf("%s: %s", record.StepID, record.Drifted.Text())
				}
			}
		})
	}
}
