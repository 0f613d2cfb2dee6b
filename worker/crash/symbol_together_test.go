package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

func (w *symbolWorld) handler() *Resymbolicate {
	return &Resymbolicate{Store: w.store, Symbols: w.shelf, Log: slog.New(slog.DiscardHandler)}
}

// symbolicate runs the tasks crash:symbolicate that there are.
func (w *symbolWorld) symbolicate(dumps Dumps) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update tasks set run_at = now() where kind = 'crash:symbolicate' and state = 'queued'`)
	require.NoError(w.t, err)
	var ids []uuid.UUID
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &ids, `select id from tasks where kind = 'crash:symbolicate' and state = 'queued'`))
	h := &Symbolicate{Store: w.store, Symbols: w.shelf, Dumps: dumps, Log: slog.New(slog.DiscardHandler)}
	for _, id := range ids {
		require.NoError(w.t, h.Handle(w.t.Context(), w.claim(tasks.CrashSymbolicate, id)))
	}
}

// Reports come in while old ones are read again: every count agrees at the end.
func TestReportsWhileReadingAgain(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	const old = 600
	var docs []doc
	for i := range old {
		docs = append(docs, obfuscatedDoc("one", i%3, `"version":"1.0"`, fmt.Sprintf(`"hostname":"h%d"`, i%5)))
	}
	for len(docs) > 0 {
		n := min(len(docs), 100)
		w.accept(docs[:n]...)
		docs = docs[n:]
	}
	w.processAll()
	_, task := w.upload("one", map[string]string{"a.b.c:0": "shop.Cart.price", "a.b.c:1": "shop.Pay.send", "a.b.c:2": "shop.Cart.price"})
	claim := w.claim(tasks.CrashResymbolicate, task)

	var both sync.WaitGroup
	both.Add(1)
	var handled error
	go func() {
		defer both.Done()
		handled = w.handler().Handle(t.Context(), claim)
	}()
	for i := range 10 {
		w.accept(obfuscatedDoc("one", i%3, `"version":"1.1"`), obfuscatedDoc("one", 7, `"version":"1.1"`))
		w.processAll()
	}
	both.Wait()
	require.NoError(t, handled)
	w.symbolicate(nil)
	require.EqualValues(t, old+20, w.number(`select sum(count)::bigint from crash_groups where root_id is null`))
	require.Zero(t, w.number(`select count(*) from crash_symbolications where state <> 'complete'`))
	require.Zero(t, w.number(`select count(*) from crash_lacks`))
	w.countsAgree()
}

// A worker is killed after the first step: the next attempt continues, nothing counts twice.
func TestReadingAgainAfterAKill(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	const n = 450
	for range n / 50 {
		var docs []doc
		for i := range 50 {
			docs = append(docs, obfuscatedDoc("one", i%2))
		}
		w.accept(docs...)
	}
	w.processAll()
	_, task := w.upload("one", map[string]string{"a.b.c:0": "shop.Cart.price", "a.b.c:1": "shop.Pay.send"})
	ctx, kill := context.WithCancel(t.Context())
	first := w.claim(tasks.CrashResymbolicate, task)
	// The killed worker stops in its second step: each looks for the mapping once.
	w.shelf.looks = 0
	w.shelf.each = func(look int) {
		if look == 2 {
			kill()
		}
	}
	require.ErrorIs(t, w.handler().Handle(ctx, first), context.Canceled)
	w.shelf.each = nil
	var progress ResymbolicateResult
	row, err := w.ledger.Get(t.Context(), ledger.Scope{}, task)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(*row.Result, &progress))
	require.Equal(t, rereadStep, progress.Done)
	require.Equal(t, n, progress.Total)
	w.countsAgree()

	_, err = w.db.ExecContext(t.Context(), `update tasks set state = 'queued', run_at = now(), heartbeat_at = null where id = $1`, task)
	require.NoError(t, err)
	sum := w.resymbolicate(task)
	require.Equal(t, n, sum.Done)
	require.ErrorIs(t, w.handler().Handle(t.Context(), first), storage.ErrStale)
	require.EqualValues(t, n, w.number(`select sum(count)::bigint from crash_groups where root_id is null`))
	w.countsAgree()
}

// Only the crashes that lacked the file are read again.
func TestOthersGoOnWaiting(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	ids := w.accept(obfuscatedDoc("one", 1), obfuscatedDoc("two", 1))
	w.processAll()
	other := w.state(ids[1])
	_, task := w.upload("one", map[string]string{"a.b.c": "shop.Cart.price"})
	require.Equal(t, 1, w.resymbolicate(task).Done, "exactly the crashes that lacked it")
	require.Equal(t, other, w.state(ids[1]))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_lacks`))
	// The same again has nothing to do.
	_, task = w.upload("one", map[string]string{"a.b.c": "shop.Cart.price"})
	require.Equal(t, uuid.Nil, task)
}

func TestColdIndexes(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.shelf.put("one", map[string]string{"a.b.c": "shop.Cart.price"})
	w.shelf.cold = true
	ids := w.accept(obfuscatedDoc("one", 1), obfuscatedDoc("one", 2))
	w.processAll()
	require.Equal(t, crash.SymbolsPending, w.state(ids[0]))
	require.EqualValues(t, 1, w.number(`select count(*) from tasks where kind = 'crash:symbolicate'`))
	group := w.groupOf(ids[0])
	w.shelf.cold = false
	w.symbolicate(nil)
	require.Equal(t, crash.SymbolsComplete, w.state(ids[1]))
	require.Equal(t, group, w.groupOf(ids[0]))
	require.Contains(t, w.group(group).Culprit, "shop.Cart.price")
	w.countsAgree()
}

