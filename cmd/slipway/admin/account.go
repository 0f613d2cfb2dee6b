package admin

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

type orgCreate struct {
	Slug string `arg:"" help:"Short name: lower-case letters, digits, hyphens."`
	Name string `help:"Name that people see; default: the slug."`
	Team string `default:"Default" help:"Name of the first team."`
}

// Run creates the organization and its first team.
func (c *orgCreate) Run(ctx context.Context, s *setting.Settings) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer) (any, error) {
		org, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: c.Slug, Name: c.Name})
		if err != nil {
			return nil, err
		}
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: org.ID, Name: c.Team})
		return map[string]any{"organization": org, "team": team}, err
	})
}

type orgList struct{}

// Run lists the organizations.
func (c *orgList) Run(ctx context.Context, s *setting.Settings) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer) (any, error) {
		list, err := account.Organizations(ctx, tx, storage.FirstPage())
		return map[string]any{"organizations": list}, err
	})
}

type teamCreate struct {
	Org  string `arg:"" help:"Organization's slug."`
	Name string `arg:"" help:"Team's name."`
}

// Run creates the team.
func (c *teamCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: org.ID, Name: c.Name})
		return map[string]any{"team": team}, err
	})
}

type teamAdd struct {
	memberArgs
	TeamID int64 `arg:"" help:"Team's number."`
	Admin  bool  `help:"Make the member an administrator of the team."`
}

// Run adds the member to the team.
func (c *teamAdd) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, m *account.Membership,
		org int64) (any, error) {
		return ok(account.AddToTeam(ctx, tx, account.CLI(), org, c.TeamID, m.ID, c.Admin))
	})
}

// memberArgs name a member.
type memberArgs struct {
	Org   string `arg:"" help:"Organization's slug."`
	Login string `arg:"" help:"Mail address or user name."`
}

type userCreate struct {
	Org      string `arg:"" help:"Organization's slug."`
	Email    string `arg:"" help:"Mail address."`
	Role     string `default:"member" enum:"owner,admin,member,tester" help:"owner, admin, member or tester."`
	Name     string `help:"Name that people see."`
	Username string `help:"User name for authoring; default: made from the mail address."`
	TeamID   int64  `help:"Number of a team to join."`
}

// Run creates the person.
func (c *userCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		user, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org.ID, Email: c.Email,
			Username: c.Username, Name: c.Name, Role: account.Role(c.Role), TeamID: c.TeamID})
		return map[string]any{"user": user}, err
	})
}

type userRole struct {
	memberArgs
	Role string `arg:"" enum:"owner,admin,member,tester" help:"owner, admin, member or tester."`
}

// Run changes the role.
func (c *userRole) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, m *account.Membership,
		org int64) (any, error) {
		return ok(account.SetRole(ctx, tx, account.CLI(), org, m.ID, account.Role(c.Role)))
	})
}

type userBlock struct{ memberArgs }

// Run blocks the member.
func (c *userBlock) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, m *account.Membership,
		org int64) (any, error) {
		return ok(account.BlockUser(ctx, tx, account.CLI(), org, m.ID))
	})
}

type userFree struct{ memberArgs }

// Run ends the block.
func (c *userFree) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, m *account.Membership,
		org int64) (any, error) {
		return ok(account.UnblockUser(ctx, tx, account.CLI(), org, m.ID))
	})
}

type userList struct {
	Org string `arg:"" help:"Organization's slug."`
}

// Run lists the members.
func (c *userList) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		list, err := account.Members(ctx, tx, org.ID, storage.FirstPage())
		return map[string]any{"members": list}, err
	})
}

type serviceCreate struct {
	Org      string `arg:"" help:"Organization's slug."`
	Username string `arg:"" help:"User name."`
	Role     string `default:"member" enum:"owner,admin,member" help:"owner, admin or member."`
	Name     string `help:"Name that people see."`
	TeamID   int64  `help:"Number of a team to join."`
}

// Run creates the service account with a first api key.
func (c *serviceCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		org *account.Organization) (any, error) {
		user, err := account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: org.ID,
			Username: c.Username, Name: c.Name, Role: account.Role(c.Role), TeamID: c.TeamID})
		if err != nil {
			return nil, err
		}
		_, secret, err := account.CreateKey(ctx, tx, account.CLI(), keys, account.NewKey{OrganizationID: org.ID,
			UserID: user.ID, Kind: account.KindAPI, Name: "first"})
		return created("service_account", user, secret), err
	})
}
