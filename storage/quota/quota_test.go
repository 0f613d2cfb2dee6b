package quota_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/quota"
)

func newQuotas(t *testing.T, b quota.Bounds) *quota.Quotas {
	t.Helper()
	q, err := quota.New(b)
	require.NoError(t, err)
	return q
}

// used is what an organization uses of a resource.
func used(f *fixture.Fixture, q *quota.Quotas, organization int64, r quota.Resource) int64 {
	f.T.Helper()
	list, err := q.Of(fixture.Context(f.T), f.DB, organization)
	require.NoError(f.T, err)
	for _, u := range list {
		if u.Resource == r {
			return u.Used
		}
	}
	f.T.Fatalf("no %s", r)
	return 0
}

// take starts n runs of an organization.
func take(ctx context.Context, db *storage.DB, q *quota.Quotas, organization, n int64) error {
	return db.InTx(ctx, func(tx *storage.Tx) error {
		day, err := q.Begin(ctx, tx, quota.RunsPerDay, organization)
		if err != nil {
			return err
		}
		if err := day.Take(organization, n); err != nil {
			return err
		}
		return day.Store(ctx, tx)
	})
}

// Of many that come at once, exactly those are taken that fit.
func TestDayIsExact(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	q := newQuotas(t, quota.Bounds{quota.RunsPerDay: 30})
	ctx := fixture.Context(t)
	var taken, refused atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			err := take(ctx, f.DB, q, f.Org.ID, 1)
			var full *quota.ExceededError
			switch {
			case err == nil:
				taken.Add(1)
			case errors.As(err, &full):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, []int64{30, 70}, []int64{taken.Load(), refused.Load()})
	require.NoError(t, quota.Compact(ctx, f.DB))
	require.Equal(t, 1, f.Count(`select count(*) from quota_usage where organization_id = $1 and resource = 'runs_per_day'`, f.Org.ID))
	require.EqualValues(t, 30, used(f, q, f.Org.ID, quota.RunsPerDay))

	var full *quota.ExceededError
	require.ErrorAs(t, take(ctx, f.DB, q, f.Org.ID, 3), &full)
	require.Equal(t, []int64{30, 30, 3}, []int64{full.Bound, full.Used, full.Wanted})
	require.True(t, full.Again > 0 && full.Again <= 24*time.Hour)
	require.Contains(t, full.Error(), "runs_per_day is used up: 30 of 30 are used, and this needs 3")
	require.NoError(t, take(ctx, f.DB, q, f.Rival.ID, 30), "another organization has its own")

	f.Exec(`update quota_usage set day = day - 1 where organization_id = $1 and resource = 'runs_per_day'`, f.Org.ID)
	require.NoError(t, take(ctx, f.DB, q, f.Org.ID, 30), "another day")
	require.Error(t, take(ctx, f.DB, q, f.Org.ID, 1))
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return quota.SetBounds(ctx, tx, f.Org.ID, quota.Bounds{quota.RunsPerDay: 0})
	})
	require.NoError(t, take(ctx, f.DB, q, f.Org.ID, 1000), "the organization's own bound: none")
}

// Uploads at once keep to the number of builds and to the bytes.
func TestBuildsAreExact(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.App("com.example.shop")
	first := used(f, newQuotas(t, nil), f.Org.ID, quota.StoredBytes)
	require.Positive(t, first)
	q := newQuotas(t, quota.Bounds{quota.Builds: 8, quota.StoredBytes: first + 1000})
	insert := func(ctx context.Context, n int, size int64) error {
		return f.DB.InTx(ctx, func(tx *storage.Tx) error {
			if err := q.Lock(ctx, tx, f.Org.ID); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `
				with f as (insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, $3, '', '') returning id)
				insert into builds (organization_id, project_id, token, app_name, platform, kind, file_id, file_name)
				select $1, (select min(id) from projects where organization_id = $1), $2, 'a', 'Android', 'apk', f.id, 'a.apk' from f`,
				f.Org.ID, fmt.Sprintf("many-%d", n), size)
			if err != nil {
				return err
			}
			return q.Check(ctx, tx, f.Org.ID, 0, quota.Builds, quota.StoredBytes)
		})
	}
	ctx := fixture.Context(t)
	var stored atomic.Int64
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			if insert(ctx, n, 10) == nil {
				stored.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 7, stored.Load())
	require.Equal(t, 8, f.Count(`select count(*) from builds where organization_id = $1`, f.Org.ID))
	var full *quota.ExceededError
	require.ErrorAs(t, q.Check(ctx, f.DB, f.Org.ID, 1, quota.Builds), &full)
	require.Contains(t, full.Error(), "the organization's quota builds is used up: 8 of 8 are used; delete builds")

	f.Exec(`update builds set deleted_at = now() where organization_id = $1`, f.Org.ID)
	require.Zero(t, used(f, q, f.Org.ID, quota.Builds), "deleted ones make room at once")
	require.ErrorAs(t, insert(ctx, 100, 1001), &full)
	require.Equal(t, quota.StoredBytes, full.Resource)
	require.NoError(t, insert(ctx, 101, 930))
	require.ErrorAs(t, insert(ctx, 102, 1), &full, "deleted builds hold their bytes until their files are gone")
	f.Exec(`delete from builds where deleted_at is not null and organization_id = $1`, f.Org.ID)
	f.Exec(`delete from files f where not exists (select from builds b where f.id in (b.file_id, b.icon_file_id))
		and not exists (select from projects p where p.icon_file_id = f.id) and organization_id = $1`, f.Org.ID)
	require.NoError(t, insert(ctx, 103, 1))
	require.Zero(t, used(f, q, f.Rival.ID, quota.StoredBytes))
}

