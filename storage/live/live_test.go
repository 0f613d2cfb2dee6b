package live_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/run"

	. "github.com/slipway-qa/slipway/storage/live"
)

// version is that of one topic; "" where it has none.
func version(t *testing.T, db *storage.DB, topic Topic) string {
	t.Helper()
	checked, err := topic.Check()
	require.NoError(t, err)
	versions, err := Versions(fixture.Context(t), db, []Topic{checked})
	require.NoError(t, err)
	return versions[checked]
}

// kinds are all kinds, each with an id that it may have.
func kinds() []Topic {
	id := uuid.NewString()
	return []Topic{Of(Task, id), Of(Run, id), Of(SuiteRun, id), Of(Generation, id), Of(Report, id), Of(Delivery, id), Of(Symbols, int64(1)),
		Of(Build, int64(1)), Of(Gate, int64(1)), Of(AppSession, int64(1)), Of(Session, int64(1)),
		Of(CaseRuns, strings.Repeat("0a", 12)), Of(SuiteRuns, id),
		Of(Deliveries, int64(1)), List(Tasks), List(Runs), List(Generations), List(Overview), List(Minute)}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, topic := range kinds() {
		_, err := topic.Check()
		require.NoError(t, err, topic)
		for _, id := range []string{"", "x", "'; drop table tasks", "-1", "0", "99999999999999999999", strings.Repeat("a", 25),
			uuid.NewString() + "0"} {
			if id == topic.ID {
				continue
			}
			_, err := Topic{Kind: topic.Kind, ID: id}.Check()
			require.Equal(t, "id", fixture.InvalidField(t, err), "%s %q", topic.Kind, id)
		}
	}
	_, err := List("users").Check()
	require.Equal(t, "kind", fixture.InvalidField(t, err))
	upper := uuid.New()
	checked, err := Of(Task, strings.ToUpper(upper.String())).Check()
	require.NoError(t, err)
	require.Equal(t, upper.String(), checked.ID, "one thing is one topic")
}

// All kinds together are one statement, and what is not there has no version.
func TestVersionsAskOnce(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t), WrapConnector: counter.Connector})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	var topics []Topic
	for organization := range int64(3) {
		for _, topic := range kinds() {
			topic.OrganizationID = organization
			topics = append(topics, topic)
		}
	}
	var versions map[Topic]string
	asked := counter.During(func() { versions, err = Versions(t.Context(), db, topics) })
	require.NoError(t, err)
	require.Len(t, asked.SQL, 1, asked)
	for topic := range versions {
		require.Contains(t, []Kind{Tasks, Overview, Minute}, topic.Kind)
	}
	asked = counter.During(func() { versions, err = Versions(t.Context(), db, nil) })
	require.NoError(t, err)
	require.Empty(t, versions)
	require.Empty(t, asked.SQL)
}

// A task has another version after each change that its page shows, and the same after a
// heartbeat; others do not see it.
func TestVersionsOfTasks(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	id := w.Insert(&ledger.NewTask{Kind: "test:kind", Queue: "default", Payload: struct{}{}, MaxAttempts: 3, OrganizationID: w.Org.ID})
	task, tasks := Topic{Task, id.String(), w.Org.ID}, Topic{Kind: Tasks, OrganizationID: w.Org.ID}
	ofAll := Topic{Kind: Tasks}
	seen, seenList, seenAll := version(t, w.DB, task), version(t, w.DB, tasks), version(t, w.DB, ofAll)
	require.NotEmpty(t, seen)
	require.Equal(t, seen, version(t, w.DB, Of(Task, id.String())), "operators see all")
	require.Empty(t, version(t, w.DB, Topic{Task, id.String(), w.Org.ID + 1}), "another organization")

	differs := func(what string) {
		t.Helper()
		now := version(t, w.DB, task)
		require.NotEqual(t, seen, now, what)
		seen = now
	}
	listDiffers := func(what string) {
		t.Helper()
		now, all := version(t, w.DB, tasks), version(t, w.DB, ofAll)
		require.NotEqual(t, seenList, now, what)
		require.NotEqual(t, seenAll, all, what)
		seenList, seenAll = now, all
	}
	w.Exec(`update tasks set state = 'running', attempt = 1, started_at = now(), heartbeat_at = now(), worker = 'w' where id = $1`, id)
	differs("it began")
	listDiffers("one began")
	w.Exec(`update tasks set heartbeat_at = heartbeat_at + interval '1 second' where id = $1`, id)
	require.Equal(t, seen, version(t, w.DB, task), "a heartbeat")
	require.Equal(t, seenList, version(t, w.DB, tasks), "a heartbeat")
	w.Exec(`update tasks set result = '{"changed": 1}' where id = $1`, id)
	differs("its progress")
	w.Exec(`update tasks set state = 'dead', error = 'x', finished_at = now(), heartbeat_at = null, worker = null where id = $1`, id)
	differs("it failed")
	listDiffers("one ended")
	w.Insert(&ledger.NewTask{Kind: "test:kind", Queue: "default", Payload: struct{}{}, MaxAttempts: 3, OrganizationID: w.Org.ID})
	listDiffers("a new one")
	w.Exec(`delete from tasks where id = $1`, id)
	require.Empty(t, version(t, w.DB, task), "it is gone")
}

