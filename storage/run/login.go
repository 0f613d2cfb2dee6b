package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// NoLoginError means that a job cannot begin because the login of its suite run failed. The
// text is for people.
type NoLoginError struct {
	Text string
	// Diagnosis is why the login failed, for what could not begin without it; nil where that
	// is not known.
	Diagnosis *failure.Diagnosis
}

func (e *NoLoginError) Error() string { return e.Text }

// WaitingError means that a job cannot begin yet: the login of its suite run is being played.
type WaitingError struct{}

func (e *WaitingError) Error() string { return "the login of the suite run is being played" }

// SavedLogin is what the jobs of a suite run have of its login.
type SavedLogin struct {
	login.Login
	Generation int
	sealed     []byte
}

// LoginState returns what the login has left, as the worker that played it wrote it; "" for a
// job without a login. seal.ErrUnseal.
func (w *Work) LoginState(keys seal.Ring) (string, error) {
	if w.Saved == nil {
		return "", nil
	}
	return seal.Unseal(keys, seal.Login, w.Saved.sealed)
}

// loginOf returns the login that a job begins with, nil for none: the suite run has none, or
// the job plays it. *NoLoginError, *WaitingError.
func (r *workRow) loginOf(ctx context.Context, tx *storage.Tx, w *Work) (*SavedLogin, error) {
	l, err := login.Read(r.Login)
	if err != nil || l == nil || r.SuiteRunID == nil || w.Run.LoginKey != "" {
		return nil, err
	}
	key, err := login.Key(w.Job.Target, w.Run.Tunnel)
	if err != nil {
		return nil, err
	}
	entry, err := login.Find(ctx, tx, *r.SuiteRunID, key)
	switch {
	case err != nil:
		return nil, err
	case entry.Ready():
		return &SavedLogin{Login: *l, Generation: entry.Generation, sealed: entry.Sealed}, nil
	case entry.Failed():
		why, err := ReadDiagnosis(entry.Diagnosis)
		if err != nil {
			return nil, err
		}
		return nil, &NoLoginError{Text: entry.Reason(l.TestCaseID), Diagnosis: ofLogin(why)}
	}
	return nil, &WaitingError{}
}

// ofLogin returns the diagnosis of what could not begin since the login failed: it is of the login's
// failure, and so in its group and with its reason.
func ofLogin(of *failure.Diagnosis) *failure.Diagnosis {
	if of == nil {
		return nil
	}
	why := append([]string{"The login of the suite failed, without which the test cannot begin."}, of.Why...)
	return &failure.Diagnosis{Reason: of.Reason, Why: why, Key: of.Key, Subject: of.Subject}
}

// KeepLogin stores what the run of a login has left, sealed by seal.Login. It is called in the
// transaction that ends the run's job.
func KeepLogin(ctx context.Context, tx *storage.Tx, r *Run, sealed []byte) error {
	return login.Keep(ctx, tx, *r.SuiteRunID, r.ID, sealed)
}

// waiting is a target whose login is to be played, with the tunnel of its run.
type waiting struct {
	target capability.Target
	tunnel string
}

// wait notes the targets of a run that needs the suite's login.
func (f *fanout) wait(targets []capability.Target, tunnel string) error {
	if f.Login == nil {
		return nil
	}
	if f.waiting == nil {
		f.waiting = map[string]waiting{}
	}
	for _, t := range targets {
		key, err := login.Key(t, tunnel)
		if err != nil {
			return err
		}
		f.waiting[key] = waiting{t, tunnel}
	}
	return nil
}

// playLogins writes the runs of the logins that were noted and are not there yet, and returns
// their jobs.
func (f *fanout) playLogins(ctx context.Context, tx *storage.Tx, suiteRun uuid.UUID, vendor string) (jobs []uuid.UUID, err error) {
	if len(f.waiting) == 0 {
		return nil, nil
	}
	known, err := login.Keys(ctx, tx, suiteRun)
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(f.waiting))
	for key := range f.waiting {
		if !known[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		if len(known)+i >= login.MaxTargets {
			if err := login.Add(ctx, tx, suiteRun, key, nil, fmt.Sprintf("a suite run has the logins of at most %d targets",
				login.MaxTargets)); err != nil {
				return nil, err
			}
			continue
		}
		made, reason, err := f.playLogin(ctx, tx, suiteRun, key, 1, vendor)
		if err != nil {
			return nil, err
		}
		if err := login.Add(ctx, tx, suiteRun, key, made.run, reason); err != nil {
			return nil, err
		}
		jobs = append(jobs, made.jobs...)
	}
	return jobs, nil
}

