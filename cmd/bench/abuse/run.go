package abuse

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/cmd/bench/process"
)

const (
	queuedRuns   = 200
	longRun      = 30 * time.Second
	queuedSuites = 300
	suiteCases   = 3
	suiteCase    = time.Second
	// suiteEnd is how long a suite run of a case of two quick steps may take, from the
	// request to its end.
	suiteEnd = 15 * time.Second
	// posters is how many requests of the attacker are under way at once.
	posters = 8
)

// runs queues many long runs; the victim starts one of two steps.
func (b *bench) runs(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	id, err := t.attacker.ImportCase(ctx, "Long", pauses(int(longRun.Milliseconds())))
	if err != nil {
		return err
	}
	return b.compare(ctx, fmt.Sprintf("%d runs of %s queued", queuedRuns, longRun), t.victim.probes(), func(ctx context.Context) error {
		return t.attacker.queue(ctx, "/testcases/"+id+"/run", queuedRuns)
	})
}

// queue starts runs, then waits for the end of the attack.
func (t *tenant) queue(ctx context.Context, path string, runs int) error {
	group, posting := errgroup.WithContext(ctx)
	group.SetLimit(posters)
	for range runs {
		group.Go(func() error {
			var run process.RunState
			return t.Call(posting, http.MethodPost, path, struct{}{}, &run)
		})
	}
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// suites queues many runs of a suite; the victim runs one with one case.
func (b *bench) suites(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	var cases []string
	for n := range suiteCases {
		id, err := t.attacker.ImportCase(ctx, fmt.Sprint("Case ", n), pauses(int(suiteCase.Milliseconds())))
		if err != nil {
			return err
		}
		cases = append(cases, id)
	}
	theirs, err := t.attacker.suite(ctx, cases)
	if err != nil {
		return err
	}
	own, err := t.victim.suite(ctx, []string{t.victim.caseID})
	if err != nil {
		return err
	}
	probes := append(t.victim.probes(), probe{name: "suite run until its end", every: time.Second, most: suiteEnd,
		once: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 3*probeTimeout)
			defer cancel()
			_, err := t.victim.RunAndWait(ctx, "/testsuites/"+own)
			return err
		}})
	return b.compare(ctx, fmt.Sprintf("%d suite runs of %d cases of %s queued", queuedSuites, suiteCases, suiteCase),
		probes, func(ctx context.Context) error {
			return t.attacker.queue(ctx, "/testsuites/"+theirs+"/run", queuedSuites)
		})
}

// suite creates a suite and returns its id.
func (t *tenant) suite(ctx context.Context, cases []string) (string, error) {
	var suite struct{ ID string }
	err := t.Call(ctx, http.MethodPost, "/testsuites", map[string]any{"name": "Suite", "testCases": cases}, &suite)
	return suite.ID, err
}

// generate starts a generation for a browser of some name and returns its task.
func (t *tenant) generate(ctx context.Context, browser string) (task string, err error) {
	var made struct{ TaskID string }
	err = t.Call(ctx, http.MethodPost, "/testcases/generate", map[string]any{"name": "Generated",
		"runSettings": map[string]any{"testUrl": t.Base + "/", "target": map[string]any{"capabilities": map[string]any{
			"browserName": "chrome", "slipway:options": map[string]any{"name": browser}}}},
		"promptSettings": map[string]any{"intent": "Verify that the page says \"Slipway\"."}}, &made)
	return made.TaskID, err
}

// generations queues many generations whose browsers take long to start; the victim has one
// that does not.
func (b *bench) generations(ctx context.Context) error {
	t, err := b.startTarget(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	probes := append(t.victim.probes(), probe{name: "generation until it starts", every: time.Second, most: runStart,
		once: func(ctx context.Context) error {
			task, err := t.victim.generate(ctx, "quick")
			if err != nil {
				return err
			}
			if err := until(ctx, func(ctx context.Context) (bool, error) {
				var state struct{ Status string }
				err := t.victim.Call(ctx, http.MethodGet, "/testcases/generate/"+task, nil, &state)
				return state.Status != "QUEUED", err
			}); err != nil {
				return err
			}
			return t.victim.Call(ctx, http.MethodDelete, "/testcases/generate/"+task, nil, nil)
		}})
	return b.compare(ctx, fmt.Sprintf("%d generations queued, whose browsers take %s to start", queuedRuns, longRun),
		probes, func(ctx context.Context) error {
			group, posting := errgroup.WithContext(ctx)
			group.SetLimit(posters)
			for range queuedRuns {
				group.Go(func() error {
					_, err := t.attacker.generate(posting, slowSession)
					return err
				})
			}
			if err := group.Wait(); err != nil && ctx.Err() == nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
}
