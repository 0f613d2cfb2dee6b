package crash

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// Resymbolicate is the handler of crash:resymbolicate: symbols arrived, and it reads exactly
// the crashes again that lacked one of their files, the newest first.
//
// Every step is one transaction that checks the claim, gives some hundred crashes their
// frames and keys, and stores the place that was reached: after a kill the next attempt
// continues there. A crash that still lacks a file goes on waiting for it.
type Resymbolicate struct {
	Store   *crash.Store
	Symbols symbolicate.Source // waits
	Dumps   Dumps
	// Duplicates is that of Process.
	Duplicates int
	Log        *slog.Logger
}

// ResymbolicateResult is the progress of the task, and its result.
type ResymbolicateResult struct {
	Total   int `json:"total"`
	Done    int `json:"done"`
	Changed int `json:"changed"` // got another key
	Moved   int `json:"moved"`   // of these, to another group
	Split   int `json:"split"`   // groups that were made
	Put     int `json:"put_off"` // cannot be read now: tasks of their own read them
	// Cursor is the crash that was read last.
	Cursor uuid.UUID `json:"cursor"`
}

// rereadStep is how many crashes one transaction reads again: some tens of milliseconds in
// which the project counts nothing else, and some hundred where all of them move.
const rereadStep = 100

// Handle reads the crashes.
func (s *Resymbolicate) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.SymbolPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	sum := ResymbolicateResult{Cursor: uuid.Max}
	if err := claim.ReadProgress(&sum); err != nil {
		return err
	}
	db, organization := s.Store.DB(), claim.OrganizationID()
	again := &rereader{store: s.Store, reader: reader{symbols: s.Symbols, log: s.Log}, dumps: s.Dumps, duplicates: s.Duplicates}
	for {
		needs, err := symbolfile.Serves(ctx, db, organization, payload.SymbolID)
		if err != nil {
			return err
		}
		ids, err := need.Crashes(ctx, db, needs, sum.Cursor, rereadStep)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return claim.Finish(ctx, sum, nil)
		}
		if sum.Total == 0 {
			if sum.Total, err = need.Count(ctx, db, needs, sum.Cursor); err != nil {
				return err
			}
		}
		if sum, err = s.step(ctx, claim, again, ids, sum); err != nil {
			return err
		}
	}
}

// step reads some crashes again and returns the sum with them.
func (s *Resymbolicate) step(ctx context.Context, claim *worker.Claim, again *rereader, ids []uuid.UUID,
	sum ResymbolicateResult) (ResymbolicateResult, error) {
	organization := claim.OrganizationID()
	crashes, err := again.read(ctx, organization, ids)
	var off []crash.Crash
	if err != nil && ctx.Err() == nil {
		// One of the files cannot be fetched: it holds up its own crashes only.
		if crashes, off, err = s.readEach(ctx, again, organization, ids); err != nil {
			return sum, err
		}
	} else if err != nil {
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
		next.Done, next.Cursor = sum.Done+len(ids), ids[len(ids)-1]
		next.Total = max(sum.Total, next.Done)
		next.Changed, next.Moved, next.Split = sum.Changed+done.Changed, sum.Moved+done.Moved, sum.Split+done.Split
		next.Put = sum.Put + len(off)
		return claim.SaveProgress(ctx, tx, next)
	})
	if err != nil {
		return sum, err
	}
	return next, nil
}

// readEach reads crashes one by one; off are those that cannot be read now.
func (s *Resymbolicate) readEach(ctx context.Context, again *rereader, organization int64, ids []uuid.UUID) (crashes,
	off []crash.Crash, err error) {
	for _, id := range ids {
		one, err := again.read(ctx, organization, []uuid.UUID{id})
		switch {
		case err == nil:
			crashes = append(crashes, one...)
		case ctx.Err() != nil:
			return nil, nil, err
		default:
			s.Log.WarnContext(ctx, "crash cannot be symbolicated now", "crash_id", id, "error", err)
			off = append(off, crash.Crash{ID: id, State: crash.Processed, Symbols: &crash.Symbolication{State: crash.SymbolsPending}})
		}
	}
	return crashes, off, nil
}
