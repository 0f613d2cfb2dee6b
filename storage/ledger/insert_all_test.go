package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// A row that InsertAll writes is the one that Insert would have written.
func TestInsertAllWritesWhatInsertDoes(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	all := []ledger.NewTask{
		{Kind: "plain", Queue: "q", Payload: struct{}{}, MaxAttempts: 3},
		{Kind: "full", Queue: "r", OrganizationID: f.one, Payload: map[string]any{"text": `a "b" \ {c}, NULL`, "list": []int{1, 2}},
			Weight: 7, ConcurrencyKey: `key {",}`, DedupeKey: "NULL", RequestID: "req,\"1\"", MaxAttempts: 5, Delay: time.Hour,
			Priority: ledger.Scheduled},
		{Kind: "later", Queue: "q", OrganizationID: f.two, Payload: nil, MaxAttempts: 1, Delay: 1500 * time.Millisecond},
	}
	normal := func(task *ledger.Task) ledger.Task {
		n := *task
		n.ID, n.RunAt, n.CreatedAt = uuid.Nil, task.RunAt.Add(-task.CreatedAt.Sub(time.Unix(0, 0))), time.Time{}
		return n
	}
	for _, task := range all {
		one, other := task, task
		made, err := ledger.Insert(ctx, f.db, &one)
		require.NoError(t, err)
		require.True(t, made)
		want := normal(f.get(t, one.ID))
		_, err = f.db.Exec(`delete from tasks`)
		require.NoError(t, err)

		n, err := ledger.InsertAll(ctx, f.db, []*ledger.NewTask{&other})
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		require.NotEqual(t, uuid.Nil, other.ID, "the caller learns the id")
		require.Equal(t, want, normal(f.get(t, other.ID)), task.Kind)
		_, err = f.db.Exec(`delete from tasks`)
		require.NoError(t, err)
	}
}

func TestInsertAllLeavesTwinsOut(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	f.insert(t, ledger.NewTask{Kind: "k", DedupeKey: "b"})
	task := func(kind, dedupe string) *ledger.NewTask {
		return &ledger.NewTask{Kind: kind, Queue: "q", Payload: struct{}{}, MaxAttempts: 3, DedupeKey: dedupe}
	}
	list := []*ledger.NewTask{task("k", "c"), task("k", "b"), task("k", "a"), task("k", "c"), task("other", "b"), task("k", ""), task("k", "")}
	first := list[0]
	n, err := ledger.InsertAll(ctx, f.db, list)
	require.NoError(t, err)
	require.EqualValues(t, 5, n, "the open b, and one of the two c, stay out")
	require.Same(t, first, list[0], "the caller's list keeps its order")
	require.Equal(t, ledger.Queued, f.get(t, first.ID).State, "of two twins the first one is written")

	n, err = ledger.InsertAll(ctx, f.db, nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestInsertAllOfThousands(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	list := make([]*ledger.NewTask, 2500)
	for i := range list {
		list[i] = &ledger.NewTask{Kind: "k", Queue: "q", OrganizationID: f.one, Payload: map[string]string{"id": fmt.Sprint(i)}, MaxAttempts: 3}
	}
	boom := errors.New("boom")
	err := f.db.InTx(ctx, func(tx *storage.Tx) error {
		n, err := ledger.InsertAll(ctx, tx, list)
		require.NoError(t, err)
		require.EqualValues(t, len(list), n)
		return boom
	})
	require.ErrorIs(t, err, boom)
	var rows int
	require.NoError(t, f.db.Get(&rows, `select count(*) from tasks`))
	require.Zero(t, rows, "the caller's transaction decides")

	_, err = ledger.InsertAll(ctx, f.db, []*ledger.NewTask{{Kind: "k", Queue: "q", Payload: func() {}, MaxAttempts: 1}})
	require.ErrorContains(t, err, "payload of k")
}

func BenchmarkInsertAll(b *testing.B) {
	db := servicetest.DB(b)
	for b.Loop() {
		list := make([]*ledger.NewTask, 500)
		for i := range list {
			list[i] = &ledger.NewTask{Kind: "k", Queue: "q", Payload: map[string]uuid.UUID{"id": uuid.New()}, MaxAttempts: 3}
		}
		if _, err := ledger.InsertAll(b.Context(), db, list); err != nil {
			b.Fatal(err)
		}
	}
}
