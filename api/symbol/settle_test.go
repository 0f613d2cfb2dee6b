package symbol_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// open stores a task that nobody works at.
func (w *world) open(t *ledger.NewTask) uuid.UUID {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, t)
		return err
	})
	return t.ID
}

// The list with wait comes when the crashes of the organization that were there have been
// read and looked up, and does not wait for those of another.
func TestMissingWaitsForCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v3/symbols/missing"
	organization := w.ours.Organization.ID
	reading := w.open(tasks.NewCrashProcess(organization, uuid.New(), 10))
	looking := w.open(tasks.NewCrashSymbolicate(organization, "", uuid.New(), []int{0}, false))
	theirs := w.open(tasks.NewCrashProcess(w.theirs.Organization.ID, uuid.New(), 10))

	for _, query := range []string{"", "?wait=0", "?wait="} {
		status, _ := w.json(http.MethodGet, path+query, w.member)
		require.Equal(t, http.StatusOK, status, query)
	}
	for _, text := range []string{"61", "-1", "x", "1.5"} {
		status, answer := w.json(http.MethodGet, path+"?wait="+text, w.member)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, answer["error"], "wait", text)
	}

	answered := make(chan int, 1)
	go func() {
		status, _ := w.json(http.MethodGet, path+"?wait=60", w.member)
		answered <- status
	}()
	for _, id := range []uuid.UUID{reading, looking} {
		require.Eventually(t, func() bool { _, ok := w.awaited.Load(id); return ok }, time.Minute, 5*time.Millisecond,
			"the request waits for %s", id)
		require.Empty(t, answered, "it has not answered while a task is open")
		w.tx(func(ctx context.Context, tx *storage.Tx) error {
			_, err := ledger.CancelAll(ctx, tx, ledger.Scope{OrganizationID: organization}, []uuid.UUID{id})
			return err
		})
	}
	require.Equal(t, http.StatusOK, <-answered)
	_, asked := w.awaited.Load(theirs)
	require.False(t, asked, "a task of another organization is not awaited")

	// A short time ends, whatever is open.
	w.open(tasks.NewCrashProcess(organization, uuid.New(), 10))
	status, _ := w.json(http.MethodGet, path+"?wait=1", w.member)
	require.Equal(t, http.StatusOK, status)
}

// Those that end while the request waits for another are not waited for, one look of the
// watcher after the other.
func TestMissingWaitsOnceForThoseThatEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	organization := w.ours.Organization.ID
	var open []uuid.UUID
	for range 5 {
		open = append(open, w.open(tasks.NewCrashProcess(organization, uuid.New(), 10)))
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := w.json(http.MethodGet, "/api/v3/symbols/missing?wait=60", w.member)
		answered <- status
	}()
	awaited := func() (n int) {
		for _, id := range open {
			if _, ok := w.awaited.Load(id); ok {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return awaited() == 1 }, time.Minute, 5*time.Millisecond)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.CancelAll(ctx, tx, ledger.Scope{OrganizationID: organization}, open)
		return err
	})
	require.Equal(t, http.StatusOK, <-answered)
	require.Equal(t, 1, awaited())
}
