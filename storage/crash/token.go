package crash

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Token is what a submission may do.
type Token struct {
	ID             int64          `db:"id"`
	ProjectID      int64          `db:"crash_project_id"`
	OrganizationID int64          `db:"organization_id"`
	Scopes         pq.StringArray `db:"scopes"`
	QuotaPerMinute *int           `db:"quota_per_minute"`
	// Origins are those of the pages that may post.
	Origins pq.StringArray `db:"allowed_origins"`
}

// Token looks a token up by the SHA-256 digest of its text; ErrNotFound also
// when it was revoked.
func (s *Store) Token(ctx context.Context, digest [32]byte) (*Token, error) {
	var t Token
	err := s.db.GetContext(ctx, &t, `
		select t.id, t.crash_project_id, p.organization_id, t.scopes, t.quota_per_minute, p.allowed_origins
		from crash_tokens t join crash_projects p on p.id = t.crash_project_id
		where t.digest = $1 and t.revoked_at is null`, digest[:])
	if err != nil {
		return nil, storage.Wrap(err, "crash token")
	}
	return &t, nil
}
