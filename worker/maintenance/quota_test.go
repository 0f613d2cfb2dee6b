package maintenance_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/maintenance"
)

// A round makes one row of a sum's many, and corrects what differs from what is stored once
// a day.
func TestQuotaMaintenance(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	_, err := db.ExecContext(t.Context(), `
		with o as (insert into organizations (uuid, slug, name) values (gen_random_uuid(), 'o', 'o') returning id)
		insert into quota_usage (organization_id, resource, amount) select id, 'builds', 1 from o, generate_series(1, 40)`)
	require.NoError(t, err)
	sum := func() (rows []int) {
		t.Helper()
		require.NoError(t, db.SelectContext(t.Context(), &rows, `select unnest(array[count(*), sum(amount)])::int from quota_usage`))
		return rows
	}
	h := &maintenance.Quotas{DB: db, Log: slog.New(slog.DiscardHandler)}
	var result maintenance.QuotaResult
	round(t, db, tasks.QuotaMaintenance, h, &result)
	require.Equal(t, maintenance.QuotaResult{Recounted: true, Differed: 1}, result)
	require.Equal(t, 0, sum()[1])
	round(t, db, tasks.QuotaMaintenance, h, &result)
	require.Equal(t, maintenance.QuotaResult{}, result)
	require.Equal(t, []int{1, 0}, sum())
}
