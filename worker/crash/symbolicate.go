package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/rule"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

// Dumps reads native dumps.
type Dumps interface {
	// Report returns the report that a dump makes, from the report that was stored for it and
	// the dump's bytes. *symbol.InvalidError for a dump that cannot be read; storage.ErrNotFound
	// when its bytes are gone.
	Report(ctx context.Context, place symbolicate.Place, format, objectKey string, size int64, base []byte) ([]byte, error)
}

// Symbolicate is the handler of crash:symbolicate: it reads crashes of a batch again whose
// indexes were not at hand when they were processed, and dumps. It waits for the indexes; an
// error of the store is one of the attempt.
type Symbolicate struct {
	Store   *crash.Store
	Symbols symbolicate.Source // waits
	Dumps   Dumps
	// Duplicates is that of Process.
	Duplicates int
	Log        *slog.Logger
}

// SymbolicateResult is the task's result.
type SymbolicateResult struct {
	Crashes int `json:"crashes"` // that were read again
	Changed int `json:"changed"` // that got another key
	Failed  int `json:"failed"`  // dumps that cannot be read
}

// Handle reads the crashes.
func (s *Symbolicate) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashSymbolicatePayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, 0, len(payload.Entries))
	for _, n := range payload.Entries {
		if n < 0 || n >= received.MaxBatch {
			return tasks.Permanent(fmt.Errorf("no entry %d in a batch", n))
		}
		id := payload.BatchID
		id[15] = byte(n)
		ids = append(ids, id)
	}
	again := &rereader{store: s.Store, reader: reader{symbols: s.Symbols, log: s.Log}, dumps: s.Dumps, duplicates: s.Duplicates}
	crashes, err := again.read(ctx, claim.OrganizationID(), ids)
	if err != nil {
		return err
	}
	return claim.Finish(ctx, nil, func(tx *storage.Tx) error {
		done, err := crash.ReadAgain(ctx, tx, claim.OrganizationID(), crashes)
		if err != nil {
			return err
		}
		result := SymbolicateResult{Crashes: done.Crashes, Changed: done.Changed}
		for i := range crashes {
			if crashes[i].State == crash.Failed {
				result.Failed++
			}
		}
		if err := claim.SaveResult(ctx, tx, result); err != nil {
			return err
		}
		if err := crash.EmitGroups(ctx, tx, claim.OrganizationID(), crashes); err != nil {
			return err
		}
		if err := insertRules(ctx, tx, claim.OrganizationID(), payload.BatchID); err != nil || payload.Again {
			return err
		}
		return insertSymbolicate(ctx, tx, claim.OrganizationID(), crashes, true)
	})
}

// lateDelay lets the files of one upload arrive before a crash that lacked one of them is read
// again.
const lateDelay = 5 * time.Second

// insertSymbolicate inserts the tasks that read crashes again: those whose symbols are
// pending, and those whose symbols came while they were read. again marks the second time:
// there is no third.
func insertSymbolicate(ctx context.Context, tx *storage.Tx, organization int64, crashes []crash.Crash, again bool) error {
	list := symbolicateTasks(organization, crashes, again)
	if len(list) == 0 {
		return nil
	}
	_, err := ledger.InsertAll(ctx, tx, list)
	return err
}

// insertFollowing inserts, by one statement, the tasks that follow from the first reading of crashes:
// those that read them again, and those that evaluate the rules of the organization for batches.
func insertFollowing(ctx context.Context, tx *storage.Tx, organization int64, crashes []crash.Crash, ruled []uuid.UUID) error {
	list := symbolicateTasks(organization, crashes, false)
	if list = append(list, tasks.NewCrashRules(organization, ruled, len(list) > 0)...); len(list) == 0 {
		return nil
	}
	_, err := ledger.InsertAll(ctx, tx, list)
	return err
}

// insertRules inserts the task that evaluates rules for a batch whose crashes have got their symbols, and
// with them other groups perhaps.
func insertRules(ctx context.Context, tx *storage.Tx, organization int64, batch uuid.UUID) error {
	ruled, err := rule.Any(ctx, tx, organization)
	if err != nil || !ruled {
		return err
	}
	_, err = ledger.InsertAll(ctx, tx, tasks.NewCrashRules(organization, []uuid.UUID{batch}, false))
	return err
}

func symbolicateTasks(organization int64, crashes []crash.Crash, again bool) (list []*ledger.NewTask) {
	type key struct {
		batch uuid.UUID
		late  bool
	}
	entries := map[key][]int{}
	for i := range crashes {
		y := crashes[i].Symbols
		if y == nil || y.State != crash.SymbolsPending && !y.Late || crashes[i].State == crash.Failed {
			continue
		}
		batch, n := received.SplitID(crashes[i].ID)
		k := key{batch, y.Late}
		entries[k] = append(entries[k], n)
	}
	for _, k := range slices.SortedFunc(maps.Keys(entries), func(a, b key) int { return slices.Compare(a.batch[:], b.batch[:]) }) {
		t := tasks.NewCrashSymbolicate(organization, "", k.batch, entries[k], again)
		if k.late || again {
			t.Delay = lateDelay
		}
		list = append(list, t)
	}
	return list
}

