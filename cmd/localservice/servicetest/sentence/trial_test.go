package sentence_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation"
)

// workers is how many browsers the tests use at once.
const workers = 3

// stationed is the pool of browsers that the tests share.
var stationed *browser.Pool

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	dir, err := servicetest.MakeFolder()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	folder, err := localservice.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer folder.Close(ctx)
	driver, err := folder.Chromedriver(ctx, localservice.ChromedriverConfig{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stationed, err = browser.New(browser.Config{Local: driver.URL(), Arguments: localservice.BrowserArguments(),
		Warm: workers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stationed.Close()
	return m.Run()
}

// trials runs a function for each pair, on a few sites at once.
func trials(t *testing.T, pairs []sentence.Pair, f func(*sentence.Trial, int, *sentence.Pair)) {
	t.Helper()
	set, err := sentence.Own()
	require.NoError(t, err)
	next := make(chan int, len(pairs))
	for i := range pairs {
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	for range workers {
		site, err := set.Start(servicetest.NodeModules(t, "jquery-ui"))
		require.NoError(t, err)
		trial := &sentence.Trial{Site: site, Pool: stationed,
			Author:  generation.NewAuthor(generation.AuthorConfig{StepTimeout: 10 * time.Second}),
			Timeout: 5 * time.Minute, StepTimeout: 10 * time.Second}
		group.Go(func() {
			defer site.Close()
			for i := range next {
				f(trial, i, &pairs[i])
			}
		})
	}
	group.Wait()
}

// What the pages load is there and their scripts do not fail, as they are or after one
// of the changes: a page that is broken would judge wrongly.
func TestPagesWork(t *testing.T) {
	set, err := sentence.Own()
	require.NoError(t, err)
	trials(t, set.Pairs, func(trial *sentence.Trial, i int, p *sentence.Pair) {
		if len(p.Codes) > 0 {
			return
		}
		lease, err := stationed.Acquire(t.Context(),
			browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
		if err != nil {
			t.Error(err)
			return
		}
		defer lease.Release(t.Context(), false)
		change := append([]string{sentence.Plain}, sentence.Changes...)[i%(1+len(sentence.Changes))]
		if !p.Has(change) {
			change = sentence.Plain
		}
		trial.Site.Change(change, p)
		var works bool
		err = lease.Session.Navigate(t.Context(), trial.Site.Address(p))
		if err == nil {
			err = lease.Session.Execute(t.Context(), `return failures === 0 && document.querySelectorAll("body *").length >= 3`, &works)
		}
		if err != nil || !works {
			t.Errorf("%s, %q: works %t, %v", p.Name, change, works, err)
		}
	})
}

// The sample of the tests: one sentence of each pair that the sample takes, another one
// from pair to pair, and one change of the page after it. The bench runs all of them. The
// shares are below what the sample reaches (docs/performance.md), so that a slow machine
// does not fail it, and far above what a fault in the planner leaves.
const (
	every      = 3    // of the pairs that can be done
	everyOther = 5    // of those that cannot
	possible   = 0.65 // of the sentences are generated and replayed
	unharmed   = 0.80 // of the tests pass after a change that is none to people
	guesses    = 0.02 // of all sentences may be COMPLETED with something else
)

// outcomes are what became of the sample.
type outcomes struct {
	sync.Mutex
	tried, written, guessed, harmless, passed int
	wrong                                     []string
}

func (o *outcomes) add(f func()) {
	o.Lock()
	defer o.Unlock()
	f()
}

func TestSentences(t *testing.T) {
	set, err := sentence.Own()
	require.NoError(t, err)
	var sample []sentence.Pair
	for i, p := range set.Pairs {
		if stride := map[bool]int{false: every, true: everyOther}[len(p.Codes) > 0]; i%stride == 0 {
			sample = append(sample, p)
		}
	}
	var all outcomes
	trials(t, sample, func(trial *sentence.Trial, i int, p *sentence.Pair) {
		text := p.Sentences[i%len(p.Sentences)]
		ending, err := trial.Write(t.Context(), p, text)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			return
		}
		bad := ending.Bad(p)
		all.add(func() {
			if bad != "" {
				all.wrong = append(all.wrong, p.Name+" | "+text+" | "+bad)
			}
			if ending.Guessed(p) {
				all.guessed++
			}
			if len(p.Codes) > 0 {
				return
			}
			all.tried++
			if bad == "" {
				all.written++
			}
		})
		if change := sentence.Changes[i%len(sentence.Changes)]; bad == "" && len(p.Codes) == 0 && p.Has(change) {
			replayChanged(t, trial, p, ending.Result.Steps, change, &all)
		}
	})
	t.Logf("%d of %d written, %d of %d pass after a harmless change\n%s", all.written, all.tried, all.passed, all.harmless,
		strings.Join(all.wrong, "\n"))
	require.GreaterOrEqual(t, float64(all.written), possible*float64(all.tried))
	require.GreaterOrEqual(t, float64(all.passed), unharmed*float64(all.harmless))
	require.LessOrEqual(t, float64(all.guessed), guesses*float64(len(sample)))
}

// replayChanged replays a written test on a changed page. After a harmful change each
// must fail; after others most must pass.
func replayChanged(t *testing.T, trial *sentence.Trial, p *sentence.Pair, steps []step.Step, change string, all *outcomes) {
	wrong, err := trial.Replay(t.Context(), p, steps, change)
	if err != nil {
		t.Errorf("%s, %s: %v", p.Name, change, err)
		return
	}
	all.add(func() {
		if wrong != "" {
			all.wrong = append(all.wrong, p.Name+" | "+change+" | "+wrong)
		}
		switch {
		case sentence.Harmless(change):
			all.harmless++
			if wrong == "" {
				all.passed++
			}
		case wrong != "":
			t.Errorf("%s, %s: %s", p.Name, change, wrong)
		}
	})
}
