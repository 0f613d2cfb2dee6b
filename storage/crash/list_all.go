package crash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ListReach is how far lists of crashes and groups go: what lies beyond is reached by
// narrower conditions. It bounds what the last page costs, however many reports are
// kept.
const ListReach = 100_000

// ListFilter selects a page of an organization's crashes, newest first, whether
// they have a group or not. Zero values select all. Reports that are not
// processed yet are not among them: they have no row.
type ListFilter struct {
	OrganizationID int64
	Projects       []int64
	States         []State // Processed, Stored or Failed
	Versions       []string
	Severities     []Severity
	UUID           uuid.UUID
	Attributes     []AttributeFilter
	From, To       time.Time // of the arrival; From inclusive, To exclusive
	Limit, Offset  int
}

// Validate refuses a state that no row has.
func (f *ListFilter) Validate() error {
	for _, s := range f.States {
		if s != Processed && s != Stored && s != Failed {
			return &storage.InvalidError{Field: "state", Msg: "must be processed, stored or failed"}
		}
	}
	for _, s := range f.Severities {
		if err := s.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (f *ListFilter) conditions() *conditions {
	c := &conditions{}
	organization := c.arg(f.OrganizationID)
	c.add("c.organization_id = " + organization)
	c.oneOf("c.crash_project_id", f.Projects)
	if len(f.States) > 0 {
		c.add("c.state = any(" + c.arg(pq.Array(f.States)) + ")")
	}
	if len(f.Versions) > 0 {
		c.add("c.version = any(" + c.arg(pq.Array(f.Versions)) + ")")
	}
	c.severities("c.severity", f.Severities)
	if f.UUID != uuid.Nil {
		// One branch for each of the partial indexes of crash_uuids.
		id := c.arg(f.UUID)
		of := "select u.crash_id from crash_projects p join crash_uuids u on u.crash_project_id = p.id" +
			" where p.organization_id = " + organization + " and u.uuid = " + id
		c.add("c.id in (" + of + " and not u.conflict union all " + of + " and u.conflict)")
	}
	c.attributes("c.attributes", f.Attributes)
	c.span("c.received_at", f.From, f.To)
	return c
}

// List returns a page of crashes and how many match.
func List(ctx context.Context, q storage.Querier, f ListFilter) ([]Row, storage.Total, error) {
	if err := f.Validate(); err != nil {
		return nil, storage.Total{}, err
	}
	c := f.conditions()
	total, err := countTotal(ctx, q, c, `select from crashes c`+c.where(), storage.CountReach)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "count crashes of an organization")
	}
	rows := []Row{}
	limit := min(f.Limit, ListReach-f.Offset)
	if limit <= 0 || total.Exact && f.Offset >= total.Rows {
		return rows, total, nil
	}
	c = f.conditions()
	// The page is cut before the names are joined to it.
	query := `select ` + rowColumns + ` from (select * from crashes c` + c.where() + ` order by c.received_at desc, c.id desc
		limit ` + c.arg(limit+1) + ` offset ` + c.arg(f.Offset) + `) c` + rowSources + `
	order by c.received_at desc, c.id desc`
	err = q.SelectContext(ctx, &rows, query, c.args...)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "list crashes of an organization")
	}
	return cut(rows, limit, &total), total, nil
}

// GroupHead names a group.
type GroupHead struct {
	ID      int64      `db:"id"`
	Title   string     `db:"title"`
	Culprit string     `db:"culprit"`
	State   GroupState `db:"state"`
}

// GroupOf returns the group of a crash of the organization; ErrNotFound when it has
// none.
func GroupOf(ctx context.Context, q storage.Querier, organization int64, crashID uuid.UUID) (*GroupHead, error) {
	var g GroupHead
	err := q.GetContext(ctx, &g, `select g.id, g.title, g.culprit, `+ShownState+` as state from crashes c
		join crash_group_keys k on k.id = c.key_id join crash_groups h on h.id = k.group_id
		join crash_groups g on g.id = coalesce(h.root_id, h.id)
		where c.id = $1 and c.organization_id = $2`, crashID, organization)
	if err != nil {
		return nil, storage.Wrap(err, "group of crash "+crashID.String())
	}
	return &g, nil
}
