package admin

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// groupRef names a tester group.
type groupRef struct {
	Org   string `arg:"" help:"Organization's slug."`
	Group string `arg:"" help:"Group's name or number."`
}

// groupWork is the work of a command on a group.
type groupWork func(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error)

func (r *groupRef) run(ctx context.Context, s *setting.Settings, work groupWork) error {
	return inOrganization(ctx, s, r.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		group, err := testergroup.ByRef(ctx, tx, org.ID, r.Group)
		if err != nil {
			return nil, fmt.Errorf("group %q: %w", r.Group, err)
		}
		return work(ctx, tx, org.ID, group)
	})
}

type groupCreate struct {
	Org     string `arg:"" help:"Organization's slug."`
	Name    string `arg:"" help:"Group's name."`
	Private bool   `help:"Mark the group as private."`
}

// Run creates the group.
func (c *groupCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		group, err := testergroup.Create(ctx, tx, account.CLI(), org.ID, c.Name, c.Private)
		return map[string]any{"group": group}, err
	})
}

type groupList struct {
	Org string `arg:"" help:"Organization's slug."`
}

// Run lists the groups.
func (c *groupList) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		list, total, err := testergroup.List(ctx, tx, testergroup.Filter{OrganizationID: org.ID}, storage.Page{Limit: listLimit})
		return map[string]any{"groups": list, "total": total}, err
	})
}

// listLimit is the most rows that a command prints.
const listLimit = 1000

type groupShow struct{ groupRef }

// Run shows the group with its testers.
func (c *groupShow) Run(ctx context.Context, s *setting.Settings) error {
	return c.run(ctx, s, func(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error) {
		return showTesters(ctx, tx, org, group)
	})
}

// showTesters is the output of a group with its testers.
func showTesters(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error) {
	people, err := testergroup.Testers(ctx, tx, org, group.ID, "", storage.Page{Limit: listLimit})
	if err != nil {
		return nil, err
	}
	testers := make([]announcement.Tester, 0, len(people.List))
	for _, p := range people.List {
		testers = append(testers, announcement.Tester{UserID: p.UserID, Email: p.Email, Name: p.Name})
	}
	return map[string]any{"group": group, "testers": testers, "total": people.Total}, nil
}

type groupAdd struct {
	groupRef
	Login []string `arg:"" help:"Mail addresses of members; unknown ones become testers of the organization."`
}

// Run adds people to the group.
func (c *groupAdd) Run(ctx context.Context, s *setting.Settings) error {
	return c.run(ctx, s, func(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error) {
		for _, login := range c.Login {
			id, err := memberOrTester(ctx, tx, org, login)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", login, err)
			}
			if err := testergroup.AddUser(ctx, tx, account.CLI(), org, group.ID, id); err != nil {
				return nil, fmt.Errorf("%q: %w", login, err)
			}
		}
		return showTesters(ctx, tx, org, group)
	})
}

// memberOrTester returns the member with a mail address; an unknown address
// becomes a tester.
func memberOrTester(ctx context.Context, tx *storage.Tx, org int64, login string) (int64, error) {
	m, err := account.MemberByLogin(ctx, tx, org, login)
	if err != nil && account.CheckEmail(login) != nil {
		return 0, err
	}
	if err == nil {
		return m.ID, nil
	}
	u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: login, Role: account.Tester})
	if err != nil {
		return 0, err
	}
	return u.ID, nil
}

type groupRemove struct {
	groupRef
	Login string `arg:"" help:"Mail address of a member."`
}

// Run removes a person from the group.
func (c *groupRemove) Run(ctx context.Context, s *setting.Settings) error {
	return c.run(ctx, s, func(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error) {
		m, err := account.MemberByLogin(ctx, tx, org, c.Login)
		if err != nil {
			return nil, err
		}
		return ok(testergroup.RemoveUser(ctx, tx, account.CLI(), org, group.ID, m.ID))
	})
}

type groupDelete struct{ groupRef }

// Run deletes the group with its grants.
func (c *groupDelete) Run(ctx context.Context, s *setting.Settings) error {
	return c.run(ctx, s, func(ctx context.Context, tx *storage.Tx, org int64, group *testergroup.Group) (any, error) {
		return ok(testergroup.Delete(ctx, tx, account.CLI(), org, group.ID))
	})
}
