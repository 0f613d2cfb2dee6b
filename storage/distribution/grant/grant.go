// Package grant has which groups of testers may install an app or a single build.
//
// A Grantee is what is granted: an app (ToProject) or a build by itself (ToBuild). A request
// names groups by name or id (Groups); names that no group has are returned and revoke
// nothing. Each change writes its audit entry with the names before and after.
//
// The caller holds the lock of the app's or the build's row, which guards its grants. Groups
// are kept from being deleted until the transaction ends, in the order of their ids.
package grant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// maxNames bounds the group names of one request.
const maxNames = 500

// Groups is a change of grants as a request has it.
type Groups struct {
	Given bool     // false: leave the grants
	All   bool     // every tester
	Names []string // names or ids; empty with Given: remove all
}

// Ref is a name as it was given and the group that it stands for.
type Ref struct {
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

// FindGroups finds the groups that names or ids stand for, in their order.
func FindGroups(ctx context.Context, q storage.Querier, organizationID int64, names []string) ([]Ref, error) {
	if len(names) > maxNames {
		return nil, storage.Invalid("groups", "must be at most %d", maxNames)
	}
	refs := []Ref{}
	for i, ref := range names {
		names[i] = text.Scrub(ref, text.MaxLine+1) // a name that no group can have stays one
	}
	if len(names) == 0 {
		return refs, nil
	}
	err := q.SelectContext(ctx, &refs, groupsByRef, organizationID, pq.Array(names))
	return refs, storage.Wrap(err, "find groups")
}

// Resolved are resolved names.
type Resolved struct {
	IDs     []int64 // ascending
	Invalid []string
	// nothing: names were given and none of them is a group's.
	nothing bool
}

// Resolve finds the groups of a change and keeps them from being deleted until
// the transaction ends.
func Resolve(ctx context.Context, tx *storage.Tx, organizationID int64, g Groups) (*Resolved, error) {
	r := &Resolved{IDs: []int64{}, Invalid: []string{}}
	if !g.Given {
		return r, nil
	}
	refs, err := FindGroups(ctx, tx, organizationID, slices.Clone(g.Names))
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, ref := range refs {
		switch {
		case ref.ID != 0:
			found = append(found, ref.ID)
		case ref.Ref != "":
			r.Invalid = append(r.Invalid, ref.Ref)
		}
	}
	err = tx.SelectContext(ctx, &r.IDs, `select id from tester_groups where id = any($1) order by id for key share`, pq.Array(found))
	r.nothing = len(r.IDs) == 0 && len(r.Invalid) > 0 && !g.All
	return r, storage.Wrap(err, "hold groups")
}

// Grantee is what groups are granted: a project or a build.
type Grantee struct {
	organizationID int64
	subject        string // for the audit log
	id             int64
	names          string // reads the names of granted groups
	remove, add    string
	removeOne      string // revokes a single one
	everyone       string // sets all_testers
}

// ToProject is an app that groups are granted.
func ToProject(organizationID, id int64) Grantee {
	return Grantee{organizationID: organizationID, subject: fmt.Sprintf("project %d", id), id: id, names: projectGroups,
		remove: `delete from project_groups where project_id = $1 and tester_group_id <> all($2)`,
		add: `insert into project_groups (project_id, tester_group_id) select $1, unnest($2::bigint[])
			on conflict (project_id, tester_group_id) do nothing`,
		removeOne: `delete from project_groups where project_id = $1 and tester_group_id = $2`,
		everyone:  `update projects set all_testers = $2, updated_at = now() where id = $1 and all_testers <> $2`}
}

// ToBuild is a build that groups are granted by itself.
func ToBuild(organizationID, id int64) Grantee {
	return Grantee{organizationID: organizationID, subject: fmt.Sprintf("build %d", id), id: id, names: buildGroups,
		remove: `delete from build_groups where build_id = $1 and tester_group_id <> all($2)`,
		add: `insert into build_groups (build_id, tester_group_id) select $1, unnest($2::bigint[])
			on conflict (build_id, tester_group_id) do nothing`,
		removeOne: `delete from build_groups where build_id = $1 and tester_group_id = $2`,
		everyone:  `update builds set all_testers = $2, updated_at = now() where id = $1 and all_testers <> $2`}
}

// Replace replaces the grants and all_testers; the caller holds the row's lock.
// Names that no group has revoke nothing: when there are only such names, all
// stays as it is. It returns those names.
func (to Grantee) Replace(ctx context.Context, tx *storage.Tx, actor account.Actor, g Groups, everyone bool) ([]string, error) {
	r, err := Resolve(ctx, tx, to.organizationID, g)
	if err != nil || !g.Given || r.nothing {
		return nonNil(r).Invalid, err
	}
	before, err := granted(ctx, tx, to.names, to.id)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, to.remove, to.id, pq.Array(r.IDs)); err != nil {
		return nil, storage.Wrap(err, "revoke "+to.subject)
	}
	if _, err := tx.ExecContext(ctx, to.add, to.id, pq.Array(r.IDs)); err != nil {
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
	var c change.Diff
	c.Note("groups", before, after)
	c.Note("all_testers", everyone, g.All)
	return r.Invalid, to.audit(ctx, tx, actor, c)
}

// Open lets every tester have it, or not; nil leaves it as it is. The caller holds the
// row's lock.
func (to Grantee) Open(ctx context.Context, tx *storage.Tx, actor account.Actor, everyone *bool) error {
	if everyone == nil {
		return nil
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.everyone, to.id, *everyone))
	if err != nil || n == 0 {
		return err
	}
	var c change.Diff
	c.Note("all_testers", !*everyone, *everyone)
	return to.audit(ctx, tx, actor, c)
}