// dumpFile begins the name of the attachment that has a dump; its format follows.
const dumpFile = "upload_file_"

// rereader reads crashes that were processed before.
type rereader struct {
	store      *crash.Store
	reader     reader
	dumps      Dumps
	duplicates int
}

// read reads crashes of an organization again, in their order. One that is gone, or whose
// report cannot be read, is left out: it stays as it is.
func (r *rereader) read(ctx context.Context, organization int64, ids []uuid.UUID) ([]crash.Crash, error) {
	stored, err := r.store.Symbolications(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	again := &rereading{rereader: r, stored: stored, byID: make(map[uuid.UUID]crash.Crash, len(ids))}
	if again.files, err = received.AttachmentsOf(ctx, r.store.DB(), organization, ids, dumpFile); err != nil {
		return nil, err
	}
	if again.looks, err = r.reader.look(ctx, organization); err != nil {
		return nil, err
	}
	held := 0 // bytes
	// Some batches at a time: inflated they are large.
	err = r.store.EachBatch(ctx, organization, ids, func(b *received.Batch, ids []uuid.UUID) error {
		if err := again.readBatch(ctx, b, ids); err != nil {
			return err
		}
		// The reports that wait for their symbols keep their batches in memory.
		if held += len(b.Body); held >= partKilobytes<<10 {
			again.looks.end(ctx)
			held = 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	again.looks.end(ctx)
	if again.err != nil {
		return nil, again.err
	}
	crashes := make([]crash.Crash, 0, len(again.byID))
	for _, id := range ids {
		if c, there := again.byID[id]; there {
			crashes = append(crashes, c)
		}
	}
	r.store.PackSymbolications(crashes)
	return crashes, nil
}

// rereading are crashes that are read again together.
type rereading struct {
	*rereader
	looks  *looks
	stored map[uuid.UUID]*crash.Symbolication
	files  map[uuid.UUID][]received.Attachment
	byID   map[uuid.UUID]crash.Crash
	err    error // of a look-up
}

func (r *rereading) readBatch(ctx context.Context, b *received.Batch, ids []uuid.UUID) error {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, n := received.SplitID(id)
		if n >= len(b.Entries) || b.Entries[n].Deleted {
			continue
		}
		if err := r.readAgain(ctx, b, n, id); err != nil {
			return err
		}
	}
	return r.err
}

// keep keeps a crash that was read again.
func (r *rereading) keep(id uuid.UUID, c crash.Crash) {
	c.Duplicates = min(c.Duplicates, cmp.Or(r.duplicates, DefaultDuplicates))
	r.byID[id] = c
}

// readAgain reads one crash; one that stays as it is is not kept.
func (r *rereading) readAgain(ctx context.Context, b *received.Batch, entry int, id uuid.UUID) error {
	c, stored := entryCrash(b, entry), r.stored[id]
	doc, err := b.Document(entry)
	if err != nil {
		return nil
	}
	var made []byte // the report of a dump
	if c.Format != formatJSON {
		made, err = r.dump(ctx, b.OrganizationID, &c, doc)
		var invalid *symbol.InvalidError
		switch {
		case errors.As(err, &invalid):
			r.keepUnreadable(id, c, doc, invalid)
			return nil
		case errors.Is(err, storage.ErrNotFound) && stored != nil && stored.Report != nil:
			made = stored.Report
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		doc = made
	}
	p, err := report.Parse(doc)
	if err != nil {
		return nil
	}
	fillColumns(&c, p)
	r.looks.add(ctx, b.OrganizationID, &c, p, doc, func(found *symbolicate.Result, err error) {
		if err != nil {
			if r.err == nil {
				r.err = err
			}
			return
		}
		r.reader.group(&c, p, found, b.Libraries[c.ProjectID])
		if c.Symbols == nil {
			c.Symbols = &crash.Symbolication{State: crash.SymbolsNone}
		}
		c.Symbols.Report, c.Symbols.Explanation = made, c.Explanation
		r.keep(id, c)
	})
	return nil
}

// keepUnreadable keeps a crash whose dump cannot be read as failed.
func (r *rereading) keepUnreadable(id uuid.UUID, c crash.Crash, doc []byte, why *symbol.InvalidError) {
	base, err := report.Parse(doc)
	if err != nil {
		return
	}
	fillColumns(&c, base)
	c.State, c.Error = crash.Failed, clean("the dump cannot be read: "+why.Reason, maxText)
	c.Symbols = &crash.Symbolication{State: crash.SymbolsNone}
	r.keep(id, c)
}

// dump returns the report of a dump.
func (r *rereading) dump(ctx context.Context, organization int64, c *crash.Crash, base []byte) ([]byte, error) {
	if r.dumps == nil {
		return nil, storage.ErrNotFound
	}
	files := r.files[c.ID]
	for i := range files {
		if a := &files[i]; a.Name == dumpFile+c.Format {
			return r.dumps.Report(ctx, symbolicate.Place{OrganizationID: organization, ProjectID: c.ProjectID}, c.Format, a.ObjectKey, a.Size, base)
		}
	}
	return nil, storage.ErrNotFound
}
