package distribution

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

const newestBuildOfFile = `
select b.id from builds b join projects p on p.id = b.project_id and p.deleted_at is null
where b.organization_id = $1 and b.file_name = $2 and b.deleted_at is null
order by b.id desc limit 1`

// NewestBuildOfFile returns the id of the organization's newest build that was
// uploaded under a file name, for apps that targets name by it; ErrNotFound when
// there is none.
func NewestBuildOfFile(ctx context.Context, q storage.Querier, organizationID int64, fileName string) (id int64, err error) {
	err = q.GetContext(ctx, &id, newestBuildOfFile, organizationID, storage.WithoutNUL(fileName))
	return id, storage.Wrap(err, "build by file name")
}
