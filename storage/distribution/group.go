package distribution

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

const insertGroup = `
insert into tester_groups (organization_id, name, private) values ($1, $2, $3)
returning id, name, private, created_at`

// CreateGroup creates a tester group; ErrConflict when the name is taken.
func CreateGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, groupName string, private bool) (*Group, error) {
	groupName, err := storage.Name("name", groupName, maxLine)
	if err != nil {
		return nil, err
	}
	if _, err := SettingsOf(ctx, tx, organizationID); err != nil {
		return nil, err
	}
	var g Group
	if err := tx.GetContext(ctx, &g, insertGroup, organizationID, groupName, private); err != nil {
		return nil, storage.Wrap(err, "create group "+groupName)
	}
	return &g, account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.GroupCreated,
		Actor: actor, Subject: g.Name, Detail: map[string]any{"id": g.ID, "private": g.Private}})
}

const groupList = `
select id, name, private, created_at from tester_groups where organization_id = $1
order by lower(name) limit $2 offset $3`

// GroupList lists the groups of an organization by name, with their number.
func GroupList(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Group, int, error) {
	var total int
	err := q.GetContext(ctx, &total, `select count(*) from tester_groups where organization_id = $1`, organizationID)
	if err != nil {
		return nil, 0, storage.Wrap(err, "count groups")
	}
	list := []Group{}
	err = q.SelectContext(ctx, &list, groupList, organizationID, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list groups")
}

// GroupByRef finds a group by its name (in any case) or id. A group whose name is
// the id of another goes first.
func GroupByRef(ctx context.Context, q storage.Querier, organizationID int64, ref string) (*Group, error) {
	refs, err := findGroups(ctx, q, organizationID, []string{ref})
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 || refs[0].ID == 0 {
		return nil, fmt.Errorf("group %q: %w", ref, storage.ErrNotFound)
	}
	return groupByID(ctx, q, organizationID, refs[0].ID)
}

func groupByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Group, error) {
	var g Group
	err := q.GetContext(ctx, &g, `select id, name, private, created_at from tester_groups
		where organization_id = $1 and id = $2`, organizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("group %d", id))
	}
	return &g, nil
}

// DeleteGroup removes a group with its grants.
func DeleteGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID int64) error {
	var groupName string
	err := tx.GetContext(ctx, &groupName, `delete from tester_groups where organization_id = $1 and id = $2
		returning name`, organizationID, groupID)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("delete group %d", groupID))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.GroupDeleted,
		Actor: actor, Subject: groupName, Detail: map[string]any{"id": groupID}})
}

// Both sides must belong to the organization: otherwise the select has no row.
const groupAndMember = `
select g.name as group_name, coalesce(u.email, u.username) as login
from tester_groups g
join memberships m on m.organization_id = g.organization_id and m.user_id = $3
join users u on u.id = m.user_id
where g.organization_id = $1 and g.id = $2
for key share of g`

// AddToGroup puts a member of the organization into a group; no error when it is
// there already.
func AddToGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID, userID int64) error {
	var found struct {
		GroupName string `db:"group_name"`
		Login     string `db:"login"`
	}
	if err := tx.GetContext(ctx, &found, groupAndMember, organizationID, groupID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("add user %d to group %d", userID, groupID))
	}
	added, err := tx.ExecContext(ctx, `insert into tester_group_members (tester_group_id, user_id) values ($1, $2)
		on conflict (tester_group_id, user_id) do nothing`, groupID, userID)
	if err != nil {
		return storage.Wrap(err, "add to group")
	}
	if n, err := added.RowsAffected(); err != nil || n == 0 {
		return storage.Wrap(err, "add to group")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.GroupMemberAdded,
		Actor: actor, Subject: found.GroupName, Detail: map[string]any{"id": groupID, "user_id": userID, "login": found.Login}})
}

const deleteGroupMember = `
delete from tester_group_members gm using tester_groups g
where g.id = gm.tester_group_id and g.organization_id = $1 and gm.tester_group_id = $2 and gm.user_id = $3
returning g.name`

// RemoveFromGroup takes a user out of a group; ErrNotFound when it is not in it.
func RemoveFromGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID, userID int64) error {
	var groupName string
	if err := tx.GetContext(ctx, &groupName, deleteGroupMember, organizationID, groupID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("remove user %d from group %d", userID, groupID))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.GroupMemberRemoved,
		Actor: actor, Subject: groupName, Detail: map[string]any{"id": groupID, "user_id": userID}})
}

const groupTesters = `
select u.id as user_id, coalesce(u.email, '') as email, u.name
from tester_group_members gm join users u on u.id = gm.user_id
where gm.tester_group_id = $1
order by lower(u.email), u.id limit $2 offset $3`

// GroupTesters lists the members of a group by mail address.
func GroupTesters(ctx context.Context, q storage.Querier, organizationID, groupID int64, p storage.Page) ([]Tester, int, error) {
	var total int
	err := q.GetContext(ctx, &total, `select (select count(*) from tester_group_members gm where gm.tester_group_id = g.id)
		from tester_groups g where g.organization_id = $1 and g.id = $2`, organizationID, groupID)
	if err != nil {
		return nil, 0, storage.Wrap(err, fmt.Sprintf("group %d", groupID))
	}
	list := []Tester{}
	err = q.SelectContext(ctx, &list, groupTesters, groupID, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list testers of a group")
}
