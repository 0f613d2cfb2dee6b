package crash

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/worker"
)

// Retention is the handler of crash:retention: it deletes batches beyond their
// age with their crashes, uuids and attachments, oldest first, and then groups
// that have not been seen for as long and have no crash left. Groups keep their
// counts: they are history. The uuids of purged reports and the days of versions
// have the same age, ids of sessions a shorter one. Each step is one transaction that checks the claim;
// after a kill the next round continues.
type Retention struct {
	Store   *crash.Store
	Objects object.Store
	Days    int // at least 1
	Now     func() time.Time
	Log     *slog.Logger
}

// RetentionResult is the task's result.
type RetentionResult struct {
	Batches int   `json:"batches"`
	Crashes int   `json:"crashes"`
	Groups  int64 `json:"groups"`
	// Purged are the uuids of purged reports that are forgotten, Sessions the ids of
	// sessions, VersionDays the days of versions, Versions those of projects with many.
	Purged      int   `json:"purged"`
	Sessions    int64 `json:"sessions"`
	VersionDays int64 `json:"version_days"`
	Versions    int64 `json:"versions"`
	Facets      int   `json:"facets"` // groups whose facets were built
}

const (
	// expireStep batches have at most 5,120 crashes: about a second.
	expireStep = 20
	groupStep  = 200
	// rowStep rows without further ones are some tens of milliseconds.
	rowStep = 1000
	// facetGroups bounds the groups of a run, facetAge is how old facets may be that
	// have values of reports that went with age.
	facetGroups = 20_000
	facetAge    = 20 * time.Hour
)

// NewRetention returns the handler; days must be positive.
func NewRetention(store *crash.Store, objects object.Store, days int, log *slog.Logger) (*Retention, error) {
	if days < 1 {
		return nil, errors.New("crash retention: days must be at least 1")
	}
	return &Retention{Store: store, Objects: objects, Days: days, Now: time.Now, Log: log}, nil
}

// Handle deletes what is older than Days.
func (r *Retention) Handle(ctx context.Context, claim *worker.Claim) error {
	before := r.Now().AddDate(0, 0, -r.Days)
	var sum RetentionResult
	for {
		var step crash.Expired
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			step, err = r.Store.Expire(ctx, tx, before, expireStep)
			return err
		})
		if err != nil {
			return err
		}
		worker.DeleteObjects(ctx, r.Objects, r.Log, step.Objects)
		sum.Batches, sum.Crashes = sum.Batches+step.Batches, sum.Crashes+step.Crashes
		if step.Batches < expireStep {
			break
		}
	}
	if err := r.groups(ctx, claim, before, &sum); err != nil {
		return err
	}
	if err := r.usage(ctx, claim, before, &sum); err != nil {
		return err
	}
	if err := r.facets(ctx, claim, &sum); err != nil {
		return err
	}
	if err := r.users(ctx, claim); err != nil {
		return err
	}
	if err := r.needs(ctx, claim, before); err != nil {
		return err
	}
	return claim.Finish(ctx, sum, nil)
}

// needs removes the needs of symbols that no crash has any more, and their sets.
func (r *Retention) needs(ctx context.Context, claim *worker.Claim, before time.Time) error {
	for _, expire := range []func(ctx context.Context, tx *storage.Tx, after int64) (int64, error){
		func(ctx context.Context, tx *storage.Tx, after int64) (int64, error) {
			return need.Expire(ctx, tx, before, after, rowStep)
		},
		func(ctx context.Context, tx *storage.Tx, after int64) (int64, error) {
			return need.ExpireSets(ctx, tx, after, rowStep)
		},
	} {
		after := int64(0)
		for {
			var last int64
			err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
				last, err = expire(ctx, tx, after)
				return err
			})
			if err != nil {
				return err
			}
			if last == 0 {
				break
			}
			after = last
		}
	}
	return nil
}

// usage forgets the uuids of reports that were purged, and the sessions and days of
// versions and projects.
func (r *Retention) usage(ctx context.Context, claim *worker.Claim, before time.Time, sum *RetentionResult) error {
	err := steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		n, err := received.ExpirePurged(ctx, tx, before, rowStep)
		sum.Purged += n
		return int64(n), err
	})
	if err != nil {
		return err
	}
	known := later(before, r.Now().Add(-usage.SessionsKnown))
	err = steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		n, err := usage.ExpireSessions(ctx, tx, known, rowStep)
		sum.Sessions += n
		return n, err
	})
	if err != nil {
		return err
	}
	err = steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		n, err := usage.ExpireDays(ctx, tx, before, rowStep)
		sum.VersionDays += n
		return n, err
	})
	if err != nil {
		return err
	}
	err = steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		n, err := usage.ExpireVersions(ctx, tx, before, rowStep)
		sum.Versions += n
		return n, err
	})
	if err != nil {
		return err
	}
	err = steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		return crash.ExpireTrend(ctx, tx, r.Now(), before, rowStep)
	})
	if err != nil {
		return err
	}
	err = steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		return crash.ExpireProjectDays(ctx, tx, r.Now(), rowStep)
	})
	if err != nil {
		return err
	}
	return steps(ctx, claim, func(tx *storage.Tx) (int64, error) {
		return crash.JoinProjectDays(ctx, tx, r.Now(), rowStep)
	})
}

// steps repeats a step, each time in a transaction that checks the claim, until it
// finds fewer than rowStep rows.
func steps(ctx context.Context, claim *worker.Claim, step func(*storage.Tx) (int64, error)) error {
	for {
		var n int64
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			n, err = step(tx)
			return err
		})
		if err != nil || n < rowStep {
			return err
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// facets builds the facets of groups that lack them or lost reports. A group whose
// reports go every hour is built once a day.
func (r *Retention) facets(ctx context.Context, claim *worker.Claim, sum *RetentionResult) error {
	before := r.Now().Add(-facetAge)
	for sum.Facets < facetGroups {
		ids, err := crash.UnbuiltFacets(ctx, r.Store.DB(), before, groupStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			err := claim.Checkpoint(ctx, func(tx *storage.Tx) error { return crash.BuildFacets(ctx, tx, id) })
			if err != nil {
				return err
			}
			sum.Facets++
		}
	}
	return nil
}

func (r *Retention) groups(ctx context.Context, claim *worker.Claim, before time.Time, sum *RetentionResult) error {
	after := int64(0)
	for {
		ids, err := crash.OldGroups(ctx, r.Store.DB(), before, after, groupStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		var n int64
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			n, err = crash.ExpireGroups(ctx, tx, before, ids)
			return err
		})
		if err != nil {
			return err
		}
		sum.Groups += n
	}
}

// users counts the users of groups from before they were counted, as many in a run as facets.
func (r *Retention) users(ctx context.Context, claim *worker.Claim) error {
	for done := 0; done < facetGroups; {
		ids, err := crash.UncountedUsers(ctx, r.Store.DB(), groupStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			err := claim.Checkpoint(ctx, func(tx *storage.Tx) error { return crash.CountUsers(ctx, tx, id) })
			if err != nil {
				return err
			}
			done++
		}
	}
	return nil
}
