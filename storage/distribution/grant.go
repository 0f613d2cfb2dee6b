package distribution

import (
	"context"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Groups is a change of grants as a request has it.
type Groups struct {
	Given bool     // false: leave the grants
	All   bool     // every tester
	Names []string // names or ids; empty with Given: remove all
}

// groupRef is a name as it was given and the group that it stands for.
type groupRef struct {
	Ref  string `db:"ref"`
	ID   int64  `db:"id"` // 0: no group
	Name string `db:"name"`
}

// groupsByRef takes a name before an id: a group may be called "7".
const groupsByRef = `
select want.ref, coalesce(named.id, numbered.id, 0) as id, coalesce(named.name, numbered.name, '') as name
from unnest($2::text[]) with ordinality as want(ref, n)
left join tester_groups named on named.organization_id = $1 and lower(named.name) = lower(want.ref)
left join tester_groups numbered on numbered.organization_id = $1 and named.id is null
	and numbered.id = case when want.ref ~ '^[0-9]{1,18}$' then want.ref::bigint end
order by want.n`

func findGroups(ctx context.Context, q storage.Querier, organizationID int64, names []string) ([]groupRef, error) {
	if len(names) > maxNames {
		return nil, storage.Invalid("groups", "must be at most %d", maxNames)
	}
	refs := []groupRef{}
	for i, ref := range names {
		names[i] = scrub(ref, maxLine+1) // a name that no group can have stays one
	}
	if len(names) == 0 {
		return refs, nil
	}
	err := q.SelectContext(ctx, &refs, groupsByRef, organizationID, pq.Array(names))
	return refs, storage.Wrap(err, "find groups")
}

// grants are resolved names.
type grants struct {
	ids     []int64 // ascending
	invalid []string
	// nothing: names were given and none of them is a group's.
	nothing bool
}

// resolve finds the groups of a change and keeps them from being deleted until
// the transaction ends.
func resolve(ctx context.Context, tx *storage.Tx, organizationID int64, g Groups) (*grants, error) {
	r := &grants{ids: []int64{}, invalid: []string{}}
	if !g.Given {
		return r, nil
	}
	refs, err := findGroups(ctx, tx, organizationID, slices.Clone(g.Names))
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, ref := range refs {
		switch {
		case ref.ID != 0:
			found = append(found, ref.ID)
		case ref.Ref != "":
			r.invalid = append(r.invalid, ref.Ref)
		}
	}
	err = tx.SelectContext(ctx, &r.ids, `select id from tester_groups where id = any($1) order by id for key share`, pq.Array(found))
	r.nothing = len(r.ids) == 0 && len(r.invalid) > 0 && !g.All
	return r, storage.Wrap(err, "hold groups")
}

// grantee is what groups are granted: a project or a build.
type grantee struct {
	organizationID int64
	subject        string // for the audit log
	id             int64
	names          string // reads the names of granted groups
	remove, add    string
	removeOne      string // revokes a single one
	everyone       string // sets all_testers
}

func projectGrantee(organizationID, id int64) grantee {
	return grantee{organizationID: organizationID, subject: fmt.Sprintf("project %d", id), id: id, names: projectGroups,
		remove: `delete from project_groups where project_id = $1 and tester_group_id <> all($2)`,
		add: `insert into project_groups (project_id, tester_group_id) select $1, unnest($2::bigint[])
			on conflict (project_id, tester_group_id) do nothing`,
		removeOne: `delete from project_groups where project_id = $1 and tester_group_id = $2`,
		everyone:  `update projects set all_testers = $2, updated_at = now() where id = $1 and all_testers <> $2`}
}

func buildGrantee(organizationID, id int64) grantee {
	return grantee{organizationID: organizationID, subject: fmt.Sprintf("build %d", id), id: id, names: buildGroups,
		remove: `delete from build_groups where build_id = $1 and tester_group_id <> all($2)`,
		add: `insert into build_groups (build_id, tester_group_id) select $1, unnest($2::bigint[])
			on conflict (build_id, tester_group_id) do nothing`,
		removeOne: `delete from build_groups where build_id = $1 and tester_group_id = $2`,
		everyone:  `update builds set all_testers = $2, updated_at = now() where id = $1 and all_testers <> $2`}
}

// regrant replaces the grants and all_testers; the caller holds the row's lock.
// Names that no group has revoke nothing: when there are only such names, all
// stays as it is. It returns those names.
func (to grantee) regrant(ctx context.Context, tx *storage.Tx, actor account.Actor, g Groups, everyone bool) ([]string, error) {
	r, err := resolve(ctx, tx, to.organizationID, g)
	if err != nil || !g.Given || r.nothing {
		return nonNil(r).invalid, err
	}
	before, err := granted(ctx, tx, to.names, to.id)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, to.remove, to.id, pq.Array(r.ids)); err != nil {
		return nil, storage.Wrap(err, "revoke "+to.subject)
	}
	if _, err := tx.ExecContext(ctx, to.add, to.id, pq.Array(r.ids)); err != nil {
		return nil, storage.Wrap(err, "grant "+to.subject)
	}
	if everyone != g.All {
		if _, err := tx.ExecContext(ctx, to.everyone, to.id, g.All); err != nil {
			return nil, storage.Wrap(err, "open "+to.subject+" to all testers")
		}
	}
	after, err := granted(ctx, tx, to.names, to.id)
	if err != nil {
		return nil, err
	}
	var c changed
	c.note("groups", before, after)
	c.note("all_testers", everyone, g.All)
	return r.invalid, to.audit(ctx, tx, actor, c)
}

// open lets every tester have it, or not; nil leaves it as it is. The caller holds the
// row's lock.
func (to grantee) open(ctx context.Context, tx *storage.Tx, actor account.Actor, everyone *bool) error {
	if everyone == nil {
		return nil
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.everyone, to.id, *everyone))
	if err != nil || n == 0 {
		return err
	}
	var c changed
	c.note("all_testers", !*everyone, *everyone)
	return to.audit(ctx, tx, actor, c)
}

func (to grantee) audit(ctx context.Context, tx *storage.Tx, actor account.Actor, c changed) error {
	if !c.any() {
		return nil
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: to.organizationID, Type: account.DistributionChanged,
		Actor: actor, Subject: to.subject, Detail: c})
}

func nonNil(g *grants) *grants {
	if g == nil {
		return &grants{}
	}
	return g
}

const buildGroups = `
select g.name from build_groups bg join tester_groups g on g.id = bg.tester_group_id
where bg.build_id = $1 order by lower(g.name), g.id limit $2`

const projectGroups = `
select g.name from project_groups pg join tester_groups g on g.id = pg.tester_group_id
where pg.project_id = $1 order by lower(g.name), g.id limit $2`

// BuildGroups are the names of the groups that are granted the build itself.
func BuildGroups(ctx context.Context, q storage.Querier, buildID int64) ([]string, error) {
	return granted(ctx, q, buildGroups, buildID)
}

// ProjectGroups are the names of the groups that are granted the project.
func ProjectGroups(ctx context.Context, q storage.Querier, projectID int64) ([]string, error) {
	return granted(ctx, q, projectGroups, projectID)
}

func granted(ctx context.Context, q storage.Querier, query string, id int64) ([]string, error) {
	names := []string{}
	err := q.SelectContext(ctx, &names, query, id, storage.MaxPage)
	return names, storage.Wrap(err, "names of granted groups")
}
