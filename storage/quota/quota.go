// Package quota bounds what an organization may use of an installation: bytes that are
// stored, builds that are kept, crashes, and runs of tests a day (UTC).
//
// The bounds are the installation's, or those that the operator set for one organization
// (SetBounds). 0 is none.
//
// What is used is the sum of small rows, which are written in the transactions of what
// they count: bytes and builds by triggers of their tables (migration 00097), whichever way
// a row comes or goes; runs by an Allowance; crashes by a Meter, which takes some at a time
// out of the day's rest, for a transaction for each would be dear. So nobody waits for
// anybody where there is no bound. Where there is one, what adds to a sum holds the
// organization's lock (Lock) from before its first write until its commit: of a hundred
// that come at once, exactly those that fit are taken.
//
// The maintenance makes one row of many (Compact), and compares the sums with what is
// stored (Recount). Until its first round after the upgrade, what was stored before it is
// not counted.
//
// A refusal is an *ExceededError. A nil *Quotas bounds and counts nothing.
package quota

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Resource is what is bounded.
type Resource string

// The resources.
const (
	StoredBytes   Resource = "stored_bytes"
	Builds        Resource = "builds"
	CrashesPerDay Resource = "crashes_per_day"
	RunsPerDay    Resource = "runs_per_day" // runs of cases, also those of suites, and generations
)

// Resources are all resources, in the order in which they are shown.
func Resources() []Resource { return []Resource{StoredBytes, Builds, CrashesPerDay, RunsPerDay} }

// Daily reports whether a resource is bounded a day.
func (r Resource) Daily() bool { return r == CrashesPerDay || r == RunsPerDay }

// Bounds are bounds of resources; what is missing or 0 has none.
type Bounds map[Resource]int64

// Check refuses bounds that mean nothing.
func (b Bounds) Check() error {
	for resource, bound := range b {
		if !slices.Contains(Resources(), resource) {
			return storage.Invalid("quota", "%q is not one", resource)
		}
		if bound < 0 {
			return storage.Invalid(string(resource), "must not be negative")
		}
	}
	return nil
}

// ExceededError refuses what would be beyond a bound. Its text is meant for who asked.
type ExceededError struct {
	Resource Resource
	Bound    int64
	Used     int64 // without what was refused
	Wanted   int64
	// Again is the time until the day ends, zero for what is kept.
	Again time.Duration
}

func (e *ExceededError) Error() string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	text := "the organization's quota " + string(e.Resource) + " is used up: " + n(e.Used) + " of " + n(e.Bound) + " are used"
	if e.Wanted > 1 {
		text += ", and this needs " + n(e.Wanted)
	}
	switch e.Resource {
	case StoredBytes:
		return text + "; delete builds, symbols, runs or crashes, or ask the operator for more"
	case Builds:
		return text + "; delete builds, set a retention of builds, or ask the operator for more"
	}
	return text + "; the day ends at midnight UTC"
}

// Quotas are the quotas of an installation.
type Quotas struct{ defaults Bounds }

// New returns the quotas with the bounds of organizations that have none of their own.
func New(defaults Bounds) (*Quotas, error) {
	if err := defaults.Check(); err != nil {
		return nil, err
	}
	return &Quotas{defaults: defaults}, nil
}

const organizationBounds = `
select organization_id, resource, bound from organization_quotas where organization_id = any($1)`

// bounds returns the bounds in force, of those organizations and resources that have one.
func (q *Quotas) bounds(ctx context.Context, from storage.Querier, organizations []int64) (map[int64]Bounds, error) {
	var rows []struct {
		Organization int64    `db:"organization_id"`
		Resource     Resource `db:"resource"`
		Bound        int64    `db:"bound"`
	}
	if err := from.SelectContext(ctx, &rows, organizationBounds, pq.Array(organizations)); err != nil {
		return nil, storage.Wrap(err, "read quotas")
	}
	in := make(map[int64]Bounds, len(organizations))
	for _, id := range organizations {
		in[id] = Bounds{}
		for resource, bound := range q.defaults {
			in[id].set(resource, bound)
		}
	}
	for _, r := range rows {
		in[r.Organization].set(r.Resource, r.Bound)
	}
	return in, nil
}

// set leaves out what is no bound.
func (b Bounds) set(resource Resource, bound int64) {
	if bound > 0 {
		b[resource] = bound
	} else {
		delete(b, resource)
	}
}

// lockOrganizations takes the locks in the order of the array.
const lockOrganizations = `
select pg_advisory_xact_lock(hashtextextended('quota ' || id::text, 0)) from unnest($1::bigint[]) as id`

// Lock holds back, until the transaction ends, what else would add to the organizations'
// sums. Those without a bound are not locked. It comes before the locks of rows; locks of
// several organizations are taken in one order.
func (q *Quotas) Lock(ctx context.Context, tx *storage.Tx, organizations ...int64) error {
	if q == nil {
		return nil
	}
	_, err := q.lock(ctx, tx, organizations)
	return err
}

