package crashproject

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Token is a stored token, without its text.
type Token struct {
	ID             int64          `db:"id" json:"id"`
	ProjectID      int64          `db:"crash_project_id" json:"crash_project_id"`
	Name           string         `db:"name" json:"name"`
	Hint           string         `db:"hint" json:"hint"`
	Scopes         pq.StringArray `db:"scopes" json:"scopes"`
	QuotaPerMinute *int           `db:"quota_per_minute" json:"quota_per_minute"` // reports; nil: no quota
	CreatedAt      time.Time      `db:"created_at" json:"created_at"`
	RevokedAt      *time.Time     `db:"revoked_at" json:"revoked_at"`
}

const crashTokenColumns = `id, crash_project_id, name, hint, scopes, quota_per_minute, created_at, revoked_at`

// Scopes of crash tokens.
const (
	ScopeErrorPost  = "error:post"  // submit crash reports
	ScopeSymbolPost = "symbol:post" // submit symbol files
)

// NewToken is a token to make.
type NewToken struct {
	OrganizationID int64
	ProjectID      int64
	Name           string
	Scopes         []string // empty: ScopeErrorPost
	QuotaPerMinute int      // reports a minute; 0: no quota
}

const insertCrashToken = `
insert into crash_tokens (crash_project_id, name, digest, hint, scopes, quota_per_minute)
select p.id, $3, $4, $5, $6, nullif($7::int, 0) from crash_projects p
where p.organization_id = $1 and p.id = $2
returning ` + crashTokenColumns

// CreateToken creates a further token of a project, shown once.
func CreateToken(ctx context.Context, tx *storage.Tx, actor account.Actor, keys *account.Issuer, n NewToken) (*Token,
	account.Secret, error) {
	secret, err := keys.New(account.KindCrash)
	if err != nil {
		return nil, account.Secret{}, err
	}
	row, err := createToken(ctx, tx, actor, n, secret)
	return row, secret, err
}

func createToken(ctx context.Context, tx *storage.Tx, actor account.Actor, n NewToken, s account.Secret) (*Token, error) {
	scopes, err := n.check()
	if err != nil {
		return nil, err
	}
	var row Token
	err = tx.GetContext(ctx, &row, insertCrashToken, n.OrganizationID, n.ProjectID, n.Name, s.Digest[:], s.Hint,
		pq.Array(scopes), n.QuotaPerMinute)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("create token of crash project %d", n.ProjectID))
	}
	return &row, account.Audit(ctx, tx, account.Event{OrganizationID: n.OrganizationID, Type: account.CrashTokenCreated, Actor: actor,
		Subject: fmt.Sprintf("crash token %d", row.ID),
		Detail:  map[string]any{"project_id": row.ProjectID, "scopes": scopes, "hint": row.Hint}})
}

// maxQuota keeps the number inside the column; it is a million reports a second.
const maxQuota = 60_000_000

func (n NewToken) check() ([]string, error) {
	if err := account.CheckDisplayName(n.Name); err != nil {
		return nil, err
	}
	if n.QuotaPerMinute < 0 || n.QuotaPerMinute > maxQuota {
		return nil, &storage.InvalidError{Field: "quota_per_minute", Msg: fmt.Sprintf("must be 0 (none) to %d", maxQuota)}
	}
	if len(n.Scopes) == 0 {
		return []string{ScopeErrorPost}, nil
	}
	scopes := slices.Compact(slices.Sorted(slices.Values(n.Scopes)))
	for _, scope := range scopes {
		if scope != ScopeErrorPost && scope != ScopeSymbolPost {
			return nil, &storage.InvalidError{Field: "scopes", Msg: "must be of " + ScopeErrorPost + ", " + ScopeSymbolPost}
		}
	}
	return scopes, nil
}

// rotateCrashToken inserts a token that takes over name, scopes and quota of the one that
// ends.
const rotateCrashToken = `
with former as (
	update crash_tokens t set revoked_at = now() from crash_projects p
	where p.id = t.crash_project_id and p.organization_id = $1 and t.id = $2 and t.revoked_at is null
	returning t.crash_project_id, t.name, t.scopes, t.quota_per_minute
)
insert into crash_tokens (crash_project_id, name, digest, hint, scopes, quota_per_minute)
select crash_project_id, name, $3, $4, scopes, quota_per_minute from former
returning ` + crashTokenColumns

// RotateToken ends a token at once and makes another with its name, scopes
// and quota. ErrNotFound when it has ended before.
func RotateToken(ctx context.Context, tx *storage.Tx, actor account.Actor, keys *account.Issuer, organizationID,
	tokenID int64) (*Token, account.Secret, error) {
	secret, err := keys.New(account.KindCrash)
	if err != nil {
		return nil, account.Secret{}, err
	}
	var row Token
	if err := tx.GetContext(ctx, &row, rotateCrashToken, organizationID, tokenID, secret.Digest[:], secret.Hint); err != nil {
		return nil, account.Secret{}, storage.Wrap(err, fmt.Sprintf("crash token %d", tokenID))
	}
	tx.TokensChanged()
	return &row, secret, account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.CrashTokenRotated, Actor: actor,
		Subject: fmt.Sprintf("crash token %d", tokenID),
		Detail:  map[string]any{"project_id": row.ProjectID, "token_id": row.ID, "hint": row.Hint}})
}

const revokeCrashToken = `
update crash_tokens t set revoked_at = now() from crash_projects p
where p.id = t.crash_project_id and p.organization_id = $1 and t.id = $2 and t.revoked_at is null
returning t.id, t.crash_project_id, t.name, t.hint, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at`

// RevokeToken ends a token at once.
func RevokeToken(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, tokenID int64) error {
	var row Token
	if err := tx.GetContext(ctx, &row, revokeCrashToken, organizationID, tokenID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("crash token %d", tokenID))
	}
	tx.TokensChanged()
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.CrashTokenRevoked, Actor: actor,
		Subject: fmt.Sprintf("crash token %d", tokenID),
		Detail:  map[string]any{"project_id": row.ProjectID, "hint": row.Hint}})
}

const tokenOfProject = `select id from crash_tokens where crash_project_id = $1 and id = $2`

// RevokeTokenOf ends a token of one crash project; ErrNotFound for another's.
func RevokeTokenOf(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, projectID, tokenID int64) error {
	var id int64
	if err := tx.GetContext(ctx, &id, tokenOfProject, projectID, tokenID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("crash token %d", tokenID))
	}
	return RevokeToken(ctx, tx, actor, organizationID, id)
}

const crashTokens = `
select t.id, t.crash_project_id, t.name, t.hint, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at
from crash_tokens t join crash_projects p on p.id = t.crash_project_id
where p.organization_id = $1 and t.crash_project_id = $2
order by t.id desc limit $3 offset $4`

// Tokens lists a project's tokens, newest first, ended ones too.
func Tokens(ctx context.Context, q storage.Querier, organizationID, projectID int64, p storage.Page) ([]Token, error) {
	list := []Token{}
	err := q.SelectContext(ctx, &list, crashTokens, organizationID, projectID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list crash tokens")
}
