package announcement

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// Invite is a build that was given to groups, and the people in them.
type Invite struct {
	Build   *distribution.Build
	Groups  []testergroup.Name // by name
	UserIDs []int64            // ascending, each once; who is blocked or has no mail address is not among them
	Invalid []string           // names that no group has
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
func InviteGroups(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64, g grant.Groups) (*Invite, error) {
	b, err := distribution.BuildByID(ctx, tx, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, err
	}
	if !w.May(b.TeamID) {
		return nil, distribution.ErrNotTeamAdmin
	}
	if b, err = distribution.LockBuild(ctx, tx, w, b.ProjectID, id); err != nil {
		return nil, err
	}
	if reason := b.Undeliverable(); reason != "" {
		return nil, &UndeliverableError{Reason: reason}
	}
	r, err := grant.Resolve(ctx, tx, w.OrganizationID, g)
	if err != nil {
		return nil, err
	}
	if len(r.IDs) == 0 && !g.All {
		return nil, storage.Invalid("groups", "must name at least one group of the organization")
	}
	invite := &Invite{Build: b, Groups: []testergroup.Name{}, UserIDs: []int64{}, Invalid: r.Invalid}
	if err := grant.ToBuild(w.OrganizationID, id).Extend(ctx, tx, w.Actor, r.IDs, g.All && !b.AllTesters); err != nil {
		return nil, err
	}
	if err := tx.SelectContext(ctx, &invite.Groups, groupNamesOf, pq.Array(r.IDs)); err != nil {
		return nil, storage.Wrap(err, "names of groups")
	}
	err = tx.SelectContext(ctx, &invite.UserIDs, peopleOfGroups, w.OrganizationID, pq.Array(r.IDs), g.All)
	return invite, storage.Wrap(err, "people of groups")
}