// Whatever went wrong with a sum, the recount makes it what is stored, while others write.
func TestRecount(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.App("com.example.shop")
	q := newQuotas(t, nil)
	bytes, builds := used(f, q, f.Org.ID, quota.StoredBytes), used(f, q, f.Org.ID, quota.Builds)
	require.EqualValues(t, 1, builds)
	require.EqualValues(t, f.Count(`select sum(size) from files where organization_id = $1`, f.Org.ID), bytes)
	ctx := fixture.Context(t)
	differed, done, err := quota.Recount(ctx, f.DB, time.Hour)
	require.NoError(t, err)
	require.True(t, done)
	require.Zero(t, differed, "what is counted is what is stored")
	_, done, err = quota.Recount(ctx, f.DB, time.Hour)
	require.NoError(t, err)
	require.False(t, done, "it was done a moment ago")

	f.Exec(`delete from quota_usage where resource = 'stored_bytes'`)
	f.Exec(`insert into quota_usage (organization_id, resource, amount) values ($1, 'builds', 5), ($2, 'stored_bytes', 77)`,
		f.Org.ID, f.Rival.ID)
	differed, _, err = quota.Recount(ctx, f.DB, 0)
	require.NoError(t, err)
	require.Equal(t, 3, differed)
	require.Equal(t, []int64{bytes, 1, 0}, []int64{used(f, q, f.Org.ID, quota.StoredBytes), used(f, q, f.Org.ID, quota.Builds),
		used(f, q, f.Rival.ID, quota.StoredBytes)})

	f.Exec(`insert into crash_attachments (id, organization_id, crash_id, name, content_type, size, object_key)
		values (gen_random_uuid(), $1, gen_random_uuid(), 'a', '', 500, 'k')`, f.Rival.ID)
	require.EqualValues(t, 500, used(f, q, f.Rival.ID, quota.StoredBytes))
	f.Exec(`delete from crash_attachments where object_key = 'k'`)
	require.Zero(t, used(f, q, f.Rival.ID, quota.StoredBytes))
	f.Exec(`delete from quota_usage where organization_id = $1`, f.Rival.ID)
	_, err = f.DB.ExecContext(ctx,
		`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, 'gone', 9, '', '')`, f.Rival.ID)
	require.NoError(t, err)
}

// Crashes are counted in parts, never beyond the bound, and what is left is given back.
func TestMeter(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	q := newQuotas(t, quota.Bounds{quota.CrashesPerDay: 250})
	ctx := fixture.Context(t)
	one, two := quota.NewMeter(f.DB, q, nil), quota.NewMeter(f.DB, q, nil)
	var taken atomic.Int64
	var all sync.WaitGroup
	for n := range 400 {
		all.Go(func() {
			m := one
			if n%2 == 0 {
				m = two
			}
			err := m.Take(ctx, f.Org.ID)
			var full *quota.ExceededError
			if err == nil {
				taken.Add(1)
			} else if !errors.As(err, &full) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 250, taken.Load())
	one.Return(f.Org.ID)
	require.NoError(t, one.Take(ctx, f.Org.ID), "what was not stored is free again")
	require.Error(t, one.Take(ctx, f.Org.ID))

	require.NoError(t, one.Take(ctx, f.Rival.ID))
	require.EqualValues(t, 2, used(f, q, f.Rival.ID, quota.CrashesPerDay))
	require.NoError(t, one.Close(ctx))
	require.EqualValues(t, 1, used(f, q, f.Rival.ID, quota.CrashesPerDay))

	now := time.Now()
	later := quota.NewMeter(f.DB, q, func() time.Time { return now })
	require.Error(t, later.Take(ctx, f.Org.ID))
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return quota.SetBounds(ctx, tx, f.Org.ID, quota.Bounds{quota.CrashesPerDay: 251})
	})
	now = now.Add(11 * time.Second)
	require.NoError(t, later.Take(ctx, f.Org.ID), "the operator raised the bound")
	require.Error(t, later.Take(ctx, f.Org.ID))

	unbounded := quota.NewMeter(f.DB, newQuotas(t, nil), nil)
	require.NoError(t, unbounded.Take(ctx, f.Rival.ID))
	require.NoError(t, (*quota.Meter)(nil).Take(ctx, f.Rival.ID))
	_, err := quota.New(quota.Bounds{quota.Builds: -1})
	require.Error(t, err)
	_, err = quota.New(quota.Bounds{"rooms": 1})
	require.Error(t, err)
}

// The metrics name those who are nearest to a bound, by their own or the installation's.
func TestNearest(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	q := newQuotas(t, quota.Bounds{quota.RunsPerDay: 10})
	ctx := fixture.Context(t)
	require.NoError(t, take(ctx, f.DB, q, f.Org.ID, 5))
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return quota.SetBounds(ctx, tx, f.Rival.ID, quota.Bounds{quota.RunsPerDay: 8})
	})
	require.NoError(t, take(ctx, f.DB, q, f.Rival.ID, 6))
	list, err := q.Nearest(ctx, f.DB, 10)
	require.NoError(t, err)
	require.Equal(t, []quota.Share{{"rival", quota.RunsPerDay, 0.75}, {"acme", quota.RunsPerDay, 0.5}}, list)
	list, err = q.Nearest(ctx, f.DB, 1)
	require.NoError(t, err)
	require.Len(t, list, 1)
}
