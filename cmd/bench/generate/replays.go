package generate

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
)

// replays is how often a test is replayed on the page as it is.
const replays = 3

// replayCounts are what became of tests that were replayed.
type replayCounts struct {
	plain   tally // as often as they must
	changed tally // on a changed page, where one could be made
	both    tally
	parts   map[string]*tally // of a changed page: whether they could be made
}

// replay replays a test as often as it must pass, and on the changed page.
func (b *bench) replay(ctx context.Context, trial *sentence.Trial, p *sentence.Pair, steps []step.Step, counts *generateCounts) error {
	plain := true
	for i := range replays {
		wrong, err := trial.Replay(ctx, p, steps, sentence.Plain)
		if err != nil {
			return err
		}
		if wrong != "" {
			plain = false
			b.report(p, fmt.Sprintf("replay %d", i+1), wrong, 0)
		}
	}
	redesign, err := trial.Redesign(ctx, p)
	if err != nil {
		return err
	}
	changed := true
	for _, change := range redesign.Changes {
		wrong, err := trial.Replay(ctx, p, steps, change)
		if err != nil {
			return err
		}
		if wrong != "" {
			changed = false
			b.report(p, "redesigned: "+change, wrong, 0)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	counts.replays.add(plain, changed, redesign)
	return nil
}

// add counts a test: whether it passed as often as it must, and on the changed page.
func (c *replayCounts) add(plain, changed bool, redesign sentence.Redesign) {
	c.plain.add(plain)
	c.both.add(plain && changed)
	if len(redesign.Changes) > 0 {
		c.changed.add(changed)
	}
	for _, part := range sentence.Parts {
		if c.parts[part] == nil {
			c.parts[part] = &tally{}
		}
		c.parts[part].add(slices.Contains(redesign.Parts, part))
	}
}

// print prints the rows of the table.
func (c *replayCounts) print() {
	if c.plain.all == 0 {
		return
	}
	fmt.Printf("| replayed three times | %s | |\n", &c.plain)
	fmt.Printf("| replayed on a changed page | %s | |\n", &c.changed)
	fmt.Printf("| both | %s | 98 %% |\n", &c.both)
	for _, part := range sentence.Parts {
		fmt.Printf("| - a change of %s could be made | %s | |\n", part, c.parts[part])
	}
}
