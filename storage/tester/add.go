package tester

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// New are testers to add to an organization.
type New struct {
	OrganizationID int64
	Emails         []string // any number up to account.MaxPeople; in any case, repetitions count once
	Name           string   // of people whom nobody knows yet
	Groups         []Group  // of the organization; the caller has checked that they may be changed
}

// Group is a group of testers.
type Group struct {
	ID   int64  `db:"id" json:"id"`
	Name string `db:"name" json:"name"`
}

// Added are the people of an Add.
type Added struct {
	UserIDs []int64 // all of them, in the order of the addresses
	Joined  int     // how many are new to the organization
}

// Add makes people testers of an organization and puts them into groups, with one audit
// entry that has all addresses. Who is a member already, of whatever role, keeps the role;
// who is blocked stays blocked. An address that is none refuses the whole call.
func Add(ctx context.Context, tx *storage.Tx, actor account.Actor, n New) (*Added, error) {
	added, err := join(ctx, tx, n)
	if err != nil {
		return nil, err
	}
	ids, names := make([]int64, 0, len(n.Groups)), make([]string, 0, len(n.Groups))
	for _, g := range n.Groups {
		ids, names = append(ids, g.ID), append(names, g.Name)
	}
	if _, err := tx.ExecContext(ctx, insertGroupMembers, n.OrganizationID, pq.Array(ids), pq.Array(added.UserIDs)); err != nil {
		return nil, storage.Wrap(err, "put testers into groups")
	}
	return added, audit(ctx, tx, actor, n, map[string]any{"emails": n.Emails, "groups": names, "new": added.Joined})
}

// AddPeople is Add without groups, for who puts the people somewhere else: the audit entry
// is written when somebody is new to the organization. It returns the user ids in the
// order of the addresses.
func AddPeople(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, emails []string) ([]int64, error) {
	n := New{OrganizationID: organizationID, Emails: emails}
	added, err := join(ctx, tx, n)
	if err != nil {
		return nil, err
	}
	if added.Joined == 0 {
		return added.UserIDs, nil
	}
	return added.UserIDs, audit(ctx, tx, actor, n, map[string]any{"emails": n.Emails, "new": added.Joined})
}

// audit writes the one entry of a call.
func audit(ctx context.Context, tx *storage.Tx, actor account.Actor, n New, detail map[string]any) error {
	subject := n.Emails[0]
	if len(n.Emails) > 1 {
		subject = fmt.Sprintf("%d testers", len(n.Emails))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: n.OrganizationID, Type: account.TestersInvited, Actor: actor,
		Subject: subject, Detail: detail})
}

const insertTesters = `
insert into memberships (organization_id, user_id, role)
select $1, id, 'tester' from unnest($2::bigint[]) with ordinality as w(id, n) order by n
on conflict (organization_id, user_id) do nothing`

// insertGroupMembers has no row for a group of another organization.
const insertGroupMembers = `
insert into tester_group_members (tester_group_id, user_id)
select g.id, w.id from tester_groups g cross join unnest($3::bigint[]) as w(id)
where g.organization_id = $1 and g.id = any($2)
order by g.id, w.id
on conflict (tester_group_id, user_id) do nothing`

// join writes the memberships.
func join(ctx context.Context, tx *storage.Tx, n New) (*Added, error) {
	if err := account.CheckEmails("email", n.Emails); err != nil {
		return nil, err
	}
	if err := account.LockOrganization(ctx, tx, n.OrganizationID); err != nil {
		return nil, err
	}
	ids, err := account.EnsurePeople(ctx, tx, n.Emails, n.Name)
	if err != nil {
		return nil, err
	}
	joined, err := storage.Affected(tx.ExecContext(ctx, insertTesters, n.OrganizationID, pq.Array(ids)))
	if err != nil {
		return nil, storage.Wrap(err, "add testers")
	}
	return &Added{UserIDs: ids, Joined: int(joined)}, nil
}