const loginCase = `
select c.id, c.team_id, c.name, c.run_settings, v.id as revision_id, v.data_id, v.steps <> '[]' as has_steps
from test_cases c
cross join lateral (select id, steps, data_id from test_revisions where case_id = c.id order by number desc limit 1) v
where c.id = $1 and c.organization_id = $2`

// loginRun is a run that plays a login: nil where there can be none.
type loginRun struct {
	run  *uuid.UUID
	jobs []uuid.UUID
}

// playLogin writes a run of the login's case on one target, or says why there can be none.
func (f *fanout) playLogin(ctx context.Context, tx *storage.Tx, suiteRun uuid.UUID, key string, generation int,
	vendor string) (made loginRun, reason string, err error) {
	l, err := login.Read(f.Login)
	if err != nil {
		return made, "", err
	}
	var c struct {
		caseToRun
		HasSteps bool `db:"has_steps"`
	}
	err = storage.Wrap(tx.GetContext(ctx, &c, loginCase, storage.WithoutNUL(l.TestCaseID), f.OrganizationID),
		"login of suite run "+suiteRun.String())
	switch {
	case isNotFound(err):
		return made, "its test case was deleted", nil
	case err != nil:
		return made, "", err
	case !c.HasSteps:
		return made, "its test case has no steps", nil
	case c.DataID != nil:
		return made, "its test case has data rows, and a login is played once", nil
	}
	var settings capability.RunSettings
	if err := json.Unmarshal(c.Settings, &settings); err != nil {
		return made, "", fmt.Errorf("settings of test case %s: %w", c.ID, err)
	}
	on := f.waiting[key]
	run := &Run{ID: storage.NewID(), CaseID: c.ID, CaseName: c.Name, RevisionID: c.RevisionID, BuildName: f.BuildName,
		BuildID: f.BuildID, Tunnel: on.tunnel}
	run.at(f.TestURL, settings.TestURL)
	target := capability.Target{IsRDC: on.target.IsRDC,
		Capabilities: capability.Effective(nil, capability.Target{Capabilities: capability.WithoutNames(on.target.Capabilities)}, vendor,
			c.Name, f.BuildName, on.tunnel)}
	which := fmt.Sprintf("%s.%d", key, generation)
	rows := newRuns{environment: f.Environment, loginKey: &which}
	if err := rows.add(run, c.TeamID, []capability.Target{target}); err != nil {
		return made, "", err
	}
	if _, err := rows.insert(ctx, tx, f.OrganizationID, f.UserUUID, &suiteRun); err != nil {
		return made, "", err
	}
	_, err = tx.ExecContext(ctx, `update suite_runs set run_count = run_count + 1 where id = $1`, suiteRun)
	return loginRun{&run.ID, rows.ids}, "", storage.Wrap(err, "count the login of a suite run")
}

// RenewLogin lets the login be played again that a job found itself signed out with, unless
// that was done already. It returns the job of the new run, for which the caller inserts a
// task in the same transaction; nil where there is none. *NoLoginError when it was played too
// often; ErrConflict when the suite run has ended.
func RenewLogin(ctx context.Context, tx *storage.Tx, w *Work, vendor string) ([]uuid.UUID, error) {
	if w.Saved.Generation >= login.MaxGenerations {
		return nil, &NoLoginError{Text: fmt.Sprintf("the login was played %d times in this suite run", login.MaxGenerations)}
	}
	id := *w.Run.SuiteRunID
	var builds []int64
	if err := tx.SelectContext(ctx, &builds, lockBuildOfFanout, id); err != nil {
		return nil, storage.Wrap(err, "lock the build of a suite run")
	}
	var f fanout
	if err := tx.GetContext(ctx, &f, lockFanout, id); err != nil {
		return nil, storage.Wrap(err, "suite run "+id.String())
	}
	if f.Status.Terminal() {
		return nil, fmt.Errorf("suite run %s has ended: %w", id, storage.ErrConflict)
	}
	if err := f.wait([]capability.Target{w.Job.Target}, w.Run.Tunnel); err != nil {
		return nil, err
	}
	for key := range f.waiting { // one
		entry, err := login.Find(ctx, tx, id, key)
		if err != nil || entry.Generation != w.Saved.Generation || !entry.Ready() {
			return nil, err
		}
		made, reason, err := f.playLogin(ctx, tx, id, key, entry.Generation+1, vendor)
		if err != nil {
			return nil, err
		}
		_, err = login.Renew(ctx, tx, id, key, entry.Generation, made.run, reason)
		return made.jobs, err
	}
	return nil, nil
}

// loginDocument is the column of the login, null for none.
func (f *fanout) loginDocument() *string {
	if f.Login == nil {
		return nil
	}
	text := string(f.Login)
	return &text
}
