package build

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Crashes removes the crashes of builds.
type Crashes interface {
	// RemoveOfBuilds removes the crashes that came from builds, in steps of
	// claim.Checkpoint. Called again, it removes what is left.
	RemoveOfBuilds(ctx context.Context, claim *worker.Claim, organizationID int64, builds ...int64) error
}

// Sessions removes the sessions and the feedback of builds and apps, in steps of
// claim.Checkpoint. Called again, they remove what is left.
type Sessions interface {
	RemoveOfBuilds(ctx context.Context, claim *worker.Claim, builds ...int64) error
	// RemoveOfProject removes what belongs to an app and none of its builds.
	RemoveOfProject(ctx context.Context, claim *worker.Claim, projectID int64) error
}

// Delete is the handler of build:delete: it removes what belongs to a build that
// is marked deleted, and its row at the end.
type Delete struct {
	Crashes  Crashes
	Sessions Sessions
	Objects  object.Store
	Log      *slog.Logger
}

// DeleteResult is the task's result, of builds and of projects.
type DeleteResult struct {
	Builds int `json:"builds,omitempty"` // of a project
	// Objects is the number of deleted files that no row named any more.
	Objects int `json:"objects"`
}

// Handle removes the build.
func (d *Delete) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.BuildPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	if err := d.Crashes.RemoveOfBuilds(ctx, claim, claim.OrganizationID(), payload.BuildID); err != nil {
		return err
	}
	if err := d.Sessions.RemoveOfBuilds(ctx, claim, payload.BuildID); err != nil {
		return err
	}
	var keys []string
	// The number of objects is known only inside the transaction.
	err = claim.Finish(ctx, nil, func(tx *storage.Tx) error {
		var err error
		if keys, err = storedfile.RemoveBuilds(ctx, tx, []int64{payload.BuildID}); err != nil {
			return err
		}
		return ledger.Result(ctx, tx, claim.Tasks[0].Token(), DeleteResult{Objects: len(keys)})
	})
	if err != nil {
		return err
	}
	worker.DeleteObjects(ctx, d.Objects, d.Log, keys)
	return nil
}

// DeleteProject is the handler of project:delete: it removes all builds of a
// project like Delete, then the project.
type DeleteProject struct {
	DB       *storage.DB
	Crashes  Crashes
	Sessions Sessions
	Objects  object.Store
	Log      *slog.Logger
}

// deleteStep builds are removed by one transaction, which locks them and their
// files: requests to copy these wait that long.
const deleteStep = 50

// Handle removes the project.
func (d *DeleteProject) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.ProjectPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var sum DeleteResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	var last []int64
	for {
		ids, err := storedfile.DeletedBuilds(ctx, d.DB, payload.ProjectID, deleteStep)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		if slices.Equal(ids, last) {
			return errors.New("deleted builds of the project do not go away")
		}
		last = ids
		if sum, err = d.step(ctx, claim, ids, sum); err != nil {
			return err
		}
	}
	if err := d.Sessions.RemoveOfProject(ctx, claim, payload.ProjectID); err != nil {
		return err
	}
	var keys []string
	err = claim.Finish(ctx, nil, func(tx *storage.Tx) error {
		var err error
		if keys, err = storedfile.RemoveProject(ctx, tx, payload.ProjectID); err != nil {
			return err
		}
		sum.Objects += len(keys)
		return ledger.Result(ctx, tx, claim.Tasks[0].Token(), sum)
	})
	if err != nil {
		return err
	}
	worker.DeleteObjects(ctx, d.Objects, d.Log, keys)
	return nil
}

// step removes builds and returns the new sum.
func (d *DeleteProject) step(ctx context.Context, claim *worker.Claim, ids []int64, sum DeleteResult) (DeleteResult, error) {
	if err := d.Crashes.RemoveOfBuilds(ctx, claim, claim.OrganizationID(), ids...); err != nil {
		return sum, err
	}
	if err := d.Sessions.RemoveOfBuilds(ctx, claim, ids...); err != nil {
		return sum, err
	}
	var keys []string
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		var err error
		if keys, err = storedfile.RemoveBuilds(ctx, tx, ids); err != nil {
			return err
		}
		sum.Builds += len(ids)
		sum.Objects += len(keys)
		return claim.SaveProgress(ctx, tx, sum)
	})
	if err != nil {
		return sum, err
	}
	worker.DeleteObjects(ctx, d.Objects, d.Log, keys)
	return sum, nil
}
