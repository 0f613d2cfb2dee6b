package crash

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// A client that sends a purged report again brings nothing back, for as long as reports
// are kept.
func TestPurgedReportStaysPurged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	person, other := doc{uuid: uuid.New(), function: "f", attributes: `"user":"ann"`, at: time.Now()},
		doc{uuid: uuid.New(), function: "f", attributes: `"user":"ann"`, at: time.Now()}
	ids := w.accept(person)
	w.process()
	ids = append(ids, w.accept(other)...) // not processed
	require.Equal(t, 2, w.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	again := func() (outcomes []received.Outcome) {
		for _, in := range [][]received.Incoming{{w.incoming(person)}, {w.incoming(other)}, {w.incoming(person), w.incoming(other)}} {
			receipts, _, err := w.store.Accept(t.Context(), in, tasks.NewCrashProcess)
			require.NoError(t, err)
			for _, r := range receipts {
				outcomes = append(outcomes, r.Outcome)
				require.Contains(t, ids, r.ID)
			}
		}
		return outcomes
	}
	require.Equal(t, []received.Outcome{received.Resent, received.Resent, received.Resent, received.Resent}, again())
	require.Zero(t, w.number(`select count(*) from crash_batches`))
	require.EqualValues(t, 2, w.number(`select count(*) from crash_uuids`))

	// Another body under the uuid is another report.
	changed := person
	changed.attributes = `"user":"bob"`
	w.accept(changed)
	w.process()
	require.EqualValues(t, 1, w.number(`select count(*) from crashes where uuid_conflict_of = $1`, ids[0]))

	r, err := NewRetention(w.store, w.objects, 90, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, tt := range []struct{ days, want int }{{89, 0}, {91, 2}} {
		r.Now = func() time.Time { return time.Now().AddDate(0, 0, tt.days) }
		id := w.insert(tasks.NewMaintenance(tasks.CrashRetention))
		claimed, err := w.ledger.Claim(t.Context(), ledger.ClaimRequest{ID: id, Kind: tasks.CrashRetention.Name, Worker: "test"})
		require.NoError(t, err)
		require.NoError(t, r.Handle(bounded(t), worker.NewClaim(w.db, claimed)))
		var out RetentionResult
		w.result(id, &out)
		require.Equal(t, tt.want, out.Purged)
	}
	require.Zero(t, w.number(`select count(*) from crash_uuids`))
}
