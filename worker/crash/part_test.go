package crash

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// A claim that fails has committed the parts before, and only these; what is done again is
// counted once.
func TestPartsAreCommitted(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	const batches, each = 6, partReportsMin
	for b := range batches {
		var docs []doc
		for i := range each {
			docs = append(docs, obfuscatedDoc(fmt.Sprintf("m%d-%d", b, i%2), b))
		}
		w.accept(docs...)
	}
	claim := w.claim(tasks.CrashProcess, uuid.Nil)
	require.Len(t, claim.Tasks, batches)
	p := w.processor()
	p.Symbols, p.PartTime = w.shelf, time.Nanosecond // a part is as small as it may be
	p.cost.Store(1)
	ctx, stop := context.WithCancel(t.Context())
	w.shelf.each = func(look int) {
		if look == 5 { // two for each part: the third part
			stop()
		}
	}
	require.ErrorIs(t, p.Handle(ctx, claim), context.Canceled)
	require.EqualValues(t, 2, w.number(`select count(*) from tasks where state = 'succeeded'`))
	require.EqualValues(t, batches-2, w.number(`select count(*) from tasks where state = 'running'`))
	require.EqualValues(t, 2*each, w.number(`select count(*) from crashes`))
	require.Len(t, claim.Tasks, batches-2, "those that are left")
	w.countsAgree()

	w.shelf.each = nil
	var tokens []ledger.Token
	for i := range claim.Tasks {
		tokens = append(tokens, claim.Tasks[i].Token())
	}
	_, err := w.ledger.Release(t.Context(), tokens, 0)
	require.NoError(t, err)
	require.ErrorIs(t, p.Handle(t.Context(), claim), storage.ErrStale)
	require.EqualValues(t, 2*each, w.number(`select count(*) from crashes`), "a claim that was lost writes nothing")
	w.processAll()
	require.EqualValues(t, batches, w.number(`select count(*) from tasks where kind = 'crash:process' and state = 'succeeded'`))
	require.EqualValues(t, batches*each, w.number(`select count(*) from crashes`))
	w.countsAgree()
}

// A part has no more reports than it may, whatever they cost.
func TestPartsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 10 {
		var docs []doc
		for range 200 {
			docs = append(docs, doc{function: "f"})
		}
		w.accept(docs...)
	}
	p := w.processor()
	p.PartTime = time.Hour
	claim := w.claim(tasks.CrashProcess, uuid.Nil)
	c, err := newClaimed(claim)
	require.NoError(t, err)
	part, err := p.nextPart(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, part, partReports/200)
	p.cost.Store(int64(time.Hour))
	part, err = p.nextPart(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, part, 1, "a batch is not divided")
	p.cost.Store(0)
	require.NoError(t, p.Handle(t.Context(), claim))
	require.EqualValues(t, 2000, w.number(`select max(count) from crash_groups`))

	// By bytes: each weighs what half of a part may.
	for range 5 {
		w.accept(doc{function: "f", attributes: `"x":"` + strings.Repeat("x", 100) + `"`})
	}
	claim = w.claim(tasks.CrashProcess, uuid.Nil)
	for i := range claim.Tasks {
		claim.Tasks[i].Weight = partKilobytes / 2
	}
	c, err = newClaimed(claim)
	require.NoError(t, err)
	part, err = p.nextPart(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, part, 2)
	busy := &Process{Store: w.store, Throttle: NewThrottle(func() int { return pauseFrom }), Log: slog.New(slog.DiscardHandler)}
	c, err = newClaimed(claim)
	require.NoError(t, err)
	part, err = busy.nextPart(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, part, 1, "beside a busy receiver")
	require.NoError(t, p.Handle(t.Context(), claim))
}
