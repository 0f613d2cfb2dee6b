package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testrun"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// runCommand is `run`: tests are run, and the job is as red or green as they are.
type runCommand struct {
	Tests       []string          `arg:"" optional:"" name:"suite|test" help:"Suites and tests by name or id, tests by tag (tag:smoke) or file. Default: suite of slipway.yaml."`
	Build       string            `help:"Build that is tested: the id of an uploaded one, or a name. Default: the commit of the job." placeholder:"BUILD"`
	URL         string            `name:"url" help:"Address to run on, in place of the one that tests begin at." placeholder:"URL"`
	Environment string            `help:"Environment of Slipway to run in, by its name. Default: environment of slipway.yaml." placeholder:"NAME"`
	Target      []string          `sep:"none" help:"Browsers (chrome,firefox), or targets as JSON, in place of those of the tests." placeholder:"TARGET"`
	Var         map[string]string `mapsep:"none" help:"Value of a variable; it is secret." placeholder:"NAME=VALUE"`
	VarEnv      []string          `sep:"," help:"Variables whose values are those of the environment: password, or password=SHOP_PASSWORD." placeholder:"NAME"`
	Row         []int             `help:"Data rows to run, from 0, in place of all that the tests have." placeholder:"N"`
	Shard       string            `help:"Run one part of the tests: 2/4 is the second of four that take about the same time." placeholder:"N/OF"`
	ShardAt     string            `help:"Instant up to which earlier runs say how long tests take: the same for all shards. Default: the time of the commit." placeholder:"TIME"`
	MaxTime     time.Duration     `help:"Most time for each suite, from its start to its end (20m): what has not begun then is skipped. Default: as the suite says." placeholder:"TIME"`
	Retries     *int              `help:"Run a test that fails again, up to this often, 3 at most. One that passes then is flaky. Default: as the tests say." placeholder:"N"`
	Detach      bool              `help:"Leave what runs as it is on ctrl-C and after --timeout."`

	reportFlags `embed:""`
}

// maxRetries is the bound of the server.
const maxRetries = 3

// Run runs tests.
func (c *runCommand) Run(ctx context.Context, s *Session) error {
	start, err := c.start(s)
	if err != nil {
		return err
	}
	if c.Retries != nil && (*c.Retries < 0 || *c.Retries > maxRetries) {
		return outcome.Fail(outcome.Misused, "--retries must be 0 to %d", maxRetries)
	}
	plan, err := c.plan(ctx, s)
	if err != nil {
		return misuse(err)
	}
	if start.MaxDuration = int(c.MaxTime.Seconds()); c.MaxTime != 0 && (c.MaxTime < time.Second || c.MaxTime > maxTime ||
		len(plan.Tests) > 0) {
		return outcome.Fail(outcome.Misused, "--max-time is 1s to %s, for suites: no tests are named beside them", maxTime)
	}
	if start.Shard, err = c.suiteShard(s); err != nil {
		return misuse(err)
	}
	r := &testrun.Config{Client: s.Client, Out: s.Out, Start: *start, Key: c.keys(s, start), Detach: c.Detach,
		Last: s.lastFor, Folder: s.testFiles(), Artifacts: c.artifacts(s)}
	out, err := r.Run(ctx, plan)
	if out == nil {
		return misuse(err)
	}
	out.Properties = c.properties(s, start)
	if wrote := c.write(s, out); err == nil {
		err = wrote
	}
	if err != nil {
		return err
	}
	return concluded(s, out)
}

// maxTime is the bound of the server.
const maxTime = 24 * time.Hour

// suiteShard is the part of each suite that is run, nil for all. All jobs of the pipeline have its
// key in common, also those that are run again.
func (c *runCommand) suiteShard(s *Session) (*client.SuiteShard, error) {
	if c.Shard == "" {
		return nil, nil
	}
	shard, err := testrun.ParseShard(c.Shard)
	if err != nil {
		return nil, err
	}
	key := ""
	switch {
	case c.ShardAt != "":
		key = "at " + c.ShardAt
	case s.Job.Run != "":
		key = "ci-" + shorten(s.Job.Service+" "+s.Job.Run)
	}
	return &client.SuiteShard{Index: shard.Number, Of: shard.Of, Key: key}, nil
}

