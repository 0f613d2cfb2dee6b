package ledger_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/ledger"
)

const manyOrganizations = `
insert into organizations (uuid, slug, name)
select gen_random_uuid(), 'many' || n, 'many' from generate_series(1, 10000) n`

const oneTaskEach = `
insert into tasks (id, kind, queue, organization_id, payload, max_attempts, run_at)
select gen_random_uuid(), 'k', 'q', id, '{"n": 1}', 3, now() - make_interval(secs => r)
from organizations cross join generate_series($1::int, $1 + 4) r where slug like 'many%'`

// BenchmarkBacklog claims from a million queued tasks of ten thousand organizations.
func BenchmarkBacklog(b *testing.B) {
	db := servicetest.DB(b)
	store := ledger.New(db)
	_, err := db.Exec(manyOrganizations)
	require.NoError(b, err)
	for n := 0; n < 100; n += 5 {
		_, err = db.Exec(oneTaskEach, n)
		require.NoError(b, err)
	}
	_, err = db.Exec(`analyze tasks`)
	require.NoError(b, err)
	begun := time.Now()
	waiting, err := store.Waiting(b.Context(), "q", "w")
	require.NoError(b, err)
	require.Len(b, waiting, 10000)
	b.Logf("who waits: %s", time.Since(begun))
	begun = time.Now()
	_, err = store.Backlogs(b.Context(), map[string]int{"q": 1000, "r": 1000})
	require.NoError(b, err)
	b.Logf("how much waits: %s", time.Since(begun))
	var next atomic.Int64
	b.Run("claim", func(b *testing.B) {
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				rows, err := store.ClaimFirst(b.Context(), "q", waiting[next.Add(1)%10000].OrganizationID, "w", nil)
				if err != nil || len(rows) != 1 {
					b.Errorf("%d rows, %v", len(rows), err)
					return
				}
			}
		})
	})
}
