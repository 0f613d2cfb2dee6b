package ledger_test

import (
	"testing"

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
