package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Scopes of SDK tokens.
const (
	ScopeSession  = "session:post"  // sessions and their events
	ScopeFeedback = "feedback:post" // feedback
	ScopeUpdate   = "update:read"   // asking for a newer build
)

// Scopes are all scopes, which a token has unless fewer are asked for.
func Scopes() []string { return []string{ScopeSession, ScopeFeedback, ScopeUpdate} }

// Token is what an app may do by its token.
type Token struct {
	ID             int64          `db:"id"`
	OrganizationID int64          `db:"organization_id"`
	ProjectID      int64          `db:"project_id"`
	PackageName    string         `db:"package_name"` // of the app; "" when it has none
	Scopes         pq.StringArray `db:"scopes"`
	QuotaPerMinute *int           `db:"quota_per_minute"`
	// Origins are those that the crash projects of the app allow.
	Origins pq.StringArray `db:"allowed_origins"`
}

const tokenByDigest = `
select t.id, t.organization_id, t.project_id, p.package_name, t.scopes, t.quota_per_minute,
	array(select distinct o from crash_projects c cross join unnest(c.allowed_origins) o where c.project_id = p.id) as allowed_origins
from sdk_tokens t join projects p on p.id = t.project_id and p.deleted_at is null
where t.digest = $1 and t.revoked_at is null`

// TokenByDigest finds the token of a digest; storage.ErrNotFound also when it was
// revoked or its app deleted.
func TokenByDigest(ctx context.Context, q storage.Querier, digest [32]byte) (*Token, error) {
	var t Token
	if err := q.GetContext(ctx, &t, tokenByDigest, digest[:]); err != nil {
		return nil, storage.Wrap(err, "SDK token")
	}
	return &t, nil
}

// TokenRow is a stored token, without its text.
type TokenRow struct {
	ID             int64          `db:"id" json:"id"`
	ProjectID      int64          `db:"project_id" json:"project_id"`
	Name           string         `db:"name" json:"name"`
	Hint           string         `db:"hint" json:"hint"`
	Scopes         pq.StringArray `db:"scopes" json:"scopes"`
	QuotaPerMinute *int           `db:"quota_per_minute" json:"quota_per_minute"` // requests; nil: no quota
	CreatedAt      time.Time      `db:"created_at" json:"created_at"`
	RevokedAt      *time.Time     `db:"revoked_at" json:"revoked_at"`
}

const tokenColumns = `id, project_id, name, hint, scopes, quota_per_minute, created_at, revoked_at`

// NewToken is a token to make for an app.
type NewToken struct {
	ProjectID      int64
	Name           string
	Scopes         []string // empty: all
	QuotaPerMinute int      // requests a minute; 0: no quota
}

const (
	// maxQuota keeps the number inside the column.
	maxQuota = 60_000_000
	// maxTokens bounds the tokens of an app that are in force: one for each of its
	// variants is plenty.
	maxTokens = 100
)

func (n NewToken) check() ([]string, error) {
	if err := account.CheckDisplayName(n.Name); err != nil {
		return nil, err
	}
	if n.QuotaPerMinute < 0 || n.QuotaPerMinute > maxQuota {
		return nil, storage.Invalid("quota_per_minute", "must be 0 (none) to %d", maxQuota)
	}
	if len(n.Scopes) == 0 {
		return Scopes(), nil
	}
	scopes := slices.Compact(slices.Sorted(slices.Values(n.Scopes)))
	for _, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			return nil, storage.Invalid("scopes", "must be of %s, %s, %s", ScopeSession, ScopeFeedback, ScopeUpdate)
		}
	}
	return scopes, nil
}

// lockProjectOfTokens makes the count exact, by the project's lock.
const lockProjectOfTokens = `
select team_id from projects where organization_id = $1 and id = $2 and deleted_at is null for no key update`

const countTokens = `select count(*) from sdk_tokens where project_id = $1 and revoked_at is null`

const insertToken = `
insert into sdk_tokens (organization_id, project_id, name, digest, hint, scopes, quota_per_minute)
values ($1, $2, $3, $4, $5, $6, nullif($7::int, 0))
returning ` + tokenColumns

// CreateToken creates a token of an app, which is shown once. The writer must be
// admin of the app's team: denied is returned else, after storage.ErrNotFound.
func CreateToken(ctx context.Context, tx *storage.Tx, w account.Writer, keys *account.Issuer, n NewToken, denied error) (*TokenRow,
	account.Secret, error) {
	var none account.Secret
	if err := lockProject(ctx, tx, w, n.ProjectID, denied); err != nil {
		return nil, none, err
	}
	scopes, err := n.check()
	if err != nil {
		return nil, none, err
	}
	var have int
	if err := tx.GetContext(ctx, &have, countTokens, n.ProjectID); err != nil {
		return nil, none, storage.Wrap(err, "count SDK tokens")
	}
	if have >= maxTokens {
		return nil, none, storage.Invalid("project", "has %d tokens, which is the most: revoke one", maxTokens)
	}
	secret, err := keys.New(account.KindSDK)
	if err != nil {
		return nil, none, err
	}
	var row TokenRow
	err = tx.GetContext(ctx, &row, insertToken, w.OrganizationID, n.ProjectID, n.Name, secret.Digest[:], secret.Hint,
		pq.Array(scopes), n.QuotaPerMinute)
	if err != nil {
		return nil, none, storage.Wrap(err, fmt.Sprintf("create SDK token of project %d", n.ProjectID))
	}
	return &row, secret, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.SDKTokenCreated,
		Actor: w.Actor, Subject: fmt.Sprintf("SDK token %d", row.ID),
		Detail: map[string]any{"project_id": row.ProjectID, "scopes": scopes, "hint": row.Hint}})
}

func lockProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, denied error) error {
	var team int64
	if err := tx.GetContext(ctx, &team, lockProjectOfTokens, w.OrganizationID, projectID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("project %d", projectID))
	}
	if !w.May(team) {
		return denied
	}
	return nil
}

const revokeToken = `
update sdk_tokens set revoked_at = now() where project_id = $1 and id = $2 and revoked_at is null
returning ` + tokenColumns

// RevokeToken ends a token of an app; storage.ErrNotFound when it has ended before.
// denied is as in CreateToken.
func RevokeToken(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, tokenID int64, denied error) error {
	if err := lockProject(ctx, tx, w, projectID, denied); err != nil {
		return err
	}
	var row TokenRow
	if err := tx.GetContext(ctx, &row, revokeToken, projectID, tokenID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("SDK token %d", tokenID))
	}
	tx.TokensChanged()
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.SDKTokenRevoked, Actor: w.Actor,
		Subject: fmt.Sprintf("SDK token %d", tokenID), Detail: map[string]any{"project_id": row.ProjectID, "hint": row.Hint}})
}

const tokensOf = `
select ` + tokenColumns + ` from sdk_tokens where organization_id = $1 and project_id = $2
order by id desc limit $3 offset $4`

const countTokensOf = `select count(*) from sdk_tokens where organization_id = $1 and project_id = $2`

// Tokens lists an app's tokens, newest first, ended ones too, with the number of all.
func Tokens(ctx context.Context, q storage.Querier, organizationID, projectID int64, p storage.Page) ([]TokenRow, int, error) {
	list, total := []TokenRow{}, 0
	if err := q.GetContext(ctx, &total, countTokensOf, organizationID, projectID); err != nil {
		return nil, 0, storage.Wrap(err, "count SDK tokens")
	}
	err := q.SelectContext(ctx, &list, tokensOf, organizationID, projectID, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list SDK tokens")
}
