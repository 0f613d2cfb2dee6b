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
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
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
func (r *Room) Group(key string) *crash.Group {
	r.T.Helper()
	k := sha256.Sum256([]byte(key))
	id := r.ID(`select group_id from crash_group_keys where key = $1`, k[:])
	g, err := crash.GroupByID(r.T.Context(), r.DB, r.Org.ID, id)
	require.NoError(r.T, err)
	return g
}

// Incoming is a report that arrives.
func (r *Room) Incoming(id uuid.UUID, body string) crash.Incoming {
	return crash.Incoming{OrganizationID: r.Org.ID, ProjectID: r.Project, UUID: id,
		Digest: sha256.Sum256([]byte(body)), Document: []byte(body), Format: "json"}
}

// Task is the task of a batch.
func Task(org int64, batch uuid.UUID, _ int) *ledger.NewTask {
	return &ledger.NewTask{ID: batch, Kind: "crash:process", Queue: "crash", OrganizationID: org,
		Payload: map[string]any{"batch_id": batch}, MaxAttempts: 3}
}

// Accept accepts reports.
func (r *Room) Accept(in ...crash.Incoming) ([]crash.Receipt, []*ledger.NewTask) {
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
