package generate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	// concurrent is how many generations run side by side in the measurement.
	concurrent = 10
	// throughputPairs are enough for some seconds, and few enough to be run twice.
	throughputPairs = 20
)

// timedPage measures what a planner spends in the page.
type timedPage struct {
	plan.Page
	looking, acting time.Duration
	looks, acts     int
}

// Snapshot is plan.Page's.
func (p *timedPage) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	defer func(start time.Time) { p.looking += time.Since(start); p.looks++ }(time.Now())
	return p.Page.Snapshot(ctx)
}

// Locate is plan.Page's.
func (p *timedPage) Locate(ctx context.Context, refs ...string) ([]snapshot.Located, error) {
	defer func(start time.Time) { p.looking += time.Since(start) }(time.Now())
	return p.Page.Locate(ctx, refs...)
}

// Do is plan.Page's.
func (p *timedPage) Do(ctx context.Context, s step.Step) (playback.Record, error) {
	defer func(start time.Time) { p.acting += time.Since(start); p.acts++ }(time.Now())
	return p.Page.Do(ctx, s)
}

// overhead prints what the planner adds to the browser's own time, for each step.
func (b *bench) overhead(ctx context.Context) error {
	var thinking, looking, acting []float64
	for i := range b.set.Pairs {
		p := &b.set.Pairs[i]
		if len(p.Codes) > 0 {
			continue
		}
		b.trial.Site.Change(sentence.Plain, p)
		done := b.waits(ctx, i)
		page, total, err := b.plan(ctx, p)
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if page == nil || page.acts == 0 {
			continue
		}
		each := float64(page.acts) * float64(time.Millisecond)
		thinking = append(thinking, float64(total-page.looking-page.acting)/each)
		looking = append(looking, float64(page.looking)/each)
		acting = append(acting, float64(page.acting)/each)
	}
	fmt.Printf("| a step: planner alone, median of %d | %.1f ms | 60 ms |\n", len(thinking), measure.MedianOf(thinking))
	fmt.Printf("| a step: snapshots and selectors, with waiting for a quiet page | %.1f ms | |\n", measure.MedianOf(looking))
	fmt.Printf("| a step: the step itself | %.1f ms | |\n", measure.MedianOf(acting))
	return nil
}

// plan plans a pair's first sentence and returns the times; nil where it did not end
// well.
func (b *bench) plan(ctx context.Context, p *sentence.Pair) (*timedPage, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	job := b.job(p.Sentences[0], b.trial.Site.Address(p))
	lease, err := job.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	live, err := replay.Open(ctx, replay.Config{Lease: lease, TestURL: job.TestURL, StepTimeout: b.Step})
	if err != nil {
		lease.Release(ctx, true)
		return nil, 0, err
	}
	page := &timedPage{Page: live}
	start := time.Now()
	_, err = plan.Run(ctx, plan.Config{Page: page, Intent: job.Intent, MaxSteps: job.MaxSteps, Now: time.Now})
	total := time.Since(start)
	lease.Release(ctx, live.Close())
	if err != nil {
		return nil, 0, nil // pairs that fail are counted elsewhere
	}
	return page, total, nil
}

// throughput prints generations a minute, one at a time and ten at once.
func (b *bench) throughput(ctx context.Context) error {
	var pairs []*sentence.Pair
	for i := range b.set.Pairs {
		if p := &b.set.Pairs[i]; len(p.Codes) == 0 && len(pairs) < throughputPairs {
			pairs = append(pairs, p)
		}
	}
	b.trial.Site.Change(sentence.Plain, pairs[0])
	for _, workers := range []int{1, concurrent} {
		var next, completed atomic.Int64
		var group sync.WaitGroup
		done := progress.WaitsFor(ctx, func() string {
			return fmt.Sprintf("generation %d of %d, %d at once", min(next.Load(), int64(len(pairs))), len(pairs), workers)
		})
		start := time.Now()
		for range workers {
			group.Go(func() {
				author := b.author()
				for {
					i := int(next.Add(1)) - 1
					if i >= len(pairs) || ctx.Err() != nil {
						return
					}
					deadline, cancel := context.WithTimeout(ctx, b.Timeout)
					result, err := author.Write(deadline, b.job(pairs[i].Sentences[0], b.trial.Site.Address(pairs[i])))
					cancel()
					if err == nil && result.Code == "" {
						completed.Add(1)
					}
				}
			})
		}
		group.Wait()
		done()
		fmt.Printf("| %d at once | %.1f generations a minute, %d of %d completed | as one |\n",
			workers, float64(len(pairs))/time.Since(start).Minutes(), completed.Load(), len(pairs))
	}
	return ctx.Err()
}
