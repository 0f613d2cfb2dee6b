package build

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// retainedPerPass bounds the builds that one run of the maintenance deletes: each has a
// task, and those of a first run after a long time must not fill the queue.
const retainedPerPass = 200

// Retention is the step that deletes builds beyond the retention of their organization
// or app: at most 200 a run, organizations in turns.
func Retention(db *storage.DB) Step {
	return Step{Name: "builds_beyond_retention", Run: func(ctx context.Context, limit int) (int64, error) {
		return retire(ctx, db, time.Now(), min(limit, retainedPerPass))
	}}
}

// retire deletes at most limit builds, those of an app in one transaction. An app that
// fails does not keep those of others.
func retire(ctx context.Context, db *storage.DB, now time.Time, limit int) (int64, error) {
	list, err := distribution.BuildsBeyondRetention(ctx, db, now, limit)
	if err != nil {
		return 0, err
	}
	type app struct {
		organization, project, last int64
		builds                      int
	}
	var apps []*app
	byID := map[int64]*app{}
	for _, b := range list {
		a := byID[b.ProjectID]
		if a == nil {
			a = &app{organization: b.OrganizationID, project: b.ProjectID}
			byID[a.project], apps = a, append(apps, a)
		}
		a.last, a.builds = max(a.last, b.ID), a.builds+1
	}
	var sum int64
	var failed []error
	for _, a := range apps {
		var ids []int64
		err := db.InTx(ctx, func(tx *storage.Tx) (err error) {
			ids, err = distribution.RetireBuilds(ctx, tx, a.organization, a.project, a.last, now, a.builds)
			if err != nil || len(ids) == 0 {
				return err
			}
			made := make([]*ledger.NewTask, 0, len(ids))
			for _, id := range ids {
				made = append(made, tasks.NewBuildDelete(a.organization, "", id))
			}
			_, err = ledger.InsertAll(ctx, tx, made)
			return err
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("app %d: %w", a.project, err))
			continue
		}
		sum += int64(len(ids))
	}
	return sum, errors.Join(failed...)
}
