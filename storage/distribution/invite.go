package distribution

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// GroupInvite is a build that was given to groups, and the people in them.
type GroupInvite struct {
	Build   *Build
	Groups  []GroupName // by name
	UserIDs []int64     // ascending, each once; who is blocked or has no mail address is not among them
	Invalid []string    // names that no group has
}

const groupNamesOf = `select id, name from tester_groups where id = any($1) order by lower(name), id`

// peopleOfGroups are the people of groups, with $3 every tester of the organization.
const peopleOfGroups = `
select m.user_id from memberships m join users u on u.id = m.user_id and u.email is not null
where m.organization_id = $1 and m.blocked_at is null
	and (m.role = 'tester' and $3::boolean or m.user_id in (select user_id from tester_group_members where tester_group_id = any($2)))
order by m.user_id`

// InviteGroups gives a build to groups, beside those that have it, and returns the people
// whom this invites. The caller writes their invitations and the audit entry of it;
// that of the new grants is written here. projectID 0 stands for any. ErrNotTeamAdmin,
// *UndeliverableError, and an *InvalidError of "groups" when no group is found.
func InviteGroups(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64, g Groups) (*GroupInvite, error) {
	b, err := BuildByID(ctx, tx, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, err
	}
	if !w.May(b.TeamID) {
		return nil, ErrNotTeamAdmin
	}
	if b, _, err = lockBuild(ctx, tx, w, b.ProjectID, id); err != nil {
		return nil, err
	}
	if reason := b.undeliverable(); reason != "" {
		return nil, &UndeliverableError{Reason: reason}
	}
	r, err := resolve(ctx, tx, w.OrganizationID, g)
	if err != nil {
		return nil, err
	}
	if len(r.ids) == 0 && !g.All {
		return nil, storage.Invalid("groups", "must name at least one group of the organization")
	}
	invite := &GroupInvite{Build: b, Groups: []GroupName{}, UserIDs: []int64{}, Invalid: r.invalid}
	if err := buildGrantee(w.OrganizationID, id).extend(ctx, tx, w.Actor, r.ids, g.All && !b.AllTesters); err != nil {
		return nil, err
	}
	if err := tx.SelectContext(ctx, &invite.Groups, groupNamesOf, pq.Array(r.ids)); err != nil {
		return nil, storage.Wrap(err, "names of groups")
	}
	err = tx.SelectContext(ctx, &invite.UserIDs, peopleOfGroups, w.OrganizationID, pq.Array(r.ids), g.All)
	return invite, storage.Wrap(err, "people of groups")
}

// extend adds grants, and with open opens the row to all testers.
func (to grantee) extend(ctx context.Context, tx *storage.Tx, actor account.Actor, groups []int64, open bool) error {
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
	var c changed
	c.note("groups", before, after)
	if open {
		c.note("all_testers", false, true)
	}
	return to.audit(ctx, tx, actor, c)
}
