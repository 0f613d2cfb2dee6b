package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	retry "github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/run/need"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/baseline"
	"github.com/slipway-qa/slipway/worker/run/capture"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// JobHandler is the handler of test:job.
type JobHandler struct {
	DB       *storage.DB
	Objects  object.Store
	Browsers Browsers
	// Keys are what secrets are sealed with.
	Keys seal.Ring
	// Vendor names the options that effective capabilities are made with.
	Vendor string
	// CheckURL and Trouble are those of replay.Config.
	CheckURL func(ctx context.Context, address string) error
	Trouble  func(host string, since time.Time) (text string, ok bool)
	// Timeout bounds a test from the acquiring of its browser on; default 30 min,
	// at most what the task's kind allows.
	Timeout time.Duration
	// StepTimeout and PageTimeout are those of replay.Config; 0 is its default.
	StepTimeout, PageTimeout time.Duration
	// Screenshots takes one after each step, and not only of one that failed.
	Screenshots bool
	// Play plays a test; default replay.Play.
	Play func(context.Context, replay.Config) replay.Result
	Log  *slog.Logger

	release func(context.Context, *browser.Lease, bool) // for tests
}

// Outcome is the task's result.
type Outcome struct {
	Status store.Status `json:"status,omitempty"`
	Code   string       `json:"code,omitempty"`
	// Failed counts attempts that ended with an error; the next attempt finds it in the
	// task.
	Failed int `json:"failed_attempts,omitempty"`
	// Waits counts how often the job was put off for want of a session, and Since is
	// when the first attempt began that found none, by the database's clock.
	Waits int        `json:"session_waits,omitempty"`
	Since *time.Time `json:"no_session_since,omitempty"`
	// Renewed: the job was signed out once, and the login of its suite played again.
	Renewed bool `json:"login_renewed,omitempty"`
}

// attempt is one attempt of the test:job task: a claim of it.
type attempt struct {
	*JobHandler
	claim *worker.Claim
	id    uuid.UUID
	// try counts from 1. Claims that ended with a failure of the test which is played again, that
	// were returned, by a worker that stopped, or lost with their worker do not count; a retry by
	// hand starts anew.
	try   int
	began time.Time // by the own clock; the task has the database's
	// before is what the attempts before have noted.
	before Outcome
}

// Handle plays the job.
func (h *JobHandler) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.TestJobPayload](task)
	if err != nil {
		return err
	}
	a := attempt{JobHandler: h, claim: claim, id: payload.JobID, began: time.Now(),
		try: task.Attempt - (task.MaxAttempts - tasks.TestJob.MaxAttempts)}
	if err := claim.ReadProgress(&a.before); err != nil {
		return err
	}
	if task.Losses >= maxLosses {
		_, err := a.finish(ctx, failure(store.CodeWorkerLost,
			fmt.Sprintf("the worker that played the test was lost %d times", task.Losses)))
		return err
	}
	if err := a.run(ctx); err != nil {
		return a.giveUp(ctx, err)
	}
	return nil
}

// failure is the end of a job that could not be played.
func failure(code, text string) store.JobEnd {
	return store.JobEnd{Status: store.Errored, ErrorCode: code, Error: text}
}

// skipped is the end of a job whose test needs another one that has not passed.
func skipped(skip *need.SkipError) store.JobEnd {
	end := store.JobEnd{Status: store.Cancelled, ErrorCode: store.CodeNeeds, Error: skip.Reason}
	if skip.Quarantine != "" {
		end.Quarantine = &store.Quarantine{Reason: skip.Quarantine, Until: skip.Until}
	}
	return end
}

// finish ends the job with its task. It returns false when the job had ended
// before: then nothing of the end was taken. also is done in the same transaction where the
// job ends.
func (a *attempt) finish(ctx context.Context, end store.JobEnd, also ...func(*storage.Tx) error) (did bool, err error) {
	end = withDiagnosis(end)
	err = a.claim.Finish(ctx, Outcome{Status: end.Status, Code: end.ErrorCode, Failed: a.before.Failed}, func(tx *storage.Tx) error {
		did, err = store.EndJob(ctx, tx, a.id, end)
		for i := 0; i < len(also) && did && err == nil; i++ {
			err = also[i](tx)
		}
		return err
	})
	return did && err == nil, err
}

