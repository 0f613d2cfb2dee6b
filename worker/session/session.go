// Package session does the work of recorded sessions that needs no caller: it ends those
// that went silent, forgets the oldest, and removes what belongs to deleted builds and apps.
//
// Maintenance runs as the task session:maintenance. Its steps are each bounded, and what one
// round does not reach the next one does. Builds removes sessions and feedback as steps of the
// tasks that delete builds and apps; each step is one transaction that checks the claim of
// the task, so a worker that was taken for dead removes nothing.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/worker"
)

// Rules say what maintenance ends and forgets.
type Rules struct {
	// Silence ends a session of which nothing came for as long.
	Silence time.Duration
	// Keep is the age up to which sessions are kept.
	Keep time.Duration
	// ProjectBytes and OrganizationBytes bound the events of an app and of an
	// organization; 0 is no bound.
	ProjectBytes, OrganizationBytes int64
}

// step sessions are dealt with by one statement.
const step = 1000

// Maintenance is the handler of session:maintenance.
type Maintenance struct {
	db    *storage.DB
	rules Rules
	now   func() time.Time
}

// Result is the task's result.
type Result struct {
	Ended   int64 `json:"ended"`   // after silence
	Expired int64 `json:"expired"` // sessions
	Trimmed int64 `json:"trimmed"` // bytes of events
}

// NewMaintenance returns the handler.
func NewMaintenance(db *storage.DB, rules Rules) (*Maintenance, error) {
	if rules.Silence <= 0 || rules.Keep < rules.Silence || rules.ProjectBytes < 0 || rules.OrganizationBytes < 0 {
		return nil, errors.New("session maintenance: silence must be above zero, the age not below it, and bounds not below zero")
	}
	return &Maintenance{db: db, rules: rules, now: time.Now}, nil
}

// Handle runs the steps. One that fails does not keep the others from running.
func (m *Maintenance) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum Result
	now := m.now()
	err := errors.Join(
		repeat(ctx, &sum.Ended, func() (int64, error) { return session.EndSilent(ctx, m.db, now.Add(-m.rules.Silence), step) }),
		repeat(ctx, &sum.Expired, func() (int64, error) { return session.Expire(ctx, m.db, now.Add(-m.rules.Keep), step) }),
	)
	trimmed, trimErr := session.Trim(ctx, m.db, m.rules.ProjectBytes, m.rules.OrganizationBytes)
	sum.Trimmed = trimmed
	if err = errors.Join(err, trimErr); err != nil {
		return fmt.Errorf("session maintenance: %w", err)
	}
	return claim.Finish(ctx, sum, nil)
}

// repeat runs a step until less is left than one call does.
func repeat(ctx context.Context, sum *int64, run func() (int64, error)) error {
	for {
		n, err := run()
		*sum += n
		if err != nil || n < step || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// Builds removes what belongs to builds and apps that are marked deleted.
type Builds struct {
	Objects object.Store
	Log     *slog.Logger
}

// RemoveOfBuilds removes the sessions and the feedback of builds, in steps of
// claim.Checkpoint. Called again, it removes what is left.
func (b *Builds) RemoveOfBuilds(ctx context.Context, claim *worker.Claim, builds ...int64) error {
	return b.remove(ctx, claim, func(tx *storage.Tx) (int64, []string, error) {
		return session.RemoveOfBuilds(ctx, tx, builds, step)
	})
}

// RemoveOfProject does so for what belongs to an app and none of its builds.
func (b *Builds) RemoveOfProject(ctx context.Context, claim *worker.Claim, projectID int64) error {
	return b.remove(ctx, claim, func(tx *storage.Tx) (int64, []string, error) {
		return session.RemoveOfProject(ctx, tx, projectID, step)
	})
}

func (b *Builds) remove(ctx context.Context, claim *worker.Claim, part func(tx *storage.Tx) (int64, []string, error)) error {
	for {
		var n int64
		var keys []string
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			n, keys, err = part(tx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
		worker.DeleteObjects(ctx, b.Objects, b.Log, keys)
	}
}