// A run, the runs of its case and a suite run have other versions after what happens to jobs.
func TestVersionsOfRuns(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	suiteRun, jobs := w.SuiteRun(2, 2)
	var runID, caseID string
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &runID, `select run_id::text from test_jobs where id = $1`, jobs[0]))
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &caseID, `select case_id from test_runs where id = $1`, runID))
	topics := map[string]Topic{"run": {Run, runID, w.Org.ID}, "suite run": {SuiteRun, suiteRun.ID.String(), w.Org.ID}}
	read := func() map[string]string {
		now := map[string]string{}
		for name, topic := range topics {
			now[name] = version(t, w.DB, topic)
			require.NotEmpty(t, now[name], name)
		}
		return now
	}
	seen := read()
	differs := func(what string) {
		t.Helper()
		now := read()
		for name := range topics {
			require.NotEqual(t, seen[name], now[name], "%s: %s", name, what)
		}
		seen = now
	}
	_, _, err := w.Begin(jobs[0])
	require.NoError(t, err)
	differs("a job began")
	w.MustEnd(jobs[0], run.Passed)
	differs("a job ended")
	for name, topic := range topics {
		topic.OrganizationID++
		require.Empty(t, version(t, w.DB, topic), "%s of another organization", name)
	}

	lists := []Topic{{CaseRuns, caseID, w.Org.ID}, {Runs, "", w.Org.ID}, {SuiteRuns, suiteRun.SuiteID.String(), w.Org.ID},
		{Overview, "", w.Org.ID}}
	var before []string
	for _, topic := range lists {
		before = append(before, version(t, w.DB, topic))
		require.NotEmpty(t, before[len(before)-1], topic)
	}
	w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, created_at)
		select $1, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, 0, created_at + interval '1 second' from suite_runs
		where id = $2`,
		storage.NewID(), suiteRun.ID)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, test_url, created_at)
		select $1, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, test_url, created_at + interval '1 second'
		from test_runs where id = $2`, storage.NewID(), runID)
	for i, topic := range lists {
		require.NotEqual(t, before[i], version(t, w.DB, topic), topic)
	}
}

