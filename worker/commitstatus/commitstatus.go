// Package commitstatus sends the statuses of builds' commits to GitHub, GitLab and Gitea.
//
// A task sends the newest status of its build. A task whose change was replaced by a newer
// one does nothing, and says so as its result; the newer one has a task of its own. So does
// the task of a build when a newer build of the app has a status for the commit. The tasks of a
// commit and an app run one after the other, so that statuses arrive in their order.
//
// What fails for the moment is tried again for a day, later each time; a limit of the
// provider is waited for without using attempts up. What a further attempt cannot mend (a token
// that is not valid, a commit that is not there) ends the task with the reason. Each reason
// stands in the task and in the app's setting.
//
// A status that was sent and not recorded, because the worker was killed, is sent again: it says
// the same. A worker that hangs for longer than its task is left to it, in the ten seconds of a
// request, can have an older status arrive behind a newer one.
package commitstatus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/statuscall"
	"github.com/slipway-qa/slipway/worker"
)

// Caller makes requests; *statuscall.Sender does.
type Caller interface {
	Send(ctx context.Context, to statuscall.Repository, s statuscall.Status) statuscall.Result
}

// Send is the handler of commit:status.
type Send struct {
	DB     *storage.DB
	Caller Caller
	Keys   seal.Ring // that tokens are sealed with
	Links  link.Links
	Now    func() time.Time
	Log    *slog.Logger
}

// The outcomes of a task that succeeded.
const (
	outcomeSent       = "sent"
	outcomeStood      = "stood"      // the provider had it already
	outcomeSuperseded = "superseded" // a newer one is sent in its place
	outcomeGone       = "gone"       // the build or the setting was deleted
)

// result is what a task that succeeded keeps.
type result struct {
	Outcome string             `json:"outcome"`
	State   commitstatus.State `json:"state,omitempty"`
	Commit  string             `json:"commit,omitempty"`
}

// Handle sends the status of one build.
func (h *Send) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CommitStatusPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	work, err := commitstatus.Load(ctx, h.DB, payload.BuildID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return claim.Finish(ctx, result{Outcome: outcomeGone}, nil)
	case err != nil:
		return err
	case work.Sequence > payload.Sequence, work.Overtaken:
		return claim.Finish(ctx, result{Outcome: outcomeSuperseded}, nil)
	}
	if !commitstatus.FullCommit(work.Commit) {
		return h.fail(ctx, claim, work, statuscall.Result{Permanent: true,
			Error: fmt.Sprintf("the build's commit %q is no full hash of 40 or 64 digits", storage.Cut(work.Commit, 64))})
	}
	token, err := seal.Unseal(h.Keys, seal.CommitStatus, work.Token)
	if err != nil {
		return h.fail(ctx, claim, work, statuscall.Result{Permanent: true,
			Error: "the token was stored with another SLIPWAY_SIGNING_KEY: store it again"})
	}
	sent := h.Caller.Send(ctx, statuscall.Repository{Provider: work.Provider, URL: work.URL, Path: work.Repository, Token: token},
		statuscall.Status{Commit: work.Commit, State: work.State, Context: work.Context, Description: work.Description,
			Link: h.Links.Path(fmt.Sprintf("/console/builds/builds/%d", work.BuildID))})
	if sent.Error != "" {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return h.fail(ctx, claim, work, sent)
	}
	outcome := outcomeSent
	if sent.Stood {
		outcome = outcomeStood
	}
	ctx, cancel := recording(ctx)
	defer cancel()
	return claim.Finish(ctx, result{outcome, work.State, work.Commit}, func(tx *storage.Tx) error {
		return commitstatus.RecordSent(ctx, tx, work, h.now())
	})
}

// recordTime bounds the recording of what was sent when the worker stops.
const recordTime = 3 * time.Second

func recording(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTime)
}

func (h *Send) now() time.Time {
	if h.Now == nil {
		return time.Now()
	}
	return h.Now()
}

// longestPause bounds what a provider can ask for: limits start anew within an hour.
const longestPause = time.Hour

// fail stores why an attempt failed, and returns the error that says when the next one is.
func (h *Send) fail(ctx context.Context, claim *worker.Claim, work *commitstatus.Work, r statuscall.Result) error {
	now := h.now()
	if !r.Permanent && now.Sub(claim.Tasks[0].CreatedAt) >= commitstatus.Lifetime {
		r.Permanent, r.Error = true, fmt.Sprintf("not sent within %.0f hours: %s", commitstatus.Lifetime.Hours(), r.Error)
	}
	recordCtx, cancel := recording(ctx)
	defer cancel()
	err := claim.Checkpoint(recordCtx, func(tx *storage.Tx) error {
		return commitstatus.RecordFailure(recordCtx, tx, work, r.Error, now)
	})
	if err != nil {
		return err
	}
	switch {
	case r.Permanent:
		return tasks.Permanent(errors.New(r.Error))
	case r.RetryAfter > 0:
		h.Log.InfoContext(ctx, "commit status put off by its provider", "build_id", work.BuildID, "provider", work.Provider,
			"status", r.HTTPStatus, "for", min(r.RetryAfter, longestPause))
		return &tasks.SnoozeError{For: min(max(r.RetryAfter, shortestPause), longestPause)}
	}
	return &tasks.PublicError{Text: r.Error, Err: errors.New("commit status not sent")}
}

// shortestPause keeps a provider that asks for a second from being asked each second for a day:
// a pause uses no attempt up.
const shortestPause = time.Minute
