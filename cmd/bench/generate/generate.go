// Package generate measures tests that are written from sentences: how many of a set of pairs
// of a page and a sentence replay, on changed pages too, and how long authoring takes.
//
// A page judges by what was done on it, after the generation and after a replay in a fresh
// session. Wrong guesses count apart from failures that say so. A pair that fails is a row of
// the table; a browser or set that is missing ends the command with an error.
package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/playwright"
	"github.com/slipway-qa/slipway/cmd/bench/run"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/sentence"
	"github.com/slipway-qa/slipway/worker/generation"
)

// Command measures tests written from sentences.
type Command struct {
	Pairs    string        `default:"." help:"Only the pairs whose name or kind matches this regular expression."`
	Set      string        `help:"A folder with pairs/*.json and pages; default: the set of the repository."`
	Phrasing int           `default:"-1" help:"Only this sentence of each pair, from 0; -1: all of them."`
	Modules  string        `help:"The node_modules that the pages of the set use; default: those of the tests."`
	Foreign  string        `enum:"open,sealed," default:"" help:"In place of a set those of pages of packages: open, or sealed, which are for the end. .ci/deps foreign installs the packages."`
	Workers  int           `default:"1" help:"Pairs at once, each in a browser and on a site of its own."`
	Only     []string      `help:"Parts to measure: pairs, changes, overhead, throughput; default: all but replays, which replays each test three times, and once on a changed page. The part check shows that a set with oracles can be done."`
	Change   []string      `help:"Only these changes of pages: ids, wrap, order, removed, behaviour."`
	Failures string        `help:"A file for what went wrong, one line each."`
	Timeout  time.Duration `default:"60s" help:"Of a generation."`
	Step     time.Duration `default:"10s" help:"Of a step of a replay."`
	Page     string        `help:"A single try: a file or an address."`
	Intent   string        `help:"Of a single try: what the test shall do."`
	Show     bool          `help:"Print the steps of each pair, and what the planner tries."`
}

// bench runs the pairs of sets.
type bench struct {
	*Command
	sets     []generateSet
	set      *sentence.Set   // the present one
	trial    *sentence.Trial // on a site of it
	engine   *run.Engine
	ran      bool       // the pairs
	mu       sync.Mutex // of the next one, and of counts
	failures []string
}

// generateSet is a set with the folder of the packages that its pages use.
type generateSet struct {
	*sentence.Set
	modules string
}

// Run measures the generation of tests, or tries one.
func (c *Command) Run(ctx context.Context) error {
	b := &bench{Command: c}
	var err error
	if c.Page == "" {
		if b.sets, err = c.load(); err != nil {
			return err
		}
		b.set = b.sets[0].Set
	}
	parts := b.parts()
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	if b.engine, err = run.StartEngine(ctx, nil); err != nil {
		return err
	}
	defer b.engine.Close()
	if c.Page != "" {
		return measure.RunParts(ctx, nil, parts)
	}
	if b.trial, err = b.newTrial(b.sets[0]); err != nil {
		return err
	}
	defer b.trial.Site.Close()
	err = measure.RunParts(ctx, c.Only, parts)
	if c.Failures != "" {
		if failed := os.WriteFile(c.Failures, []byte(strings.Join(b.failures, "\n")+"\n"), 0o600); failed != nil {
			return failed
		}
	}
	return err
}

const (
	// generateStart is the share of the deadline of a part for browsers that start slowly.
	generateStart = 10 * time.Minute
	// generateShare is that of a sentence, written and replayed, and of a changed page:
	// several times what one takes.
	generateShare = 20 * time.Second
)

// parts are those of the set, or the single try.
func (b *bench) parts() []measure.Part {
	if b.Page != "" {
		return []measure.Part{{Name: "try", Limit: b.Timeout + time.Minute, Run: b.try}}
	}
	sentences, changed, pairs := 0, 0, 0
	for _, set := range b.sets {
		pairs += len(set.Pairs)
		for i := range set.Pairs {
			sentences += len(set.Pairs[i].Sentences)
			changed += len(sentence.Changes)
		}
	}
	limit := func(n int) time.Duration { return generateStart + time.Duration(n)*generateShare }
	ran := sentences + changed // by the first of the parts that run the pairs, for all of them
	if slices.Contains(b.Only, "replays") {
		// Each page is checked twice at the most: as it is, with all changes and with each.
		ran += pairs * (replays + 3*(1+1+len(sentence.Parts)))
	}
	return []measure.Part{
		{Name: "pairs", Limit: limit(ran), Run: b.pairs},
		{Name: "changes", Limit: limit(ran), Run: b.pairs},
		{Name: "replays", Limit: limit(ran), Run: b.pairs, Asked: true},
		{Name: "check", Limit: limit(sentences), Run: b.check},
		{Name: "overhead", Limit: limit(len(b.sets[0].Pairs)), Run: b.overhead},
		{Name: "throughput", Limit: limit(2 * throughputPairs), Run: b.throughput},
	}
}

