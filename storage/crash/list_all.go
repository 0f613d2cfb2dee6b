package crash

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// ListReach is how far the list of all crashes of an organization goes: what lies
// beyond is reached by narrower conditions. It bounds what a count, or the page
// before the last, costs however many reports are kept.
const ListReach = 100_000

// ListFilter selects a page of an organization's crashes, newest first, whether
// they have a group or not. Zero values select all. Reports that are not
// processed yet are not among them: they have no row.
type ListFilter struct {
	OrganizationID int64
	ProjectID      int64
	State          State // Processed, Stored or Failed
	UUID           uuid.UUID
	Attributes     []AttributeFilter
	From, To       time.Time // of the arrival; From inclusive, To exclusive
	Limit, Offset  int
}

// Validate refuses a state that no row has.
func (f *ListFilter) Validate() error {
	switch f.State {
	case "", Processed, Stored, Failed:
		return nil
	}
	return &storage.InvalidError{Field: "state", Msg: "must be processed, stored or failed"}
}

func (f *ListFilter) conditions() *conditions {
	c := &conditions{}
	organization := c.arg(f.OrganizationID)
	c.add("c.organization_id = " + organization)
	if f.ProjectID != 0 {
		c.add("c.crash_project_id = " + c.arg(f.ProjectID))
	}
	if f.State != "" {
		c.add("c.state = " + c.arg(string(f.State)))
	}
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

// List returns a page of crashes and the number of all that match, which counts no
// further than ListReach.
func List(ctx context.Context, q storage.Querier, f ListFilter) ([]Row, int, error) {
	if err := f.Validate(); err != nil {
		return nil, 0, err
	}
	c := f.conditions()
	var total int
	err := q.GetContext(ctx, &total, `select count(*) from (select 1 from crashes c`+c.where()+
		` limit `+c.arg(ListReach)+`) reached`, c.args...)
	if err != nil {
		return nil, 0, storage.Wrap(err, "count crashes of an organization")
	}
	rows := []Row{}
	limit := min(f.Limit, ListReach-f.Offset)
	if limit <= 0 || f.Offset >= total {
		return rows, total, nil
	}
	c = f.conditions()
	// The page is cut before the names are joined to it.
	query := `select ` + rowColumns + ` from (select * from crashes c` + c.where() + ` order by c.received_at desc, c.id desc
		limit ` + c.arg(limit) + ` offset ` + c.arg(f.Offset) + `) c
	left join crash_projects p on p.id = c.crash_project_id
	left join crash_group_keys k on k.id = c.key_id
	order by c.received_at desc, c.id desc`
	err = q.SelectContext(ctx, &rows, query, c.args...)
	return rows, total, storage.Wrap(err, "list crashes of an organization")
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
	err := q.GetContext(ctx, &g, `select g.id, g.title, g.culprit, g.state from crashes c
		join crash_group_keys k on k.id = c.key_id join crash_groups g on g.id = k.group_id
		where c.id = $1 and c.organization_id = $2`, crashID, organization)
	if err != nil {
		return nil, storage.Wrap(err, "group of crash "+crashID.String())
	}
	return &g, nil
}
