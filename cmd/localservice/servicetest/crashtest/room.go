// Package crashtest is what the tests of the stores of crashes share: a crash project in each
// of two organizations, crashes as a worker found them, and the groups that they fall into.
//
// A test of a package below storage/crash embeds Room in a type of its own, which has what
// only its package needs. At the end of each test the days of projects must be those of
// their groups.
package crashtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Room is the fixture with a crash project in each organization.
type Room struct {
	*fixture.Fixture
	Store *crash.Store
	// Project is that of the organization, RivalProject that of the other one.
	Project, RivalProject int64
}

// Open creates them. When the test ends, the days of projects and groups must agree.
func Open(t *testing.T) *Room {
	t.Helper()
	r := &Room{Fixture: fixture.New(t)}
	var err error
	r.Store, err = crash.New(r.DB)
	require.NoError(t, err)
	r.Project, r.RivalProject = r.Org.CrashProject("app"), r.Rival.CrashProject("app")
	t.Cleanup(func() {
		if !t.Failed() {
			r.DaysAgree()
		}
	})
	return r
}

// DaysAgree requires the days of the projects to be those of their groups.
func (r *Room) DaysAgree() {
	r.T.Helper()
	var differ []string
	require.NoError(r.T, r.DB.SelectContext(context.Background(), &differ, `
		with groups as (
			select g.crash_project_id, d.day, sum(d.count) as n from crash_group_days d join crash_groups g on g.id = d.group_id group by 1, 2
		), projects as (
			select crash_project_id, day, sum(count) as n from crash_project_days group by 1, 2 having sum(count) <> 0
		)
		select concat_ws(' ', crash_project_id, day, g.n, p.n) from groups g full join projects p using (crash_project_id, day)
		where g.n is distinct from p.n`))
	require.Empty(r.T, differ, "days of projects and groups differ")
	require.NoError(r.T, r.DB.SelectContext(context.Background(), &differ, `
		select concat_ws(' ', group_id, day, g.count, v.n) from crash_group_days g
		full join (select group_id, day, sum(count) as n from crash_group_version_days group by 1, 2) v using (group_id, day)
		where g.count is distinct from v.n and group_id in (select group_id from crash_group_version_days)`))
	require.Empty(r.T, differ, "days of versions and groups differ")
}

// Epoch is when a made crash happened.
var Epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Made is a crash of the key "k", that change may alter.
func (r *Room) Made(change func(c *crash.Crash)) crash.Crash {
	id, err := uuid.NewV7()
	require.NoError(r.T, err)
	c := crash.Crash{ID: id, ProjectID: r.Project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: Epoch, ReceivedAt: Epoch, Duplicates: 1, Attributes: "{}", Group: Grouping("k")}
	if change != nil {
		change(&c)
	}
	return c
}

// Grouping is what a crash says of the group of a key.
func Grouping(key string) *crash.Grouping {
	return &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: "title " + key,
		Culprit: "culprit " + key, Classifier: "class " + key}
}

// Record records crashes.
func (r *Room) Record(crashes ...crash.Crash) {
	r.T.Helper()
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		return crash.Record(r.T.Context(), tx, r.Org.ID, crashes)
	})
}

// Group finds the group of a key.
func (r *Room) Group(key string) *reading.Group {
	r.T.Helper()
	k := sha256.Sum256([]byte(key))
	id := r.ID(`select group_id from crash_group_keys where key = $1`, k[:])
	g, err := reading.GroupByID(r.T.Context(), r.DB, r.Org.ID, id)
	require.NoError(r.T, err)
	return g
}

// Incoming is a report that arrives.
func (r *Room) Incoming(id uuid.UUID, body string) received.Incoming {
	return received.Incoming{OrganizationID: r.Org.ID, ProjectID: r.Project, UUID: id,
		Digest: sha256.Sum256([]byte(body)), Document: []byte(body), Format: "json"}
}

// Task is the task of a batch.
func Task(org int64, batch uuid.UUID, _ int) *ledger.NewTask {
	return &ledger.NewTask{ID: batch, Kind: "crash:process", Queue: "crash", OrganizationID: org,
		Payload: map[string]any{"batch_id": batch}, MaxAttempts: 3}
}

// Accept accepts reports.
func (r *Room) Accept(in ...received.Incoming) ([]received.Receipt, []*ledger.NewTask) {
	r.T.Helper()
	receipts, made, err := r.Store.Accept(r.T.Context(), in, Task)
	require.NoError(r.T, err)
	return receipts, made
}

// Document is a report that the checks let pass.
func Document(id uuid.UUID, message string) string {
	return fmt.Sprintf(`{"uuid":%q,"timestamp":1772366400,"lang":"go","langVersion":"1","agent":"a","agentVersion":"1",
		"mainThread":"0","threads":{"0":{"stack":[{"funcName":"main.main"}]}},"classifiers":["E"],
		"attributes":{"error.message":%q,"n":7}}`, id, message)
}

// Bounded is a context that ends before the test is given up.
func Bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Writer is an admin of an organization.
func Writer(org int64) account.Writer {
	return account.Writer{OrganizationID: org, Admin: true, AllTeams: true, Actor: account.CLI()}
}

// Titles are those of the groups of the organization that a list shows, without what Grouping
// puts before the key, and how many groups match.
func (r *Room) Titles(f reading.GroupFilter) (string, int) {
	r.T.Helper()
	f.OrganizationID = r.Org.ID
	if f.Limit == 0 {
		f.Limit = 100
	}
	groups, total, err := reading.Groups(r.T.Context(), r.DB, f)
	require.NoError(r.T, err)
	var names []string
	for _, g := range groups {
		names = append(names, strings.TrimPrefix(g.Title, "title "))
	}
	return strings.Join(names, ","), total.Rows
}

// Plan is EXPLAIN's text.
func (r *Room) Plan(query string, args ...any) string {
	r.T.Helper()
	var lines []string
	require.NoError(r.T, r.DB.SelectContext(r.T.Context(), &lines, "explain "+query, args...))
	return strings.Join(lines, "\n")
}

// Literal puts the arguments into a query, for EXPLAIN of what the store sends
// (it prepares nothing, so the planner sees the values).
func Literal(query string, args []any) string {
	for i := len(args); i > 0; i-- {
		text := fmt.Sprint(args[i-1])
		if _, ok := args[i-1].(string); ok {
			text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
		query = strings.ReplaceAll(query, fmt.Sprintf("$%d", i), text)
	}
	return query
}

// Fill inserts 100,000 crashes of a key, with their uuids.
func (r *Room) Fill(key int64) {
	r.T.Helper()
	_, err := r.DB.ExecContext(r.T.Context(), `
		insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at, received_at,
			lang, agent, classifier, message, version, host, attributes)
		select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'processed', 'json', now() - n * interval '1 s', now(),
			'go', 'a', 'c', 'm', '1', 'h', jsonb_build_object('user', 'u' || n % 20000, 'n', n % 5000, 'os', 'linux')
		from generate_series(1, 100000) n`, r.Org.ID, r.Project, key)
	require.NoError(r.T, err)
	_, err = r.DB.ExecContext(r.T.Context(), `insert into crash_uuids (crash_project_id, uuid, digest, crash_id)
		select crash_project_id, uuid, '\x00', id from crashes`)
	require.NoError(r.T, err)
	_, err = r.DB.ExecContext(r.T.Context(), `analyze crashes; analyze crash_uuids`)
	require.NoError(r.T, err)
}
