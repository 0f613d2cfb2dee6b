package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// A change of very many tasks says how many are left as far as somebody reads the number.
func TestChangesCountUpTo(t *testing.T) {
	t.Parallel()
	f := open(t)
	insert := func(kind string, n int) {
		_, err := f.db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, payload, max_attempts)
			select gen_random_uuid(), $1, 'bulk', '{}', 1 from generate_series(1, $2::int)`, kind, n)
		require.NoError(t, err)
	}
	insert("few", 3)
	insert("many", storage.CountReach+3)
	for _, c := range []struct {
		of, may string
		want    ledger.Changed
	}{
		{"few", "few", ledger.Changed{Changed: 2, Remaining: storage.Total{Rows: 1, Exact: true}}},
		{"few", "few", ledger.Changed{Changed: 1, Remaining: storage.Total{Exact: true}}},
		{"few", "few", ledger.Changed{Remaining: storage.Total{Exact: true}}},
		{"many", "few", ledger.Changed{Remaining: storage.Total{Exact: true}, Skipped: storage.CountReach}},
		{"many", "many", ledger.Changed{Changed: 2, Remaining: storage.Total{Rows: storage.CountReach}}},
		{"many", "many", ledger.Changed{Changed: 2, Remaining: storage.Total{Rows: storage.CountReach - 1, Exact: true}}},
	} {
		got, _, err := ledger.CancelMatching(t.Context(), f.db, ledger.Filter{Kinds: []string{c.of},
			States: []ledger.State{ledger.Queued}, Limit: 2}, []string{c.may})
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c)
	}
}
