// Package run is the work of test runs: it plays the jobs of runs in browsers,
// fans suite runs out to case runs, and does the maintenance of both.
//
// JobHandler handles the test:job task of a run.Job of the store: one case on one
// target. It reads what there is to do (BeginJob), the values of variables, the tunnel
// and the app, borrows a browser, plays the steps (package replay) and ends the job with its records and files in the transaction
// that ends the ledger task. Screenshots and the like are stored while the test
// goes on, and deleted again when the job cannot be ended with them; what a
// killed worker leaves is found by the sweep.
//
// A job never hangs. A worker that dies leaves its task to the next one, which
// plays the test anew; when two were lost so, the third ends the job as WORKER_LOST
// without playing it. An error of the service is tried again too, and the third
// ends the job as INTERNAL. While a hub is away the task is put off again and
// again, and the job ends as SESSION_NOT_CREATED after ten minutes. A job that was
// cancelled has ended in the database before the worker is told: the worker
// stops playing, and nothing that it reports is taken. MaintenanceHandler ends jobs whose
// task ended without them.
//
// A test that failed is played again as often as its retries say, in a new browser and by a claim
// of its own (JobHandler.run, package storage/run/attempt).
//
// Failures of the test are results of the job; only failures of the service are
// errors of the task. The values of secret variables, tunnels' passwords and
// signed links are replaced in all texts that are kept or logged.
package run

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/worker/browser"
)

// Browsers acquires sessions; browser.Pool implements it.
type Browsers interface {
	// Acquire returns a session for a target, or a *browser.SessionError.
	Acquire(ctx context.Context, r browser.Request) (*browser.Lease, error)
}

const (
	// maxTries is how often a job is begun that ends with an error of the service.
	maxTries = 3
	// maxLosses is how often a job may be lost with its worker: restarts of a few minutes
	// must not fail a healthy test, and one that kills its worker must not do so for ever.
	maxLosses = 8
	// sessionGrace is how long a job waits for a session that there is none of
	// for now: a hub that starts anew, with its machines, is back within minutes,
	// and whoever waits for the run needs to know of one that is not.
	sessionGrace = 10 * time.Minute
	// firstWait is the first pause before the next try for a session; each is twice
	// the one before, up to longestWait.
	firstWait   = 5 * time.Second
	longestWait = 30 * time.Second
	// defaultTimeout bounds a test; the longest useful ones take some minutes.
	defaultTimeout = 30 * time.Minute
	// cleanTimeout bounds what must be done after the handler's time is over.
	cleanTimeout = 30 * time.Second
)

// Why playing stops before the test's end.
var (
	errTimeout = errors.New("the test took too long")
	errEnded   = errors.New("the job has ended")
)
