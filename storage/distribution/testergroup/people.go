package testergroup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Person is a tester of a group or an app as lists show it. Members of the
// organization above a tester may be in groups, too.
type Person struct {
	MembershipID int64        `db:"membership_id"`
	UserID       int64        `db:"user_id"`
	Email        string       `db:"email"` // "" for a service account
	Name         string       `db:"name"`
	Role         account.Role `db:"role"`
	Blocked      bool         `db:"blocked"`
	LastLogin    *time.Time   `db:"last_login_at"`
	CreatedAt    time.Time    `db:"created_at"`
}

// People is a page of testers.
type People struct {
	List []Person
	// Total is the number of all, or, where Exact is false, a number that there are at
	// least.
	Total int
	Exact bool
	Next  bool // a page follows
}

const (
	// countReach is how far the testers of an app with several sources are counted:
	// each one is looked for in all of them.
	countReach = 5000
	// knownPeople is how many testers whom a search finds in the organization are
	// looked for in a group or app. Of more than these a page is filled sooner by
	// reading the testers in their order, and they are not counted.
	knownPeople = 3000
)

// pattern is a text as a part of a membership's search column.
func pattern(search string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(strings.TrimSpace(search)))
	return "%" + escaped + "%"
}

const foundPeople = `
select user_id from memberships where organization_id = $1 and search like $2 limit $3`

// findPeople returns the users of the organization whom a search finds; nil when they
// are more than knownPeople. The index finds texts of three characters and more; for
// shorter ones all memberships of the organization are read, or as many as it takes.
func findPeople(ctx context.Context, q storage.Querier, organizationID int64, search string) ([]int64, error) {
	found := []int64{}
	if err := q.SelectContext(ctx, &found, foundPeople, organizationID, pattern(search), knownPeople+1); err != nil {
		return nil, storage.Wrap(err, "search testers")
	}
	if len(found) > knownPeople {
		return nil, nil
	}
	return found, nil
}

// source are the testers of a group or an app as SQL. Its statements have the
// organization as $1, the group or app as $2, and whether all testers have the app
// as $3.
type source struct {
	organizationID, id int64
	everyone           bool
	// walk selects user_id in ascending order from each table, at most $4 of each.
	walk string
	// search is walk for those whose membership m meets %s.
	search string
	// has is the condition that membership m is among them.
	has string
}

func groupSource(organizationID, id int64) source {
	return source{organizationID: organizationID, id: id, walk: groupWalk, search: groupSearch, has: groupHas}
}

func projectSource(organizationID, id int64, everyone bool) source {
	return source{organizationID: organizationID, id: id, everyone: everyone, walk: projectWalk, search: projectSearch, has: projectHas}
}

// A group has no testers of other organizations, and nobody is in it by being a tester.
const (
	groupWalk = `
select user_id from tester_group_members where tester_group_id = $2 and $1::bigint > 0 and not $3::boolean
order by user_id limit $4`

	groupSearch = `
select m.user_id from (select user_id from tester_group_members where tester_group_id = $2 order by user_id offset 0) gm
cross join lateral (select user_id, search from memberships where organization_id = $1 and user_id = gm.user_id offset 0) m
where not $3::boolean and %s order by gm.user_id limit $4`

	groupHas = `(not $3::boolean and exists (select from tester_group_members gm where gm.tester_group_id = $2 and gm.user_id = m.user_id))`
)

// groupsOfProject are the groups that may install the app, or a build of it: most are granted
// builds, by whoever uploads them.
const groupsOfProject = `(
	select tester_group_id from project_groups where project_id = $2
	union
	select bg.tester_group_id from builds b join build_groups bg on bg.build_id = b.id
	where b.project_id = $2 and b.deleted_at is null)`

// Each table is read by the index that begins with what bounds it, in the order of the
// users, so a page reads no more of any of them than it may show. "offset 0" keeps the
// planner from reading all of a table and sorting it.
const (
	projectWalk = `
(select user_id from project_testers where project_id = $2 order by user_id limit $4)
union
select one.user_id from ` + groupsOfProject + ` pg cross join lateral (
	select user_id from tester_group_members where tester_group_id = pg.tester_group_id order by user_id limit $4) one
union
(select user_id from memberships where organization_id = $1 and role = 'tester' and $3::boolean order by user_id limit $4)`

	projectSearch = `
(select m.user_id from (select user_id from project_testers where project_id = $2 order by user_id offset 0) pt
	cross join lateral (select user_id, search from memberships where organization_id = $1 and user_id = pt.user_id offset 0) m
	where %[1]s order by pt.user_id limit $4)
union
select one.user_id from ` + groupsOfProject + ` pg cross join lateral (
	select m.user_id from (select user_id from tester_group_members where tester_group_id = pg.tester_group_id
		order by user_id offset 0) gm
	cross join lateral (select user_id, search from memberships where organization_id = $1 and user_id = gm.user_id offset 0) m
	where %[1]s order by gm.user_id limit $4) one
union
(select m.user_id from (select user_id, search from memberships where organization_id = $1 and role = 'tester' and $3::boolean
	order by user_id offset 0) m where %[1]s order by m.user_id limit $4)`

	projectHas = `(exists (select from project_testers pt where pt.project_id = $2 and pt.user_id = m.user_id)
	or exists (select from tester_group_members gm where gm.user_id = m.user_id and gm.tester_group_id in ` + groupsOfProject + `)
	or m.role = 'tester' and $3::boolean)`
)

func (s source) args(more ...any) []any {
	return append([]any{s.organizationID, s.id, s.everyone}, more...)
}

