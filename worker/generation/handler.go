package generation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
)

const (
	// maxTries is how often a generation is begun that ends with an error of the service.
	maxTries = 4
	// maxLosses is how often a generation may be lost with its worker: restarts of a few
	// minutes must not fail a healthy one, and one that kills its worker must end.
	maxLosses = 8
	// sessionGrace is how long a generation waits for a session that there is none of
	// for now, within its timeout; runs wait as long.
	sessionGrace = 10 * time.Minute
	// firstWait is the first pause before the next try for a session; each is twice
	// the one before, up to longestWait.
	firstWait   = 5 * time.Second
	longestWait = 30 * time.Second
	// leastWait is the least time before the deadline in which another try is of use.
	leastWait = 2 * time.Second
	// cleanTimeout bounds what must be done after the handler's time is over.
	cleanTimeout = 30 * time.Second
)

// Why writing stops before its end.
var (
	errTimeout = errors.New("the generation's time is over")
	errEnded   = errors.New("the generation has ended")
)

// Browsers acquires sessions; browser.Pool implements it.
type Browsers interface {
	// Acquire returns a session for a target, or a *browser.SessionError.
	Acquire(ctx context.Context, r browser.Request) (*browser.Lease, error)
}

// Handler is the handler of test:generate.
type Handler struct {
	DB       *storage.DB
	Objects  object.Store
	Browsers Browsers
	// Keys are what secrets are sealed with.
	Keys   seal.Ring
	Author Author
	// CheckURL refuses the addresses of apps that no test may open; nil: none.
	CheckURL func(ctx context.Context, address string) error
	Log      *slog.Logger

	release func(context.Context, *browser.Lease, bool) // for tests
}

// Outcome is the task's result.
type Outcome struct {
	Code   string `json:"code,omitempty"` // "" when the test was written
	CaseID string `json:"case_id,omitempty"`
	// Failed counts attempts that ended with an error; the next attempt finds it in the
	// task.
	Failed int `json:"failed_attempts,omitempty"`
	// Waits counts how often the generation was put off for want of a session, and
	// Since is when the first attempt began that found none, by the database's clock.
	Waits int        `json:"session_waits,omitempty"`
	Since *time.Time `json:"no_session_since,omitempty"`
}

// attempt is one attempt of the test:generate task: a claim of it.
type attempt struct {
	*Handler
	claim *worker.Claim
	id    uuid.UUID
	// try counts from 1. Claims that were returned, by a worker that stopped, or lost with
	// their worker do not count; a retry by hand starts anew.
	try    int
	began  time.Time     // by the own clock; the task has the database's
	left   time.Duration // from began to the deadline, once that is known
	before Outcome       // what the attempts before have noted
}

// Handle writes the test.
func (h *Handler) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.TestGeneratePayload](task)
	if err != nil {
		return err
	}
	a := attempt{Handler: h, claim: claim, id: payload.GenerationID, began: time.Now(),
		try: task.Attempt - (task.MaxAttempts - tasks.TestGenerate.MaxAttempts)}
	if err := claim.ReadProgress(&a.before); err != nil {
		return err
	}
	if task.Losses >= maxLosses {
		return a.fail(ctx, CodeWorkerLost, fmt.Sprintf("the worker that wrote the test was lost %d times", task.Losses))
	}
	if err := a.run(ctx); err != nil {
		return a.giveUp(ctx, err)
	}
	return nil
}

// fail ends the generation with its task. What was captured stays.
func (a *attempt) fail(ctx context.Context, code, detail string) error {
	return a.claim.Finish(ctx, Outcome{Code: code, Failed: a.before.Failed}, func(tx *storage.Tx) error {
		_, err := store.Fail(ctx, tx, a.id, code, detail)
		return err
	})
}

// run begins the generation and writes its test.
func (a *attempt) run(ctx context.Context) error {
	var work *store.Work
	var lost []string
	err := a.claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		work, lost, err = store.Begin(ctx, tx, a.id)
		return err
	})
	switch {
	case errors.Is(err, storage.ErrConflict): // cancelled or overdue before it began
		return a.claim.Finish(ctx, nil, nil)
	case errors.Is(err, storage.ErrNotFound):
		return a.fail(ctx, store.CodeCaseNotFound, "the test case was deleted before it was refined")
	case err != nil:
		return err
	}
	a.deleteObjects(ctx, lost)
	a.left = work.Left
	timed, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(timed, a.left-time.Since(a.began), errTimeout)
	defer cancel()
	p := newExecution(a, work, stop)
	result, err := p.execute(timed)
	if err != nil {
		p.deleteObjects(ctx, p.unnamedKeys())
		if errors.Is(err, errEnded) {
			return a.claim.Finish(ctx, nil, nil)
		}
		return err
	}
	return p.conclude(ctx, result)
}

