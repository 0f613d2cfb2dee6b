package reading

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// shownMessages is how many messages a single group shows.
const shownMessages = 10

// readMessages reads the most frequent messages of a group that is shown, and how many
// it has.
func readMessages(ctx context.Context, q storage.Querier, root int64) (Affected, error) {
	a := Affected{Values: []Value{}}
	var rows []struct {
		Total int `db:"total"`
		Value
	}
	err := q.SelectContext(ctx, &rows, `
		select m.message as value, sum(m.count)::bigint as count, min(m.first_seen) as first_seen,
			max(m.last_seen) as last_seen, count(*) over () as total
		from crash_groups g join crash_group_messages m on m.group_id = g.id
		where g.id = $1 or g.root_id = $1
		group by m.message order by count desc, m.message limit $2`, root, shownMessages)
	for _, r := range rows {
		a.Total, a.Truncated = r.Total, r.Total >= crash.MaxMessages
		a.Values = append(a.Values, r.Value)
	}
	return a, storage.Wrap(err, "messages of a crash group")
}
