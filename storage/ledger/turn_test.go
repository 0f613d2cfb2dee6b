package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// first claims the next task of an organization.
func (f fixture) first(t *testing.T, organization int64) uuid.UUID {
	t.Helper()
	head, err := f.First(t.Context(), "q", organization)
	rows, cerr := f.ClaimFirst(t.Context(), "q", organization, "w", []string{"other"})
	require.NoError(t, cerr)
	if len(rows) == 0 {
		require.ErrorIs(t, err, storage.ErrNotFound)
		return uuid.Nil
	}
	require.NoError(t, err)
	require.Equal(t, head.ID, rows[0].ID)
	require.Equal(t, ledger.Running, rows[0].State)
	require.Equal(t, 1, rows[0].Attempt)
	return rows[0].ID
}

// What somebody waits for goes before what a schedule has started, but not for ever.
func TestClaimFirstGoesByPriorityAndAge(t *testing.T) {
	t.Parallel()
	f := open(t)
	insert := func(p ledger.Priority, minutes float64) uuid.UUID {
		id := f.insert(t, ledger.NewTask{OrganizationID: f.one, Priority: p})
		_, err := f.db.Exec(`update tasks set run_at = run_at - make_interval(secs => $2) where id = $1`, id, minutes*60)
		require.NoError(t, err)
		return id
	}
	fresh, old := insert(ledger.Waited, 0), insert(ledger.Waited, 1)
	mass, oldMass := insert(ledger.Mass, 0), insert(ledger.Mass, 4)
	scheduled, starving := insert(ledger.Scheduled, 14), insert(ledger.Scheduled, 30)
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Delay: time.Hour})
	f.insert(t, ledger.NewTask{OrganizationID: f.two})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Queue: "other"})
	for _, want := range []uuid.UUID{starving, oldMass, old, fresh, scheduled, mass, uuid.Nil} {
		require.Equal(t, want, f.first(t, f.one))
	}
	require.Equal(t, uuid.Nil, f.first(t, 0))
}

func TestWaitingNamesOrganizationsAndWhatTheyRun(t *testing.T) {
	t.Parallel()
	f := open(t)
	waiting := func() map[int64]ledger.Due {
		list, err := f.Waiting(t.Context(), "q", "me")
		require.NoError(t, err)
		of := map[int64]ledger.Due{}
		for _, d := range list {
			of[d.OrganizationID] = d
		}
		require.Len(t, of, len(list))
		return of
	}
	require.Empty(t, waiting())
	f.insert(t, ledger.NewTask{})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Delay: time.Hour})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Priority: ledger.Scheduled})
	f.insert(t, ledger.NewTask{OrganizationID: f.two, Delay: time.Hour})
	for range 2 {
		f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.two}))
	}
	require.Equal(t, map[int64]ledger.Due{0: {Waits: true}, f.one: {OrganizationID: f.one, Waits: true},
		f.two: {OrganizationID: f.two, Running: 2}}, waiting())
	_, err := f.db.Exec(`update tasks set worker = 'me' where state = 'running'`)
	require.NoError(t, err)
	require.NotContains(t, waiting(), f.two, "the own claims are not counted")
}

func TestBacklogsAreCountedUpToABound(t *testing.T) {
	t.Parallel()
	f := open(t)
	for range 5 {
		f.insert(t, ledger.NewTask{OrganizationID: f.one})
	}
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Delay: time.Hour, Queue: "later"})
	f.insert(t, ledger.NewTask{Queue: "other"})
	list, err := f.Backlogs(t.Context(), map[string]int{"q": 3, "later": 3, "other": 10, "none": 1})
	require.NoError(t, err)
	require.Equal(t, []ledger.Backlog{{Queue: "other", Due: 1}, {Queue: "q", Due: 3}}, list)
}

// A report that kills its worker takes those beside it down twice at most: what was lost
// twice is claimed alone.
func TestWhatWasLostTwiceIsClaimedAlone(t *testing.T) {
	t.Parallel()
	f := open(t)
	var ids []uuid.UUID
	for range 8 {
		ids = append(ids, f.insert(t, ledger.NewTask{OrganizationID: f.one}))
	}
	claim := func() []ledger.Task {
		rows, err := f.Claim(t.Context(), ledger.ClaimRequest{ID: ids[0], Kind: "k", OrganizationID: f.one, Worker: "w",
			Batch: 64, MaxWeight: 1000})
		require.NoError(t, err)
		return rows
	}
	for range 2 {
		require.Len(t, claim(), len(ids))
		_, err := f.db.Exec(`update tasks set heartbeat_at = now() - interval '7 seconds'`)
		require.NoError(t, err)
		rescued, err := f.Rescue(t.Context(), 6*time.Second)
		require.NoError(t, err)
		require.Len(t, rescued, len(ids))
		_, err = f.db.Exec(`update tasks set run_at = now()`)
		require.NoError(t, err)
	}
	for range ids {
		require.Len(t, claim(), 1)
	}
}

func TestClaimFirstLeavesKindsOut(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, Kind: "keyed"})
	for _, c := range []struct {
		except []string
		want   int
	}{{[]string{"keyed"}, 0}, {[]string{"k"}, 1}, {nil, 1}} {
		_, err := f.db.Exec(`update tasks set state = 'queued' where id = $1`, id)
		require.NoError(t, err)
		rows, err := f.ClaimFirst(t.Context(), "q", f.one, "w", c.except)
		require.NoError(t, err)
		require.Len(t, rows, c.want, c.except)
	}
}

// What is run now comes before all that its organization has waiting, of whatever
// priority and however long.
func TestRunNowIsTheFirst(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), t.Context()
	f.insert(t, ledger.NewTask{OrganizationID: f.one})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Priority: ledger.Mass})
	_, err := f.db.Exec(`update tasks set run_at = now() - interval '1 hour'`)
	require.NoError(t, err)
	late := f.insert(t, ledger.NewTask{OrganizationID: f.one, Priority: ledger.Scheduled, Delay: time.Hour})
	task, err := ledger.RunNow(ctx, f.db, ledger.Scope{OrganizationID: f.one}, late)
	require.NoError(t, err)
	head, err := f.First(ctx, task.Queue, f.one)
	require.NoError(t, err)
	require.Equal(t, late, head.ID)

	alone := f.insert(t, ledger.NewTask{OrganizationID: f.two, Delay: time.Hour})
	task, err = ledger.RunNow(ctx, f.db, ledger.Scope{}, alone)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), task.RunAt, time.Minute)
	_, err = ledger.RunNow(ctx, f.db, ledger.Scope{OrganizationID: f.one}, alone)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
