package tester

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Remove takes a tester out of the organization, by the membership's id: out of every
// group, with all invitations, sign-in links, sessions, tokens and devices. Keys
// that a former role left are revoked.
func Remove(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64) error {
	if err := lockGroups(ctx, tx, organizationID, `m.id = $2`, id); err != nil {
		return err
	}
	t, err := locked(ctx, tx, organizationID, id)
	if err != nil {
		return err
	}
	return remove(ctx, tx, actor, organizationID, t, account.TesterRemoved)
}

// RemoveMember takes a person who is more than a tester out of the organization, by the user's
// id, for somebody of a role: out of teams and groups, with keys, tokens, sessions, saved
// searches and devices. storage.ErrConflict: it is the last owner.
func RemoveMember(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, userID int64, by account.Role) error {
	if err := lockGroups(ctx, tx, organizationID, `m.user_id = $2`, userID); err != nil {
		return err
	}
	m, err := account.LockStaff(ctx, tx, organizationID, userID, by)
	if err != nil {
		return err
	}
	if err := removeRows(ctx, tx, organizationID, userID); err != nil {
		return err
	}
	if err := account.KeepOwner(ctx, tx, organizationID); err != nil {
		return err
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.UserRemoved, Actor: actor,
		Subject: m.Label(), Detail: map[string]any{"id": userID, "role": m.Role}})
}

const testerByUser = `
select ` + testerColumns + ` from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and m.user_id = $2 and m.role = 'tester' for update of m`

// Leave is Remove by the tester. Who has a role above tester is storage.ErrNotFound: an
// administrator takes them out.
func Leave(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, userID int64) error {
	if err := lockGroups(ctx, tx, organizationID, `m.user_id = $2`, userID); err != nil {
		return err
	}
	t, err := read(ctx, tx, testerByUser, organizationID, userID)
	if err != nil {
		return err
	}
	actor.UserID, actor.Name = t.UserID, t.Email
	return remove(ctx, tx, actor, organizationID, t, account.TesterLeft)
}

// lockGroups locks the organization and then the groups that a member is in, in the order
// of all who change groups: a removal at the same time as one from a group waits, and
// does not deadlock.
func lockGroups(ctx context.Context, tx *storage.Tx, organizationID int64, member string, id int64) error {
	if err := account.LockOrganization(ctx, tx, organizationID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `select from tester_groups where organization_id = $1 and id in (
		select gm.tester_group_id from tester_group_members gm join memberships m on m.organization_id = $1 and m.user_id = gm.user_id
		where `+member+`) order by id for no key update`, organizationID, id)
	return storage.Wrap(err, "lock groups of a tester")
}

// removals delete what the foreign keys of the membership do not. Rows of audit, uploads and
// comments name a person by text and number, and outlive it.
var removals = []string{
	`delete from tester_group_members gm using tester_groups g
		where g.id = gm.tester_group_id and g.organization_id = $1 and gm.user_id = $2`,
	`delete from project_testers pt using projects p
		where p.id = pt.project_id and p.organization_id = $1 and pt.user_id = $2`,
	`delete from team_memberships tm using teams t
		where t.id = tm.team_id and t.organization_id = $1 and tm.user_id = $2`,
	`update api_keys set revoked_at = now() where organization_id = $1 and user_id = $2 and revoked_at is null`,
	`delete from memberships where organization_id = $1 and user_id = $2`,
}

func remove(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, t *Tester, what account.AuditType) error {
	if err := removeRows(ctx, tx, organizationID, t.UserID); err != nil {
		return err
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: what, Actor: actor,
		Subject: t.Email, Detail: map[string]any{"id": t.ID, "user_id": t.UserID, "email": t.Email}})
}

func removeRows(ctx context.Context, tx *storage.Tx, organizationID, userID int64) error {
	for _, statement := range removals {
		if _, err := tx.ExecContext(ctx, statement, organizationID, userID); err != nil {
			return storage.Wrap(err, fmt.Sprintf("remove user %d", userID))
		}
	}
	return nil
}
