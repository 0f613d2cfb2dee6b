package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Key returns what the login of a target is stored under: a digest of its capabilities,
// without the names of case and build that vendors' options have, and of its tunnel.
func Key(t capability.Target, tunnel string) (string, error) {
	text, err := json.Marshal(struct {
		RDC          bool
		Capabilities capability.Capabilities
		Tunnel       string
	}{t.IsRDC, capability.WithoutNames(t.Capabilities), tunnel})
	if err != nil {
		return "", fmt.Errorf("target of a login: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// Entry is the login of one target of a suite run.
type Entry struct {
	Generation int        `db:"generation"` // from 1
	RunID      *uuid.UUID `db:"run_id"`
	// Error is why it failed, for people, without secrets; "" unless it is Failed.
	Error  string `db:"error"`
	Sealed []byte `db:"sealed"` // by seal.Login; nil unless it is Ready
	Open   bool   `db:"open"`   // the run is still to end
	// Diagnosis is why the run failed, as its job stores it; nil where that is not known.
	Diagnosis []byte `db:"diagnosis"`
}

// Ready reports whether there is a state to give to jobs.
func (e *Entry) Ready() bool { return e.Sealed != nil }

// Failed reports whether there is none, and none to wait for.
func (e *Entry) Failed() bool { return e.Sealed == nil && !e.Open }

// findEntry reads what a login has left. The error of its run, and the diagnosis, are those of its job.
const findEntry = `
select l.generation, l.run_id, l.sealed, coalesce(nullif(l.error, ''), j.error, '') as error,
	coalesce(r.state in ('QUEUED', 'RUNNING'), false) as open, j.diagnosis
from suite_logins l left join test_runs r on r.id = l.run_id
left join lateral (select error, diagnosis from test_jobs where run_id = r.id order by position limit 1) j on true
where l.suite_run_id = $1 and l.key = $2`

// Find returns the login of a target of a suite run; one that Failed where there is none.
func Find(ctx context.Context, q storage.Querier, suiteRun uuid.UUID, key string) (*Entry, error) {
	var e Entry
	err := storage.Wrap(q.GetContext(ctx, &e, findEntry, suiteRun, key), "login of suite run "+suiteRun.String())
	if errors.Is(err, storage.ErrNotFound) {
		return &Entry{Error: "the suite run has ended, or never had a login for the target"}, nil
	}
	return &e, err
}

// Keys returns those of the logins that a suite run has.
func Keys(ctx context.Context, q storage.Querier, suiteRun uuid.UUID) (map[string]bool, error) {
	var list []string
	if err := q.SelectContext(ctx, &list, `select key from suite_logins where suite_run_id = $1`, suiteRun); err != nil {
		return nil, storage.Wrap(err, "logins of suite run "+suiteRun.String())
	}
	keys := make(map[string]bool, len(list))
	for _, key := range list {
		keys[key] = true
	}
	return keys, nil
}

// MaxTargets bounds the logins of one suite run: each is a browser session of its own.
const MaxTargets = 200

// MaxGenerations bounds how often the login of a target is played in one suite run: a site
// that signs everybody out at once must not be signed in to for ever.
const MaxGenerations = 100

const addEntry = `
insert into suite_logins (suite_run_id, key, run_id, error) values ($1, $2, $3, $4)`

// Add writes the login of a target: the run that plays it, nil with the reason why there can
// be none. The suite run is locked.
func Add(ctx context.Context, tx *storage.Tx, suiteRun uuid.UUID, key string, run *uuid.UUID, reason string) error {
	_, err := tx.ExecContext(ctx, addEntry, suiteRun, key, run, reason)
	return storage.Wrap(err, "begin the login of a suite run")
}

const renewEntry = `
update suite_logins set generation = generation + 1, run_id = $4, sealed = null, error = $5
where suite_run_id = $1 and key = $2 and generation = $3 and sealed is not null`

// Renew replaces a generation of a login by the next one, as Add writes it. It returns false
// when another has done so. The suite run is locked.
func Renew(ctx context.Context, tx *storage.Tx, suiteRun uuid.UUID, key string, generation int, run *uuid.UUID,
	reason string) (bool, error) {
	n, err := storage.Affected(tx.ExecContext(ctx, renewEntry, suiteRun, key, generation, run, reason))
	return n == 1, err
}

const keepState = `
update suite_logins set sealed = $3 where suite_run_id = $1 and run_id = $2`

// Keep stores what a run of the login has left, sealed. It does nothing when the suite run
// has ended, or another run is the login's by now.
func Keep(ctx context.Context, tx *storage.Tx, suiteRun, run uuid.UUID, sealed []byte) error {
	_, err := tx.ExecContext(ctx, keepState, suiteRun, run, sealed)
	return storage.Wrap(err, "keep the login of a suite run")
}

// Hold is how long jobs whose login is being played are put off, unless Release wakes them
// earlier: then somebody has to look whether the worker that played it is gone.
const Hold = time.Minute

const heldJobs = `
select exists (select from suite_logins l join test_runs r on r.id = l.run_id
	where l.suite_run_id = $1 and l.sealed is null and r.state in ('QUEUED', 'RUNNING'))`

// Holds reports whether a login of the suite run is being played.
func Holds(ctx context.Context, q storage.Querier, suiteRun uuid.UUID) (held bool, err error) {
	err = q.GetContext(ctx, &held, heldJobs, suiteRun)
	return held, storage.Wrap(err, "logins of suite run "+suiteRun.String())
}

const heldJobsOfRun = `
select exists (select from test_runs c join suite_logins l on l.suite_run_id = c.suite_run_id join test_runs r on r.id = l.run_id
	where c.id = $1 and l.sealed is null and r.state in ('QUEUED', 'RUNNING'))`

// HoldsRun reports whether a login of the suite run of a run is being played.
func HoldsRun(ctx context.Context, q storage.Querier, run uuid.UUID) (held bool, err error) {
	err = q.GetContext(ctx, &held, heldJobsOfRun, run)
	return held, storage.Wrap(err, "login before test run "+run.String())
}

// releaseJobs locks tasks first, which come before all that a run has in the order of locks;
// one that another holds is at work, or is being changed.
const releaseJobs = `
update tasks t set run_at = now() from (
	select k.id from test_runs r join test_jobs j on j.run_id = r.id join tasks k on k.id = j.id
	where r.suite_run_id = $1 and r.state in ('QUEUED', 'RUNNING') and j.state in ('QUEUED', 'RUNNING')
		and k.state = 'queued' and k.run_at > now()
	order by k.id limit $2 for update of k skip locked
) held
where t.id = held.id`

// Release lets jobs of a suite run begin that were put off, at most limit of them, and
// returns their number. Those whose own login is not ready are put off again.
func Release(ctx context.Context, tx *storage.Tx, suiteRun uuid.UUID, limit int) (int64, error) {
	return storage.Affected(tx.ExecContext(ctx, releaseJobs, suiteRun, limit))
}

// Reason says in words for people why a login of a case failed. The ids stand last: the failures
// that it causes are one group, whose title is cut.
func (e *Entry) Reason(caseID string) string {
	of := "test case " + caseID
	if e.RunID != nil {
		of += fmt.Sprintf(", run %s", e.RunID)
	}
	return fmt.Sprintf("the login of the suite failed: %s (%s)", cmp.Or(e.Error, "it has left nothing to begin with"), of)
}