func (q *Quotas) lock(ctx context.Context, tx *storage.Tx, organizations []int64) (map[int64]Bounds, error) {
	list := slices.Compact(slices.Sorted(slices.Values(organizations)))
	bounds, err := q.bounds(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(id int64) bool { return len(bounds[id]) == 0 })
	if len(list) == 0 {
		return bounds, nil
	}
	if _, err := tx.ExecContext(ctx, lockOrganizations, pq.Array(list)); err != nil {
		return nil, storage.Wrap(err, "lock the quotas of organizations")
	}
	return bounds, nil
}

// usage is what an organization uses now.
type usage struct {
	Organization int64    `db:"organization_id"`
	Resource     Resource `db:"resource"`
	Used         int64    `db:"used"`
	Seconds      float64  `db:"seconds"` // until the day ends
}

const secondsLeft = `extract(epoch from date_trunc('day', now() at time zone 'utc') + interval '1 day' - (now() at time zone ` +
	`'utc'))::float8`

// used reads what is used. A statement that begins once the lock is held sees all that was
// committed before.
const used = `
select o.id as organization_id, r.resource, ` + secondsLeft + ` as seconds,
	coalesce((select sum(u.amount) from quota_usage u where u.organization_id = o.id and u.resource = r.resource
		and u.day = case when r.daily then (now() at time zone 'utc')::date else '-infinity'::date end), 0)::bigint as used
from unnest($1::bigint[]) as o(id), unnest($2::text[], $3::boolean[]) as r(resource, daily)`

func usages(ctx context.Context, from storage.Querier, organizations []int64, resources ...Resource) ([]usage, error) {
	names, daily := make([]string, len(resources)), make([]bool, len(resources))
	for i, r := range resources {
		names[i], daily[i] = string(r), r.Daily()
	}
	var rows []usage
	err := from.SelectContext(ctx, &rows, used, pq.Array(organizations), pq.Array(names), pq.Array(daily))
	return rows, storage.Wrap(err, "read what organizations use")
}

// Check refuses when the organization uses more than it may of what is kept. Who adds calls
// it after its writes, in the transaction that began with Lock; who asks before a long
// request calls it with the one build, or byte, that there has to be room for.
func (q *Quotas) Check(ctx context.Context, from storage.Querier, organization, more int64, resources ...Resource) error {
	if q == nil {
		return nil
	}
	bounds, err := q.bounds(ctx, from, []int64{organization})
	if err != nil {
		return err
	}
	resources = slices.DeleteFunc(slices.Clone(resources), func(r Resource) bool { return bounds[organization][r] == 0 })
	if len(resources) == 0 {
		return nil
	}
	rows, err := usages(ctx, from, []int64{organization}, resources...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if bound := bounds[organization][r.Resource]; r.Used+more > bound {
			return &ExceededError{Resource: r.Resource, Bound: bound, Used: min(r.Used, bound), Wanted: max(more, r.Used-bound)}
		}
	}
	return nil
}

// Usage is what an organization uses of a resource.
type Usage struct {
	Resource Resource
	Used     int64
	Bound    int64 // 0: none
}

// Of returns what an organization uses, in the order of Resources.
func (q *Quotas) Of(ctx context.Context, from storage.Querier, organization int64) ([]Usage, error) {
	all, err := q.OfAll(ctx, from, []int64{organization})
	return all[organization], err
}

// OfAll returns what each of the organizations uses, in the order of Resources. Whoever asks
// bounds their number.
func (q *Quotas) OfAll(ctx context.Context, from storage.Querier, organizations []int64) (map[int64][]Usage, error) {
	bounds, err := q.bounds(ctx, from, organizations)
	if err != nil {
		return nil, err
	}
	rows, err := usages(ctx, from, organizations, Resources()...)
	if err != nil {
		return nil, err
	}
	all := make(map[int64][]Usage, len(organizations))
	for _, r := range rows {
		all[r.Organization] = append(all[r.Organization], Usage{r.Resource, r.Used, bounds[r.Organization][r.Resource]})
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b Usage) int {
			return cmp.Compare(slices.Index(Resources(), a.Resource), slices.Index(Resources(), b.Resource))
		})
	}
	return all, nil
}

const setBound = `
insert into organization_quotas (organization_id, resource, bound) values ($1, $2, $3)
on conflict (organization_id, resource) do update set bound = excluded.bound`

// SetBounds sets bounds of an organization, in place of the installation's; 0 is none.
// storage.ErrConflict when there is no such organization.
func SetBounds(ctx context.Context, tx *storage.Tx, organization int64, b Bounds) error {
	if err := b.Check(); err != nil {
		return err
	}
	for _, r := range Resources() {
		bound, ok := b[r]
		if !ok {
			continue
		}
		if _, err := tx.ExecContext(ctx, setBound, organization, r, bound); err != nil {
			return storage.Wrap(err, fmt.Sprintf("quota %s of organization %d", r, organization))
		}
	}
	return nil
}
