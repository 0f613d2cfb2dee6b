package testergroup

import (
	"context"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// membersAmong keeps the memberships until the transaction ends, by its lock.
const membersAmong = `
select user_id from memberships where organization_id = $1 and user_id = any($2) order by user_id for key share`

// mustBeMembers returns users without repetitions; ErrNotFound for one who is no member
// of the organization.
func mustBeMembers(ctx context.Context, tx *storage.Tx, organizationID int64, userIDs []int64) ([]int64, error) {
	wanted := slices.Compact(slices.Sorted(slices.Values(userIDs)))
	found := []int64{}
	if err := tx.SelectContext(ctx, &found, membersAmong, organizationID, pq.Array(wanted)); err != nil {
		return nil, storage.Wrap(err, "find members")
	}
	for _, id := range wanted {
		if _, ok := slices.BinarySearch(found, id); !ok {
			return nil, fmt.Errorf("user %d: %w", id, storage.ErrNotFound)
		}
	}
	return wanted, nil
}

const addGroupMembers = `
with added as (
	insert into tester_group_members (tester_group_id, user_id) select $1, unnest($2::bigint[])
	on conflict (tester_group_id, user_id) do nothing returning user_id
)
select coalesce(u.email, u.username) from added join users u on u.id = added.user_id order by u.id`

// AddMembers puts members of the organization into a group and returns how many
// were not in it. ErrNotFound for one who is no member. However many they are, it is
// two statements and one audit entry with their mail addresses.
//
// The organization is locked first, as by who removes a tester: that takes the locks of
// the groups before that of the membership, and here it is the other way round.
func AddMembers(ctx context.Context, tx *storage.Tx, w account.Writer, groupID int64, userIDs []int64) (int, error) {
	if err := account.LockOrganization(ctx, tx, w.OrganizationID); err != nil {
		return 0, err
	}
	g, err := lockGroup(ctx, tx, w, groupID, groupStays)
	if err != nil || len(userIDs) == 0 {
		return 0, err
	}
	if userIDs, err = mustBeMembers(ctx, tx, w.OrganizationID, userIDs); err != nil {
		return 0, err
	}
	return g.changeMembers(ctx, tx, w, account.GroupMemberAdded, addGroupMembers, userIDs)
}

const removeGroupMembers = `
with removed as (
	delete from tester_group_members where tester_group_id = $1 and user_id = any($2) returning user_id
)
select coalesce(u.email, u.username) from removed join users u on u.id = removed.user_id order by u.id`

// RemoveMembers takes users out of a group and returns how many were in it. With
// discard a group that became empty by it is deleted.
func RemoveMembers(ctx context.Context, tx *storage.Tx, w account.Writer, groupID int64, userIDs []int64, discard bool) (int, error) {
	lock := groupChanges
	if discard {
		lock = groupGoes
	}
	g, err := lockGroup(ctx, tx, w, groupID, lock)
	if err != nil || len(userIDs) == 0 {
		return 0, err
	}
	removed, err := g.changeMembers(ctx, tx, w, account.GroupMemberRemoved, removeGroupMembers, userIDs)
	if err != nil || !discard || removed == 0 || removed < g.TestersCount {
		return removed, err
	}
	g.TestersCount = 0
	return removed, g.remove(ctx, tx, w)
}

// changeMembers runs a statement that returns the mail addresses of those whom it added
// or removed.
func (g *Group) changeMembers(ctx context.Context, tx *storage.Tx, w account.Writer, of account.AuditType, query string,
	userIDs []int64) (int, error) {
	emails := []string{}
	if err := tx.SelectContext(ctx, &emails, query, g.ID, pq.Array(userIDs)); err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("change testers of group %d", g.ID))
	}
	if len(emails) == 0 {
		return 0, nil
	}
	return len(emails), account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: of, Actor: w.Actor,
		Subject: g.Name, Detail: map[string]any{"id": g.ID, "emails": emails}})
}

const usersOfEmails = `
select u.id from unnest($2::text[]) want(email) join users u on lower(u.email) = lower(want.email)
join memberships m on m.organization_id = $1 and m.user_id = u.id
order by u.id`

// UsersByEmail returns the members of the organization who have one of the addresses,
// in any case.
func UsersByEmail(ctx context.Context, q storage.Querier, organizationID int64, emails []string) ([]int64, error) {
	found := []int64{}
	err := q.SelectContext(ctx, &found, usersOfEmails, organizationID, pq.Array(emails))
	return slices.Compact(found), storage.Wrap(err, "users by mail address")
}

// everyTeam is the writer of the command line: it may change what any team has.
func everyTeam(actor account.Actor, organizationID int64) account.Writer {
	return account.Writer{OrganizationID: organizationID, Admin: true, AllTeams: true, Actor: actor}
}

// Create creates a group in the organization's first team, with the rights of the
// command line.
func Create(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, groupName string,
	private bool) (*Group, error) {
	return CreateInTeam(ctx, tx, everyTeam(actor, organizationID), NewGroup{Name: groupName, Private: private, AnyTeam: true})
}

// Delete removes a group with its grants, with the rights of the command line.
func Delete(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID int64) error {
	return Remove(ctx, tx, everyTeam(actor, organizationID), groupID)
}

// AddUser puts a member of the organization into a group, with the rights of the
// command line; no error when the member is there already.
func AddUser(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID, userID int64) error {
	_, err := AddMembers(ctx, tx, everyTeam(actor, organizationID), groupID, []int64{userID})
	return err
}

// RemoveUser takes a user out of a group, with the rights of the command line;
// ErrNotFound when the user is not in it.
func RemoveUser(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, groupID, userID int64) error {
	n, err := RemoveMembers(ctx, tx, everyTeam(actor, organizationID), groupID, []int64{userID}, false)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("user %d in group %d: %w", userID, groupID, storage.ErrNotFound)
	}
	return nil
}
