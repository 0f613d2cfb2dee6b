package reading

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
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
	States         []crash.State // Processed, Stored or Failed
	Versions       []string
	Severities     []crash.Severity
	UUID           uuid.UUID
	Attributes     []condition.Attribute
	From, To       time.Time // of the arrival; From inclusive, To exclusive
	Limit, Offset  int
}

// Validate refuses a state that no row has.
func (f *ListFilter) Validate() error {
	for _, s := range f.States {
		if s != crash.Processed && s != crash.Stored && s != crash.Failed {
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

func (f *ListFilter) conditions() *condition.List {
	c := &condition.List{}
	organization := c.Arg(f.OrganizationID)
	c.Add("c.organization_id = " + organization)
	c.OneOf("c.crash_project_id", f.Projects)
	if len(f.States) > 0 {
		c.Add("c.state = any(" + c.Arg(pq.Array(f.States)) + ")")
	}
	if len(f.Versions) > 0 {
		c.Add("c.version = any(" + c.Arg(pq.Array(f.Versions)) + ")")
	}
	severities(c, "c.severity", f.Severities)
	if f.UUID != uuid.Nil {
		// One branch for each of the partial indexes of crash_uuids.
		id := c.Arg(f.UUID)
		of := "select u.crash_id from crash_projects p join crash_uuids u on u.crash_project_id = p.id" +
			" where p.organization_id = " + organization + " and u.uuid = " + id
		c.Add("c.id in (" + of + " and not u.conflict union all " + of + " and u.conflict)")
	}
	c.Attributes("c.attributes", f.Attributes)
	c.Span("c.received_at", f.From, f.To)
	return c
}

// List returns a page of crashes and how many match.
func List(ctx context.Context, q storage.Querier, f ListFilter) ([]Row, storage.Total, error) {
	if err := f.Validate(); err != nil {
		return nil, storage.Total{}, err
	}
	c := f.conditions()
	total, err := condition.Count(ctx, q, c, `select from crashes c`+c.Where(), storage.CountReach)
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
	query := `select ` + rowColumns + ` from (select * from crashes c` + c.Where() + ` order by c.received_at desc, c.id desc
		limit ` + c.Arg(limit+1) + ` offset ` + c.Arg(f.Offset) + `) c` + rowSources + `
	order by c.received_at desc, c.id desc`
	err = q.SelectContext(ctx, &rows, query, c.Args...)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "list crashes of an organization")
	}
	return condition.Cut(rows, limit, &total), total, nil
}

// GroupHead names a group.
type GroupHead struct {
	ID      int64            `db:"id"`
	Title   string           `db:"title"`
	Culprit string           `db:"culprit"`
	State   crash.GroupState `db:"state"`
}

// GroupOf returns the group of a crash of the organization; ErrNotFound when it has
// none.
func GroupOf(ctx context.Context, q storage.Querier, organization int64, crashID uuid.UUID) (*GroupHead, error) {
	var g GroupHead
	err := q.GetContext(ctx, &g, `select g.id, g.title, g.culprit, `+crash.ShownState+` as state from crashes c
		join crash_group_keys k on k.id = c.key_id join crash_groups h on h.id = k.group_id
		join crash_groups g on g.id = coalesce(h.root_id, h.id)
		where c.id = $1 and c.organization_id = $2`, crashID, organization)
	if err != nil {
		return nil, storage.Wrap(err, "group of crash "+crashID.String())
	}
	return &g, nil
}
