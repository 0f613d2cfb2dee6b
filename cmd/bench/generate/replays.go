package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
)

// replays is how often a test is replayed on the page as it is.
const replays = 3

// replayCounts are what became of tests that were replayed.
type replayCounts struct {
	plain    tally                     // as often as they must
	changed  tally                     // on a changed page: those where more than the theme could be changed
	together tally                     // of these, those where all of it was changed at once
	both     tally                     // of these, those that passed as often as they must too
	theme    int                       // those where only the theme could be changed
	none     int                       // those where nothing could
	parts    map[string]*tally         // of a changed page: whether they could be made
	left     map[string]map[string]int // why not, by part
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
	for _, left := range redesign.Left {
		if left.Detail != "" {
			fmt.Printf("left %s | %s | %s\n", p.Name, left.Change, left.Detail)
		}
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
	if p.Oracle == "" {
		counts.recorded.add(plain, changed, redesign)
	} else {
		counts.replays.add(plain, changed, redesign)
	}
	return nil
}

// add counts a test: whether it passed as often as it must, and on the changed page.
func (c *replayCounts) add(plain, changed bool, redesign sentence.Redesign) {
	c.plain.add(plain)
	switch {
	case len(redesign.Changes) == 0:
		c.none++
	case !redesign.More():
		c.theme++
	default:
		c.changed.add(changed)
		c.both.add(plain && changed)
	}
	if redesign.More() && redesign.Together() {
		c.together.add(changed)
	}
	if c.parts == nil {
		c.parts, c.left = map[string]*tally{}, map[string]map[string]int{}
	}
	for _, part := range sentence.Parts {
		if c.parts[part] == nil {
			c.parts[part], c.left[part] = &tally{}, map[string]int{}
		}
		c.parts[part].add(slices.Contains(redesign.Parts, part))
	}
	for _, left := range redesign.Left {
		if c.left[left.Change] != nil {
			c.left[left.Change][left.Why]++
		}
	}
}

// print prints the rows of the table, of pages of a kind.
func (c *replayCounts) print(pages string) {
	if c.plain.all == 0 {
		return
	}
	fmt.Printf("| %s: replayed three times | %s | |\n", pages, &c.plain)
	fmt.Printf("| replayed on a page with more than its theme changed | %s | |\n", &c.changed)
	fmt.Printf("| - with all changes at once | %s | |\n", &c.together)
	fmt.Printf("| both | %s | 98 %% |\n", &c.both)
	fmt.Printf("| only the theme could be changed | %d | |\n", c.theme)
	fmt.Printf("| nothing could be changed | %d | |\n", c.none)
	for _, part := range sentence.Parts {
		fmt.Printf("| - a change of %s could be made | %s | |\n", part, c.parts[part])
		for _, why := range slices.Sorted(maps.Keys(c.left[part])) {
			fmt.Printf("| - - not: %s | %d | |\n", why, c.left[part][why])
		}
	}
}