func (b *bench) author() generation.Author {
	return generation.NewAuthor(generation.AuthorConfig{StepTimeout: b.Step, MaxTime: b.Timeout / 2, Trace: b.tracer()})
}

func (b *bench) tracer() func(string) {
	if !b.Show {
		return nil
	}
	return func(text string) { fmt.Println("  tries " + text) }
}

// newTrial starts a site of a set.
func (b *bench) newTrial(set generateSet) (*sentence.Trial, error) {
	site, err := set.Start(set.modules)
	if err != nil {
		return nil, err
	}
	return &sentence.Trial{Site: site, Pool: b.engine.Pool, Author: b.author(), Timeout: b.Timeout, StepTimeout: b.Step}, nil
}

// load reads the sets and takes the pairs that the flags name. A set without such pairs is
// left out.
func (c *Command) load() ([]generateSet, error) {
	pattern, err := regexp.Compile(c.Pairs)
	if err != nil {
		return nil, err
	}
	all, err := c.read()
	if err != nil {
		return nil, err
	}
	var sets []generateSet
	for _, set := range all {
		some := set.Pairs[:0]
		for _, p := range set.Pairs {
			if pattern.MatchString(p.Name) || pattern.MatchString(p.Kind) {
				some = append(some, p)
			}
		}
		if set.Pairs = some; len(some) > 0 {
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no pair has this name or kind")
	}
	return sets, nil
}

// foreign is the folder of the sets on pages of packages.
const foreign = "cmd/localservice/servicetest/sentence/foreign"

// read reads the sets that the flags name.
func (c *Command) read() ([]generateSet, error) {
	if c.Foreign == "" {
		modules := c.Modules
		if modules == "" {
			var err error
			if modules, err = playwright.Packages(); err != nil {
				return nil, err
			}
		}
		set, err := sentence.Own()
		if c.Set != "" {
			set, err = sentence.Load(os.DirFS(c.Set))
		}
		return []generateSet{{set, modules}}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	folders, err := filepath.Glob(filepath.Join(foreign, "*", c.Foreign))
	if err != nil {
		return nil, err
	}
	var sets []generateSet
	for _, folder := range folders {
		set, err := sentence.Load(os.DirFS(folder))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		sets = append(sets, generateSet{set, filepath.Join(cache, "slipway", "foreign", filepath.Base(filepath.Dir(folder)), "node_modules")})
	}
	return sets, nil
}

// try writes one test and prints how that ended.
func (b *bench) try(ctx context.Context) error {
	address := b.Page
	if !strings.Contains(address, "://") {
		server, err := serveFolder(filepath.Dir(b.Page))
		if err != nil {
			return err
		}
		defer server.close()
		address = server.base + "/" + filepath.Base(b.Page)
	}
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	start := time.Now()
	result, err := b.author().Write(ctx, b.job(b.Intent, address))
	if err != nil {
		return err
	}
	printSteps(&result)
	code := result.Code
	if code == "" {
		code = "COMPLETED"
	}
	fmt.Printf("%s in %d ms. %s\n", code, time.Since(start).Milliseconds(), result.Detail)
	return nil
}

// printSteps prints the steps of a test, and why they are there.
func printSteps(result *generation.Result) {
	for i := range result.Steps {
		text, _ := json.Marshal(result.Steps[i].Tool)
		fmt.Printf("%2d %s\n", i+1, shortStep.ReplaceAllString(string(text), ""))
	}
	for _, r := range result.Reasoning {
		fmt.Printf("   %s — %s\n", r.Title, r.Description)
	}
}

// shortStep is what is not printed of a step: fingerprints, which are long.
var shortStep = regexp.MustCompile(`,?"fingerprint":\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}`)
