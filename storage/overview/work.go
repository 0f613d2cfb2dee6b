package overview

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// rows is how many rows a part names.
const rows = 6

// Build is a build with its app.
type Build struct {
	ID          int64     `db:"id"`
	ProjectID   int64     `db:"project_id"`
	AppName     string    `db:"app_name"`
	Version     string    `db:"version"`
	VersionCode string    `db:"version_code"`
	Platform    string    `db:"platform"`
	Status      string    `db:"state"`
	Crashes     int64     `db:"crashes"`
	Gate        string    `db:"gate"` // the state that counts; "" for a build without a gate
	CreatedAt   time.Time `db:"created_at"`
}

// Builds are the newest builds, and the number of apps.
type Builds struct {
	Apps   Count
	Newest []Build
}

// ReadBuilds reads the newest builds.
func ReadBuilds(ctx context.Context, q storage.Querier, organization int64) (*Builds, error) {
	out := &Builds{Newest: []Build{}}
	var err error
	if out.Apps, err = number(ctx, q, "apps", "from projects where organization_id = $1 and deleted_at is null", organization); err != nil {
		return nil, err
	}
	// A build goes some time after its app.
	err = q.SelectContext(ctx, &out.Newest, `
		select b.id, b.project_id, b.app_name, b.version, b.version_code, b.platform, b.state, b.crashes,
			coalesce(g.override_state, case when g.reason = '' then g.state end, '') as gate, b.created_at
		from builds b join projects p on p.id = b.project_id and p.deleted_at is null left join gates g on g.build_id = b.id
		where b.organization_id = $1 and b.deleted_at is null order by b.id desc limit $2`, organization, rows)
	return out, storage.Wrap(err, "newest builds")
}

// SuiteRun is a run of a suite with its case runs by their states.
type SuiteRun struct {
	ID        uuid.UUID `db:"id"`
	SuiteID   uuid.UUID `db:"suite_id"`
	SuiteName string    `db:"suite_name"`
	Status    string    `db:"state"`
	Total     int       `db:"run_count"`
	Passed    int       `db:"passed"`
	Failed    int       `db:"failed"`
	Errors    int       `db:"errors"`
	CreatedAt time.Time `db:"created_at"`
}

// SuiteRuns are the last suite runs, and the number of suites.
type SuiteRuns struct {
	Suites Count
	Last   []SuiteRun
}

// ReadSuiteRuns reads the last suite runs.
func ReadSuiteRuns(ctx context.Context, q storage.Querier, organization int64) (*SuiteRuns, error) {
	out := &SuiteRuns{Last: []SuiteRun{}}
	var err error
	if out.Suites, err = number(ctx, q, "suites", "from test_suites where organization_id = $1", organization); err != nil {
		return nil, err
	}
	err = q.SelectContext(ctx, &out.Last, `
		with last as (
			select id, suite_id, suite_name, state, run_count, created_at from suite_runs
			where organization_id = $1 order by created_at desc, id desc limit $2
		)
		select s.*, n.passed, n.failed, n.errors from last s cross join lateral (
			select count(*) filter (where r.state = 'PASSED') as passed,
				count(*) filter (where r.state = 'FAILED' and r.quarantine is null) as failed,
				count(*) filter (where r.state = 'ERROR' and r.quarantine is null) as errors
			from test_runs r where r.suite_run_id = s.id and r.organization_id = $1
		) n order by s.created_at desc, s.id desc`, organization, rows)
	return out, storage.Wrap(err, "last suite runs")
}

// Schedule is a schedule that is due.
type Schedule struct {
	ID        uuid.UUID `db:"id"`
	Name      string    `db:"name"`
	State     string    `db:"state"`
	Cron      string    `db:"cron"`
	Timezone  string    `db:"timezone"`
	NextRunAt time.Time `db:"next_run_at"`
	LastError string    `db:"last_error"`
}

// Schedules are those that are due next, and the number of all.
type Schedules struct {
	Count Count
	Next  []Schedule
}

