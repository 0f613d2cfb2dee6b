// Package live reads the versions of what open pages show, so that a page learns of a change
// without being made again and again.
//
// A Topic names something that changes: a task, a run, the list of an organization's tasks. Its
// version is a text that is another one after each change that a page would show, and the same
// in every process. What is not there, or belongs to another organization, has none.
//
// Versions reads all topics of a process in one statement, each by an index: a list is known
// by its newest row and by what runs, never by counting. The version of a row is the number of
// the transaction that wrote it (xmin), unless it is also written for other reasons: of a task,
// whose worker writes a heartbeat, it is a hash of what is shown.
//
// The newest row is that of the last id or time, which a transaction takes before it commits:
// of two at once the one that commits last may not be the newest, and is seen with the next
// change, or when the page is made anew.
package live

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Kind is what a topic is.
type Kind string

// The kinds. Those without an id are of a whole organization, or of the installation for an
// operator.
const (
	Task       Kind = "task"
	Run        Kind = "run"
	SuiteRun   Kind = "suiterun"
	Generation Kind = "generation"
	Report     Kind = "report" // a crash, with its symbolication
	Delivery   Kind = "delivery"
	Symbols    Kind = "symbols"
	Build      Kind = "build" // with its symbols
	// Gate is the gate of a build; its id is the build's.
	Gate       Kind = "gate"
	AppSession Kind = "appsession"
	// Session is a session of the console: its version changes when it ends.
	Session Kind = "session"
	// CaseRuns are the runs of a case, SuiteRuns those of a suite, Deliveries those of a webhook.
	CaseRuns   Kind = "caseruns"
	SuiteRuns  Kind = "suiteruns"
	Deliveries Kind = "deliveries"

	Tasks       Kind = "tasks"
	Runs        Kind = "runs"
	Generations Kind = "generations"
	Overview    Kind = "overview"
	// Minute changes every minute: for numbers that grow old by themselves.
	Minute Kind = "minute"
)

// Topic is something whose version is asked for, on behalf of an organization (0: of an
// operator, who sees all).
type Topic struct {
	Kind           Kind
	ID             string // "" for the lists of an organization
	OrganizationID int64
}

// Of returns the topic of a kind with an id.
func Of[ID string | int64](kind Kind, id ID) Topic { return Topic{Kind: kind, ID: fmt.Sprint(id)} }

// List returns the topic of a kind without an id.
func List(kind Kind) Topic { return Topic{Kind: kind} }

// caseDigits is the length of the id of a case, in hexadecimal digits.
const caseDigits = 24

// Check returns the topic as Versions takes it, or the *storage.InvalidError of one that there
// cannot be: an id that is none would fail the statement for all others in it.
func (t Topic) Check() (Topic, error) {
	of, known := sources()[t.Kind]
	if !known {
		return t, storage.Invalid("kind", "is unknown")
	}
	wrong := storage.Invalid("id", "is no id of this kind")
	switch of.id {
	case "uuid":
		id, err := uuid.Parse(t.ID)
		if err != nil {
			return t, wrong
		}
		t.ID = id.String()
	case "bigint":
		id, err := strconv.ParseInt(t.ID, 10, 64)
		if err != nil || id <= 0 {
			return t, wrong
		}
		t.ID = strconv.FormatInt(id, 10)
	case "text":
		if len(t.ID) != caseDigits || strings.Trim(t.ID, "0123456789abcdef") != "" {
			return t, wrong
		}
	default:
		if t.ID != "" {
			return t, wrong
		}
	}
	return t, nil
}

// source is how the versions of a kind are read. A topic is the row a: its id, and org.
type source struct {
	id      string // its type in SQL; "" for a list of an organization
	version string
	tables  string // joined to a; "" for a list
}

// mine is the condition that a row is one of the topic's organization.
const mine = " and (a.org = 0 or x.organization_id = a.org)"

// row is the source of a kind that is a row of a table.
func row(id, table, version string) source {
	return source{id, version, "join " + table + " x on x.id = a.id" + mine}
}

