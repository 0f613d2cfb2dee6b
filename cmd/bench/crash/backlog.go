package crash

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/tasks"
)

const (
	// backlogWriters store commits of one report each: what a receiver leaves behind whose
	// workers were away while reports trickled in.
	backlogWriters = 8
)

// While the trigger is there, tasks are due in an hour.
const (
	holdTasks = `
create or replace function bench_later() returns trigger language plpgsql as $$
begin new.run_at := now() + interval '1 hour'; return new; end $$;
create trigger bench_later before insert on tasks for each row when (new.kind = 'crash:process')
	execute function bench_later()`
	releaseTasks = `
drop trigger bench_later on tasks;
update tasks set run_at = now() where kind = 'crash:process' and state = 'queued'`
)

// measureBacklog stores commits of one report each while tasks are held back, makes all
// due at once, and waits for the workers.
func (b *bench) measureBacklog(ctx context.Context) error {
	if _, err := b.share(ctx, 1); err != nil {
		return err
	}
	var project struct {
		ID           int64 `db:"id"`
		Organization int64 `db:"organization_id"`
	}
	if err := b.db.GetContext(ctx, &project, `select p.id, p.organization_id from crash_projects p
		join crash_tokens t on t.crash_project_id = p.id order by t.id limit 1`); err != nil {
		return fmt.Errorf("crash project: %w", err)
	}
	store, err := crash.New(b.db)
	if err != nil {
		return err
	}
	if _, err := b.db.ExecContext(ctx, holdTasks); err != nil {
		return fmt.Errorf("hold the backlog: %w", err)
	}
	errs := make([]error, backlogWriters)
	var stored atomic.Int64
	stop := progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d commits to be stored", stored.Load(), b.Backlog) })
	var wait sync.WaitGroup
	for w := range backlogWriters {
		wait.Go(func() {
			for n := 0; n < b.Backlog/backlogWriters && errs[w] == nil; n++ {
				id := uuid.New()
				document := b.all[(w+n)%len(b.all)].With(id)
				_, _, errs[w] = store.Accept(ctx, []received.Incoming{{OrganizationID: project.Organization, ProjectID: project.ID,
					UUID: id, Digest: sha256.Sum256(document), Document: document, Format: "json"}}, tasks.NewCrashProcess)
				stored.Add(1)
			}
		})
	}
	wait.Wait()
	stop()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("store the backlog: %w", err)
	}
	if _, err := b.db.ExecContext(ctx, releaseTasks); err != nil {
		return fmt.Errorf("make the backlog due: %w", err)
	}
	took, err := b.drained(ctx)
	if err != nil {
		return err
	}
	commits := b.Backlog / backlogWriters * backlogWriters
	regression.Measured(ctx, b.Size+" backlog", b.drainRow(fmt.Sprintf("drain of a backlog of %d commits of one report", commits),
		commits, took, b.burst))
	return nil
}
