// Package install has who got which build, how, and on which device.
//
// What the service sees is that a file was asked for: through an install page (Page), by
// the manifest that iOS fetches (Manifest), or by the api (API). Whether a device installed
// it then is not seen there. A session of the build that names the person shows it: the app
// ran (Session). So a row says by its channel what is known, and no more.
//
// A row is one way that one device of one person came by a build, counted, with the first
// and the last time. Who is nobody known, or no member of the organization, is counted in
// one row for each channel of the build. A person's devices are bounded (maxDevices):
// clients choose their names, and what is beyond is counted on the row without one.
//
// Record is one statement, in the transaction that counts the download or stores the
// session. That transaction has locked the build, so rows of a build are written one after
// the other. Memberships are locked before the rows that hang on them, as their removal
// does it; with the membership the rows are gone.
package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Channel is how a build came to a person.
type Channel string

// The channels. All but Session are downloads that began.
const (
	Page     Channel = "page"     // the button of an install page
	Manifest Channel = "manifest" // iOS fetched the manifest of an installation
	API      Channel = "api"      // a client of the interfaces
	Session  Channel = "session"  // the app ran with an SDK: it is installed
)

// Channels are all channels.
func Channels() []Channel { return []Channel{Page, Manifest, API, Session} }

// Seen is what was seen of a build.
type Seen struct {
	OrganizationID int64
	BuildID        int64
	UserID         int64 // 0: nobody known
	Channel        Channel
	Device         string // "" is not known
}

const (
	// maxDevices bounds the rows of a person, a build and a channel: more devices than
	// anybody tests a build on, and few enough that a client which invents names is no burden.
	maxDevices = 20
	// maxDevice bounds the name of a device in characters, as the table does.
	maxDevice = 200
)

// record stores who has a build, on which device. The last of a person's devices is the one
// without a name, which takes what is beyond.
const record = `
with seen as materialized (
	select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) as s(organization_id, build_id, user_id,
		channel, device)
), people as materialized (
	select m.organization_id, m.user_id from memberships m
	where (m.organization_id, m.user_id) in (select organization_id, user_id from seen where user_id <> 0)
	order by m.organization_id, m.user_id for key share
), known as materialized (
	select s.organization_id, s.build_id, p.user_id, s.channel, case when p.user_id is null then '' else s.device end as device, count(*) as n
	from seen s left join people p on p.organization_id = s.organization_id and p.user_id = s.user_id
	group by 1, 2, 3, 4, 5
), placed as materialized (
	select k.*, k.device = '' or exists (select from build_installs i where i.build_id = k.build_id and i.channel = k.channel
			and coalesce(i.user_id, 0) = coalesce(k.user_id, 0) and i.device = k.device) as there,
		(select count(*) from (select from build_installs i where i.build_id = k.build_id and i.channel = k.channel
			and coalesce(i.user_id, 0) = coalesce(k.user_id, 0) and i.device <> '' limit $6) d) as devices
	from known k
), bounded as (
	select organization_id, build_id, user_id, channel, n, case when there or devices
		+ row_number() over (partition by build_id, user_id, channel, there order by device) < $6 then device else '' end as device
	from placed
)
insert into build_installs as i (organization_id, build_id, user_id, channel, device, count)
select organization_id, build_id, user_id, channel, device, sum(n) from bounded
group by 1, 2, 3, 4, 5 order by 2, 4, 3, 5
on conflict (build_id, channel, (coalesce(user_id, 0)), device)
do update set count = i.count + excluded.count, last_at = greatest(i.last_at, excluded.last_at)`

// Record counts what was seen, by one statement. The caller's transaction has locked the
// builds, which are of the organizations named.
func Record(ctx context.Context, tx *storage.Tx, seen []Seen) error {
	if len(seen) == 0 {
		return nil
	}
	organizations, builds, users := make([]int64, len(seen)), make([]int64, len(seen)), make([]int64, len(seen))
	channels, devices := make([]string, len(seen)), make([]string, len(seen))
	for i, s := range seen {
		organizations[i], builds[i], users[i] = s.OrganizationID, s.BuildID, s.UserID
		channels[i], devices[i] = string(s.Channel), storage.Cut(storage.WithoutNUL(s.Device), maxDevice)
	}
	_, err := tx.ExecContext(ctx, record, pq.Array(organizations), pq.Array(builds), pq.Array(users), pq.Array(channels),
		pq.Array(devices), maxDevices)
	return storage.Wrap(err, "record who got builds")
}

// Install is a way that a device of a person came by a build.
type Install struct {
	ID          int64     `db:"id"`
	BuildID     int64     `db:"build_id"`
	ProjectID   int64     `db:"project_id"`
	AppName     string    `db:"app_name"`
	Version     string    `db:"version"`
	VersionCode string    `db:"version_code"`
	TesterID    int64     `db:"tester_id"` // of the membership; 0: nobody known
	UserID      int64     `db:"user_id"`
	Email       string    `db:"email"`
	Name        string    `db:"name"`
	Role        string    `db:"role"`
	Channel     Channel   `db:"channel"`
	Device      string    `db:"device"`
	Count       int64     `db:"count"`
	FirstAt     time.Time `db:"first_at"`
	LastAt      time.Time `db:"last_at"`
}

// List is a page of them, those that were seen first most recently first.
type List struct {
	Installs []Install
	Total    storage.Total
}

