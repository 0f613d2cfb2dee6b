package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/baseline"
	"github.com/slipway-qa/slipway/worker/run/capture"
	"github.com/slipway-qa/slipway/worker/run/environment"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/expand"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// execution is the playing of one test, from its browser session to its end. An attempt
// of the ledger task has one at most.
type execution struct {
	*attempt
	work     *store.Work
	plan     *group.Plan             // all steps
	stop     context.CancelCauseFunc // ends the playing
	redactor *redaction.Redactor
	files    *capture.Files
	shelf    *baseline.Shelf
	trace    *trace.Recorder // nil: no trace is kept, however the test ends
	// digest is what the last playing saw, and console the errors of its pages; nil: nothing was played.
	digest    *evidence.Digest
	console   []string
	login     *replay.Login // what the test has to do with the login of its suite; nil: nothing
	left      *login.State  // what it has left, where it is that
	signedOut bool          // the test found that the login does not last
	// releasing ends when the browser has been released, which overlaps with
	// the writing of the end.
	releasing sync.WaitGroup

	mu      sync.Mutex
	records []playback.Record // so far
	named   int               // files that rows name already, for people who watch
}

// execute plays the test and returns how it ended. Its error is one of the service,
// or of a context that ended; errEnded: the job has ended meanwhile.
func (p *execution) execute(ctx context.Context) (store.JobEnd, error) {
	plan, err := expand.Expand(ctx, p.DB, p.work)
	var unplayable *expand.Refusal
	if errors.As(err, &unplayable) {
		return failure(unplayable.Code, unplayable.Text), nil
	}
	if err != nil {
		return p.interrupted(ctx, err)
	}
	p.plan = plan
	env, err := p.prepare(ctx)
	var refused *environment.Refusal
	if errors.As(err, &refused) {
		return failure(refused.Code, refused.Text), nil
	}
	if err != nil {
		return p.interrupted(ctx, err)
	}
	p.redactor = env.Redactor
	p.trace = p.newTrace()
	result, err := p.playInBrowser(ctx, env)
	if err != nil {
		return p.withoutSession(ctx, err)
	}
	p.left, p.signedOut = result.Left, result.SignedOut
	p.storeTrace(ctx, result)
	p.saw(&result)
	switch {
	case ctx.Err() != nil && result.Status != playback.Passed:
		end, err := p.interrupted(ctx, ctx.Err())
		end.Records = p.redacted(result.Records)
		return end, err
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout):
		return store.JobEnd{}, context.Cause(ctx)
	}
	return p.end(result), nil
}

// playInBrowser plays the steps, and once more in a new browser when the first is lost:
// that says nothing of the test. One that was ended because it took too much would be
// ended again. The error is one of acquiring a session.
func (p *execution) playInBrowser(ctx context.Context, env *environment.Environment) (result replay.Result, err error) {
	for again := false; ; again = true {
		lease, err := p.Browsers.Acquire(ctx, env.Request)
		if err != nil {
			return result, err
		}
		result = p.play(ctx, lease, env)
		if again && len(result.Records) > 0 {
			noteRepeat(&result.Records[0])
		}
		if again || ctx.Err() != nil || result.Code != store.CodeBrowserLost || lease.Exceeded() != "" {
			return result, nil
		}
		p.Log.WarnContext(ctx, "browser lost, the test is played again", "job_id", p.id)
		p.forget(ctx)
		p.trace.Restart("The browser was lost: the test is played again in a new one")
	}
}

// noteRepeat says in the record of the first step that the test was played before.
func noteRepeat(first *playback.Record) {
	const repeated = "the browser was lost, and the test was played again in a new one"
	if first.Result.Message != "" {
		first.Result.Message += "; "
	}
	first.Result.Message += repeated
}

// forget drops what came of a playing that is repeated.
func (p *execution) forget(ctx context.Context) {
	if p.named > 0 {
		err := p.claim.Checkpoint(ctx, func(tx *storage.Tx) error { return store.ForgetFiles(ctx, tx, p.id) })
		if err != nil {
			p.Log.WarnContext(ctx, "files of a playing not forgotten", "error", err)
		}
		p.named = 0
	}
	p.deleteObjects(ctx, p.objectKeys())
	p.files, p.shelf = p.newFiles(), p.newShelf(p.work)
	p.mu.Lock()
	p.records = nil
	p.mu.Unlock()
}

// prepare gathers what the test needs besides its steps.
func (p *execution) prepare(ctx context.Context) (*environment.Environment, error) {
	given, env, err := p.work.Given(p.Keys)
	if errors.Is(err, seal.ErrUnseal) {
		p.Log.ErrorContext(ctx, "variables of a run cannot be decrypted", "error", err)
		return nil, &environment.Refusal{Code: store.CodeInternal,
			Text: "the variables that the run was given cannot be decrypted; start it again"}
	}
	if err != nil {
		return nil, err
	}
	if err := p.readLogin(ctx); err != nil {
		return nil, err
	}
	row, err := p.rowValues(ctx)
	if err != nil {
		return nil, err
	}
	return environment.Config{DB: p.DB, Objects: p.Objects, Keys: p.Keys, CheckURL: p.CheckURL, Log: p.Log}.Prepare(ctx, environment.Test{
		Variables: p.work.VariablesOf(), References: append(p.plan.References(p.work.Run.TestURL, p.recordedURL()),
			p.loginReferences()...), Given: given, Row: row,
		Values: env, Target: p.work.Job.Target, Tunnel: p.work.Run.Tunnel, Hidden: p.loginSecrets(),
		TestURL: p.work.Run.TestURL, Access: p.work.Access})
}

