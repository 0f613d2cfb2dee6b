package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// The users that a group affects are counted once each, by their id; where a report names
// none, by the device. The number is that of a distinct.Sample: exact for a thousand,
// estimated beyond, in bounded space. Who was counted stays counted when a report is deleted:
// a number names nobody.

// userKeys name the user of a report, deviceKeys the device where no user is named: clients
// send an id of the installation as guid.
var (
	userKeys   = []string{"user.id", "user_id", "userId"}
	deviceKeys = []string{"guid", "device.id", "device_id", "deviceId", "uname.nodename", "hostname"}
)

// AffectedUser returns who was affected by a report, as the attributes that get returns say;
// "" when they name neither a user nor a device. The two never equal each other.
func AffectedUser(get func(key string) string) string {
	for _, key := range userKeys {
		if id := usage.ShortText(get(key)); id != "" {
			return "user " + id
		}
	}
	for _, key := range deviceKeys {
		// All phones with Android are called localhost.
		if id := usage.ShortText(get(key)); id != "" && id != "localhost" {
			return "device " + id
		}
	}
	return ""
}

// AffectedKeys are the attributes that name a user or a device.
func AffectedKeys() []string { return slices.Concat(userKeys, deviceKeys) }

// AffectedUserOf is AffectedUser of the attributes that a crash is stored with.
func AffectedUserOf(attributes string) string {
	var values map[string]any
	d := json.NewDecoder(strings.NewReader(attributes))
	d.UseNumber()
	if d.Decode(&values) != nil {
		return ""
	}
	return AffectedUser(func(key string) string {
		switch v := values[key].(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
		return ""
	})
}

// reachRow is a row of crash_group_reach.
type reachRow struct {
	GroupID    int64  `db:"group_id"`
	Sample     []byte `db:"sample"`
	Shown      []byte `db:"shown"` // nil: Sample says it
	FirstBuild *int64 `db:"first_build_id"`
	LastBuild  *int64 `db:"last_build_id"`

	sample, shown distinct.Sample
	changed       bool
}

func (r *reachRow) decode() {
	r.sample, r.shown = distinct.Parse(r.Sample), distinct.Parse(r.Shown)
}

// built takes builds in: ids of builds ascend with their upload.
func (r *reachRow) built(first, last int64) {
	if first != 0 && (r.FirstBuild == nil || first < *r.FirstBuild) {
		r.FirstBuild, r.changed = &first, true
	}
	if last != 0 && (r.LastBuild == nil || last > *r.LastBuild) {
		r.LastBuild, r.changed = &last, true
	}
}

const selectReach = `select group_id, sample, shown, first_build_id, last_build_id from crash_group_reach where group_id = any($1)`

// readReach reads the rows of groups. The roots of the groups are locked.
func readReach(ctx context.Context, tx *storage.Tx, groups []int64) (map[int64]*reachRow, error) {
	var rows []*reachRow
	if err := tx.SelectContext(ctx, &rows, selectReach, pq.Array(groups)); err != nil {
		return nil, storage.Wrap(err, "users of crash groups")
	}
	byID := make(map[int64]*reachRow, len(groups))
	for _, r := range rows {
		r.decode()
		byID[r.GroupID] = r
	}
	return byID, nil
}

// reachOf adds what tallies name to the rows of their groups, and returns the rows that
// change, in the order of their groups, and the users of the groups that are shown.
func reachOf(ctx context.Context, tx *storage.Tx, tallies []*tally) (changed []*reachRow, users map[int64]int64, err error) {
	var ids []int64
	for _, t := range tallies {
		if len(t.users) > 0 || t.lastBuild != 0 {
			ids = append(ids, t.group, t.root)
		}
	}
	if len(ids) == 0 {
		return nil, nil, nil
	}
	rows, err := readReach(ctx, tx, ids)
	if err != nil {
		return nil, nil, err
	}
	at := func(id int64) *reachRow {
		if rows[id] == nil {
			rows[id] = &reachRow{GroupID: id}
		}
		return rows[id]
	}
	users = map[int64]int64{}
	for _, t := range tallies {
		if len(t.users) == 0 && t.lastBuild == 0 {
			continue
		}
		own, root := at(t.group), at(t.root)
		own.changed = own.sample.Add(t.users...) || own.changed
		own.built(t.firstBuild, t.lastBuild)
		if t.group != t.root && root.Shown == nil {
			root.Shown, root.shown = []byte{}, slices.Clone(root.sample)
		}
		if root.Shown != nil && root.shown.Add(t.users...) {
			root.changed = true
		}
		users[t.root] = root.users()
	}
	for _, r := range rows {
		if r.changed {
			changed = append(changed, r)
		}
	}
	slices.SortFunc(changed, func(a, b *reachRow) int { return cmp.Compare(a.GroupID, b.GroupID) })
	return changed, users, nil
}

// users is the number of users of a group that is shown.
func (r *reachRow) users() int64 {
	if r.Shown != nil {
		return r.shown.Count()
	}
	return r.sample.Count()
}

// storeReach is a statement that writes rows; its arguments are those of reachColumns, from $1 on.
const storeReach = `
insert into crash_group_reach as r (group_id, sample, shown, first_build_id, last_build_id)
select n.group_id, n.sample, nullif(n.shown, '-')::bytea, nullif(n.first_build, 0), nullif(n.last_build, 0)
from unnest($1::bigint[], $2::bytea[], $3::text[], $4::bigint[], $5::bigint[]) as n(group_id, sample, shown, first_build, last_build)
order by n.group_id
on conflict (group_id) do update set sample = excluded.sample, shown = excluded.shown,
	first_build_id = excluded.first_build_id, last_build_id = excluded.last_build_id`

func reachColumns(rows []*reachRow) []any {
	var ids, first, last []int64
	var samples, shown []string
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	for _, r := range rows {
		union := "-"
		if r.Shown != nil {
			union = array.Bytea(r.shown.Bytes())
		}
		ids, samples, shown = append(ids, r.GroupID), append(samples, array.Bytea(r.sample.Bytes())), append(shown, union)
		first, last = append(first, number(r.FirstBuild)), append(last, number(r.LastBuild))
	}
	return []any{pq.Array(ids), pq.Array(samples), pq.Array(shown), pq.Array(first), pq.Array(last)}
}

// writeReach writes rows.
func writeReach(ctx context.Context, tx *storage.Tx, rows []*reachRow) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, storeReach, reachColumns(rows)...)
	return storage.Wrap(err, "count users of crash groups")
}

