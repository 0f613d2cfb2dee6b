package generate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// tally counts tries, and those that ended as they must.
type tally struct{ good, all int }

func (t *tally) add(good bool) {
	t.all++
	if good {
		t.good++
	}
}

func (t *tally) String() string {
	if t.all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", t.good, t.all, 100*float64(t.good)/float64(t.all))
}

// generateCounts are the results of a set.
type generateCounts struct {
	kinds    map[string]*tally // generated and replayed, of pairs that can be done: by kind, language and effect
	pairs    tally
	refused  tally // pairs that cannot be done, or of hostile pages
	guesses  tally // good are those that are no wrong guesses
	traps    tally // good are those in which nothing wrong was done
	changes  map[string]*tally
	harmless tally
	harmful  tally
	replays  replayCounts
	recorded replayCounts // of pages that record what is done on them
}

func (b *bench) part(name string) bool {
	return len(b.Only) == 0 || slices.Contains(b.Only, name)
}

// pairs runs the pairs, once, and with what they have written the changes and the replays where
// these are to be measured too.
func (b *bench) pairs(ctx context.Context) error {
	if b.ran {
		return nil
	}
	b.ran = true
	counts := &generateCounts{kinds: map[string]*tally{}, changes: map[string]*tally{}}
	err := b.each(ctx, func(ctx context.Context, t *sentence.Trial, p *sentence.Pair) error { return b.pair(ctx, t, p, counts) })
	if err != nil {
		return err
	}
	counts.print()
	return nil
}

