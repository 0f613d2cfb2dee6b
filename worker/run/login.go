package run

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	saved "github.com/slipway-qa/slipway/storage/login"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/environment"
	"github.com/slipway-qa/slipway/worker/run/login"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const (
	// loginWait is how long a job is put off that finds the login still being played: the end
	// of the login wakes it earlier.
	loginWait = 10 * time.Second
	// releaseStep jobs are woken by one transaction, which takes about a tenth of a second.
	releaseStep = 1000
)

// notBegun decides what follows where a job cannot begin because of its suite's login; false:
// the error is another one.
func (a *attempt) notBegun(ctx context.Context, err error) (bool, error) {
	var waits *store.WaitingError
	var none *store.NoLoginError
	switch {
	case errors.As(err, &waits):
		return true, &tasks.SnoozeError{For: loginWait}
	case errors.As(err, &none):
		end := failure(store.CodeLogin, none.Text)
		end.Diagnosis = none.Diagnosis
		_, err := a.finish(ctx, end)
		return true, err
	}
	return false, nil
}

// readLogin sets what the test has to do with the login of its suite run.
func (p *execution) readLogin(ctx context.Context) error {
	switch {
	case p.work.Run.LoginKey != "":
		p.login = &replay.Login{Leaves: true}
	case p.work.Saved != nil:
		text, err := p.work.LoginState(p.Keys)
		if errors.Is(err, seal.ErrUnseal) {
			p.Log.ErrorContext(ctx, "login of a suite run cannot be decrypted", "error", err)
			return &environment.Refusal{Code: store.CodeInternal,
				Text: "what the login of the suite has left cannot be decrypted; start the run again"}
		}
		if err != nil {
			return err
		}
		state, err := login.Read(text)
		if err != nil {
			return err
		}
		p.login = &replay.Login{State: state, When: p.work.Saved.When}
	}
	return nil
}

// loginReferences are the variables that the condition of the login names.
func (p *execution) loginReferences() []step.Reference {
	if p.login == nil || p.login.When == nil {
		return nil
	}
	return step.References([]step.Step{{Tool: step.Tool{Type: step.Finish}, When: p.login.When}})
}

// loginSecrets are the values that the login has left, which nobody may read.
func (p *execution) loginSecrets() []string {
	if p.login == nil || p.login.State == nil {
		return nil
	}
	return p.login.State.Secrets()
}

// sealLogin returns the end of a job that may be a login, with what stores what that has left.
func (p *execution) sealLogin(ctx context.Context, end store.JobEnd) (store.JobEnd, func(*storage.Tx) error, error) {
	nothing := func(*storage.Tx) error { return nil }
	if p.work.Run.LoginKey == "" || end.Status != store.Passed || p.left == nil {
		return end, nothing, nil
	}
	text, err := p.left.Text()
	var tooLarge *login.TooLargeError
	if errors.As(err, &tooLarge) {
		end.Status, end.ErrorCode, end.Error = store.Errored, store.CodeLogin, tooLarge.Error()
		return end, nothing, nil
	}
	if err != nil {
		return end, nil, err
	}
	sealed, err := seal.Seal(p.Keys, seal.Login, text)
	if err != nil {
		return end, nil, err
	}
	return end, func(tx *storage.Tx) error { return store.KeepLogin(ctx, tx, &p.work.Run, sealed) }, nil
}

// renewLogin lets the login be played again after which the test found itself signed out, and
// puts the test off until then. That happens once: who is signed out again has no use for a
// third login.
func (p *execution) renewLogin(ctx context.Context, end store.JobEnd) error {
	if p.before.Renewed {
		end.Error += ", also after the suite's login was played again"
		return p.conclude(ctx, end)
	}
	noted := p.before
	noted.Renewed = true
	err := p.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		jobs, err := store.RenewLogin(ctx, tx, p.work, p.Vendor)
		if err != nil {
			return err
		}
		for _, id := range jobs {
			if _, err := ledger.Insert(ctx, tx, tasks.NewTestJob(p.claim.OrganizationID(), p.claim.Tasks[0].RequestID, id)); err != nil {
				return err
			}
		}
		return p.claim.SaveProgress(ctx, tx, noted)
	})
	var none *store.NoLoginError
	switch {
	case errors.As(err, &none):
		end.Error += ": " + none.Text
		return p.conclude(ctx, end)
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound): // the suite run has ended
		return p.conclude(ctx, end)
	case err != nil:
		p.deleteObjects(ctx, p.loose())
		return err
	}
	p.deleteObjects(ctx, p.loose())
	p.Log.InfoContext(ctx, "test is signed out, the login of its suite is played again", "job_id", p.id, "generation",
		p.work.Saved.Generation+1)
	return &tasks.SnoozeError{For: loginWait}
}

// releaseJobs lets the jobs begin that waited for a login which has ended. What it does not
// reach looks by itself when its time comes (saved.Hold).
func (p *execution) releaseJobs(ctx context.Context) {
	if p.work.Run.LoginKey == "" || p.work.Run.SuiteRunID == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	for n := int64(releaseStep); n == releaseStep; {
		err := p.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
			n, err = saved.Release(ctx, tx, *p.work.Run.SuiteRunID, releaseStep)
			return err
		})
		if err != nil {
			p.Log.WarnContext(ctx, "jobs that waited for a login not woken", "error", err)
			return
		}
	}
}

// hold puts tasks off that wait for a login.
func hold(list []*ledger.NewTask, held bool) []*ledger.NewTask {
	for _, task := range list {
		if held {
			task.Delay = saved.Hold
		}
	}
	return list
}

// loginTasks returns the tasks of jobs that play logins.
func loginTasks(organizationID int64, requestID string, priority ledger.Priority, jobs []uuid.UUID) (list []*ledger.NewTask) {
	for _, id := range jobs {
		task := tasks.NewTestJob(organizationID, requestID, id)
		task.Priority = priority
		list = append(list, task)
	}
	return list
}