// run begins the job and plays it to its end.
func (a *attempt) run(ctx context.Context) error {
	var work *store.Work
	var lost []string
	var skip *need.SkipError
	err := a.claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		work, lost, err = store.BeginJob(ctx, tx, a.id)
		return err
	})
	if done, err := a.notBegun(ctx, err); done {
		return err
	}
	switch {
	case errors.Is(err, storage.ErrConflict): // cancelled before it began
		return a.claim.Finish(ctx, nil, nil)
	case errors.Is(err, need.ErrHeld): // who ends what it needs wakes it
		return &tasks.SnoozeError{For: store.HeldFor}
	case errors.As(err, &skip):
		_, err := a.finish(ctx, skipped(skip))
		return err
	case errors.Is(err, storage.ErrNotFound):
		_, err := a.finish(ctx, store.JobEnd{Status: store.Cancelled, ErrorCode: store.CodeCancelled,
			Error: "the test case or its revision was deleted"})
		return err
	case err != nil:
		return err
	}
	a.deleteObjects(ctx, lost)
	timed, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timed, cancel := context.WithTimeoutCause(timed, a.timeout(), errTimeout)
	defer cancel()
	p := &execution{attempt: a, work: work, stop: stop, files: a.newFiles(), shelf: a.newShelf(work)}
	defer p.releasing.Wait()
	end, err := p.execute(timed)
	if err != nil {
		a.deleteObjects(ctx, p.loose())
		if errors.Is(err, errEnded) {
			return a.claim.Finish(ctx, nil, nil)
		}
		return err
	}
	if p.signedOut {
		return p.renewLogin(ctx, end)
	}
	end, keep, err := p.sealLogin(ctx, end)
	if err != nil {
		return err
	}
	if retry.Follows(&end, work.Retries, work.Job.Ended) {
		return p.playAgain(ctx, end)
	}
	if err := p.conclude(ctx, end, keep); err != nil {
		return err
	}
	p.releaseJobs(ctx)
	return nil
}

// playAgain keeps the attempt that failed, and puts the task off for the next one: what waits for
// the slot, of whatever organization, has its turn first.
func (p *execution) playAgain(ctx context.Context, end store.JobEnd) error {
	end.Files = p.files.List()
	noted := p.before
	noted.Waits, noted.Since = 0, nil // the next attempt waits for a session of its own
	kept := false
	var unnamed []string
	err := p.claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
		if kept, err = retry.End(ctx, tx, p.id, end); err != nil {
			return err
		}
		if !kept {
			return errEnded
		}
		if unnamed, err = p.shelf.Store(ctx, tx); err != nil {
			return err
		}
		return p.claim.SaveProgress(ctx, tx, noted)
	})
	var unknown *storage.UnknownOutcomeError
	switch {
	case err == nil:
		p.deleteObjects(ctx, unnamed)
	case !errors.As(err, &unknown):
		p.deleteObjects(ctx, p.loose())
	}
	switch {
	case errors.Is(err, errEnded):
		return p.claim.Finish(ctx, nil, nil)
	case err != nil:
		return err
	}
	p.Log.InfoContext(ctx, "test failed, it is played again", "job_id", p.id, "attempt", p.work.Job.Ended+1, "code", end.ErrorCode)
	return &tasks.SnoozeError{}
}

// newFiles returns the artifacts of the attempt, none yet.
func (a *attempt) newFiles() *capture.Files {
	return &capture.Files{Objects: a.Objects, Log: a.Log, Key: func(file uuid.UUID) string { return store.FileKey(a.id, file) }}
}

// newShelf returns the baselines of the attempt, none kept yet.
func (a *attempt) newShelf(work *store.Work) *baseline.Shelf {
	return &baseline.Shelf{DB: a.DB, Objects: a.Objects, Log: a.Log, OrganizationID: work.Run.OrganizationID,
		CaseID: work.Run.CaseID, RunID: work.Run.ID,
		Environment: work.Run.Environment}
}

