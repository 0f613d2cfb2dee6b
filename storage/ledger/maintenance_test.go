package ledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestLastSucceeded(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	end := func(task ledger.NewTask, state string, minutes, seconds int) {
		id := f.insert(t, task)
		_, err := f.db.Exec(`update tasks set state = $2, created_at = now() - make_interval(mins => $3),
			started_at = date_trunc('second', now()) - make_interval(mins => $3),
			finished_at = date_trunc('second', now()) - make_interval(mins => $3) + make_interval(secs => $4)
			where id = $1`, id, state, minutes, seconds)
		require.NoError(t, err)
	}
	end(ledger.NewTask{Kind: "a"}, "succeeded", 50, 1)
	end(ledger.NewTask{Kind: "a"}, "succeeded", 10, 4)
	end(ledger.NewTask{Kind: "a"}, "dead", 5, 1)
	end(ledger.NewTask{Kind: "a", OrganizationID: f.one}, "succeeded", 1, 1)
	end(ledger.NewTask{Kind: "b"}, "succeeded", 3, 0)
	end(ledger.NewTask{Kind: "c"}, "cancelled", 3, 0)
	f.insert(t, ledger.NewTask{Kind: "d"})

	last, err := f.LastSucceeded(ctx, []string{"b", "a", "c", "d", "none"})
	require.NoError(t, err)
	require.Len(t, last, 2)
	require.Equal(t, "a", last[0].Kind)
	require.Equal(t, 4.0, last[0].Seconds)
	require.WithinDuration(t, time.Now().Add(-10*time.Minute), last[0].FinishedAt, 30*time.Second)
	require.Equal(t, "b", last[1].Kind)
	require.Zero(t, last[1].Seconds)
	last, err = f.LastSucceeded(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, last)
}

// Ticks outnumber the tasks of rare kinds by far, and a scrape must not walk
// through them.
func TestMaintenanceIsReadByItsIndex(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.db.Exec(`insert into tasks (id, kind, queue, payload, max_attempts, state, created_at, started_at, finished_at)
		select gen_random_uuid(), 'tick', 'q', '{}', 1, 'succeeded', now() - make_interval(secs => n), now(), now()
		from generate_series(1, 20000) n`)
	require.NoError(t, err)
	_, err = f.db.Exec(`analyze tasks`)
	require.NoError(t, err)
	var plan []string
	require.NoError(t, f.db.Select(&plan, `explain (analyze, costs off, timing off) `+ledger.LastSucceededQuery,
		pq.Array([]string{"tick", "rare"})))
	text := strings.Join(plan, "\n")
	require.Contains(t, text, "Index Scan using tasks_maintenance")
	require.NotContains(t, text, "Filter")
}
