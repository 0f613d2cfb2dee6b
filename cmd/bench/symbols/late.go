package symbols

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
)

const (
	lateReports = 100_000
	lateRate    = 500 // new reports a second meanwhile
	lateTarget  = 5 * time.Second
	// lateLimit bounds each of the two halves, the first processing and the reading again:
	// a slow machine measures fewer crashes and says so.
	lateLimit = 4 * time.Minute
)

// measureLate measures how long new reports wait to be processed while those that lacked a
// mapping are read again.
func measureLate(ctx context.Context) error {
	b, err := StartBench(ctx)
	if err != nil {
		return err
	}
	defer b.Stop()
	m := newRetraceMapping(mappingSize)
	warm, waiting := symbolicate.NewLibraries(b.DB, b.library)
	stored, err := b.lacking(ctx, m, warm)
	if err != nil {
		return err
	}
	var newest uuid.UUID // those that come in meanwhile are not of this task
	if err := b.DB.GetContext(ctx, &newest, `select id from crashes order by id desc limit 1`); err != nil {
		return err
	}
	upload, err := b.upload(ctx, "bench", m.text)
	if err != nil {
		return err
	}
	task := tasks.NewCrashResymbolicate(b.Org, "", upload)
	if _, err := ledger.Insert(ctx, b.DB, task); err != nil {
		return err
	}
	claimed, err := b.Ledger.Claim(ctx, ledger.ClaimRequest{ID: task.ID, Kind: task.Kind, OrganizationID: b.Org, Worker: "bench"})
	if err != nil {
		return err
	}
	start, done := time.Now(), make(chan error, 1)
	limited, cancel := context.WithTimeout(ctx, lateLimit)
	defer cancel()
	go func() {
		h := &workcrash.Resymbolicate{Store: b.store, Symbols: waiting, Log: slog.New(slog.DiscardHandler)}
		err := h.Handle(limited, worker.NewClaim(b.DB, claimed))
		if limited.Err() != nil && ctx.Err() == nil {
			err = nil // the limit: what was seen counts
		}
		done <- err
	}()
	longest, reports, err := b.reportUntil(ctx, done, warm, func(i int) []byte { return m.javaReport(i, "bench") })
	if err != nil {
		return err
	}
	took := time.Since(start)
	var left int
	if err := b.DB.GetContext(ctx, &left, `select count(distinct crash_id) from crash_lacks where crash_id <= $1`, newest); err != nil {
		return err
	}
	read := stored - left
	measure.Row(fmt.Sprintf("%d of %d crashes that lacked symbols read again in %s (%.0f a second) while %d reports come in: longest "+
		"wait of one",
		read, stored, measure.Round(took), float64(read)/took.Seconds(), reports), measure.Round(longest), lateTarget.String(),
		longest < lateTarget && left == 0 && stored == lateReports)
	return nil
}

// lacking accepts and processes reports whose mapping is not there, up to lateReports within
// lateLimit, and returns how many.
func (b *Bench) lacking(ctx context.Context, m *retraceMapping, warm symbolicate.Source) (n int, err error) {
	const step = 5000
	var stored atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d reports without symbols", stored.Load(), lateReports) })()
	for start := time.Now(); n < lateReports && time.Since(start) < lateLimit; n += step {
		stored.Store(int64(n))
		if err := b.accept(ctx, step, func(i int) []byte { return m.javaReport(n+i, "bench") }); err != nil {
			return n, err
		}
		if err := b.process(ctx, warm); err != nil {
			return n, err
		}
	}
	return n, nil
}

// reportUntil accepts and processes reports at a rate until something is done, and returns
// the longest time from the acceptance of one to its end.
func (b *Bench) reportUntil(ctx context.Context, done <-chan error, warm symbolicate.Source,
	report func(i int) []byte) (longest time.Duration, reports int, err error) {
	defer progress.Waits(ctx, "the reports that lacked symbols to be read again")()
	tick := time.NewTicker(time.Second / 5)
	defer tick.Stop()
	for {
		due := time.Now()
		if err := b.accept(ctx, lateRate/5, func(i int) []byte { return report(reports + i) }); err != nil {
			return 0, 0, err
		}
		reports += lateRate / 5
		if err := b.process(ctx, warm); err != nil {
			return 0, 0, err
		}
		longest = max(longest, time.Since(due))
		select {
		case err := <-done:
			return longest, reports, err
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-tick.C:
		}
	}
}