// The gate of a build has another version when it comes, when it is due, evaluated or overridden.
func TestVersionsOfGates(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	build := w.App("com.example.shop").Build
	topic := Topic{Gate, strconv.FormatInt(build.ID, 10), w.Org.ID}
	seen := version(t, w.DB, topic)
	require.NotEmpty(t, seen, "a build without a gate may get one")
	require.Empty(t, version(t, w.DB, Topic{Gate, topic.ID, w.Rival.ID}), "another organization")
	changes := func(what string, do func(ctx context.Context, tx *storage.Tx) error) {
		t.Helper()
		w.Must(do)
		now := version(t, w.DB, topic)
		require.NotEqual(t, seen, now, what)
		seen = now
	}
	evaluate := func(ctx context.Context, tx *storage.Tx) error {
		for {
			round, err := gate.Evaluate(ctx, tx, 10)
			if err != nil || !round.Recounts {
				return err
			}
			if _, err := gate.Recount(ctx, tx); err != nil {
				return err
			}
		}
	}
	changes("it has a gate", func(ctx context.Context, tx *storage.Tx) error {
		most := int64(1)
		return gate.SavePolicy(ctx, tx, w.Org.Owner.Writer, build.ProjectID,
			&gate.Policy{Conditions: []gate.Condition{{Name: "small", Type: gate.Size, MaxBytes: &most}}})
	})
	changes("it was evaluated", evaluate)
	changes("a fact changed", func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `select gate_fact($1)`, build.ID)
		return err
	})
	changes("it was evaluated again", evaluate)
	changes("it was overridden", func(ctx context.Context, tx *storage.Tx) error {
		_, err := gate.SetOverride(ctx, tx, w.Org.Owner.Writer, build.ID, gate.Pass, "the shop needs it")
		return err
	})
	require.Equal(t, seen, version(t, w.DB, topic), "nothing changed")
}

// What pages show of a large installation is found by indexes, whoever has many rows.
func TestVersionsByIndexes(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	w.Exec(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, finished_at)
		select gen_random_uuid(), 'mail:send', 'mail', $1, '{}', 1, case when i % 2 = 0 then 'dead' else 'succeeded' end, now()
		from generate_series(1, 20000) i`, w.Rival.ID)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, test_url)
		select gen_random_uuid(), $1, 1, md5((i % 100)::text)::varchar(24), 'r', gen_random_uuid(), 'n', 'b', ''
		from generate_series(1, 20000) i`, w.Rival.ID)
	suite, others := storage.NewID(), storage.NewID()
	for _, id := range []uuid.UUID{suite, others} {
		w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, state)
			values ($1, $2, 1, $1, 's', $1, 'b', 5000, 'RUNNING')`, id, w.Org.ID)
		w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, suite_run_id, user_uuid, case_name, build_name, state)
			select gen_random_uuid(), $2, 1, md5(i::text)::varchar(24), 'r', $1, $1, 'n', 'b', case when i % 1000 = 0 then 'RUNNING'
				else 'PASSED' end
			from generate_series(1, 5000) i`, id, w.Org.ID)
	}
	w.Exec(`insert into test_jobs (id, organization_id, run_id, position, target, state)
		select gen_random_uuid(), $1, r.id, p, '{}', 'PASSED' from test_runs r, generate_series(0, 1) p
		where r.suite_run_id is not null`, w.Org.ID)
	w.Exec(`vacuum analyze tasks, suite_runs, test_runs, test_jobs`)
	for _, c := range []struct {
		topic   Topic
		indexes []string
	}{
		{Topic{Task, uuid.NewString(), w.Org.ID}, []string{"tasks_pkey"}},
		{Topic{Run, uuid.NewString(), w.Org.ID}, []string{"test_runs_pkey"}},
		{Topic{SuiteRun, suite.String(), w.Org.ID}, []string{"test_runs_case_of_suite", "test_jobs_run_id"}},
		{Topic{Tasks, "", w.Org.ID}, []string{"tasks_organization", "tasks_pkey", "tasks_running"}},
		{Topic{Overview, "", w.Org.ID}, []string{"tasks_organization_dead"}},
		{Topic{Runs, "", w.Org.ID}, []string{"test_runs_"}},
		{Topic{CaseRuns, strings.Repeat("0", 24), w.Org.ID}, []string{"test_runs_newest"}},
	} {
		query, args := Statement([]Topic{c.topic})
		var lines []string
		require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, "explain (costs off) "+query, args...))
		plan := strings.Join(lines, "\n")
		for _, index := range c.indexes {
			require.Contains(t, plan, index, c.topic.Kind)
		}
		require.NotContains(t, plan, "Seq Scan on tasks", c.topic.Kind)
		require.NotContains(t, plan, "Seq Scan on test_runs", c.topic.Kind)
		require.NotContains(t, plan, "Seq Scan on test_jobs", c.topic.Kind)
	}
}