func (to Grantee) audit(ctx context.Context, tx *storage.Tx, actor account.Actor, c change.Diff) error {
	if !c.Any() {
		return nil
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: to.organizationID, Type: account.DistributionChanged,
		Actor: actor, Subject: to.subject, Detail: c})
}

// Extend adds grants, and with open opens the row to all testers.
func (to Grantee) Extend(ctx context.Context, tx *storage.Tx, actor account.Actor, groups []int64, open bool) error {
	before, err := granted(ctx, tx, to.names, to.id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, to.add, to.id, pq.Array(groups)); err != nil {
		return storage.Wrap(err, "grant "+to.subject)
	}
	if open {
		if _, err := tx.ExecContext(ctx, to.everyone, to.id, true); err != nil {
			return storage.Wrap(err, "open "+to.subject+" to all testers")
		}
	}
	after, err := granted(ctx, tx, to.names, to.id)
	if err != nil {
		return err
	}
	var c change.Diff
	c.Note("groups", before, after)
	if open {
		c.Note("all_testers", false, true)
	}
	return to.audit(ctx, tx, actor, c)
}

// Give grants it to a group; the caller holds the row's lock.
func (to Grantee) Give(ctx context.Context, tx *storage.Tx, actor account.Actor, groupID int64) error {
	name, err := holdGroup(ctx, tx, to.organizationID, groupID)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.add, to.id, pq.Array([]int64{groupID})))
	if err != nil || n == 0 {
		return storage.Wrap(err, "grant "+to.subject)
	}
	return to.auditGroup(ctx, tx, actor, "added", name)
}

// Take revokes it from a group; the caller holds the row's lock.
func (to Grantee) Take(ctx context.Context, tx *storage.Tx, actor account.Actor, groupID int64) error {
	name, err := holdGroup(ctx, tx, to.organizationID, groupID)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.removeOne, to.id, groupID))
	if err != nil {
		return storage.Wrap(err, "revoke "+to.subject)
	}
	if n == 0 {
		return fmt.Errorf("%s of group %d: %w", to.subject, groupID, storage.ErrNotFound)
	}
	return to.auditGroup(ctx, tx, actor, "removed", name)
}

// holdGroup returns the name of a group of the organization and keeps the group until the
// transaction ends.
func holdGroup(ctx context.Context, tx *storage.Tx, organizationID, groupID int64) (name string, err error) {
	err = tx.GetContext(ctx, &name, `select name from tester_groups where organization_id = $1 and id = $2 for key share`,
		organizationID, groupID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("group %d: %w", groupID, storage.ErrNotFound)
	}
	return name, storage.Wrap(err, "hold a group")
}

func (to Grantee) auditGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, what, name string) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: to.organizationID, Type: account.DistributionChanged,
		Actor: actor, Subject: to.subject, Detail: map[string]any{what: map[string]any{"groups": []string{name}}}})
}

func nonNil(g *Resolved) *Resolved {
	if g == nil {
		return &Resolved{}
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