// moveReach adds the users of crashes to the groups that they went to, and counts those of
// the groups that they left again, where few enough of their reports are kept. recount follows.
func moveReach(ctx context.Context, tx *storage.Tx, from, to []*tally) error {
	var left []int64
	for _, t := range from {
		left = append(left, t.group)
	}
	rows, err := readReach(ctx, tx, left)
	if err != nil {
		return err
	}
	kept, err := keptReach(ctx, tx, slices.Sorted(mapKeys(rows)), movedReports)
	if err != nil {
		return err
	}
	var changed []*reachRow
	for _, k := range kept {
		if k.all {
			k.Shown, k.shown = rows[k.GroupID].Shown, rows[k.GroupID].shown
			changed = append(changed, k.reachRow)
		}
	}
	if err := writeReach(ctx, tx, changed); err != nil {
		return err
	}
	changed, _, err = reachOf(ctx, tx, to)
	if err != nil {
		return err
	}
	return writeReach(ctx, tx, changed)
}

// movedReports bounds the reports that are read to count the users of a group again that lost
// some; of a group with more nobody is taken away.
const movedReports = 1000

// keptRow is what reports of a group that are kept say.
type keptRow struct {
	*reachRow
	all bool // there are no others
}

// selectKept reads the users and builds of up to $2 reports of each of the groups, of each key the
// newest.
const selectKept = `
with c as materialized (
	select w.group_id, c.attributes, c.build_id from unnest($1::bigint[]) as w(group_id) cross join lateral (
		select (select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(c.attributes) e
			where e.key = any($3)) as attributes, c.build_id
		from crash_group_keys k cross join lateral (
			select attributes, build_id from crashes where key_id = k.id order by occurred_at desc, id desc limit $2) c
		where k.group_id = w.group_id limit $2) c
), counted as (
	select group_id, count(*) as reports from c group by group_id
)
select c.group_id, c.attributes::text, n.reports, min(c.build_id) as first, max(c.build_id) as last
from c join counted n on n.group_id = c.group_id group by c.group_id, c.attributes, n.reports`

