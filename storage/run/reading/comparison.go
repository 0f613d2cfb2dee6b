package reading

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// Good is the last job that passed before a job, of the same case on the same target.
type Good struct {
	JobID      uuid.UUID `db:"job_id"` // of the job that is compared
	ID         uuid.UUID `db:"id"`
	RunID      uuid.UUID `db:"run_id"`
	BuildName  string    `db:"build_name"`
	RevisionID string    `db:"revision_id"`
	CreatedAt  time.Time `db:"created_at"` // of the run
}

// LookedBack is how many runs before a run are looked at for a good one: what has not
// passed for so long is compared with nothing.
const LookedBack = 200

// goodJobs reads a range as in casesHistory.
var goodJobs = `
select j.id as job_id, g.* from test_jobs j cross join lateral (
	select k.id, k.run_id, r.build_name, r.revision_id, r.created_at from (
		select id, build_name, revision_id, created_at from test_runs
		where organization_id = $1 and case_id between $2 and $2 and (created_at, id) < ($3, $4::uuid)
		order by case_id, created_at desc, id desc limit $5
	) r join test_jobs k on k.run_id = r.id and k.organization_id = $1 and k.state in ('PASSED', 'FLAKY')
		and ` + failure.SameTarget("k.target") + ` = ` + failure.SameTarget("j.target") + `
		and k.row_place is not distinct from j.row_place
	order by r.created_at desc, r.id desc, k.position limit 1
) g
where j.run_id = $4::uuid and j.organization_id = $1`

// GoodBefore returns for the jobs of a run, by their ids, the last good ones before them.
func GoodBefore(ctx context.Context, q storage.Querier, organizationID int64, r *run.Run) (map[uuid.UUID]Good, error) {
	var rows []Good
	if err := q.SelectContext(ctx, &rows, goodJobs, organizationID, r.CaseID, r.CreatedAt, r.ID, LookedBack); err != nil {
		return nil, storage.Wrap(err, "last good run before "+r.ID.String())
	}
	good := make(map[uuid.UUID]Good, len(rows))
	for _, row := range rows {
		good[row.JobID] = row
	}
	return good, nil
}

// StepPair is a step in two runs; nil where it was not in one.
type StepPair struct{ Then, Now *playback.Record }

// PairSteps puts the steps of two runs beside each other, in the order of the newer one. A
// step that the older run had alone follows the step that it followed there.
func PairSteps(then, now []playback.Record) []StepPair {
	at := make(map[string][]int, len(then))
	for i := range then {
		at[then[i].StepID] = append(at[then[i].StepID], i)
	}
	partner, used := make([]int, len(now)), make([]bool, len(then))
	for i := range now {
		partner[i] = -1
		if places := at[now[i].StepID]; len(places) > 0 {
			partner[i], at[now[i].StepID] = places[0], places[1:]
			used[places[0]] = true
		}
	}
	pairs := make([]StepPair, 0, max(len(then), len(now)))
	alone := func(from int) {
		for i := from; i < len(then) && !used[i]; i++ {
			pairs, used[i] = append(pairs, StepPair{Then: &then[i]}), true
		}
	}
	alone(0)
	for i := range now {
		if partner[i] < 0 {
			pairs = append(pairs, StepPair{Now: &now[i]})
			continue
		}
		pairs = append(pairs, StepPair{Then: &then[partner[i]], Now: &now[i]})
		alone(partner[i] + 1)
	}
	return pairs
}

// slower is how much longer a step takes that is said to be slower: twice as long, and at
// least half a second. Less is seen between any two runs.
const slower = 500

// Differences names what differs between the two: status, message, duration.
func (p StepPair) Differences() []string {
	list := []string{}
	if p.Then == nil || p.Now == nil {
		return append(list, "presence")
	}
	if p.Then.Status != p.Now.Status {
		list = append(list, "status")
	}
	if p.Then.Result.Message != p.Now.Result.Message {
		list = append(list, "message")
	}
	short, long := min(p.Then.TookMS, p.Now.TookMS), max(p.Then.TookMS, p.Now.TookMS)
	if long-short >= slower && long >= 2*short {
		list = append(list, "duration")
	}
	return list
}

// Jobs reads jobs by their ids with their records as far as Records goes. Those that
// are gone are left out.
func Jobs(ctx context.Context, q storage.Querier, organizationID int64, ids []uuid.UUID) (map[uuid.UUID]*run.Job, error) {
	var rows []run.JobRow
	if len(ids) == 0 {
		return map[uuid.UUID]*run.Job{}, nil
	}
	err := q.SelectContext(ctx, &rows, `select `+run.JobColumns+` from test_jobs j where j.organization_id = $1 and j.id = any($2::uuid[])`,
		organizationID, storage.UUIDs(ids))
	if err != nil {
		return nil, storage.Wrap(err, "read test jobs")
	}
	found, list := make(map[uuid.UUID]*run.Job, len(rows)), make([]*run.Job, 0, len(rows))
	for i := range rows {
		job, err := rows[i].Job()
		if err != nil {
			return nil, err
		}
		found[job.ID] = &job
		list = append(list, &job)
	}
	return found, Records(ctx, q, list)
}
