package crash

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// benchWorld is a world that belongs to no test.
func benchWorld(b *testing.B) *world {
	b.Helper()
	db := servicetest.DB(b)
	store, err := crash.New(db)
	require.NoError(b, err)
	w := &world{db: db, store: store, ledger: ledger.New(db)}
	require.NoError(b, db.GetContext(b.Context(), &w.org,
		`insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	require.NoError(b, db.GetContext(b.Context(), &w.project,
		`insert into crash_projects (organization_id, name) values ($1, 'p') returning id`, w.org))
	return w
}

// workOff processes what waits, as one worker does, and returns the number of tasks.
func (w *world) workOff(b *testing.B) (batches int) {
	b.Helper()
	return w.workOffWith(b, &Process{Store: w.store, Log: slog.New(slog.DiscardHandler)})
}

func (w *world) workOffWith(b *testing.B, process *Process) (batches int) {
	b.Helper()
	for {
		claimed, err := w.ledger.Claim(b.Context(), ledger.ClaimRequest{Kind: tasks.CrashProcess.Name, OrganizationID: w.org,
			Worker: "w", Batch: tasks.CrashProcess.Batch, MaxWeight: tasks.CrashProcess.MaxWeight})
		require.NoError(b, err)
		if len(claimed) == 0 {
			return batches
		}
		require.NoError(b, process.Handle(b.Context(), worker.NewClaim(w.db, claimed)))
		batches += len(claimed)
	}
}

// BenchmarkPurge removes 2,000 reports of 4 KB from 200 batches of 40, of which
// each holds ten.
func BenchmarkPurge(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := benchWorld(b)
		for range 200 {
			var in []received.Incoming
			for i := range 40 {
				in = append(in, w.incoming(doc{function: fmt.Sprint("f", i%7), attributes: fmt.Sprintf(`"user":"u%d","pad":"%4000d"`, i%4, i)}))
			}
			_, _, err := w.store.Accept(b.Context(), in, tasks.NewCrashProcess)
			require.NoError(b, err)
		}
		w.workOff(b)
		task := tasks.NewCrashPurge(w.org, "", tasks.CrashPurgePayload{Key: "user", Value: "u1"})
		_, err := ledger.Insert(b.Context(), w.db, task)
		require.NoError(b, err)
		claimed, err := w.ledger.Claim(b.Context(), ledger.ClaimRequest{ID: task.ID, Worker: "w"})
		require.NoError(b, err)
		b.StartTimer()
		started := time.Now()
		require.NoError(b, w.purger().Handle(b.Context(), worker.NewClaim(w.db, claimed)))
		b.ReportMetric(2000/time.Since(started).Seconds(), "reports/s")
	}
}
