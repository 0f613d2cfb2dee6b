package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// NewGroup is a group of crashes that was seen first in some time.
type NewGroup struct {
	Title   string `db:"title"`
	Culprit string `db:"culprit"`
	Project string `db:"project"`
	Count   int64  `db:"count"`
}

// newGroups reads crash_groups_first_seen.
const newGroups = `
from crash_groups g join crash_projects p on p.id = g.crash_project_id
where g.organization_id = $1 and g.first_seen >= $2 and g.first_seen < $3 and g.root_id is null and g.state <> 'ignored'`

// NewGroups returns the number of groups of an organization that were seen first from a
// time up to another, and those with the most crashes, limit at most.
func NewGroups(ctx context.Context, q storage.Querier, organizationID int64, from, to time.Time, limit int) (total int,
	list []NewGroup, err error) {
	if err := q.GetContext(ctx, &total, `select count(*) `+newGroups, organizationID, from, to); err != nil {
		return 0, nil, storage.Wrap(err, "count new crash groups")
	}
	err = q.SelectContext(ctx, &list, `select g.title, g.culprit, p.name as project, g.count `+newGroups+`
		order by g.count desc, g.id desc limit $4`, organizationID, from, to, limit)
	return total, list, storage.Wrap(err, "new crash groups")
}