// keptTogether are the groups whose reports are read at once.
const keptTogether = 10

// keptReach counts the users and builds of so many reports of each of the groups, in the order of the
// groups: no more are read.
func keptReach(ctx context.Context, tx *storage.Tx, groups []int64, most int) ([]keptRow, error) {
	kept := make([]keptRow, 0, len(groups))
	for some := range slices.Chunk(groups, keptTogether) {
		more, err := keptOf(ctx, tx, some, most)
		if err != nil {
			return nil, err
		}
		kept = append(kept, more...)
	}
	return kept, nil
}

func keptOf(ctx context.Context, tx *storage.Tx, groups []int64, most int) ([]keptRow, error) {
	var rows []struct {
		GroupID    int64  `db:"group_id"`
		Attributes string `db:"attributes"`
		Reports    int    `db:"reports"`
		First      *int64 `db:"first"`
		Last       *int64 `db:"last"`
	}
	if err := tx.SelectContext(ctx, &rows, selectKept, pq.Array(groups), most, pq.Array(AffectedKeys())); err != nil {
		return nil, storage.Wrap(err, "users of the reports of crash groups")
	}
	kept, at := make([]keptRow, len(groups)), make(map[int64]*keptRow, len(groups))
	for i, id := range groups {
		kept[i] = keptRow{&reachRow{GroupID: id}, true}
		at[id] = &kept[i]
	}
	for _, row := range rows {
		k := at[row.GroupID]
		k.all = row.Reports < most
		if user := AffectedUserOf(row.Attributes); user != "" {
			k.sample.Add(distinct.Hash(user))
		}
		if row.First != nil {
			k.built(*row.First, *row.Last)
		}
	}
	return kept, nil
}

// recountUsers leaves as many users as before until an ignored group is open again: those that
// came from another group, or were counted late, are no further ones.
const recountUsers = `
update crash_groups g set users = n.users, ignored_until_users = g.ignored_until_users - g.users + n.users
from unnest($1::bigint[], $2::bigint[]) as n(id, users) where g.id = n.id`

// selectMembers reads the users of the members of groups that are shown.
const selectMembers = `
select w.root, r.group_id, r.sample, r.first_build_id, r.last_build_id
from unnest($1::bigint[]) as w(root) cross join lateral (
	select id from crash_groups where id = w.root union all select id from crash_groups where root_id = w.root) g
join crash_group_reach r on r.group_id = g.id`

// recountReach counts the users of groups that are shown from what their parts have.
func recountReach(ctx context.Context, tx *storage.Tx, roots ...int64) error {
	var members []struct {
		Root int64 `db:"root"`
		reachRow
	}
	if err := tx.SelectContext(ctx, &members, selectMembers, pq.Array(roots)); err != nil {
		return storage.Wrap(err, "users of the parts of crash groups")
	}
	var having []int64 // those that have parts
	err := tx.SelectContext(ctx, &having, `select distinct root_id from crash_groups where root_id = any($1)`, pq.Array(roots))
	if err != nil {
		return storage.Wrap(err, "parts of crash groups")
	}
	own, union := map[int64]*reachRow{}, map[int64]distinct.Sample{}
	for i := range members {
		m := &members[i].reachRow
		m.decode()
		u := union[members[i].Root]
		u.Add(m.sample...)
		union[members[i].Root] = u
		if m.GroupID == members[i].Root {
			own[m.GroupID] = m
		}
	}
	var rows []*reachRow
	var users []int64
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	for _, root := range roots {
		r := cmp.Or(own[root], &reachRow{GroupID: root})
		r.Shown, r.shown = nil, nil
		if slices.Contains(having, root) {
			r.Shown, r.shown = []byte{}, union[root]
		}
		rows, users = append(rows, r), append(users, r.users())
	}
	if err := writeReach(ctx, tx, rows); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, recountUsers, pq.Array(roots), pq.Array(users))
	return storage.Wrap(err, "count users of crash groups")
}