// conclude writes the end, with the case. Objects that no row names are deleted; where
// it is not known whether one does, the sweep decides.
func (p *execution) conclude(ctx context.Context, result store.Result) error {
	result.Files = p.unnamed()
	var ending store.Ending
	outcome := Outcome{Code: result.Code, Failed: p.before.Failed}
	err := p.claim.Finish(ctx, outcome, func(tx *storage.Tx) (err error) {
		if ending, err = store.End(ctx, tx, p.work, result); err != nil {
			return err
		}
		return p.note(ctx, tx, outcome, ending)
	})
	var unknown *storage.UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
	case err != nil || !ending.Did:
		p.deleteObjects(ctx, p.unnamedKeys())
	default:
		p.deleteObjects(ctx, ending.Unused)
	}
	return err
}

// note completes the task's result by what only the end knows.
func (p *execution) note(ctx context.Context, tx *storage.Tx, outcome Outcome, ending store.Ending) error {
	if !ending.Did || ending.Code == outcome.Code && ending.CaseID == "" {
		return nil
	}
	outcome.Code, outcome.CaseID = ending.Code, ending.CaseID
	return p.claim.SaveResult(ctx, tx, outcome)
}

// deleteObjects has a time of its own: the handler's may be over.
func (h *Handler) deleteObjects(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	worker.DeleteObjects(ctx, h.Objects, h.Log, keys)
}

// giveUp decides what follows an error of an attempt: another one, as the ledger
// arranges it, or after the last the end of the generation.
func (a *attempt) giveUp(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, storage.ErrStale):
		return err
	case worker.Cancelled(ctx):
		return a.cancelled(ctx, err)
	case ctx.Err() != nil: // the worker stops, or has lost the task
		return err
	}
	var refused *browser.SessionError
	if errors.As(err, &refused) {
		return a.await(ctx, refused)
	}
	if a.try < maxTries && !tasks.IsPermanent(err) {
		noted := a.before
		noted.Failed++
		if note := a.saveProgress(ctx, noted, ""); note != nil {
			a.Log.WarnContext(ctx, "failed attempt not noted", "error", note)
		}
		return err
	}
	a.Log.ErrorContext(ctx, "generation given up", "attempts", a.try, "error", err)
	detail := fmt.Sprintf("the test could not be written in %d attempts; the log has more under the task's id", a.try)
	if ferr := a.fail(ctx, CodeInternal, detail); ferr != nil {
		return errors.Join(err, ferr)
	}
	return nil
}

// saveProgress keeps what the next attempt is to know, and why there was no session.
func (a *attempt) saveProgress(ctx context.Context, noted Outcome, noSession string) error {
	return a.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		if noSession != "" {
			if err := store.NoteNoSession(ctx, tx, a.id, noSession); err != nil {
				return err
			}
		}
		return a.claim.SaveProgress(ctx, tx, noted)
	})
}

// await snoozes the task when there is no session for now, or ends the generation when
// there has been none for too long or its time is nearly over. The slot is free
// meanwhile, and the attempt does not count; the generation stays IN_PROGRESS.
func (a *attempt) await(ctx context.Context, refused *browser.SessionError) error {
	began := time.Now()
	if at := a.claim.Tasks[0].StartedAt; at != nil {
		began = *at
	}
	noted := a.before
	noted.Waits++
	if noted.Since == nil {
		noted.Since = &began
	}
	here := time.Since(a.began)
	left := a.left - here
	if waited := began.Add(here).Sub(*noted.Since); waited >= sessionGrace || left <= leastWait {
		a.Log.ErrorContext(ctx, "generation given up, there is no session", "waited", waited, "attempts", noted.Waits)
		return a.fail(ctx, CodeNoSession, refused.Text)
	}
	if err := a.saveProgress(ctx, noted, refused.Text); err != nil {
		return errors.Join(refused, err)
	}
	return &tasks.SnoozeError{For: min(firstWait<<min(a.before.Waits, 8), longestWait, left-leastWait/2)}
}

// cancelled ends the generation when its task was cancelled. Whoever cancels a
// generation has ended it already; an operator may have cancelled the task alone.
func (a *attempt) cancelled(ctx context.Context, err error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer stop()
	cerr := a.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		_, err := store.Fail(ctx, tx, a.id, CodeCancelled, "the task of the generation was cancelled")
		return err
	})
	if cerr != nil {
		a.Log.WarnContext(ctx, "cancelled generation not ended, maintenance will", "error", cerr)
	}
	return err
}
