package symbolfile

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// What the list of missing files costs is bounded by these.
const (
	// countedCrashes of a need are counted.
	countedCrashes = 10_000
	// groupedCrashes of a need, of those seen last, say which groups lack the file.
	groupedCrashes = 1_000
	// groupsOfNeed are shown, those with the most crashes.
	groupsOfNeed = 10
	// sortedNeeds, those seen last, are sorted by their crashes, of which sortedCrashes are
	// counted: some hundred thousand entries of an index.
	sortedNeeds   = 500
	sortedCrashes = 1_000
)

// Need is a file that crashes lack.
type Need struct {
	ID        int64     `db:"id"`
	ProjectID int64     `db:"crash_project_id"`
	Kind      string    `db:"kind"` // native, proguard or sourcemap
	Name      string    `db:"name"`
	Version   string    `db:"version"`
	Arch      string    `db:"arch"`
	LookedFor []byte    `db:"looked_for"`
	FirstSeen time.Time `db:"first_seen"`
	LastSeen  time.Time `db:"last_seen"`

	Crashes      int  `db:"-"`
	CrashesExact bool `db:"-"` // false: there are more
	// Identifiers are what was looked for, in order.
	Identifiers []symbol.Identifier `db:"-"`
	Groups      []NeedyGroup        `db:"-"` // at most groupsOfNeed
	// GroupsExact is false when Groups are those of some of the newest crashes only.
	GroupsExact bool `db:"-"`
}

// NeedyGroup is a group of crashes that lack a file.
type NeedyGroup struct {
	NeedID  int64  `db:"need_id"`
	ID      int64  `db:"id"`
	Title   string `db:"title"`
	Crashes int    `db:"crashes"`
}

// NeedFilter selects needs; zero members select all.
type NeedFilter struct {
	OrganizationID int64
	ProjectID      int64
	GroupID        int64
	Kinds          []string
	Search         string // in the name
	// ByCrashes sorts by the crashes, the most first, else by the time seen last. Only the
	// needs that were seen last are looked at then.
	ByCrashes bool
}

// Missing returns a page of the files that crashes lack. A need without crashes is none.
func Missing(ctx context.Context, q storage.Querier, f NeedFilter, p storage.Page) ([]Need, storage.Total, error) {
	var c conditions
	where := f.where(&c)
	reach := storage.CountReach
	if f.ByCrashes {
		reach = sortedNeeds
	}
	total, err := storage.CountUpTo(ctx, q, reach, `select from symbol_needs n`+where, c.args...)
	if err != nil {
		return nil, total, storage.Wrap(err, "count missing symbols")
	}
	list := []Need{}
	if err := q.SelectContext(ctx, &list, f.statement(&c, where, p), c.args...); err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "list missing symbols")
	}
	total.Next = len(list) == p.RowLimit()
	if err := readLookedFor(list); err != nil {
		return nil, total, err
	}
	return list, total, addCrashes(ctx, q, list)
}

const needColumns = `n.id, n.crash_project_id, n.kind, n.name, n.version, n.arch, n.looked_for, n.first_seen, n.last_seen`

func (f *NeedFilter) statement(c *conditions, where string, p storage.Page) string {
	page := ` limit ` + c.arg(p.RowLimit()) + ` offset ` + c.arg(p.RowOffset())
	if !f.ByCrashes {
		return `select ` + needColumns + ` from symbol_needs n` + where + ` order by n.last_seen desc, n.id desc` + page
	}
	return `select ` + needColumns + ` from (select * from symbol_needs n` + where + ` order by n.last_seen desc, n.id desc limit ` +
		strconv.Itoa(sortedNeeds) + `) n,
	lateral (select count(*) as crashes from (select from crash_lacks where need_id = n.id limit ` +
		strconv.Itoa(sortedCrashes) + `) counted) c
order by c.crashes desc, n.last_seen desc, n.id desc` + page
}