// concluded says what became of the tests.
func concluded(s *Session, out *report.Report) error {
	for i := range out.Cases {
		k := &out.Cases[i]
		if f := k.Failures; len(f) > 0 {
			last := f[len(f)-1]
			s.Out.Line("%s %s: %s: %s", k.Outcome, report.Line(k.Name), report.Line(last.Code), report.Line(last.Text))
			s.Out.Line("  %s", last.URL)
		}
	}
	ran := out.Count(report.Passed, report.Flaky, report.Failed, report.Errored, report.Cancelled, report.Quarantined)
	switch {
	case ran == 0 && out.Elsewhere:
		s.Out.Line("this shard has no test to run")
		return nil
	case ran == 0:
		return outcome.Fail(outcome.Failed, "nothing was run: what was named has no test that can be run")
	case out.Good():
		passed := fmt.Sprintf("%d of %d passed", out.Count(report.Passed, report.Flaky), len(out.Cases))
		if n := out.Count(report.Flaky); n > 0 {
			passed += fmt.Sprintf(", %d of them flaky", n)
		}
		s.Out.Line("%s", passed)
		if n := out.Count(report.Quarantined); n > 0 {
			s.Out.Line("%d failed in quarantine", n)
		}
		return nil
	}
	return outcome.Fail(outcome.Failed, "%d of %d did not pass", out.Count(report.Failed, report.Errored, report.Cancelled), len(out.Cases))
}

// misuse makes an error of the command line one that exits with 2.
func misuse(err error) error {
	var run *testrun.UsageError
	var sync *testsync.UsageError
	if errors.As(err, &run) || errors.As(err, &sync) {
		return &outcome.Error{Code: outcome.Misused, Err: err}
	}
	return err
}

// plan finds the tests, and leaves those of the shard.
func (c *runCommand) plan(ctx context.Context, s *Session) (*testrun.Plan, error) {
	words := c.Tests
	if len(words) == 0 && s.File.Suite != "" {
		words = []string{s.File.Suite}
	}
	if len(words) == 0 {
		return nil, outcome.Fail(outcome.Misused, "name a suite or a test, or write suite into %s", settings.Name)
	}
	plan, err := testrun.Find(ctx, s.Client, words, s.Path)
	if err == nil && len(c.Row) > 0 && len(plan.Suites) > 0 {
		return nil, outcome.Fail(outcome.Misused, "--row names data rows of tests: name the tests, not the suite %s", plan.Suites[0].Name)
	}
	if err != nil || c.Shard == "" {
		return plan, err
	}
	shard, err := testrun.ParseShard(c.Shard)
	if err != nil || len(plan.Tests) == 0 {
		return plan, err
	}
	at, err := c.shardAt(ctx, s)
	if err != nil {
		return nil, err
	}
	return plan, plan.Reduce(ctx, s.Client, shard, at)
}

// shardAt is an instant that all jobs of a pipeline agree on: none of them began before.
func (c *runCommand) shardAt(ctx context.Context, s *Session) (time.Time, error) {
	if c.ShardAt != "" {
		at, err := time.Parse(time.RFC3339, c.ShardAt)
		if err != nil {
			return at, outcome.Fail(outcome.Misused, "--shard-at %q is no time: 2026-11-29T08:00:00Z", c.ShardAt)
		}
		return at, nil
	}
	if at, err := time.Parse(time.RFC3339, s.World.Getenv("CI_PIPELINE_CREATED_AT")); err == nil {
		return at, nil
	}
	git := exec.CommandContext(ctx, "git", "log", "-1", "--format=%cI")
	git.Dir = s.Path(".")
	if out, err := git.Output(); err == nil {
		if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(out))); err == nil {
			return at, nil
		}
	}
	s.Out.Warn("the time of the commit is not known here: shards that are asked for at different times may overlap; use --shard-at")
	return time.Time{}, nil
}

// start is what each run is told.
func (c *runCommand) start(s *Session) (*client.StartRun, error) {
	in := &client.StartRun{TestURL: c.URL, Environment: or(c.Environment, s.File.Environment), Variables: map[string]string{},
		Retries: c.Retries}
	switch id, err := strconv.ParseInt(c.Build, 10, 64); {
	case c.Build != "" && err == nil && id > 0:
		in.BuildID = id
		in.BuildName = commitName(s.Job.Commit)
	case c.Build != "":
		in.BuildName = c.Build
	default:
		in.BuildName = commitName(s.Job.Commit)
	}
	for name, value := range c.Var {
		in.Variables[name] = value
	}
	for _, name := range c.VarEnv {
		name, from, named := strings.Cut(name, "=")
		if !named {
			from = name
		}
		value := s.World.Getenv(from)
		if value == "" {
			return nil, outcome.Fail(outcome.Misused, "--var-env %s: the environment has no %s", name, from)
		}
		in.Variables[name] = value
	}
	in.Rows = c.Row
	targets, err := parseTargets(c.Target)
	in.Targets = targets
	return in, err
}

// commitName is a commit as people name it.
func commitName(commit string) string { return commit[:min(len(commit), 12)] }

