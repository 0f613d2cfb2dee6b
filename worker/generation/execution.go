package generation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/capture"
	"github.com/slipway-qa/slipway/worker/run/environment"
)

// execution is the writing of one test. An attempt of the ledger task has one at most.
type execution struct {
	*attempt
	work  *store.Work
	stop  context.CancelCauseFunc // ends the writing
	files *capture.Files
	env   *environment.Environment

	mu sync.Mutex
	// What there is so far.
	steps     []step.Step
	reasoning []authoring.Reason
	// named is how many of the files, in their order, rows name already.
	named int
	// noSession is the last refusal of a session; nil after one was acquired.
	noSession *browser.SessionError
}

func newExecution(a *attempt, work *store.Work, stop context.CancelCauseFunc) *execution {
	return &execution{attempt: a, work: work, stop: stop, env: &environment.Environment{},
		files: &capture.Files{Objects: a.Objects, Log: a.Log, Key: func(file uuid.UUID) string { return store.FileKey(a.id, file) }}}
}

// unnamed returns the stored files that no row names yet.
func (p *execution) unnamed() []store.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []store.File
	for _, f := range p.files.List()[p.named:] {
		list = append(list, store.File{ID: f.ID, Kind: f.Kind, Step: f.Step, Key: f.Key, ContentType: f.ContentType, Size: f.Size})
	}
	return list
}

func (p *execution) unnamedKeys() []string {
	var keys []string
	for _, f := range p.unnamed() {
		keys = append(keys, f.Key)
	}
	return keys
}

// execute writes the test and returns how that ended. Its error is one of the service,
// or of a context that ended; errEnded: the generation has ended meanwhile.
func (p *execution) execute(ctx context.Context) (store.Result, error) {
	env, err := environment.Config{DB: p.DB, Objects: p.Objects, Keys: p.Keys, CheckURL: p.CheckURL, Log: p.Log}.Prepare(ctx, p.test())
	var refused *environment.Refusal
	if errors.As(err, &refused) {
		return store.Result{Code: refused.Code, Detail: refused.Text}, nil
	}
	if err != nil {
		return p.ended(ctx, Result{}, err)
	}
	p.env = env
	result, err := p.write(ctx)
	return p.ended(ctx, result, err)
}

// test is what the test asks for: of the steps that it starts from, and of the
// sentence.
func (p *execution) test() environment.Test {
	var steps []step.Step
	if p.work.Base != nil {
		steps = p.work.Base.Steps
	}
	references := step.References(steps, p.work.Settings.TestURL)
	for _, r := range step.References(nil, p.work.Intent) {
		if !slices.Contains(references, r) {
			references = append(references, r)
		}
	}
	return environment.Test{Variables: p.work.VariablesOf(), References: references, Target: p.work.Target, Tunnel: p.work.Tunnel}
}

// ended returns the end of a writing, or the error of the service that ended it.
func (p *execution) ended(ctx context.Context, r Result, err error) (store.Result, error) {
	switch cause := context.Cause(ctx); {
	case cause != nil && !errors.Is(cause, errTimeout):
		return store.Result{}, cause
	case cause != nil && (err != nil || r.Code != ""):
		r.Code, r.Detail = p.timeout()
	case err != nil || r.Code == CodeNoSession:
		if code, text, ok := p.withoutSession(ctx, err); ok {
			r.Code, r.Detail = code, text
		} else if err = p.passing(err); err != nil {
			return store.Result{}, err
		}
	}
	if r.Code == "" && len(r.Steps) == 0 {
		r.Code, r.Detail = CodeNotUnderstood, "the intent asks for nothing that a test could do"
	}
	return p.redacted(r), nil
}

// timeout is the end of a generation that ran out of its time.
func (p *execution) timeout() (code, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noSession != nil {
		return CodeNoSession, p.env.Redactor.Text(p.noSession.Text)
	}
	return CodeTimeout, "the generation did not end within its timeout"
}

// withoutSession returns the end of a generation for which there will be no session. ok
// is false when something else was the reason, or a later try may find one.
func (p *execution) withoutSession(ctx context.Context, err error) (code, text string, ok bool) {
	refused := p.sessionError(err)
	if refused == nil || refused.Retry {
		return "", "", false
	}
	p.Log.WarnContext(ctx, "no browser session", "text", refused.Text, "error", refused.Err)
	return CodeNoSession, refused.Text, true
}

// passing returns an error whose texts contain no secrets, or the refusal of a session
// that a later try may find.
func (p *execution) passing(err error) error {
	if refused := p.sessionError(err); refused != nil {
		return refused
	}
	if err == nil || p.env.Redactor.Text(err.Error()) == err.Error() {
		return err
	}
	return errors.New(p.env.Redactor.Text(err.Error()))
}