func (f *NeedFilter) where(c *conditions) string {
	c.add("n.organization_id = " + c.arg(f.OrganizationID))
	c.add("exists (select from crash_lacks l where l.need_id = n.id)")
	if f.ProjectID != 0 {
		c.add("n.crash_project_id = " + c.arg(f.ProjectID))
	}
	if f.GroupID != 0 {
		c.add(`n.id in (select l.need_id from (
	select cr.id from crash_groups g join crash_group_keys k on k.group_id = g.id join crashes cr on cr.key_id = k.id
	where ` + c.arg(f.GroupID) + ` in (g.id, g.root_id) order by cr.id desc limit ` + strconv.Itoa(groupedCrashes) + `) newest
	cross join lateral (select need_id from crash_lacks where crash_id = newest.id offset 0) l)`)
	}
	if len(f.Kinds) > 0 {
		c.add("n.kind = any(" + c.arg(pq.Array(f.Kinds)) + ")")
	}
	if f.Search != "" {
		c.add("n.name ilike " + c.arg("%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Search)+"%"))
	}
	return c.where()
}

func readLookedFor(list []Need) error {
	for i := range list {
		n := &list[i]
		n.Identifiers, n.Groups = []symbol.Identifier{}, []NeedyGroup{}
		if err := json.Unmarshal(n.LookedFor, &n.Identifiers); err != nil {
			return fmt.Errorf("what was looked for by need %d: %w", n.ID, err)
		}
	}
	return nil
}

const crashesOfNeeds = `
select w.id, (select count(*) from (select from crash_lacks where need_id = w.id limit $2) counted) as crashes
from unnest($1::bigint[]) as w(id)`

// groupsOfNeeds looks, of a need with more than $2 crashes, at those whose set was seen last:
// to find the newest of all, every crash would have to be read.
const groupsOfNeeds = `
select need_id, id, title, crashes from (
	select w.need_id, g.id, g.title, count(*) as crashes,
		row_number() over (partition by w.need_id order by count(*) desc, g.id desc) as place
	from unnest($1::bigint[]) as w(need_id),
	lateral (
		select crash_id from (
			select m.set_id from crash_need_set_members m cross join lateral (
				select crash_id from crash_symbolications where need_set_id = m.set_id order by crash_id desc limit 1) newest
			where m.need_id = w.need_id order by newest.crash_id desc limit $2
		) sets cross join lateral (
			select crash_id from crash_symbolications where need_set_id = sets.set_id order by crash_id desc limit $2) c
		union all
		(select crash_id from crash_needs where need_id = w.need_id order by crash_id desc limit $2)
		limit $2
	) lacking
	join crashes cr on cr.id = lacking.crash_id
	join crash_group_keys k on k.id = cr.key_id
	join crash_groups part on part.id = k.group_id
	join crash_groups g on g.id = coalesce(part.root_id, part.id)
	group by w.need_id, g.id, g.title
) ranked where place <= $3 order by need_id, crashes desc, id desc`

// addCrashes counts the crashes of needs, and reads the groups that these are in.
func addCrashes(ctx context.Context, q storage.Querier, list []Need) error {
	if len(list) == 0 {
		return nil
	}
	at, ids := map[int64]*Need{}, make([]int64, len(list))
	for i := range list {
		ids[i], at[list[i].ID] = list[i].ID, &list[i]
	}
	var counts []struct {
		ID      int64 `db:"id"`
		Crashes int   `db:"crashes"`
	}
	if err := q.SelectContext(ctx, &counts, crashesOfNeeds, pq.Array(ids), countedCrashes+1); err != nil {
		return storage.Wrap(err, "count crashes that lack symbols")
	}
	for _, c := range counts {
		n := at[c.ID]
		n.Crashes, n.CrashesExact, n.GroupsExact = min(c.Crashes, countedCrashes), c.Crashes <= countedCrashes, c.Crashes <= groupedCrashes
	}
	var groups []NeedyGroup
	if err := q.SelectContext(ctx, &groups, groupsOfNeeds, pq.Array(ids), groupedCrashes, groupsOfNeed+1); err != nil {
		return storage.Wrap(err, "groups that lack symbols")
	}
	for _, g := range groups {
		n := at[g.NeedID]
		if len(n.Groups) == groupsOfNeed {
			n.GroupsExact = false
			continue
		}
		n.Groups = append(n.Groups, g)
	}
	return nil
}