// ReadSchedules reads the schedules that are due next.
func ReadSchedules(ctx context.Context, q storage.Querier, organization int64) (*Schedules, error) {
	out := &Schedules{Next: []Schedule{}}
	var err error
	if out.Count, err = number(ctx, q, "schedules", "from test_schedules where organization_id = $1", organization); err != nil {
		return nil, err
	}
	err = q.SelectContext(ctx, &out.Next, `
		select id, name, state, coalesce(cron, '') as cron, coalesce(timezone, '') as timezone, next_run_at, last_error
		from test_schedules where organization_id = $1 and next_run_at is not null order by next_run_at, id limit $2`, organization, rows)
	return out, storage.Wrap(err, "schedules due next")
}

// Task is a task that is late or failed for good.
type Task struct {
	ID         uuid.UUID  `db:"id"`
	Kind       string     `db:"kind"`
	Queue      string     `db:"queue"`
	State      string     `db:"state"`
	RunAt      time.Time  `db:"run_at"`
	FinishedAt *time.Time `db:"finished_at"`
	Error      *string    `db:"error"` // as members read it
}

// Tasks are some of the tasks, and the number of all of them.
type Tasks struct {
	Count Count
	Tasks []Task
}

const taskColumns = `t.id, t.kind, t.queue, t.state, t.run_at, t.finished_at, t.error`

// DeadTasks reads the newest tasks that failed for good.
func DeadTasks(ctx context.Context, q storage.Querier, organization int64) (*Tasks, error) {
	return readTasks(ctx, q, "failed tasks", `select t.id from tasks t
		where t.organization_id = $1 and t.state = 'dead' order by t.id desc limit $2`, "t.id desc", organization, Reach+1)
}

// LateTasks reads the tasks of queues that have been due for longer than ledger.Lateness, those
// that wait longest first. The queues and the priorities lead to the index by which workers
// claim, which has the tasks of each in the order in which they became due.
func LateTasks(ctx context.Context, q storage.Querier, organization int64, queues []string, t Times) (*Tasks, error) {
	return readTasks(ctx, q, "late tasks",
		`select l.id from unnest($3::text[]) as n(queue) cross join unnest($5::smallint[]) as p(priority) cross join lateral (
			select t.id, t.run_at from tasks t where t.queue = n.queue and coalesce(t.organization_id, 0) = $1 and t.priority = p.priority
				and t.state = 'queued' and t.run_at < $4 order by t.run_at limit $2
		) l order by l.run_at, l.id limit $2`, "t.run_at, t.id", organization, Reach+1, pq.Array(queues), t.Now.Add(-ledger.Lateness),
		pq.Array([]int64{int64(ledger.Waited), int64(ledger.Mass), int64(ledger.Scheduled)}))
}

// readTasks reads what a statement finds: the number of all, and the first of them.
func readTasks(ctx context.Context, q storage.Querier, what, found, order string, organization int64, args ...any) (*Tasks, error) {
	var list []struct {
		Task
		All int `db:"n"`
	}
	err := q.SelectContext(ctx, &list, `with found as materialized (`+found+`)
		select (select count(*) from found) as n, `+taskColumns+` from (select id from found limit `+strconv.Itoa(rows)+`) f
		join tasks t on t.id = f.id and t.organization_id = $1 order by `+order, append([]any{organization}, args...)...)
	out := &Tasks{Count: counted(0), Tasks: []Task{}}
	for i := range list {
		task := list[i].Task
		task.Error = (&ledger.Task{Error: task.Error}).PublicError()
		out.Count, out.Tasks = counted(list[i].All), append(out.Tasks, task)
	}
	return out, storage.Wrap(err, what)
}

// Webhooks are the webhooks that fail, and the number of all that do.
type Webhooks struct {
	Failing int // an organization has some hundred at most
	List    []webhook.FailingOne
}

// ReadWebhooks reads the webhooks that fail, those with the most that was given up first.
func ReadWebhooks(ctx context.Context, q storage.Querier, organization int64, t Times) (*Webhooks, error) {
	list, total, err := webhook.ListFailing(ctx, q, organization, t.Since, storage.Page{Limit: rows})
	return &Webhooks{Failing: total, List: list}, err
}
