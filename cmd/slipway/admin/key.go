package admin

import (
	"context"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// keyArgs describe a new key.
type keyArgs struct {
	memberArgs
	Kind  string   `default:"api" enum:"api,access" help:"api (distribution, upload, crash reading) or access (authoring)."`
	Name  string   `help:"What the key is for."`
	Scope []string `enum:"agent:read,agent:tests,agent:runs,agent:builds,agent:crashes" help:"Restrict the key, for an agent: agent:read, agent:tests, agent:runs, agent:builds, agent:crashes. Without: it may do what its holder may."`
}

func (c *keyArgs) new(org, user int64) account.NewKey {
	kind := account.KindAPI
	if c.Kind == "access" {
		kind = account.KindAccess
	}
	n := account.NewKey{OrganizationID: org, UserID: user, Kind: kind, Name: c.Name}
	for _, scope := range c.Scope {
		n.Scopes = append(n.Scopes, account.Scope(scope))
	}
	return n
}

type keyCreate struct{ keyArgs }

// Run creates another key.
func (c *keyCreate) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		m *account.Membership, org int64) (any, error) {
		row, secret, err := account.CreateKey(ctx, tx, account.CLI(), keys, c.new(org, m.ID))
		return created("key", row, secret), err
	})
}

type keyRotate struct{ keyArgs }

// Run replaces the member's keys of the kind.
func (c *keyRotate) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		m *account.Membership, org int64) (any, error) {
		row, secret, err := account.RotateKey(ctx, tx, account.CLI(), keys, c.new(org, m.ID))
		return created("key", row, secret), err
	})
}

type keyRevoke struct {
	Org string `arg:"" help:"Organization's slug."`
	ID  int64  `arg:"" help:"Key's number."`
}

// Run ends the key.
func (c *keyRevoke) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		return ok(account.RevokeKey(ctx, tx, account.CLI(), org.ID, c.ID))
	})
}

type keyList struct{ memberArgs }

// Run lists the member's keys.
func (c *keyList) Run(ctx context.Context, s *setting.Settings) error {
	return onMember(ctx, s, c.Org, c.Login, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, m *account.Membership,
		org int64) (any, error) {
		list, err := account.Keys(ctx, tx, org, m.ID, storage.FirstPage())
		return map[string]any{"keys": list}, err
	})
}

type projectCreate struct {
	Org  string `arg:"" help:"Organization's slug."`
	Name string `arg:"" help:"Crash project's name."`
	tokenArgs
}

// tokenArgs describe a new crash token.
type tokenArgs struct {
	TokenName string   `help:"What the token is for."`
	Scope     []string `default:"error:post" enum:"error:post,symbol:post" help:"error:post, symbol:post."`
	Quota     int      `help:"Reports a minute that one api process accepts with the token; each process counts its own. 0: no quota."`
}

func (c *tokenArgs) new(org, project int64) crashproject.NewToken {
	return crashproject.NewToken{OrganizationID: org, ProjectID: project, Name: c.TokenName, Scopes: c.Scope, QuotaPerMinute: c.Quota}
}

// Run creates the crash project and its first token.
func (c *projectCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		org *account.Organization) (any, error) {
		project, err := crashproject.Create(ctx, tx, account.CLI(), org.ID, c.Name)
		if err != nil {
			return nil, err
		}
		_, secret, err := crashproject.CreateToken(ctx, tx, account.CLI(), keys, c.new(org.ID, project.ID))
		return created("crash_project", project, secret), err
	})
}

type projectList struct {
	Org string `arg:"" help:"Organization's slug."`
}

// Run lists the crash projects.
func (c *projectList) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		list, err := crashproject.List(ctx, tx, org.ID, storage.FirstPage())
		return map[string]any{"crash_projects": list}, err
	})
}

type tokenCreate struct {
	Org     string `arg:"" help:"Organization's slug."`
	Project int64  `arg:"" help:"Crash project's number."`
	tokenArgs
}

// Run creates another token.
func (c *tokenCreate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		org *account.Organization) (any, error) {
		token, secret, err := crashproject.CreateToken(ctx, tx, account.CLI(), keys, c.new(org.ID, c.Project))
		return created("crash_token", token, secret), err
	})
}

// tokenRef names a crash token.
type tokenRef struct {
	Org string `arg:"" help:"Organization's slug."`
	ID  int64  `arg:"" help:"Token's number."`
}

type tokenRotate struct{ tokenRef }

// Run replaces the token.
func (c *tokenRotate) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer,
		org *account.Organization) (any, error) {
		token, secret, err := crashproject.RotateToken(ctx, tx, account.CLI(), keys, org.ID, c.ID)
		return created("crash_token", token, secret), err
	})
}

type tokenRevoke struct{ tokenRef }

// Run ends the token.
func (c *tokenRevoke) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		return ok(crashproject.RevokeToken(ctx, tx, account.CLI(), org.ID, c.ID))
	})
}

type tokenList struct {
	Org     string `arg:"" help:"Organization's slug."`
	Project int64  `arg:"" help:"Crash project's number."`
}

// Run lists the project's tokens.
func (c *tokenList) Run(ctx context.Context, s *setting.Settings) error {
	return inOrganization(ctx, s, c.Org, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer, org *account.Organization) (any, error) {
		list, err := crashproject.Tokens(ctx, tx, org.ID, c.Project, storage.FirstPage())
		return map[string]any{"crash_tokens": list}, err
	})
}

// operatorRef names an operator.
type operatorRef struct {
	Username string `arg:"" help:"Operator's user name."`
}

type operatorCreate struct{ operatorRef }

// Run creates the operator.
func (c *operatorCreate) Run(ctx context.Context, s *setting.Settings) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error) {
		op, secret, err := account.CreateOperator(ctx, tx, account.CLI(), keys, c.Username)
		return created("operator", op, secret), err
	})
}

type operatorRotate struct{ operatorRef }

// Run replaces the operator's password.
func (c *operatorRotate) Run(ctx context.Context, s *setting.Settings) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, keys *account.Issuer) (any, error) {
		op, secret, err := account.RotateOperator(ctx, tx, account.CLI(), keys, c.Username)
		return created("operator", op, secret), err
	})
}

type operatorRevoke struct{ operatorRef }

// Run ends the operator's access.
func (c *operatorRevoke) Run(ctx context.Context, s *setting.Settings) error {
	return execute(ctx, s, func(ctx context.Context, tx *storage.Tx, _ *account.Issuer) (any, error) {
		return ok(account.RevokeOperator(ctx, tx, account.CLI(), c.Username))
	})
}
