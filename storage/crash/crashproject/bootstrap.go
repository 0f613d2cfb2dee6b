package crashproject

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// ApplyBootstrap creates the rows of a bootstrap file that are missing: those of
// package account first, then the crash project with its token.
func ApplyBootstrap(ctx context.Context, tx *storage.Tx, b *account.Bootstrap, region string) error {
	if err := b.Apply(ctx, tx, region); err != nil {
		return err
	}
	actor := account.Actor{Name: account.ActorBootstrap}
	project, err := ByName(ctx, tx, b.Organization.ID, b.Crash.ProjectName)
	if errors.Is(err, storage.ErrNotFound) {
		project, err = Create(ctx, tx, actor, b.Organization.ID, b.Crash.ProjectName)
	}
	if err != nil {
		return err
	}
	b.Crash.Project = project.ID
	secret := account.SecretOf(b.Crash.Token)
	var known int
	if err := tx.GetContext(ctx, &known, `select count(*) from crash_tokens where digest = $1`, secret.Digest[:]); err != nil {
		return storage.Wrap(err, "token of the bootstrap")
	}
	if known > 0 {
		return nil
	}
	_, err = createToken(ctx, tx, actor, NewToken{OrganizationID: b.Organization.ID, ProjectID: project.ID,
		Name: account.ActorBootstrap, Scopes: []string{ScopeErrorPost, ScopeSymbolPost}}, secret)
	return err
}

// ByName reads a crash project of the organization by its name.
func ByName(ctx context.Context, q storage.Querier, organizationID int64, name string) (*Project, error) {
	var p Project
	err := q.GetContext(ctx, &p, `select `+crashProjectColumns+` from crash_projects
		where organization_id = $1 and name = $2`, organizationID, name)
	return &p, storage.Wrap(err, "crash project "+name)
}
