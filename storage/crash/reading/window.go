package reading

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Window is a span of time: From inclusive, To exclusive; zero: open.
type Window struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// IsZero reports whether the window is all time.
func (w Window) IsZero() bool { return w.From.IsZero() && w.To.IsZero() }

// Nothing is seen before or after these.
var (
	firstDay = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	lastDay  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// arguments are the window as the queries of this file take it: its ends, and the first
// day that lies in it whole and the day behind the last such. Without a whole day the
// two are equal, and the parts at the ends meet there.
func (w Window) arguments(c *condition.List) (from, to, first, end string) {
	begin, until := w.From, w.To
	if begin.IsZero() {
		begin = firstDay
	}
	if until.IsZero() {
		until = lastDay
	}
	begin, until = begin.UTC(), until.UTC()
	day := begin.Truncate(24 * time.Hour)
	if day.Before(begin) {
		day = day.AddDate(0, 0, 1)
	}
	behind := until.Truncate(24 * time.Hour)
	if behind.Before(day) {
		day, behind = until, until // both ends lie in one day
	}
	arg := func(t time.Time) string { return c.Arg(array.Time(t)) + "::timestamptz" }
	return arg(begin), arg(until), arg(day), arg(behind)
}

// seenIn limits groups g to those that were seen in the window. Most are known by when
// they were first and last seen; only of a group that was seen before and after, its
// days and, at the ends of the window, its reports are asked.
func seenIn(c *condition.List, w Window) {
	if w.IsZero() {
		return
	}
	c.Span("g.last_seen", w.From, time.Time{})
	c.Span("g.first_seen", time.Time{}, w.To)
	if w.From.IsZero() || w.To.IsZero() {
		return // the one that is asked for lies in the window
	}
	from, to, first, end := w.arguments(c)
	c.Add("(g.first_seen >= " + from + " or g.last_seen < " + to +
		" or exists (select from crash_groups p join crash_group_days d on d.group_id = p.id" +
		" where (p.id = g.id or p.root_id = g.id) and " + wholeDays(first, end) + ")" +
		" or exists (select from crash_groups p join crash_group_keys k on k.group_id = p.id join crashes c on c.key_id = k.id" +
		" where (p.id = g.id or p.root_id = g.id) and " + ends(from, first, end, to) + "))")
}

// wholeDays are the days d that lie in the window whole.
func wholeDays(first, end string) string {
	return "d.day >= (" + first + " at time zone 'UTC')::date and d.day < (" + end + " at time zone 'UTC')::date"
}

// ends are the crashes c in the window that lie in none of its whole days.
func ends(from, first, end, to string) string {
	return "(c.occurred_at >= " + from + " and c.occurred_at < " + first +
		" or c.occurred_at >= " + end + " and c.occurred_at < " + to + ")"
}

// countedIn is a statement that counts the occurrences in the window of the groups that
// a sub-select names, which are shown, with those of their parts. Days beyond the age of
// crashes are counted where they lie in the window whole.
func countedIn(c *condition.List, w Window, groups string) string {
	from, to, first, end := w.arguments(c)
	// An index reads each end of the window; both in one condition it would not.
	const reports = `select m.root, c.duplicates from member m join crash_group_keys k on k.group_id = m.id
		join crashes c on c.key_id = k.id and `
	return `with shown as materialized (` + groups + `),
	member as materialized (
		select id as root, id from shown union all
		select p.root_id, p.id from crash_groups p where p.root_id in (select id from shown)
	)
	select root, sum(n)::bigint as n from (
		select m.root, d.count as n from member m join crash_group_days d on d.group_id = m.id and ` + wholeDays(first, end) + `
		union all ` + reports + `c.occurred_at >= ` + from + ` and c.occurred_at < ` + first + `
		union all ` + reports + `c.occurred_at >= ` + end + ` and c.occurred_at < ` + to + `
	) seen group by root`
}

// countInWindow sets the counts of groups to those in the window.
func countInWindow(ctx context.Context, q storage.Querier, groups []Group, w Window) error {
	ids := make([]int64, len(groups))
	for i := range groups {
		ids[i] = groups[i].ID
	}
	c := &condition.List{}
	query := countedIn(c, w, "select unnest("+c.Arg(pq.Array(ids))+"::bigint[]) as id")
	var counts []struct {
		Root int64 `db:"root"`
		N    int64 `db:"n"`
	}
	if err := q.SelectContext(ctx, &counts, query, c.Args...); err != nil {
		return storage.Wrap(err, "count crash groups in a window")
	}
	in := map[int64]int64{}
	for _, n := range counts {
		in[n.Root] = n.N
	}
	for i := range groups {
		groups[i].WindowCount = in[groups[i].ID]
	}
	return nil
}

// windowDays bounds the days that a group shows of a window.
const windowDays = 400

// Within limits the days of a group that was read, and its WindowCount, to a window. A
// day that the window cuts is shown whole.
func (g *Group) Within(ctx context.Context, q storage.Querier, w Window) error {
	list := []Group{*g}
	if err := countInWindow(ctx, q, list, w); err != nil {
		return err
	}
	g.WindowCount = list[0].WindowCount
	g.Days = []Day{}
	c := &condition.List{}
	group := c.Arg(g.ID)
	c.Add("(p.id = " + group + " or p.root_id = " + group + ")")
	if !w.From.IsZero() {
		c.Add("d.day >= (" + c.Arg(w.From) + "::timestamptz at time zone 'UTC')::date")
	}
	if !w.To.IsZero() {
		c.Add("d.day < (" + c.Arg(w.To) + "::timestamptz at time zone 'UTC')")
	}
	err := q.SelectContext(ctx, &g.Days, `
		select day, count from (
			select d.day, sum(d.count)::bigint as count
			from crash_groups p join crash_group_days d on d.group_id = p.id`+c.Where()+`
			group by d.day order by d.day desc limit `+c.Arg(windowDays)+`) newest order by day`, c.Args...)
	return storage.Wrap(err, "days of a crash group")
}
