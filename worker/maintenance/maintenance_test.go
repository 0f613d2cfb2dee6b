package maintenance_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/maintenance"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// round runs a round of a maintenance kind and gives its result.
func round(t *testing.T, db *storage.DB, kind tasks.Kind, h worker.Handler, into any) {
	t.Helper()
	s, task := ledger.New(db), tasks.NewMaintenance(kind)
	made, err := ledger.Insert(t.Context(), db, task)
	require.NoError(t, err)
	require.True(t, made)
	claimed, err := s.Claim(t.Context(), ledger.ClaimRequest{ID: task.ID, Kind: kind.Name, Worker: "w"})
	require.NoError(t, err)
	claim := worker.NewClaim(db, claimed)
	require.NoError(t, h.Handle(t.Context(), claim))
	require.ErrorIs(t, h.Handle(t.Context(), claim), storage.ErrStale, "a stale token ends nothing")
	row, err := s.Get(t.Context(), ledger.Scope{}, task.ID)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(*row.Result, into))
}

func TestLedgerRetention(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	for i, kind := range []tasks.Kind{tasks.CrashProcess, tasks.CrashPurge, tasks.ObjectSweep} {
		_, err := db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, payload, state, max_attempts, finished_at)
			select gen_random_uuid(), $1, 'bulk', '{}', 'succeeded', 1, now() - make_interval(hours => n)
			from generate_series(0, 30) n`, kind.Name)
		require.NoError(t, err, i)
	}
	h, err := maintenance.NewLedgerRetention(ledger.New(db), maintenance.DefaultKeepSucceeded, maintenance.DefaultKeepOther)
	require.NoError(t, err)
	var out maintenance.LedgerResult
	round(t, db, tasks.LedgerRetention, h, &out)
	require.EqualValues(t, 30+0+7, out.Deleted, "an hour, the setting, a day")
	var counted int
	require.NoError(t, db.GetContext(t.Context(), &counted, `select sum(count) from task_hours where measure = 'ended'`))
	require.Equal(t, 3*30, counted, "before they were deleted; those of the last ten minutes come later")
	_, err = maintenance.NewLedgerRetention(nil, 0, time.Hour)
	require.Error(t, err)
}

func TestObjectSweep(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	objects, err := object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	store, err := crash.New(db)
	require.NoError(t, err)
	var org, project int64
	require.NoError(t, db.GetContext(t.Context(), &org,
		`insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	require.NoError(t, db.GetContext(t.Context(), &project,
		`insert into crash_projects (organization_id, name) values ($1, 'p') returning id`, org))
	for i := range 5 {
		for _, key := range []string{fmt.Sprint("attachments/named", i), fmt.Sprint("attachments/orphan", i), fmt.Sprint("builds/", i)} {
			_, err := object.Put(t.Context(), objects, key, strings.NewReader("x"), 1, object.WriteOptions{})
			require.NoError(t, err)
		}
		_, _, err := store.Accept(t.Context(), []received.Incoming{{OrganizationID: org, ProjectID: project, UUID: uuid.New(),
			Digest: sha256.Sum256([]byte{byte(i)}), Document: []byte("{}"), Format: "json",
			Attachments: []received.Attachment{{ID: uuid.New(), Name: "n", Size: 1, ObjectKey: fmt.Sprint("attachments/named", i)}}}},
			tasks.NewCrashProcess)
		require.NoError(t, err)
	}
	h := maintenance.NewObjectSweep(objects, map[string]maintenance.Names{
		received.AttachmentPrefix: func(ctx context.Context, keys []string) ([]string, error) {
			return received.UnnamedObjects(ctx, db, keys)
		}})
	var out maintenance.SweepResult
	round(t, db, tasks.ObjectSweep, h, &out)
	require.Zero(t, out.Objects, "none is a day old")
	h.Now = func() time.Time { return time.Now().Add(27 * time.Hour) }
	round(t, db, tasks.ObjectSweep, h, &out)
	require.Equal(t, 5, out.Objects)
	for prefix, want := range map[string]int{"attachments/named": 5, "attachments/orphan": 0, "builds/": 5} {
		left, err := objects.List(t.Context(), prefix, "", 100)
		require.NoError(t, err)
		require.Len(t, left, want, prefix)
	}
}

// sweeper counts the sweeps of unfinished uploads, and fails them when it is told to.
type sweeper struct {
	object.Store
	err   error
	calls int
}

func (s *sweeper) Sweep(context.Context, time.Duration) (int, error) {
	s.calls++
	return 0, s.err
}

// A prefix that cannot be swept keeps no other from being so.
func TestObjectSweepGoesOn(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	objects, err := object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	for _, key := range []string{"a/1", "b/1", "c/1"} {
		_, err := object.Put(t.Context(), objects, key, strings.NewReader("x"), 1, object.WriteOptions{})
		require.NoError(t, err)
	}
	var asked []string
	all := func(_ context.Context, keys []string) ([]string, error) {
		asked = append(asked, keys...)
		return keys, nil
	}
	broken := errors.New("no rows today")
	s := &sweeper{Store: objects, err: errors.New("no list of uploads")}
	h := maintenance.NewObjectSweep(s, map[string]maintenance.Names{"c/": all, "a/": all,
		"b/": func(context.Context, []string) ([]string, error) { return nil, broken }})
	h.Now = func() time.Time { return time.Now().Add(27 * time.Hour) }

	task := tasks.NewMaintenance(tasks.ObjectSweep)
	_, err = ledger.Insert(t.Context(), db, task)
	require.NoError(t, err)
	claimed, err := ledger.New(db).Claim(t.Context(), ledger.ClaimRequest{ID: task.ID, Kind: tasks.ObjectSweep.Name, Worker: "w"})
	require.NoError(t, err)
	err = h.Handle(t.Context(), worker.NewClaim(db, claimed))
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, s.err)
	require.ErrorContains(t, err, "sweep b/")
	require.Equal(t, []string{"a/1", "c/1"}, asked, "in order")
	require.Equal(t, 1, s.calls)
	left, err := objects.List(t.Context(), "", "", 100)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "b/1", left[0].Key)
}