const columns = `
select i.id, i.build_id, b.project_id, b.app_name, b.version, b.version_code, coalesce(m.id, 0) as tester_id,
	coalesce(i.user_id, 0) as user_id,
	coalesce(u.email, '') as email, coalesce(u.name, '') as name, coalesce(m.role, '') as role, i.channel, i.device, i.count,
	i.first_at, i.last_at
from (%s) i join builds b on b.id = i.build_id and b.organization_id = i.organization_id
left join memberships m on m.organization_id = i.organization_id and m.user_id = i.user_id
left join users u on u.id = m.user_id
order by i.id desc`

// selection is a range of an index, by the values of its columns before the id, with what is
// asked for beyond it. The rows are named by the range, and not by equal values, so that the
// index is read whatever the planner believes of other builds.
type selection struct {
	columns []string
	args    []any
	beyond  string
}

func (s *selection) arg(value any) string {
	s.args = append(s.args, value)
	return fmt.Sprintf("$%d", len(s.args))
}

// from is the statement's part that names the rows.
func (s *selection) from() string {
	names, values := strings.Join(s.columns, ", "), "$1"
	for n := range s.columns[1:] {
		values += fmt.Sprintf(", $%d", n+2)
	}
	return fmt.Sprintf(` from build_installs i where (%[1]s, id) >= (%[2]s, 0) and (%[1]s, id) <= (%[2]s, 9223372036854775807)%[3]s`,
		names, values, s.beyond)
}

func (s *selection) page(limit, offset string) string {
	return `select *` + s.from() + ` order by ` + strings.Join(append(slices.Clone(s.columns), "id"), " desc, ") +
		` desc limit ` + limit + ` offset ` + offset
}

func (s *selection) list(ctx context.Context, q storage.Querier, p storage.Page) (*List, error) {
	l := &List{Installs: []Install{}}
	var err error
	if l.Total, err = storage.CountUpTo(ctx, q, storage.CountReach, `select`+s.from(), s.args...); err != nil {
		return nil, storage.Wrap(err, "count who got builds")
	}
	limit := p.RowLimit()
	rows := fmt.Sprintf(columns, s.page(s.arg(limit+1), s.arg(p.RowOffset())))
	if err := q.SelectContext(ctx, &l.Installs, rows, s.args...); err != nil {
		return nil, storage.Wrap(err, "list who got builds")
	}
	if len(l.Installs) > limit {
		l.Installs, l.Total.Next = l.Installs[:limit], true
	}
	return l, nil
}

// Filter selects of a build; what is empty selects all.
type Filter struct {
	Channel Channel
	UserID  int64
}

// ofBuild reads the rows of a person, who has few, by build_installs_member; else those of the
// channel or of the build.
func ofBuild(organizationID, buildID int64, f Filter) *selection {
	switch {
	case f.UserID != 0:
		s := ofUser(organizationID, f.UserID)
		s.beyond = ` and build_id = ` + s.arg(buildID)
		if f.Channel != "" {
			s.beyond += ` and channel = ` + s.arg(string(f.Channel))
		}
		return s
	case f.Channel != "":
		s := &selection{columns: []string{"build_id", "channel"}, args: []any{buildID, string(f.Channel)}}
		s.beyond = ` and organization_id = ` + s.arg(organizationID)
		return s
	}
	s := &selection{columns: []string{"build_id"}, args: []any{buildID}}
	s.beyond = ` and organization_id = ` + s.arg(organizationID)
	return s
}

func ofUser(organizationID, userID int64) *selection {
	return &selection{columns: []string{"organization_id", "user_id"}, args: []any{organizationID, userID},
		beyond: ` and exists (select from builds b where b.id = i.build_id and b.deleted_at is null)`}
}

// OfBuild lists who got a build.
func OfBuild(ctx context.Context, q storage.Querier, organizationID, buildID int64, f Filter, p storage.Page) (*List, error) {
	return ofBuild(organizationID, buildID, f).list(ctx, q, p)
}

// OfUser lists the builds that a member got.
func OfUser(ctx context.Context, q storage.Querier, organizationID, userID int64, p storage.Page) (*List, error) {
	return ofUser(organizationID, userID).list(ctx, q, p)
}

// People is how many members got a build. Exact is false where there may be more: counting
// stopped.
type People struct {
	Downloaded int  `db:"downloaded" json:"downloaded"`
	Installed  int  `db:"installed" json:"installed"`
	Exact      bool `db:"-" json:"exact"`
}

// people reads no more rows than those of the people counted: each channel's people stand
// together in build_installs_way.
const people = `
select count(distinct user_id) filter (where channel <> 'session') as downloaded,
	count(distinct user_id) filter (where channel = 'session') as installed
from unnest(array['page', 'manifest', 'api', 'session']) as c(name) cross join lateral (
	select channel, coalesce(user_id, 0) as user_id from build_installs
	where organization_id = $1 and build_id = $2 and channel = c.name and coalesce(user_id, 0) > 0
	group by channel, coalesce(user_id, 0) order by coalesce(user_id, 0) limit $3
) p`

// PeopleOf counts the members who got a build, up to storage.CountReach.
func PeopleOf(ctx context.Context, q storage.Querier, organizationID, buildID int64) (People, error) {
	var n People
	if err := q.GetContext(ctx, &n, people, organizationID, buildID, storage.CountReach+1); err != nil {
		return n, storage.Wrap(err, "count the people of a build")
	}
	n.Exact = max(n.Downloaded, n.Installed) <= storage.CountReach
	n.Downloaded, n.Installed = min(n.Downloaded, storage.CountReach), min(n.Installed, storage.CountReach)
	return n, nil
}