// written is the version of rows that are written for what pages show and little else.
const written = "x.xmin::text"

// runningTasks tells the tasks that run, by an index that has only these: each begin and end
// changes it, and a heartbeat does not.
const runningTasks = "(select concat_ws(' ', count(*), sum(hashtextextended(r.id::text || r.attempt, 0))) from tasks r where r.state = " +
	"'running'%s)"

// newest is a column of the newest row of a table that a condition selects.
func newest(column, table, condition, order string) string {
	return "(select " + column + " from " + table + " x where " + condition + " order by " + order + " limit 1)"
}

func together(parts ...string) string { return "concat_ws(' / ', " + strings.Join(parts, ", ") + ")" }

func sources() map[Kind]source {
	return map[Kind]source{
		Task: row("uuid", "tasks", `hashtextextended((x.state, x.attempt, x.losses, x.priority, x.cancel_requested, x.run_at, x.started_at,
			x.finished_at, x.error, x.failures, x.result)::text, 0)::text`),
		// A run has some dozen jobs, by the index of the run and the position. One of data rows may
		// have 50,000: those that are open are counted, by test_jobs_open_of_run.
		Run: row("uuid", "test_runs", together(written,
			`case when x.job_count > 100
				then (select concat_ws(' ', count(*), count(*) filter (where j.state = 'RUNNING'), sum(hashtextextended(j.xmin::text, 0))
						filter (where j.state = 'RUNNING'))
					from test_jobs j where j.run_id = x.id and j.state in ('QUEUED', 'RUNNING'))
				else (select string_agg(j.xmin::text, ' ' order by j.position) from test_jobs j where j.run_id = x.id) end`)),
		// A suite run may have thousands of runs, each with its jobs. A run begins and ends once:
		// how many wait and run is another number after each of both. Jobs are looked at of runs
		// that run: as many as there are workers.
		SuiteRun: row("uuid", "suite_runs", together(written,
			`(select concat_ws(' ', count(*), count(*) filter (where r.state = 'QUEUED'), count(*) filter (where r.state = 'RUNNING'))
				from test_runs r where r.suite_run_id = x.id)`,
			`(select sum(of.version) from test_runs r cross join lateral (
				select sum(hashtextextended(concat_ws(' ', j.id, j.state, j.attempts, j.healed, j.drifted), 0)) as version
				from test_jobs j where j.run_id = r.id) of where r.suite_run_id = x.id and r.state = 'RUNNING')`)),
		Generation: row("uuid", "test_generations", written),
		Report: {"uuid", together(written, "s.xmin::text"), "join crashes x on x.id = a.id" + mine +
			" left join crash_symbolications s on s.crash_id = x.id"},
		Delivery: row("uuid", "webhook_deliveries", written),
		Symbols:  row("bigint", "symbols", written),
		Build: row("bigint", "builds", together("hashtextextended(concat_ws(' ', x.state, x.verification, x.updated_at, x.symbols), 0)",
			"(select string_agg(s.xmin::text, ' ' order by s.id) from symbols s where s.build_id = x.id)")),
		// A build may get its gate while its page is open. Indexes: gates_pkey, gate_due_build.
		Gate: {"bigint", together("coalesce(g.xmin::text, 'none')",
			"exists (select from gate_due d where d.build_id = x.id and d.due_at <= now())"),
			"join builds x on x.id = a.id" + mine + " left join gates g on g.build_id = x.id"},
		AppSession: row("bigint", "app_sessions", written),
		Session: {"bigint", "'open'", `join console_sessions x on x.id = a.id and x.expires_at > now()
			and coalesce(x.organization_id, 0) = a.org
			and not exists (select from api_keys k where k.id = x.key_id and k.revoked_at is not null)`},

		// Indexes: test_runs_newest, suite_runs_newest, webhook_deliveries_log.
		CaseRuns: {id: "text", version: newest("x.id", "test_runs", "x.case_id = a.id"+mine, "x.created_at desc, x.id desc")},
		SuiteRuns: {id: "uuid",
			version: newest("x.id", "suite_runs", "x.suite_id = a.id"+mine, "x.created_at desc, x.id desc")},
		Deliveries: {id: "bigint", version: newest("x.id", "webhook_deliveries", "x.webhook_id = a.id"+mine, "x.id desc")},

		// Indexes: tasks_organization, tasks_pkey, tasks_running.
		Tasks: {version: `case when a.org = 0 then ` + together(newest("x.id", "tasks", "true", "x.id desc"), fmt.Sprintf(runningTasks, "")) +
			` else ` + together(newest("x.id", "tasks", "x.organization_id = a.org", "x.id desc"),
			fmt.Sprintf(runningTasks, " and r.organization_id = a.org")) + ` end`},
		// Indexes: test_runs_recent, test_generations_recent.
		Runs:        {version: newest("x.id", "test_runs", "x.organization_id = a.org", "x.created_at desc, x.id desc")},
		Generations: {version: newest("x.id", "test_generations", "x.organization_id = a.org", "x.accepted_at desc, x.id desc")},
		// Indexes: crash_groups_first_seen, crash_groups_reopened, builds_organization_newest,
		// suite_runs_organization_newest, tasks_organization_dead.
		Overview: {version: together(
			newest("x.id", "crash_groups", "x.organization_id = a.org", "x.first_seen desc, x.id desc"),
			newest("concat_ws(' ', x.id, x.reopened_at)", "crash_groups", "x.organization_id = a.org and x.reopened_at is not null",
				"x.reopened_at desc, x.id desc"),
			newest("x.id", "builds", "x.organization_id = a.org and x.deleted_at is null", "x.id desc"),
			newest("concat_ws(' ', x.id, x.state)", "suite_runs", "x.organization_id = a.org", "x.created_at desc, x.id desc"),
			newest("x.id", "tasks", "x.organization_id = a.org and x.state = 'dead'", "x.id desc"))},
		// Not of all organizations at once.
		Minute: {version: "date_trunc('minute', now() + a.org % 60 * interval '1 second')::text"},
	}
}