// rowValues returns the values of the job's data row, by the columns.
func (p *execution) rowValues(ctx context.Context) (map[string]authoring.Value, error) {
	cells, err := p.work.RowValues(p.Keys)
	if errors.Is(err, seal.ErrUnseal) {
		p.Log.ErrorContext(ctx, "data row cannot be decrypted", "error", err)
		return nil, &environment.Refusal{Code: store.CodeInternal,
			Text: "the secret values of the data row cannot be decrypted; store the data again"}
	}
	values := make(map[string]authoring.Value, len(cells))
	for _, cell := range cells {
		values[cell.Column] = authoring.Value{Text: cell.Text, Secret: cell.Secret}
	}
	return values, err
}

// recordedURL returns where the test was recorded, when the run is elsewhere: the case's own
// address, else what its first step opens. "" is for a run of the case as it is.
func (p *execution) recordedURL() string {
	recorded := p.work.Run.RecordedURL
	switch {
	case recorded == nil:
		return ""
	case *recorded == "":
		return p.plan.Opens()
	}
	return *recorded
}

// interrupted is the end of a test that ran out of its time. Other errors, and
// other reasons for which a context ended, stay what they are.
func (p *execution) interrupted(ctx context.Context, err error) (store.JobEnd, error) {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return store.JobEnd{}, err
	case errors.Is(cause, errTimeout):
		return failure(store.CodeTimeout, fmt.Sprintf("the test took longer than %s", p.timeout())), nil
	default:
		return store.JobEnd{}, cause
	}
}

// withoutSession says what follows when there is no browser.
func (p *execution) withoutSession(ctx context.Context, err error) (store.JobEnd, error) {
	if ctx.Err() != nil {
		return p.interrupted(ctx, err)
	}
	var refused *browser.SessionError
	if !errors.As(err, &refused) {
		return store.JobEnd{}, err
	}
	clean := &browser.SessionError{Text: p.redactor.Text(refused.Text), Retry: refused.Retry}
	if refused.Err != nil {
		clean.Err = errors.New(p.redactor.Text(refused.Err.Error()))
	}
	p.Log.WarnContext(ctx, "no browser session", "text", clean.Text, "error", clean.Err, "retry", clean.Retry)
	if clean.Retry {
		return store.JobEnd{}, clean
	}
	return failure(store.CodeNoSession, clean.Text), nil
}

// play plays the steps in the session and releases that.
func (p *execution) play(ctx context.Context, lease *browser.Lease, env *environment.Environment) (result replay.Result) {
	defer func() {
		broken := result.Broken || ctx.Err() != nil
		p.releasing.Go(func() { p.releaseLease(ctx, lease, broken) })
	}()
	quit, done := make(chan struct{}), make(chan struct{})
	wake := make(chan struct{}, 1)
	go func() {
		defer close(done)
		p.report(ctx, wake, quit)
	}()
	defer func() { close(quit); <-done }()
	defer func() {
		if v := recover(); v != nil {
			p.Log.ErrorContext(ctx, "panic while playing a test", "panic", p.redactor.Text(fmt.Sprint(v)), "stack", string(debug.Stack()))
			result = replay.Result{Status: string(store.Errored), Code: store.CodeInternal,
				Message: "the test could not be played", Records: p.soFar(), Broken: true}
		}
	}()
	play := p.Play
	if play == nil {
		play = replay.Play
	}
	return play(ctx, replay.Config{Lease: lease, TestURL: p.work.Run.TestURL, RecordedURL: p.recordedURL(), Steps: p.plan.Steps,
		Places: p.plan.Places, Lookup: env.Lookup,
		CheckURL: p.CheckURL, Trouble: p.Trouble, StepTimeout: p.StepTimeout, PageTimeout: p.PageTimeout,
		FirstMatch: !p.work.Strict, Healing: p.work.Healing, Drift: p.work.Drift, Refused: p.work.Refused,
		Login: p.login, Looks: p.shelf.Looks(), Screenshots: p.Screenshots, Capture: p.files.Capture, Trace: p.trace, Log: p.Log,
		Progress: func(records []playback.Record) {
			p.mu.Lock()
			p.records = slices.Clone(records)
			p.mu.Unlock()
			select {
			case wake <- struct{}{}:
			default:
			}
		}})
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

// progressEvery is how often the records so far are kept, for people who watch. A
// test that is shorter costs nothing of it.
const progressEvery = 500 * time.Millisecond

// report keeps the records so far after a wake, until quit. It stops the playing
// when the job has ended meanwhile, or is another worker's.
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
		going, files := true, p.files.List()
		err := p.claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			going, err = store.ProgressJob(ctx, tx, p.id, p.redacted(p.soFar()))
			if err != nil || !going {
				return err
			}
			return store.NameFiles(ctx, tx, p.id, files[p.named:])
		})
		if err == nil && going {
			p.named = len(files)
		}
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

// unnamed returns the keys of the stored files that no row names. The others go with their
// rows.
func (p *execution) unnamed() []string { return p.files.Keys()[p.named:] }

func (p *execution) soFar() []playback.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.records)
}

// end is the end of a test that was played.
func (p *execution) end(r replay.Result) store.JobEnd {
	end := store.JobEnd{Status: store.Status(r.Status), ErrorCode: r.Code, Error: p.redactor.Text(r.Message),
		Records: p.redacted(r.Records), Fingerprints: r.Fingerprints}
	switch end.Status {
	case store.Passed:
		end.ErrorCode, end.Error = "", ""
	case store.Failed, store.Errored:
	default:
		end.Status, end.ErrorCode, end.Error = store.Errored, store.CodeInternal, "the test ended without a result"
	}
	return end
}