// each calls a function for each pair of each set, as many at once as there are workers, each
// with a site of its own.
func (b *bench) each(ctx context.Context, do func(context.Context, *sentence.Trial, *sentence.Pair) error) error {
	for _, set := range b.sets {
		group, ctx := errgroup.WithContext(ctx)
		next := make(chan int)
		for range max(1, b.Workers) {
			group.Go(func() error {
				trial, err := b.newTrial(set)
				if err != nil {
					return err
				}
				defer trial.Site.Close()
				for i := range next {
					done := progress.Waits(ctx, fmt.Sprintf("pair %d of %d, %s", i+1, len(set.Pairs), set.Pairs[i].Name))
					err := do(ctx, trial, &set.Pairs[i])
					done()
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		group.Go(func() error {
			defer close(next)
			for i := range set.Pairs {
				select {
				case next <- i:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// check shows of each pair with an oracle that it can be done, and that the oracle tells.
// Other sets have none.
func (b *bench) check(ctx context.Context) error {
	good := tally{}
	err := b.each(ctx, func(ctx context.Context, t *sentence.Trial, p *sentence.Pair) error {
		if p.Oracle == "" || len(p.Solution) == 0 {
			return nil
		}
		wrong, err := t.Check(ctx, p, sentence.Plain)
		if err != nil {
			return err
		}
		if wrong != "" {
			b.report(p, "check", wrong, 0)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		good.add(wrong == "")
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("oracles: %s\n", &good)
	if good.good < good.all {
		return fmt.Errorf("%d oracles are wrong", good.all-good.good)
	}
	return nil
}

// waits says which pair of the first set a part waits for.
func (b *bench) waits(ctx context.Context, i int) (done func()) {
	return progress.Waits(ctx, fmt.Sprintf("pair %d of %d, %s", i+1, len(b.set.Pairs), b.set.Pairs[i].Name))
}

// pair runs the sentences of a pair, and the changes with the first test that was
// written.
func (b *bench) pair(ctx context.Context, trial *sentence.Trial, p *sentence.Pair, counts *generateCounts) error {
	var written []step.Step
	for i, text := range p.Sentences {
		if b.Phrasing >= 0 && i != b.Phrasing%len(p.Sentences) {
			continue
		}
		ending, err := trial.Write(ctx, p, text)
		if err != nil {
			ending = &sentence.Ending{Code: generation.CodeInternal, Detail: err.Error()}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		bad := ending.Bad(p)
		if bad == "" && written == nil {
			written = ending.Result.Steps
		}
		b.report(p, text, bad, ending.Took)
		if b.Show || bad != "" && b.Pairs != "." {
			printSteps(&ending.Result)
		}
		b.mu.Lock()
		counts.add(p, text, ending, bad)
		b.mu.Unlock()
	}
	if written == nil || len(p.Codes) > 0 {
		return nil
	}
	if slices.Contains(b.Only, "replays") {
		if err := b.replay(ctx, trial, p, written, counts); err != nil {
			return err
		}
	}
	if !b.part("changes") {
		return nil
	}
	return b.change(ctx, trial, p, written, counts)
}

// add counts how a sentence of a pair ended.
func (c *generateCounts) add(p *sentence.Pair, text string, ending *sentence.Ending, bad string) {
	c.guesses.add(!ending.Guessed(p))
	if p.Trap {
		c.traps.add(!ending.Guessed(p) && !strings.HasPrefix(bad, "WRONG"))
	}
	if len(p.Codes) > 0 {
		c.refused.add(bad == "")
		return
	}
	c.pairs.add(bad == "")
	for _, kind := range append(effectsOf(text), "kind: "+p.Kind, "language: "+p.Lang) {
		if strings.HasSuffix(kind, ": ") {
			continue
		}
		if c.kinds[kind] == nil {
			c.kinds[kind] = &tally{}
		}
		c.kinds[kind].add(bad == "")
	}
}

// effectsOf names the classes of what a text asks for, each once: of its likeliest reading.
func effectsOf(text string) []string {
	read := intent.Read(text)
	if len(read.Readings) == 0 {
		return nil
	}
	var list []string
	for i := range read.Readings[0].Goals {
		if name := "effect: " + string(read.Readings[0].Goals[i].Effect); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// change replays a test on the changed pages.
func (b *bench) change(ctx context.Context, trial *sentence.Trial, p *sentence.Pair, steps []step.Step, counts *generateCounts) error {
	for _, change := range sentence.Changes {
		if !p.Has(change) || len(b.Change) > 0 && !slices.Contains(b.Change, change) {
			continue
		}
		wrong, err := trial.Replay(ctx, p, steps, change)
		if err != nil {
			return err
		}
		if wrong != "" {
			b.report(p, "changed: "+change, wrong, 0)
		}
		b.mu.Lock()
		if counts.changes[change] == nil {
			counts.changes[change] = &tally{}
		}
		counts.changes[change].add(wrong == "")
		if sentence.Harmless(change) {
			counts.harmless.add(wrong == "")
		} else {
			counts.harmful.add(wrong == "")
		}
		b.mu.Unlock()
	}
	return nil
}

// report prints how a try ended, and keeps what went wrong.
func (b *bench) report(p *sentence.Pair, text, bad string, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, bad = strings.ReplaceAll(text, "\n", " / "), strings.Join(strings.Fields(bad), " ")
	if bad == "" {
		fmt.Printf("ok   %s | %s | %d ms\n", p.Name, text, took.Milliseconds())
		return
	}
	line := fmt.Sprintf("%s | %s | %s", p.Name, text, bad)
	fmt.Println("FAIL " + line)
	b.failures = append(b.failures, line)
}

// print prints the Markdown table.
func (c *generateCounts) print() {
	fmt.Print("\n| what | measured | target |\n|---|---|---|\n")
	fmt.Printf("| generated and replayed | %s | 95 %% |\n", &c.pairs)
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		fmt.Printf("| - %s | %s | |\n", kind, c.kinds[kind])
	}
	fmt.Printf("| cannot be done, or hostile: ended as they must | %s | 100 %% |\n", &c.refused)
	fmt.Printf("| no wrong guess | %s | 99 %% |\n", &c.guesses)
	if c.traps.all > 0 {
		fmt.Printf("| traps: nothing wrong was done | %s | 98.5 %% |\n", &c.traps)
	}
	fmt.Printf("| replayed after a harmless change | %s | 95 %% |\n", &c.harmless)
	fmt.Printf("| failed after a harmful change | %s | 100 %% |\n", &c.harmful)
	for _, change := range slices.Sorted(maps.Keys(c.changes)) {
		fmt.Printf("| - %s | %s | |\n", change, c.changes[change])
	}
	c.replays.print("pages of packages")
	c.recorded.print("pages of our own")
}