// objectKeys are the keys of all that the attempt has stored, loose those that no row names.
func (p *execution) objectKeys() []string { return append(p.files.Keys(), p.shelf.Keys()...) }
func (p *execution) loose() []string      { return append(slices.Clone(p.unnamed()), p.shelf.Keys()...) }

// conclude writes the end with the files and baselines, and what is to be written besides. Those that no row names are deleted;
// where it is not known whether one does, the sweep decides.
func (p *execution) conclude(ctx context.Context, end store.JobEnd, also ...func(*storage.Tx) error) error {
	end.Files = p.files.List()
	p.explain(ctx, &end)
	var unnamed []string
	did, err := p.finish(ctx, end, append(also, func(tx *storage.Tx) (err error) {
		unnamed, err = p.shelf.Store(ctx, tx)
		return err
	})...)
	var unknown *storage.UnknownOutcomeError
	switch {
	case did:
		p.deleteObjects(ctx, unnamed)
	case !errors.As(err, &unknown):
		p.deleteObjects(ctx, p.loose())
	}
	return err
}

func (h *JobHandler) timeout() time.Duration {
	timeout := h.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return min(timeout, tasks.TestJob.Timeout-time.Minute-replay.TearDownGrace)
}

// deleteObjects has a time of its own: the handler's may be over.
func (h *JobHandler) deleteObjects(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	worker.DeleteObjects(ctx, h.Objects, h.Log, keys)
}

// giveUp decides what follows an error of an attempt: another one, as the ledger
// arranges it, or after the last the end of the job.
func (a *attempt) giveUp(ctx context.Context, err error) error {
	var putOff *tasks.SnoozeError
	switch {
	case errors.Is(err, storage.ErrStale), errors.As(err, &putOff):
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
	if a.try < maxTries {
		noted := a.before
		noted.Failed++
		if note := a.note(ctx, noted); note != nil {
			a.Log.WarnContext(ctx, "failed attempt not noted", "error", note)
		}
		return err
	}
	a.Log.ErrorContext(ctx, "test job given up", "attempts", a.try, "error", err)
	end := failure(store.CodeInternal, fmt.Sprintf("the test could not be played in %d attempts; the log has more under the job's id", a.try))
	if _, ferr := a.finish(ctx, end); ferr != nil {
		return errors.Join(err, ferr)
	}
	return nil
}

// note keeps what the next attempt is to know.
func (a *attempt) note(ctx context.Context, noted Outcome) error {
	return a.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		return a.claim.SaveProgress(ctx, tx, noted)
	})
}

// await snoozes the task when there is no session for now, or ends
// the job when there has been none for too long. The slot is free meanwhile, and
// the attempt does not count; the job stays RUNNING.
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
	if waited := began.Add(time.Since(a.began)).Sub(*noted.Since); waited >= sessionGrace {
		a.Log.ErrorContext(ctx, "test job given up, there is no session", "waited", waited, "attempts", noted.Waits)
		_, err := a.finish(ctx, failure(store.CodeNoSession, refused.Text))
		return err
	}
	if err := a.note(ctx, noted); err != nil {
		return errors.Join(refused, err)
	}
	return &tasks.SnoozeError{For: min(firstWait<<min(a.before.Waits, 8), longestWait)}
}

// cancelled ends the job when its task was cancelled. Whoever cancels a run has
// ended its jobs already; an operator may have cancelled the task alone.
func (a *attempt) cancelled(ctx context.Context, err error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer stop()
	cerr := a.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		_, err := store.EndJob(ctx, tx, a.id, store.JobEnd{Status: store.Cancelled,
			ErrorCode: store.CodeCancelled, Error: "the task of the job was cancelled"})
		return err
	})
	if cerr != nil {
		a.Log.WarnContext(ctx, "cancelled job not ended, maintenance will", "error", cerr)
	}
	return err
}
