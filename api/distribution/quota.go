package distribution

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/quota"
)

// copyBuild copies a build where the organization's quota of builds has room for one more,
// else *quota.ExceededError. A copy stores no bytes.
func (r *room) copyBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64,
	to distribution.BuildCopy) (*distribution.CopiedBuild, error) {
	if err := r.quotas.Lock(ctx, tx, w.OrganizationID); err != nil {
		return nil, err
	}
	copied, err := distribution.CopyBuild(ctx, tx, w, projectID, id, to)
	if err != nil {
		return nil, err
	}
	return copied, r.quotas.Check(ctx, tx, w.OrganizationID, 0, quota.Builds)
}
