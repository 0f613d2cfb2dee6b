package crash

import (
	"context"
	"strconv"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// A group that was merged into another stays as a part of it (merged_into), with its
// keys, days, versions and hosts; root_id leads to the group that is shown in its
// place, which alone has a count and times: those of all its parts. Reports of a part's
// keys are counted to the part's days and values and to the root's count. So a part can
// be taken out at any time, with all that was counted meanwhile.

// The conditions and queries about parts. Each takes the name g or the parameter that
// its comment names.
const (
	// MembersOfGroup are the ids of g, a group that is shown, and of its parts.
	MembersOfGroup = `select p.id from crash_groups p where p.id = g.id or p.root_id = g.id`
	// crashesOfGroup are crashes of g, a group that is shown, and of its parts: one of each key.
	// It is written so that only their keys are looked at, in the order of an index: as a plain
	// join, or in any order, all crashes of the database were read for a group that has none.
	crashesOfGroup = `select from (` + MembersOfGroup + ` offset 0) member join crash_group_keys k on k.group_id = member.id
		cross join lateral (select from crashes where key_id = k.id order by occurred_at desc, id desc limit 1) c`
	// ShownGroup is the id of the group that is shown in place of the id $2. Groups that
	// were merged before there were parts are found by crash_group_merges.
	ShownGroup = `select coalesce(p.root_id, p.id) from crash_groups p
		where p.id = coalesce((select m.group_id from crash_group_merges m where m.old_id = $2), $2)`
)

// place is where a group stands among those that were merged.
type place struct {
	ID         int64  `db:"id"`
	ProjectID  int64  `db:"crash_project_id"`
	MergedInto *int64 `db:"merged_into"`
	RootID     int64  `db:"root_id"`
	// Former is set for an id that was merged away before there were parts: it names no
	// part, and ID is the group that has its reports.
	Former bool `db:"former"`
}

func (p *place) isPart() bool { return p.MergedInto != nil }

const selectPlace = `
select g.id, g.crash_project_id, g.merged_into, coalesce(g.root_id, g.id) as root_id, g.id <> $2 as former
from crash_groups g
where g.organization_id = $1
	and g.id = coalesce((select m.group_id from crash_group_merges m where m.old_id = $2), $2)`

func placeOf(ctx context.Context, q storage.Querier, organization, id int64) (place, error) {
	var p place
	err := q.GetContext(ctx, &p, selectPlace, organization, id)
	return p, storage.Wrap(err, groupSubject(id))
}

// ResolveGroup returns the id of a group, which differs from the one requested when
// that was merged away.
func ResolveGroup(ctx context.Context, q storage.Querier, organization, id int64) (int64, error) {
	p, err := placeOf(ctx, q, organization, id)
	return p.RootID, err
}

// groupSubject is how the audit log names a group.
func groupSubject(id int64) string { return "crash group " + strconv.FormatInt(id, 10) }

// moveSubtree shows a group, and what was merged into it, in place of another root. A
// root that was merged into itself cannot be: Merge refuses it.
const moveSubtree = `
with recursive below as (
	select id from crash_groups where id = $1
	union all
	select g.id from below b join crash_groups g on g.merged_into = b.id
)
update crash_groups g set root_id = nullif($2::bigint, g.id) from below b where g.id = b.id`

// attach makes a group a part of into, or with into 0 a group that is shown. The
// projects are locked alone; the roots before and after are recounted by the caller.
func attach(ctx context.Context, tx *storage.Tx, id, into, root int64) error {
	_, err := tx.ExecContext(ctx, `update crash_groups set merged_into = nullif($2::bigint, 0) where id = $1`, id, into)
	if err != nil {
		return storage.Wrap(err, "attach a crash group")
	}
	_, err = tx.ExecContext(ctx, moveSubtree, id, root)
	return storage.Wrap(err, "move the parts of a crash group")
}

// recountGroups counts groups that are shown from what their parts have. Days are kept
// longer than crashes, so the first and last day decide where no crash is left.
const recountGroups = `
update crash_groups g set count = own.count, severity = (` + worstOfMembers + `),
	first_seen = case when seen.first is null or own.first_day < (seen.first at time zone 'UTC')::date
		then own.first_day::timestamp at time zone 'UTC' else seen.first end,
	last_seen = case when seen.last is null or own.last_day > (seen.last at time zone 'UTC')::date
		then own.last_day::timestamp at time zone 'UTC' else seen.last end
from unnest($1::bigint[]) as want(id)
cross join lateral (
	select coalesce(sum(d.count), 0)::bigint as count, coalesce(min(d.day), 'today') as first_day, coalesce(max(d.day), 'today') as last_day
	from crash_groups p join crash_group_days d on d.group_id = p.id where p.id = want.id or p.root_id = want.id
) own
cross join lateral (
	select min(a.first) as first, max(a.last) as last
	from crash_groups p join crash_group_keys k on k.group_id = p.id
	cross join lateral (select
		(select occurred_at from crashes where key_id = k.id order by occurred_at limit 1) as first,
		(select occurred_at from crashes where key_id = k.id order by occurred_at desc limit 1) as last) a
	where p.id = want.id or p.root_id = want.id
) seen
where g.id = want.id`

func recount(ctx context.Context, tx *storage.Tx, groups ...int64) error {
	if _, err := tx.ExecContext(ctx, recountGroups, pq.Array(groups)); err != nil {
		return storage.Wrap(err, "recount crash groups")
	}
	return recountReach(ctx, tx, groups...)
}

// Part is a group that was merged into another.
type Part struct {
	ID         int64  `db:"id"`
	MergedInto int64  `db:"merged_into"`
	Title      string `db:"title"`
	Culprit    string `db:"culprit"`
	Count      int64  `db:"count"` // of its own
}

// maxParts bounds the parts that a group shows.
const maxParts = 100

// Parts lists what was merged into a group that is shown, the most frequent first, up
// to maxParts; the second result says that there are more.
func Parts(ctx context.Context, q storage.Querier, organization, root int64) ([]Part, bool, error) {
	parts := []Part{}
	err := q.SelectContext(ctx, &parts, `
		select g.id, g.merged_into, g.title, g.culprit,
			coalesce((select sum(d.count) from crash_group_days d where d.group_id = g.id), 0)::bigint as count
		from crash_groups g where g.organization_id = $1 and g.root_id = $2
		order by count desc, g.id limit $3`, organization, root, maxParts+1)
	return parts[:min(len(parts), maxParts)], len(parts) > maxParts, storage.Wrap(err, "parts of a crash group")
}
