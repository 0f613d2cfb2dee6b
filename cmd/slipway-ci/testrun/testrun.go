// Package testrun runs tests of a server for a pipeline: it finds what is named, splits it
// into shards, starts the runs, waits for them, and says what became of it all as a report. The
// server plays again what failed.
//
// Nothing is started twice: each run has an Idempotency-Key, so that a job that was killed
// and is repeated joins the runs that are on. One that has ended is not joined; the key of
// the next try starts another.
//
// Waiting takes one request at a time. When the context ends, by --timeout or ctrl-C, what
// runs is cancelled, a few at a time (Config.Detach: left), and the report has what is known by
// then. A run whose start was cut off is found by its key, and cancelled too.
package testrun

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// UsageError is a command line that names nothing, or several things.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

func misused(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Config is what a run needs.
type Config struct {
	Client *client.Client
	Out    *progress.Printer
	// Start is what each run is told.
	Start client.StartRun
	// Key returns the Idempotency-Key of a run of the job, of what names it.
	Key func(what ...string) string
	// Detach leaves runs as they are when the context ends.
	Detach bool
	// Last returns a context for what is to be done when the context has ended, with the time for
	// so many requests, of which cancelling go at once.
	Last func(ctx context.Context, requests int) (context.Context, context.CancelFunc)
	// Folder has the tests' files, by which a failure finds its line.
	Folder Folder
	// Artifacts are where screenshots and traces go; none: nowhere.
	Artifacts []*Artifacts
}

// unit is one run at the server: of a suite or of a case.
type unit struct {
	suite client.TestSuite // with an id: a run of the suite
	of    *Test            // else of this case

	// key and told are those of the last request that started it: where its answer did not come,
	// id is "" and the same request again says which run it is.
	key  string
	told client.StartRun

	id      string
	status  string
	failed  string // of a suite run that broke
	runs    []client.TestRun
	skipped string // why there is no run
}

func (u *unit) name() string {
	if u.of != nil {
		return u.of.Name
	}
	return u.suite.Name
}

func (u *unit) ended() bool { return u.skipped != "" || client.Ended(u.status) }

// mostJoined bounds the runs of one key that have ended: each is a repetition of the job.
const mostJoined = 50

// start starts a run, or joins the one that an earlier process of the job has started and
// that is still on. since is when this command began.
func (c *Config) start(ctx context.Context, u *unit, since time.Time, what ...string) error {
	in := c.Start
	if u.of != nil {
		in.Shard, in.MaxDuration = nil, 0
	}
	for n := range mostJoined {
		u.key, u.told, u.id, u.status = c.Key(append(what, fmt.Sprint(n))...), in, "", client.StatusQueued
		age, err := c.startOnce(ctx, u)
		if err != nil {
			return err
		}
		// The clocks of both sides count seconds.
		earlier := age > time.Since(since)+2*time.Second
		if !client.Ended(u.status) || !earlier {
			if earlier {
				c.Out.Line("%s: joined the run that an earlier job has started", u.name())
			}
			return nil
		}
	}
	return fmt.Errorf("%s: this job has been repeated %d times", u.name(), mostJoined)
}

// startOnce asks for the run of the unit's key, which is on then, or was started before.
func (c *Config) startOnce(ctx context.Context, u *unit) (age time.Duration, err error) {
	if u.of == nil {
		s, err := c.Client.StartSuiteRun(ctx, u.suite.ID, u.key, u.told)
		if err != nil {
			return 0, err
		}
		u.id, u.status = s.Run.ID, s.Run.Status
		return s.Age, nil
	}
	s, err := c.Client.StartTestRun(ctx, u.of.ID, u.key, u.told)
	if err != nil {
		return 0, err
	}
	u.id, u.status, u.runs = s.Run.ID, s.Run.Status, []client.TestRun{s.Run}
	return s.Age, nil
}

// read reads how a run stands.
func (c *Config) read(ctx context.Context, u *unit, wait time.Duration) error {
	if u.of == nil {
		r, err := c.Client.SuiteRun(ctx, u.suite.ID, u.id, wait)
		if err != nil {
			return err
		}
		u.status, u.failed, u.runs = r.Status, r.Error, r.CaseRuns
		return nil
	}
	r, err := c.Client.TestRun(ctx, u.of.ID, u.id, wait)
	if err != nil {
		return err
	}
	u.status, u.runs = r.Status, []client.TestRun{*r}
	return nil
}

// cancel ends a run.
func (c *Config) cancel(ctx context.Context, u *unit) error {
	if u.of == nil {
		return c.Client.CancelSuiteRun(ctx, u.suite.ID, u.id)
	}
	return c.Client.CancelTestRun(ctx, u.of.ID, u.id)
}

// page is the console's page of a run.
func (c *Config) page(u *unit) string {
	if u.id == "" {
		return ""
	}
	if u.of == nil {
		return c.Client.URL(client.Path("console", "tests", "suites", u.suite.ID, "runs", u.id))
	}
	return c.casePage(u.of.ID, u.id)
}

func (c *Config) casePage(caseID, run string) string {
	return c.Client.URL(client.Path("console", "tests", "cases", caseID, "runs", run))
}