// Versions reads the versions of topics that Check returned, in one statement. A topic that
// has none is left out.
func Versions(ctx context.Context, q storage.Querier, topics []Topic) (map[Topic]string, error) {
	versions := make(map[Topic]string, len(topics))
	if len(topics) == 0 {
		return versions, nil
	}
	var rows []struct {
		Kind    Kind    `db:"kind"`
		ID      string  `db:"id"`
		Org     int64   `db:"org"`
		Version *string `db:"version"`
	}
	query, args := statement(topics)
	if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, storage.Wrap(err, "versions of what pages show")
	}
	for _, r := range rows {
		if r.Version != nil {
			versions[Topic{r.Kind, r.ID, r.Org}] = *r.Version
		}
	}
	return versions, nil
}

// statement has a part for each kind that there is among the topics.
func statement(topics []Topic) (query string, args []any) {
	type places struct {
		ids           []string
		organizations []int64
	}
	byKind, kinds := map[Kind]*places{}, []Kind{} // in the order of the topics
	for _, t := range topics {
		of := byKind[t.Kind]
		if of == nil {
			of = &places{}
			byKind[t.Kind], kinds = of, append(kinds, t.Kind)
		}
		of.ids, of.organizations = append(of.ids, t.ID), append(of.organizations, t.OrganizationID)
	}
	all, parts := sources(), make([]string, len(kinds))
	for i, kind := range kinds {
		s := all[kind]
		args = append(args, pq.Array(byKind[kind].ids), pq.Array(byKind[kind].organizations))
		parts[i] = fmt.Sprintf("select '%s' as kind, a.id::text as id, a.org, (%s)::text as version from unnest($%d::%s[], $%d::bigint[]) "+
			"a(id, org) %s",
			kind, s.version, len(args)-1, cmp.Or(s.id, "text"), len(args), s.tables)
	}
	return strings.Join(parts, "\nunion all\n"), args
}
