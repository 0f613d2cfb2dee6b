package crash

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Carriers returns up to limit recorded crashes of an organization that carry the
// attribute, ordered by id. Project 0 is every project.
func Carriers(ctx context.Context, q storage.Querier, organization, project int64, f condition.Attribute, limit int) ([]uuid.UUID, error) {
	query, args := carriersQuery(organization, project, f, limit)
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, query, args...)
	return ids, storage.Wrap(err, "find crashes of an attribute")
}

func carriersQuery(organization, project int64, f condition.Attribute, limit int) (string, []any) {
	c := &condition.List{}
	c.Add("c.organization_id = " + c.Arg(organization))
	if project != 0 {
		c.Add("c.crash_project_id = " + c.Arg(project))
	}
	c.Attributes("c.attributes", []condition.Attribute{f})
	// Materialized: with a limit in sight the planner might walk the table.
	query := "with m as materialized (select c.id from crashes c" + c.Where() +
		") select id from m order by id limit " + c.Arg(limit)
	return query, c.Args
}

// FailedCrashes pages through the crashes of an organization that have no
// indexed attributes because they could not be recorded; only their documents
// show whom they are about.
func FailedCrashes(ctx context.Context, q storage.Querier, organization int64, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, `select id from crashes
		where organization_id = $1 and state = 'failed' and id > $2 order by id limit $3`, organization, after, limit)
	return ids, storage.Wrap(err, "list failed crashes")
}
