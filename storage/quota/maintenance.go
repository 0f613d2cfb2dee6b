package quota

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// keepDays is how long the sums of days are kept.
const keepDays = 31

// compact replaces rows by their sum. Who reads the sum meanwhile sees either the rows or what
// took their place.
const compact = `
with many as (
	select organization_id, resource, day from quota_usage group by 1, 2, 3 having count(*) > 1 limit 1000
), gone as (
	delete from quota_usage u using many m
	where u.organization_id = m.organization_id and u.resource = m.resource and u.day = m.day
	returning u.organization_id, u.resource, u.day, u.amount
)
insert into quota_usage (organization_id, resource, day, amount)
select organization_id, resource, day, sum(amount) from gone group by 1, 2, 3`

// Compact replaces the rows of each sum by one, and deletes those of days long ago.
func Compact(ctx context.Context, db *storage.DB) error {
	if _, err := db.ExecContext(ctx, compact); err != nil {
		return storage.Wrap(err, "compact what organizations use")
	}
	_, err := db.ExecContext(ctx, `delete from quota_usage where day > '-infinity'
		and day < (now() at time zone 'utc')::date - $1::int`, keepDays)
	return storage.Wrap(err, "forget what organizations used")
}

// recount writes the difference between what is stored and its sum. Both are of one
// snapshot, and a row is committed together with its count: what others write meanwhile
// is in both or in neither.
const recount = `
with stored as (
	select organization_id, 'stored_bytes' as resource, sum(size)::bigint as amount from (
		select organization_id, size from files
		union all select organization_id, size from crash_attachments
		union all select organization_id, size from run_files
		union all select organization_id, size from test_baselines
		union all select organization_id, size from generation_files
		union all select organization_id, screenshot_size from feedbacks where screenshot_size <> 0
		union all select organization_id, size from resumable_uploads where state <> 'used'
	) s group by organization_id
	union all
	select organization_id, 'builds', count(*) from builds where deleted_at is null group by organization_id
), counted as (
	select organization_id, resource, sum(amount)::bigint as amount from quota_usage where day = '-infinity' group by 1, 2
), differing as (
	select coalesce(s.organization_id, c.organization_id) as organization_id, coalesce(s.resource, c.resource) as resource,
		coalesce(s.amount, 0) - coalesce(c.amount, 0) as amount
	from stored s full join counted c on c.organization_id = s.organization_id and c.resource = s.resource
), written as (
	insert into quota_usage (organization_id, resource, amount)
	select d.organization_id, d.resource, d.amount from differing d join organizations o on o.id = d.organization_id where d.amount <> 0
	returning 1
)
select count(*) from written`

// Recount compares the sums of what is kept with what is stored, unless that was done
// within an age, and returns how many differed; done is false when it was. It reads all
// rows of what is stored.
func Recount(ctx context.Context, db *storage.DB, age time.Duration) (differed int, done bool, err error) {
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		// The row is a lock too: two recounts at once would both add a difference.
		var due bool
		err := tx.GetContext(ctx, &due, `select at <= now() - make_interval(secs => $1) from quota_recounts for update`, age.Seconds())
		if err != nil || !due {
			return storage.Wrap(err, "see when quotas were recounted")
		}
		if _, err := tx.ExecContext(ctx, `set local statement_timeout = '20min'`); err != nil {
			return storage.Wrap(err, "recount quotas")
		}
		if err := tx.GetContext(ctx, &differed, recount); err != nil {
			return storage.Wrap(err, "recount quotas")
		}
		done = true
		_, err = tx.ExecContext(ctx, `update quota_recounts set at = now()`)
		return storage.Wrap(err, "recount quotas")
	})
	return differed, done, err
}