// sessionError returns the refusal of a session that ended the writing, without
// secrets; nil when something else did.
func (p *execution) sessionError(err error) *browser.SessionError {
	var refused *browser.SessionError
	if !errors.As(err, &refused) {
		p.mu.Lock()
		refused = p.noSession
		p.mu.Unlock()
		if err != nil || refused == nil {
			return nil
		}
	}
	clean := &browser.SessionError{Text: p.env.Redactor.Text(refused.Text), Retry: refused.Retry}
	if refused.Err != nil {
		clean.Err = errors.New(p.env.Redactor.Text(refused.Err.Error()))
	}
	return clean
}

// write lets the author write, and keeps what there is so far meanwhile.
func (p *execution) write(ctx context.Context) (result Result, err error) {
	quit, done := make(chan struct{}), make(chan struct{})
	wake := make(chan struct{}, 1)
	go func() {
		defer close(done)
		p.report(ctx, wake, quit)
	}()
	defer func() { close(quit); <-done }()
	defer func() {
		if v := recover(); v != nil {
			p.Log.ErrorContext(ctx, "panic while writing a test", "panic", p.env.Redactor.Text(fmt.Sprint(v)), "stack", string(debug.Stack()))
			steps, reasoning := p.soFar()
			result, err = Result{Code: CodeInternal, Detail: "the test could not be written", Steps: steps, Reasoning: reasoning}, nil
		}
	}()
	return p.Author.Write(ctx, p.job(wake))
}

// job is what the author gets.
func (p *execution) job(wake chan<- struct{}) Job {
	j := Job{Intent: p.work.Intent, TestURL: p.work.Settings.TestURL, MaxSteps: p.work.MaxSteps, Explore: p.work.Explore, Now: time.Now,
		Organization: p.work.OrganizationID, Redactor: p.env.Redactor,
		Lookup: p.env.Lookup, Capture: p.files.Capture, Acquire: p.acquire, Release: p.releaseLease,
		Progress: func(steps []step.Step, reasoning []authoring.Reason) {
			p.mu.Lock()
			p.steps, p.reasoning = slices.Clone(steps), slices.Clone(reasoning)
			p.mu.Unlock()
			select {
			case wake <- struct{}{}:
			default:
			}
		}}
	if p.work.Base != nil {
		j.Base = &Base{Intent: p.work.Base.Intent, Steps: p.work.Base.Steps}
	}
	return j
}

func (p *execution) acquire(ctx context.Context) (*browser.Lease, error) {
	lease, err := p.Browsers.Acquire(ctx, p.env.Request)
	var refused *browser.SessionError
	errors.As(err, &refused)
	p.mu.Lock()
	p.noSession = refused
	p.mu.Unlock()
	return lease, err
}

func (p *execution) releaseLease(ctx context.Context, lease *browser.Lease, broken bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	if p.release != nil {
		p.release(ctx, lease, broken)
		return
	}
	lease.Release(ctx, broken)
}

// progressEvery is how often what there is so far is kept, for people who watch.
const progressEvery = 500 * time.Millisecond

// report keeps what there is so far after a wake, until quit. It stops the writing when
// the generation has ended meanwhile, or is another worker's.
func (p *execution) report(ctx context.Context, wake, quit <-chan struct{}) {
	for {
		select {
		case <-quit:
			return
		case <-wake:
		}
		wait := time.NewTimer(progressEvery)
		select {
		case <-quit:
			wait.Stop()
			return
		case <-wait.C:
		}
		going, err := p.keep(ctx)
		switch {
		case errors.Is(err, storage.ErrStale):
			p.stop(err)
		case err != nil:
			p.Log.WarnContext(ctx, "progress not kept", "error", err)
		case !going:
			p.stop(errEnded)
		}
	}
}

// keep stores what there is so far. It returns false when the generation has ended.
func (p *execution) keep(ctx context.Context) (going bool, err error) {
	files := p.unnamed()
	steps, reasoning := p.soFar()
	now := p.redacted(Result{Steps: steps, Reasoning: reasoning})
	err = p.claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		going, err = store.KeepProgress(ctx, tx, p.id, store.Progress{Steps: now.Steps, Reasoning: now.Reasoning, Files: files})
		return err
	})
	if err == nil && going {
		p.mu.Lock()
		p.named += len(files)
		p.mu.Unlock()
	}
	return going, err
}

func (p *execution) soFar() ([]step.Step, []authoring.Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.steps, p.reasoning
}

// The codes of a test that could not be begun are those of runs.
const (
	CodeVariable = run.CodeVariable
	CodeTunnel   = run.CodeTunnel
	CodeApp      = run.CodeApp
)
