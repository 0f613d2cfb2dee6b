package crash

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// Regroup is the handler of crash:regroup. It groups the stored reports of a crash project anew, by
// the rules and the libraries of now: after a change of the project's libraries, or where an upgrade
// left a group that held several bugs as it was.
//
// Every step is one transaction that checks the claim, gives up to a hundred reports their keys, and
// stores the place that was reached: after a kill the next attempt continues there. What people
// decided goes with the reports, as when symbols arrive late.
//
// A dry run reads the newest reports of each key and writes nothing but its result; after a kill it
// begins anew.
type Regroup struct {
	Store   *crash.Store
	Symbols symbolicate.Source // waits
	Dumps   Dumps
	// Duplicates is that of Process.
	Duplicates int
	Log        *slog.Logger
}

// RegroupResult is the progress of the task, and its result.
type RegroupResult struct {
	Crashes int `json:"crashes"` // that were read
	Changed int `json:"changed"` // that got another key, or would get one
	Moved   int `json:"moved"`   // of these, to another group
	Split   int `json:"split"`   // groups that were made, or would be
	// Preview is what a dry run found.
	*RegroupPreview
	Until  int64               `json:"until"` // the newest key that is looked at
	Cursor crash.RegroupCursor `json:"cursor"`
}

// Handle groups the reports, or says what that would change.
func (r *Regroup) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashRegroupPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	db, organization := r.Store.DB(), claim.OrganizationID()
	project, err := crashproject.ByID(ctx, db, organization, payload.CrashProjectID)
	if errors.Is(err, storage.ErrNotFound) {
		return tasks.Permanent(&tasks.PublicError{Text: "the crash project was deleted", Err: err})
	}
	if err != nil {
		return err
	}
	if payload.DryRun {
		sum, err := r.preview(ctx, organization, project.ID)
		if err != nil {
			return err
		}
		return claim.Finish(ctx, sum, nil)
	}
	var sum RegroupResult
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	if sum.Until == 0 {
		if sum.Until, err = crash.LastRegroupKey(ctx, db, project.ID); err != nil {
			return err
		}
	}
	for {
		rows, err := crash.RegroupCrashes(ctx, db, project.ID, sum.Cursor, sum.Until, rereadStep, rereadStep)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return claim.Finish(ctx, sum, nil)
		}
		if sum, err = r.step(ctx, claim, rows, sum); err != nil {
			return err
		}
	}
}

// step groups some reports anew and returns the sum with them.
func (r *Regroup) step(ctx context.Context, claim *worker.Claim, rows []crash.RegroupCrash, sum RegroupResult) (RegroupResult, error) {
	organization := claim.OrganizationID()
	crashes, off, err := r.read(ctx, organization, rows)
	if err != nil {
		return sum, err
	}
	next := sum
	err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		done, err := crash.ReadAgain(ctx, tx, organization, crashes)
		if err != nil {
			return err
		}
		if err := insertSymbolicate(ctx, tx, organization, append(off, crashes...), false); err != nil {
			return err
		}
		if err := crash.EmitGroups(ctx, tx, organization, crashes); err != nil {
			return err
		}
		next.Crashes, next.Cursor = sum.Crashes+len(rows), rows[len(rows)-1].Cursor()
		next.Changed, next.Moved, next.Split = sum.Changed+done.Changed, sum.Moved+done.Moved, sum.Split+done.Split
		return claim.SaveProgress(ctx, tx, next)
	})
	if err != nil {
		return sum, err
	}
	return next, nil
}

// read reads reports again; off are those whose symbols cannot be fetched now.
func (r *Regroup) read(ctx context.Context, organization int64, rows []crash.RegroupCrash) (crashes, off []crash.Crash, err error) {
	ids := make([]uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	again := &rereader{store: r.Store, reader: reader{symbols: r.Symbols, log: r.Log}, dumps: r.Dumps, duplicates: r.Duplicates}
	crashes, err = again.read(ctx, organization, ids)
	if err == nil || ctx.Err() != nil {
		return crashes, nil, err
	}
	// One of the files cannot be fetched: it holds up its own reports only.
	each := &Resymbolicate{Store: r.Store, Log: r.Log}
	return each.readEach(ctx, again, organization, ids)
}
