package audit

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// occurring goes from one type to the next in audit_events_type, for each organization.
const occurring = `
with recursive there (organization_id, type) as (
	select o.id, (select min(e.type) from audit_events e where e.organization_id = o.id)
	from unnest($1::bigint[]) as o (id)
	union all
	select t.organization_id, (select min(e.type) from audit_events e where e.organization_id = t.organization_id and e.type > t.type)
	from there t where t.type is not null
)
select distinct type from there where type is not null order by type`

// Occurring returns the types of which the organizations have events, by number.
func Occurring(ctx context.Context, q storage.Querier, organizations []int64) ([]account.AuditEntryType, error) {
	var types []account.AuditType
	if err := q.SelectContext(ctx, &types, occurring, pq.Array(organizations)); err != nil {
		return nil, storage.Wrap(err, "list audit actions")
	}
	list := make([]account.AuditEntryType, 0, len(types))
	for _, t := range types {
		if line, ok := t.Describe(); ok {
			list = append(list, line)
		}
	}
	return list, nil
}