// parseTargets reads the targets of a command line.
func parseTargets(words []string) (list []client.TestTarget, err error) {
	for _, word := range words {
		word = strings.TrimSpace(word)
		if !strings.HasPrefix(word, "{") && !strings.HasPrefix(word, "[") {
			for name := range strings.SplitSeq(word, ",") {
				if name = strings.TrimSpace(name); name != "" {
					list = append(list, client.TestTarget(testfile.Browser(name)))
				}
			}
			continue
		}
		if strings.HasPrefix(word, "{") {
			word = "[" + word + "]"
		}
		var given []json.RawMessage
		if err := json.Unmarshal([]byte(word), &given); err != nil {
			return nil, outcome.Fail(outcome.Misused, "--target is no JSON: %w", err)
		}
		for _, text := range given {
			t := client.TestTarget{}
			if json.Unmarshal(text, &t) != nil || len(t.Capabilities) == 0 {
				t = client.TestTarget{Capabilities: text} // the capabilities alone
			}
			list = append(list, t)
		}
	}
	return list, nil
}

// keys returns the Idempotency-Keys of the runs: those of the job with all that decides
// what is run, so that a job that is repeated finds its runs; outside of CI others each
// time.
func (c *runCommand) keys(s *Session, start *client.StartRun) func(...string) string {
	told, err := json.Marshal(start)
	once := client.NewKey()
	if err != nil {
		told = []byte(once)
	}
	sum := sha256.Sum256(told)
	return func(what ...string) string {
		if key := s.Job.Key(append([]string{"run", c.Shard, hex.EncodeToString(sum[:])}, what...)...); key != "" {
			return key
		}
		return once + "-" + shorten(strings.Join(what, " "))
	}
}

// shorten returns a digest for a part of a key.
func shorten(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:24]
}

// properties are what the report says of the run as a whole. Of variables it has the names.
func (c *runCommand) properties(s *Session, start *client.StartRun) (list []report.Property) {
	build := ""
	if start.BuildID != 0 {
		build = strconv.FormatInt(start.BuildID, 10)
	}
	var browsers []string
	for _, t := range start.Targets {
		browsers = append(browsers, string(t.Capabilities))
	}
	for _, p := range []report.Property{{Name: "server", Value: s.Client.URL("")}, {Name: "build", Value: or(build, start.BuildName)},
		{Name: "commit", Value: s.Job.Commit}, {Name: "branch", Value: s.Job.Branch}, {Name: "job", Value: s.Job.URL},
		{Name: "address", Value: start.TestURL},
		{Name: "environment", Value: start.Environment},
		{Name: "targets", Value: strings.Join(browsers, " ")}, {Name: "shard", Value: c.Shard}} {
		if p.Value != "" {
			list = append(list, p)
		}
	}
	return list
}

// testFiles are the tests of the repository, by which a failure has a line. Without them a
// report has none.
func (s *Session) testFiles() testrun.Folder {
	dir := s.testsDir("")
	folder, err := testsync.ReadFolder(dir, []string{s.File.Path}, func(p string) string { return p })
	if err != nil {
		s.Out.Warn("failures are not shown at the lines of files: %v", err)
		return nil
	}
	root, files := repositoryRoot(dir), testrun.Folder{}
	for _, f := range folder.Files {
		path, err := filepath.Rel(root, f.Path)
		if f.Case.ID != "" && err == nil {
			files[f.Case.ID] = testrun.File{Path: filepath.ToSlash(path), Case: f.Case}
		}
	}
	return files
}

// defaultTests is the folder of tests where nothing names another.
const defaultTests = "tests/slipway"

// testsDir is the folder of tests: that of the command line, else that of slipway.yaml.
func (s *Session) testsDir(named string) string {
	switch {
	case named != "":
		return s.Path(named)
	case s.File.Tests != "":
		return filepath.Join(s.File.Folder(), filepath.FromSlash(s.File.Tests))
	}
	return s.Path(filepath.FromSlash(defaultTests))
}

// shown is a path as people and reports name it: from the working directory.
func (s *Session) shown(path string) string {
	from, err := filepath.Rel(s.Path("."), path)
	if err != nil || strings.HasPrefix(from, "..") {
		return path
	}
	return filepath.ToSlash(from)
}

// say prints a line that stays for each result of a sync.
func (s *Session) say(r testsync.Result) {
	text := fmt.Sprintf("%-9s %s", r.Action, or(r.Path, r.ID))
	if r.Path == "" || r.Action == testsync.Created {
		text += "  " + r.Name
	}
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	s.Out.Line("%s", report.Line(text))
}