// count counts those whom walk selects, at most most of them.
func (s source) count(ctx context.Context, q storage.Querier, most int) (n int, err error) {
	err = q.GetContext(ctx, &n, `select count(*) from (select user_id from (`+s.walk+`) every limit $4) counted`, s.args(most)...)
	return n, storage.Wrap(err, "count testers")
}

// page returns the page of those whom a walk selects, and whether one follows.
func (s source) page(ctx context.Context, q storage.Querier, walk string, p storage.Page, more ...any) ([]int64, bool, error) {
	users := []int64{}
	limit, offset := p.RowLimit(), p.RowOffset()
	query := `select user_id from (` + walk + `) every order by user_id limit $5 offset $6`
	err := q.SelectContext(ctx, &users, query, s.args(append([]any{offset + limit + 1, limit + 1, offset}, more...)...)...)
	if err != nil {
		return nil, false, storage.Wrap(err, "list testers")
	}
	next := len(users) > limit
	return users[:min(len(users), limit)], next, nil
}

// known is a number of testers that needs no counting.
type known struct {
	atLeast int
	exact   bool
}

// list reads a page of all.
func (s source) list(ctx context.Context, q storage.Querier, search string, p storage.Page, n known) (*People, error) {
	if strings.TrimSpace(search) != "" {
		return s.find(ctx, q, search, p)
	}
	users, next, err := s.page(ctx, q, s.walk, p)
	if err != nil {
		return nil, err
	}
	people := &People{Total: n.atLeast, Exact: n.exact, Next: next}
	if !n.exact && n.atLeast < countReach {
		if people.Total, err = s.count(ctx, q, countReach+1); err != nil {
			return nil, err
		}
		people.Exact = people.Total <= countReach
		people.Total = min(people.Total, countReach)
	}
	return people, people.read(ctx, q, s.organizationID, users)
}

func (s source) find(ctx context.Context, q storage.Querier, search string, p storage.Page) (*People, error) {
	found, err := findPeople(ctx, q, s.organizationID, search)
	if err != nil {
		return nil, err
	}
	if found != nil {
		users := []int64{}
		query := `select m.user_id from memberships m where m.organization_id = $1 and m.user_id = any($4) and ` + s.has + ` order by m.user_id`
		if err := q.SelectContext(ctx, &users, query, s.args(pq.Array(found))...); err != nil {
			return nil, storage.Wrap(err, "search testers")
		}
		from := min(p.RowOffset(), len(users))
		to := min(from+p.RowLimit(), len(users))
		people := &People{Total: len(users), Exact: true, Next: to < len(users)}
		return people, people.read(ctx, q, s.organizationID, users[from:to])
	}
	users, next, err := s.page(ctx, q, fmt.Sprintf(s.search, "m.search like $7"), p, pattern(search))
	if err != nil {
		return nil, err
	}
	people := &People{Total: p.RowOffset() + len(users), Exact: !next, Next: next}
	if next {
		people.Total++
	}
	return people, people.read(ctx, q, s.organizationID, users)
}

const peopleByUser = `
select m.id as membership_id, u.id as user_id, coalesce(u.email, '') as email, u.name, m.role,
	m.blocked_at is not null as blocked, m.last_login_at, m.created_at
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.user_id = any($2) order by m.user_id`

func (p *People) read(ctx context.Context, q storage.Querier, organizationID int64, users []int64) error {
	p.List = []Person{}
	err := q.SelectContext(ctx, &p.List, peopleByUser, organizationID, pq.Array(users))
	return storage.Wrap(err, "read testers")
}

// Testers lists the testers of a group of the organization, in the order in which
// they came to the installation. Search is part of a mail address or name, in any case.
func Testers(ctx context.Context, q storage.Querier, organizationID, groupID int64, search string, p storage.Page) (*People, error) {
	g, err := ByID(ctx, q, organizationID, groupID)
	if err != nil {
		return nil, err
	}
	return groupSource(organizationID, groupID).list(ctx, q, search, p, known{g.TestersCount, true})
}

const peopleOfProject = `
select p.everyone, exists (select from project_testers pt where pt.project_id = p.id) as direct,
	coalesce(g.n, 0) as groups, coalesce(g.largest, 0) as largest,
	case when p.everyone then (select count(*) from (select from memberships
		where organization_id = $1 and role = 'tester' limit $3) testers) else 0 end as testers
from (
	select id, all_testers or exists (select from builds b where b.project_id = projects.id and b.state = 'enabled'
		and b.all_testers and b.deleted_at is null) as everyone
	from projects where organization_id = $1 and id = $2 and deleted_at is null
) p left join (
	select count(*) as n, max(testers_count) as largest from tester_groups where id in ` + groupsOfProject + `) g on true`

// ProjectTesters lists the testers of an app of the organization, each once: who was
// given the app, who is in a group that was given it or a build of it, and, where
// all_testers is set on one of them, every tester. Order and search are as Testers
// has them.
func ProjectTesters(ctx context.Context, q storage.Querier, organizationID, projectID int64, search string,
	p storage.Page) (*People, error) {
	var of struct {
		Everyone bool `db:"everyone"`
		Direct   bool `db:"direct"`
		Groups   int  `db:"groups"`
		Largest  int  `db:"largest"` // of the groups
		Testers  int  `db:"testers"` // of the organization, where all have the app
	}
	if err := q.GetContext(ctx, &of, peopleOfProject, organizationID, projectID, countReach+1); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("project %d", projectID))
	}
	n := known{atLeast: max(of.Largest, min(of.Testers, countReach)), exact: !of.Everyone && !of.Direct && of.Groups <= 1}
	return projectSource(organizationID, projectID, of.Everyone).list(ctx, q, search, p, n)
}
