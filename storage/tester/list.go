package tester

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Filter selects testers of an organization.
type Filter struct {
	OrganizationID int64
	Search         string // part of the mail address or name, in any case
	Blocked        *bool
	GroupID        int64 // 0: any
}

// List is a page of testers, newest first.
type List struct {
	Testers []Tester
	// Total is the number of all, or, where Exact is false, a number that there are at
	// least; Next reports then whether a page follows.
	Total       int
	Exact, Next bool
}

const (
	// reach is how many of the newest testers are looked at, which takes some milliseconds:
	// they show how frequent a filter is, and those of them that meet it are the number
	// that a long list has at least.
	reach = 5000
	// frequent is the part of these, one in so many, from which on reading the testers in
	// their order fills a page sooner than finding all by an index.
	frequent = 10
	// manyInGroup is the size of a group of which the same holds.
	manyInGroup = 5000
	// shortest is the number of letters and digits in a row below which a text has no
	// trigram.
	shortest = 3
)

// query collects the conditions of a list with their parameters.
type query struct {
	where []string
	args  []any
}

func (c *query) arg(value any) string {
	c.args = append(c.args, value)
	return fmt.Sprintf("$%d", len(c.args))
}

// rows is the statement that selects the ids of the memberships.
func (c *query) rows() string {
	return `select m.id from memberships m where m.role = 'tester' and ` + strings.Join(c.where, " and ")
}

func conditions(f Filter) *query {
	c := &query{}
	c.where = append(c.where, "m.organization_id = "+c.arg(f.OrganizationID))
	if f.Search != "" {
		c.where = append(c.where, "m.search like '%' || lower("+c.arg(escape(f.Search))+"::text) || '%'")
	}
	if f.Blocked != nil {
		c.where = append(c.where, map[bool]string{true: "m.blocked_at is not null", false: "m.blocked_at is null"}[*f.Blocked])
	}
	if f.GroupID != 0 {
		c.where = append(c.where, "exists (select from tester_group_members gm where gm.tester_group_id = "+c.arg(f.GroupID)+
			" and gm.user_id = m.user_id)")
	}
	return c
}

// escape keeps a text from being a pattern.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// Find lists testers.
func Find(ctx context.Context, q storage.Querier, f Filter, p storage.Page) (*List, error) {
	f.Search = strings.TrimSpace(f.Search)
	size, err := groupSize(ctx, q, f)
	switch {
	case err != nil:
		return nil, err
	case f.Search == "" && f.GroupID == 0:
		return counted(ctx, q, f, p)
	case f.GroupID != 0 && size < manyInGroup:
		return whole(ctx, q, conditions(f), p)
	}
	near, err := nearest(ctx, q, conditions(f))
	if err != nil {
		return nil, err
	}
	indexed := longestWord(f.Search) >= shortest
	if near.Looked < reach || indexed && near.Found < near.Looked/frequent {
		return whole(ctx, q, conditions(f), p)
	}
	return walk(ctx, q, conditions(f), p, near.Found)
}

// longestWord returns the length of the longest word of a text, in characters.
func longestWord(text string) (longest int) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		longest = max(longest, utf8.RuneCountInString(word))
	}
	return longest
}

// groupSize returns the number of members of the filter's group; ErrNotFound when the
// organization has no such group.
func groupSize(ctx context.Context, q storage.Querier, f Filter) (size int, err error) {
	if f.GroupID == 0 {
		return 0, nil
	}
	err = q.GetContext(ctx, &size, `select testers_count from tester_groups where organization_id = $1 and id = $2`,
		f.OrganizationID, f.GroupID)
	return size, storage.Wrap(err, fmt.Sprintf("group %d", f.GroupID))
}

// near are the newest testers, and how many of them meet a filter.
type near struct{ Looked, Found int }

func nearest(ctx context.Context, q storage.Querier, c *query) (n near, err error) {
	statement := `select count(*) as looked, count(*) filter (where ` + strings.Join(c.where, " and ") + `) as found from (
		select * from memberships where organization_id = $1 and role = 'tester' order by id desc limit ` + c.arg(reach) + `) m`
	err = q.GetContext(ctx, &n, statement, c.args...)
	return n, storage.Wrap(err, "look at the newest testers")
}

const counts = `
select coalesce(sum(testers), 0) as testers, coalesce(sum(blocked), 0) as blocked from tester_counts where organization_id = $1`

// counted reads a page of all testers, or of those who are blocked or not, whose numbers
// are kept.
func counted(ctx context.Context, q storage.Querier, f Filter, p storage.Page) (*List, error) {
	var n struct{ Testers, Blocked int }
	if err := q.GetContext(ctx, &n, counts, f.OrganizationID); err != nil {
		return nil, storage.Wrap(err, "count testers")
	}
	list, c := &List{Testers: []Tester{}, Total: n.Testers, Exact: true}, conditions(f)
	switch {
	case f.Blocked != nil && *f.Blocked:
		list.Total = n.Blocked
	case f.Blocked != nil:
		list.Total = n.Testers - n.Blocked
	}
	rows := c.rows() + ` order by m.id desc limit ` + c.arg(p.RowLimit()) + ` offset ` + c.arg(p.RowOffset())
	err := q.SelectContext(ctx, &list.Testers, fmt.Sprintf(pageOf, rows), c.args...)
	return list, storage.Wrap(err, "list testers")
}

const pageOf = `
select ` + testerColumns + `
from (%s) found join memberships m on m.id = found.id join users u on u.id = m.user_id
order by m.id desc`

const pageOfIDs = `
select ` + testerColumns + ` from memberships m join users u on u.id = m.user_id where m.id = any($1) order by m.id desc`

// whole finds all rows and sorts them: in the order of the list the database would read
// those that the filter does not want, too.
func whole(ctx context.Context, q storage.Querier, c *query, p storage.Page) (*List, error) {
	var found struct {
		Total int
		IDs   pq.Int64Array `db:"ids"`
	}
	err := q.GetContext(ctx, &found, `with found as materialized (`+c.rows()+`) select (select count(*) from found) as total,
		array(select id from found order by id desc limit `+c.arg(p.RowLimit())+` offset `+c.arg(p.RowOffset())+`) as ids`, c.args...)
	if err != nil {
		return nil, storage.Wrap(err, "find testers")
	}
	list := &List{Testers: []Tester{}, Total: found.Total, Exact: true}
	err = q.SelectContext(ctx, &list.Testers, pageOfIDs, found.IDs)
	return list, storage.Wrap(err, "list testers")
}

// walk reads the testers in their order until the page is full. There are atLeast in all.
func walk(ctx context.Context, q storage.Querier, c *query, p storage.Page, atLeast int) (*List, error) {
	list, limit := &List{Testers: []Tester{}}, p.RowLimit()
	rows := c.rows() + ` order by m.id desc limit ` + c.arg(limit+1) + ` offset ` + c.arg(p.RowOffset())
	if err := q.SelectContext(ctx, &list.Testers, fmt.Sprintf(pageOf, rows), c.args...); err != nil {
		return nil, storage.Wrap(err, "list testers")
	}
	read := len(list.Testers)
	if read > limit {
		list.Testers, list.Next = list.Testers[:limit], true
	}
	if read > 0 || p.RowOffset() == 0 {
		list.Total, list.Exact = p.RowOffset()+read, !list.Next
	}
	if !list.Exact {
		list.Total = max(list.Total, atLeast)
	}
	return list, nil
}
