package replay_test

import (
	"context"
	"hash/crc32"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// share is how many of the widget cases take part: three plays of each take a quarter of an
// hour of a processor. A case's name alone says whether it is in a share, so that others
// do not move it.
type share struct {
	played, again, seen uint32 // one of so many
}

var (
	// sampled is the share of every run.
	sampled = share{3, 9, 12}
	// whole is the share of the soak.
	whole = share{1, 1, 1}
)

// chosen reports whether a case is the one of so many.
func chosen(c widget.Case, of uint32) bool {
	return crc32.ChecksumIEEE([]byte(c.FullName()))%of == of/2
}

// A sample of the cases on widget libraries ends as it must, and of a smaller one, played
// again with what the first play has learnt, no element is taken for another.
// `go run ./cmd/bench widgets` runs all of them beside Playwright.
func TestWidgets(t *testing.T) { playWidgets(t, sampled) }

func playWidgets(t *testing.T, part share) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	cases, err := widget.Cases()
	require.NoError(t, err)
	for _, c := range cases {
		if !chosen(c, part.played) {
			continue
		}
		t.Run(c.FullName(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			playSteps := func(steps []step.Step) replay.Result {
				l := lease()
				cfg := replay.Config{Lease: l, TestURL: site.BaseURL() + c.Page, Steps: steps, FirstMatch: c.FirstMatch,
					PageTimeout: max(time.Minute, c.Timeout())}
				if c.Expect != playback.Passed || c.Open != "" {
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
			if !chosen(c, part.again) {
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
