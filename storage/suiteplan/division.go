package suiteplan

import (
	"context"
	"errors"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/suiteplan/shard"
)

const (
	// keptFor is how long the shards of a key agree: as long as an Idempotency-Key is known.
	keptFor = `interval '24 hours'`
	// keptKeys bounds the divisions of a suite that are kept; the newest are.
	keptKeys = 500
	// durationsOf is how many of a case's newest runs are looked at, of which those that were
	// judged say how long it takes: the median, so that one slow run counts little.
	durationsOf = 20
)

const division = `
select cases, shards from test_suite_shards
where suite_id = $1 and key = $2 and parts = $3 and created_at > now() - ` + keptFor

const storeDivision = `
with gone as (
	delete from test_suite_shards where suite_id = $1 and (key, parts) <> ($2, $3)
		and (created_at <= now() - ` + keptFor + ` or created_at < (
			select created_at from test_suite_shards where suite_id = $1 order by created_at desc offset $6 limit 1))
)
insert into test_suite_shards (suite_id, key, parts, cases, shards) values ($1, $2, $3, $4, $5)
on conflict (suite_id, key, parts) do update set cases = excluded.cases, shards = excluded.shards, created_at = now()`

// part returns those of the cases that a shard runs. The suite is locked: shards that start at the
// same time look one after the other.
func part(ctx context.Context, tx *storage.Tx, n NewPlan, cases []string, needs map[string][]string) ([]string, error) {
	var stored struct {
		Cases  pq.StringArray `db:"cases"`
		Shards pq.Int64Array  `db:"shards"`
	}
	err := storage.Wrap(tx.GetContext(ctx, &stored, division, n.SuiteID, n.Shard.Key, n.Shard.Of), "shards of test suite "+n.SuiteID.String())
	if errors.Is(err, storage.ErrNotFound) {
		stored.Cases, stored.Shards, err = divide(ctx, tx, n, cases, needs)
	}
	if err != nil {
		return nil, err
	}
	here := make(map[string]bool, len(cases))
	for _, id := range cases {
		here[id] = true
	}
	mine := []string{}
	for i, id := range stored.Cases {
		if here[id] && int(stored.Shards[i]) == n.Shard.Number {
			mine = append(mine, id)
		}
	}
	return mine, nil
}

// divide shares the cases out and stores who runs what.
func divide(ctx context.Context, tx *storage.Tx, n NewPlan, cases []string, needs map[string][]string) (ids []string,
	shards []int64, err error) {
	took, err := durations(ctx, tx, n.OrganizationID, cases)
	if err != nil {
		return nil, nil, err
	}
	ids, shards = []string{}, []int64{}
	for i, list := range shard.Split(cases, took, needs, n.Shard.Of) {
		for _, id := range list {
			ids, shards = append(ids, id), append(shards, int64(i+1))
		}
	}
	_, err = tx.ExecContext(ctx, storeDivision, n.SuiteID, n.Shard.Key, n.Shard.Of, pq.Array(ids), pq.Array(shards), keptKeys)
	return ids, shards, storage.Wrap(err, "store the shards of test suite "+n.SuiteID.String())
}

// durationsOfCases takes the case as a range that is sorted by, which leaves the planner the
// index of the case's runs alone.
const durationsOfCases = `
select want.id, took.seconds from unnest($2::text[]) as want(id) cross join lateral (
	select percentile_disc(0.5) within group (order by extract(epoch from newest.finished_at - newest.started_at))::float8 as seconds from (
		select r.state, r.started_at, r.finished_at from test_runs r
		where r.organization_id = $1 and r.case_id between want.id and want.id
		order by r.case_id, r.created_at desc, r.id desc limit $3
	) newest
	where newest.state in ('PASSED', 'FAILED') and newest.started_at is not null and newest.finished_at is not null
) took
where took.seconds is not null`

// durations returns how long cases usually take; those that were never judged are not in it.
func durations(ctx context.Context, q storage.Querier, organizationID int64, cases []string) (map[string]time.Duration, error) {
	var rows []struct {
		ID      string  `db:"id"`
		Seconds float64 `db:"seconds"`
	}
	if err := q.SelectContext(ctx, &rows, durationsOfCases, organizationID, pq.Array(cases), durationsOf); err != nil {
		return nil, storage.Wrap(err, "how long test cases take")
	}
	took := make(map[string]time.Duration, len(rows))
	for _, row := range rows {
		took[row.ID] = time.Duration(row.Seconds * float64(time.Second))
	}
	return took, nil
}
