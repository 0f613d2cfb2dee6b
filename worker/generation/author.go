package generation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation/model"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// maxDrafts is how often a test is written that does not replay: the second time shows
// whether the page or the first draft was the reason.
const maxDrafts = 2

// AuthorConfig is how tests are written.
type AuthorConfig struct {
	// CheckURL, Trouble, StepTimeout and PageTimeout are those of replay.Config.
	CheckURL                 func(ctx context.Context, address string) error
	Trouble                  func(host string, since time.Time) (text string, ok bool)
	StepTimeout, PageTimeout time.Duration
	// Screenshots keeps one of each step.
	Screenshots bool
	// SkipReplay accepts a test without replaying it in a fresh session.
	SkipReplay bool
	// MaxTime bounds how long the planner tries; 0: half of the time that the generation has left.
	MaxTime time.Duration
	// Model is asked for what the planner cannot do; nil: nobody is.
	Model *ModelConfig
	// Trace is called with what the planner tries; nil: it goes to Log.
	Trace func(text string)
	Log   *slog.Logger
}

// NewAuthor returns the author of tests: the planner, over real sessions, with a model
// where one is set.
func NewAuthor(cfg AuthorConfig) Author {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &author{cfg}
}

type author struct{ AuthorConfig }

// Write writes the test of a job: it drafts one in a session, replays that in a fresh
// one, and mends or drafts again what does not pass there, unless the data are real.
func (a *author) Write(ctx context.Context, j Job) (Result, error) {
	if j.Now == nil {
		j.Now = time.Now
	}
	asked := a.newAsked(j)
	var failed Result
	for range maxDrafts {
		d := &draft{author: a, job: j, asked: asked}
		result, err := d.write(ctx)
		if err != nil || result.Code != "" || !a.replays(j) {
			result.Model = asked.usage()
			return result, err
		}
		if failed, err = a.verify(ctx, j, &result, d.alternatives); err != nil || failed.Code == "" {
			failed.Model = asked.usage()
			return failed, err
		}
		a.Log.InfoContext(ctx, "what was written does not replay", "detail", failed.Detail)
	}
	failed.Model = asked.usage()
	return failed, nil
}

// replays reports whether what was written is replayed, and written again where it does not pass.
// Where the data are real nothing is done a second time.
func (a *author) replays(j Job) bool { return !a.SkipReplay && j.Explore != plan.ExploreOff }

// draft is one writing of a test in one session.
type draft struct {
	*author
	job       Job
	asked     *asked
	live      *replay.Live
	numbers   int // of the ids of steps
	planned   int // steps that the planner wrote: those kept of a base are not counted
	steps     []step.Step
	reasoning []authoring.Reason
	asserted  bool
	// alternatives are assertions that may stand for a suggested one.
	alternatives []step.Step
	changes      *Changes
	findings     *store.Findings
	agent        *model.Agent // of asked; nil before its first question
}

// write opens a session and writes the test in it.
func (d *draft) write(ctx context.Context) (result Result, err error) {
	lease, err := d.job.Acquire(ctx)
	if err != nil {
		return Result{}, err
	}
	cfg := d.replayConfig(lease, d.job.Capture)
	cfg.TestURL, cfg.Lookup = d.job.TestURL, d.job.Lookup
	if d.job.Base != nil {
		cfg.Steps = d.job.Base.Steps // whether the first one opens the page
	}
	d.live, err = replay.Open(ctx, cfg)
	defer func() {
		broken := d.live.Close()
		d.job.Release(ctx, lease, broken || ctx.Err() != nil)
		addScreenshots(result.Steps, d.live.Screenshots())
	}()
	if err != nil {
		return d.ended(ctx, err)
	}
	if d.job.Base != nil {
		err = d.refine(ctx)
	} else {
		err = d.plan(ctx, plan.Config{Intent: d.job.Intent})
	}
	if err != nil {
		return d.ended(ctx, err)
	}
	return d.result()
}

// newID returns an id that no step of the draft and of its base has.
func (d *draft) newID() string {
	for {
		d.numbers++
		id := fmt.Sprintf("s%d", d.numbers)
		if d.job.Base == nil || !hasStep(d.job.Base.Steps, id) {
			return id
		}
	}
}

func hasStep(steps []step.Step, id string) bool {
	for i := range steps {
		if steps[i].ID == id {
			return true
		}
	}
	return false
}

// result returns a draft that is complete.
func (d *draft) result() (Result, error) {
	if len(d.steps) == 0 {
		return Result{Code: CodeNotUnderstood, Detail: "the intent asks for nothing that can be done on the page", Reasoning: d.reasoning}, nil
	}
	if err := step.Validate(d.steps); err != nil {
		return Result{}, tasks.Permanent(fmt.Errorf("what was written is no test: %w", err)) // the next one would be the same
	}
	return Result{Steps: d.steps, Reasoning: d.reasoning, Description: describe(d.steps), DiscoveredIntent: discovered(d.reasoning),
		Changes: d.changes, Findings: d.findings}, nil
}

// discovered returns how an intent was understood: the titles of the reasoning.
func discovered(reasoning []authoring.Reason) string {
	var out strings.Builder
	for _, r := range reasoning {
		if out.Len()+len(r.Title) > maxDescription {
			break
		}
		out.WriteString(r.Title + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// add keeps a step that still holds.
func (d *draft) add(s step.Step, why authoring.Reason) {
	d.steps, d.reasoning = append(d.steps, s), append(d.reasoning, why)
	d.show()
}

// show tells those who watch what there is so far.
func (d *draft) show() {
	if d.job.Progress != nil {
		d.job.Progress(d.steps, d.reasoning)
	}
}

func (a *author) replayConfig(lease *browser.Lease, capture func(context.Context, replay.Artifact) string) replay.Config {
	return replay.Config{Lease: lease, CheckURL: a.CheckURL, Trouble: a.Trouble, StepTimeout: a.StepTimeout,
		PageTimeout: a.PageTimeout, Screenshots: a.Screenshots, Capture: capture, Log: a.Log}
}

// ended returns the result of a draft that an error ended, as far as the one who asked
// can mend it; else the error.
func (d *draft) ended(ctx context.Context, err error) (Result, error) {
	result := Result{Steps: d.steps, Reasoning: d.reasoning, DiscoveredIntent: discovered(d.reasoning), Findings: d.findings}
	var unknown *plan.NotUnderstoodError
	var failed *plan.FailedError
	var lost *replay.LiveError
	switch {
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case errors.As(err, &unknown):
		result.Code, result.Detail = CodeNotUnderstood, unknown.Error()
	case errors.As(err, &failed):
		result.Code, result.Detail = failed.Code, failed.Detail
	case errors.As(err, &lost) && liveCodes[lost.Code] != "":
		result.Code, result.Detail = liveCodes[lost.Code], lost.Text
	default:
		return result, err
	}
	return result, nil
}

// liveCodes are the codes of sessions that the one who asked can mend. After others the
// task is tried again.
var liveCodes = map[string]string{
	run.CodeUnreachable: CodeUnreachable,
	run.CodeForbidden:   CodeUnreachable,
	run.CodeVariable:    CodeVariable,
	run.CodeStepFailed:  CodeStepFailed,
}

// addScreenshots stores the files of the screenshots in the steps that they are of.
func addScreenshots(steps []step.Step, files map[string]string) {
	for i := range steps {
		if id := files[steps[i].ID]; id != "" {
			steps[i].ScreenshotID = id
		}
	}
}
