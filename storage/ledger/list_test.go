package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// A list of many tasks is counted as far as somebody reads the number, and says so.
func TestListCountsUpTo(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	insert := func(kind string, n int) {
		_, err := db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, payload, max_attempts)
			select gen_random_uuid(), $1, 'bulk', '{}', 1 from generate_series(1, $2::int)`, kind, n)
		require.NoError(t, err)
	}
	insert("few", 3)
	insert("many", storage.CountReach+1)
	store := ledger.New(db)
	for _, c := range []struct {
		kind          string
		limit, offset int
		rows          int
		want          storage.Total
	}{
		{"few", 2, 0, 2, storage.Total{Rows: 3, Exact: true, Next: true}},
		{"few", 2, 2, 1, storage.Total{Rows: 3, Exact: true}},
		{"many", 2, 0, 2, storage.Total{Rows: storage.CountReach, Next: true}},
		{"many", 2, storage.CountReach - 1, 2, storage.Total{Rows: storage.CountReach}},
		{"none", 2, 0, 0, storage.Total{Exact: true}},
	} {
		list, total, err := store.List(t.Context(), ledger.Filter{Kinds: []string{c.kind}, Limit: c.limit, Offset: c.offset})
		require.NoError(t, err)
		require.Len(t, list, c.rows, "%+v", c)
		require.Equal(t, c.want, total, "%+v", c)
	}
}

// The late tasks are those that wait and were due before a time, of one organization and of
// all, and are found by the indexes of what waits.
func TestListLate(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	now := time.Now()
	_, err := db.ExecContext(t.Context(), `insert into organizations (id, uuid, slug, name) overriding system value
		select id, gen_random_uuid(), 'late-' || id, 'late' from unnest(array[1, 2, 9]) id`)
	require.NoError(t, err)
	for _, c := range []struct {
		organization any
		state        string
		ago          time.Duration
	}{
		{1, "queued", time.Hour}, {1, "queued", 2 * time.Minute}, {1, "queued", 0}, {1, "queued", -time.Hour},
		{1, "running", time.Hour}, {1, "dead", time.Hour}, {2, "queued", time.Hour}, {nil, "queued", time.Hour},
	} {
		_, err := db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, run_at)
			values (gen_random_uuid(), 'test:late', 'mail', $1, '{}', 1, $2, $3)`, c.organization, c.state, now.Add(-c.ago))
		require.NoError(t, err)
	}
	store := ledger.New(db)
	late := ledger.Filter{Queues: []string{"bulk", "mail"}, DueBefore: now.Add(-ledger.Lateness), Limit: 10}
	for organization, want := range map[int64]int{1: 2, 2: 1, 3: 0, 0: 4} {
		late.OrganizationID = organization
		list, total, err := store.List(t.Context(), late)
		require.NoError(t, err)
		require.Equal(t, storage.Total{Rows: want, Exact: true}, total, organization)
		require.Len(t, list, want)
	}

	_, err = db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, run_at)
		select gen_random_uuid(), 'test:late', 'mail', 9, '{}', 1, case when i % 10 = 0 then 'queued' else 'dead' end, now() + interval '1 hour'
		from generate_series(1, 20000) i`)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `vacuum analyze tasks`)
	require.NoError(t, err)
	// Of all organizations either index has what waits and nothing else.
	for organization, index := range map[int64]string{9: "tasks_turn", 0: "tasks_(due|turn)"} {
		late.OrganizationID = organization
		where, args := late.Where()
		var lines []string
		require.NoError(t, db.SelectContext(t.Context(), &lines, `explain (costs off) select from tasks t`+where, args...))
		plan := strings.Join(lines, "\n")
		require.Regexp(t, index, plan)
		require.NotContains(t, plan, "Seq Scan")
	}
}