// Trouble of the store delays the symbols, not the crash.
func TestBrokenStore(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.shelf.broken = errors.New("the store is down")
	ids := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	require.Equal(t, crash.SymbolsPending, w.state(ids[0]))
	require.NotZero(t, w.groupOf(ids[0]))
}

// The file arrives between the look-up and the commit: nobody would find the crash.
func TestFileArrivesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.upload("one", map[string]string{"a.b.c": "shop.Cart.price"})
	mapping := w.shelf.mappings["one"]
	delete(w.shelf.mappings, "one") // the look-up is older than the file
	ids := w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	require.Equal(t, crash.SymbolsMissing, w.state(ids[0]))
	w.shelf.put("one", mapping)
	w.symbolicate(nil)
	require.Equal(t, crash.SymbolsComplete, w.state(ids[0]))
	require.Zero(t, w.number(`select count(*) from symbol_needs`))
}

// dumps is a Dumps of one report.
type dumps struct {
	report []byte
	err    error
}

func (d dumps) Report(context.Context, symbolicate.Place, string, string, int64, []byte) ([]byte, error) {
	return d.report, d.err
}

func (w *symbolWorld) acceptDump(d doc) uuid.UUID {
	w.t.Helper()
	in := w.incoming(d)
	in.Format = "minidump"
	key := received.AttachmentPrefix + uuid.NewString()
	in.Attachments = []received.Attachment{{ID: uuid.New(), Name: "upload_file_minidump", Size: 4, ObjectKey: key}}
	w.processAll()
	return w.acceptAll(in)[0]
}

func TestDumps(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	id := w.acceptDump(doc{attributes: `"version":"1.0"`})
	bad := w.acceptDump(doc{})
	w.processAll()
	require.Equal(t, crash.SymbolsPending, w.state(id))
	require.EqualValues(t, 2, w.number(`select count(*) from crashes where state = 'stored'`))
	read := doc{function: "Pay", attributes: `"version":"1.0","fault.address":"0x0"`}.bytes()
	var tasksOf []uuid.UUID
	require.NoError(t, w.db.SelectContext(t.Context(), &tasksOf,
		`select id from tasks where kind = 'crash:symbolicate' order by (payload->>'batch_id')`))
	require.Len(t, tasksOf, 2)
	h := &Symbolicate{Store: w.store, Symbols: w.shelf, Dumps: dumps{report: read}, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, h.Handle(t.Context(), w.claim(tasks.CrashSymbolicate, tasksOf[0])))
	h.Dumps = dumps{err: symbol.Invalid(symbol.Truncated, "the dump ends after 4 bytes")}
	require.NoError(t, h.Handle(t.Context(), w.claim(tasks.CrashSymbolicate, tasksOf[1])))

	d, err := reading.CrashByID(t.Context(), w.store, w.org, id)
	require.NoError(t, err)
	require.Equal(t, crash.Processed, d.State)
	require.JSONEq(t, string(read), string(d.Symbols.Report))
	require.Contains(t, string(d.Attributes), "fault.address")
	require.EqualValues(t, 1, w.group(*d.GroupID).Count)
	require.EqualValues(t, 1, w.number(`select crashes from crash_versions where version = '1.0'`), "counted once")
	failed, err := reading.CrashByID(t.Context(), w.store, w.org, bad)
	require.NoError(t, err)
	require.Equal(t, crash.Failed, failed.State)
	require.Contains(t, *failed.Error, "ends after 4 bytes")
	require.NotNil(t, failed.Document, "its bytes stay")
	w.countsAgree()
}

func TestRemovalTakesSymbolsAlong(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.accept(obfuscatedDoc("one", 1, `"user.id":"42"`), obfuscatedDoc("one", 2, `"user.id":"7"`))
	w.processAll()
	require.EqualValues(t, 2, w.number(`select count(*) from crash_symbolications`))
	remove := func(value string) {
		found, err := crash.Carriers(t.Context(), w.db, w.org, 0, condition.Attribute{Key: "user.id", Value: value}, 10)
		require.NoError(t, err)
		plan, _, err := w.store.PlanRemoval(t.Context(), w.org, found)
		require.NoError(t, err)
		require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
			_, err := w.store.Remove(t.Context(), tx, plan)
			return err
		}))
	}
	remove("42")
	require.EqualValues(t, 1, w.number(`select count(*) from crash_symbolications`))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_lacks`))
	require.EqualValues(t, 1, w.number(`select count(*) from symbol_needs`))
	remove("7")
	require.Zero(t, w.number(`select count(*) from crash_symbolications`))
	require.Zero(t, w.number(`select count(*) from symbol_needs`))
	// Age takes them, too.
	w.accept(obfuscatedDoc("one", 1))
	w.processAll()
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := w.store.Expire(t.Context(), tx, time.Now().Add(time.Hour), 10)
		return err
	}))
	require.Zero(t, w.number(`select (select count(*) from crash_symbolications) + (select count(*) from crash_lacks)`))
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := need.Expire(t.Context(), tx, time.Now().Add(time.Hour), 0, 10)
		return err
	}))
	require.Zero(t, w.number(`select count(*) from symbol_needs`))
}
