package crash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// A change of all groups that a filter selects is a task, for they may be a million. The
// request fixes what is meant: the filter, and that groups which are made later are left
// alone; later than it, or than the count that somebody saw before it. The task reads the groups in the order of their ids and changes them in parts; a
// group is changed when the filter still selects it, so that what somebody decided
// meanwhile, and what an earlier attempt changed, is not undone.

// ManyChange is a change of all groups that a filter selects.
type ManyChange struct {
	Filter GroupFilter `json:"filter"`
	Change GroupChange `json:"change"`
	// Matching is how many there were when it was asked for.
	Matching storage.Total `json:"matching"`
}

// Validate refuses a change of nothing, and one that a single group would refuse.
func (m *ManyChange) Validate() error {
	if m.Change.State == nil && m.Change.Assignee == nil {
		return storage.Invalid("body", "must have state or assignee")
	}
	if m.Filter.MadeUntil.IsZero() {
		return storage.Invalid("made_until", "must be a time")
	}
	return m.Change.Validate()
}

// maxPlanAge is how long after the count a change of what was counted can be asked for: for
// as long as somebody leaves a page open that asks for it.
const maxPlanAge = 24 * time.Hour

// PlanChange counts the groups that a filter selects now, and checks the change. A filter
// without MadeUntil means those that are made until now.
func PlanChange(ctx context.Context, q storage.Querier, f GroupFilter, c GroupChange) (*ManyChange, error) {
	m := &ManyChange{Filter: f, Change: c}
	var now time.Time
	if err := q.GetContext(ctx, &now, `select now()`); err != nil {
		return nil, storage.Wrap(err, "the time of the database")
	}
	switch {
	case f.MadeUntil.IsZero():
		m.Filter.MadeUntil = now
	case f.MadeUntil.After(now):
		return nil, storage.Invalid("made_until", "must not be in the future")
	case f.MadeUntil.Before(now.Add(-maxPlanAge)):
		return nil, storage.Invalid("made_until", "is more than a day ago: count the groups again")
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if c.Until != nil && !c.Until.After(now) {
		return nil, untilPassed()
	}
	if c.Assignee != nil {
		if err := Assignable(ctx, q, f.OrganizationID, *c.Assignee); err != nil {
			return nil, err
		}
	}
	matching, err := FindMatching(ctx, q, m.Filter)
	if err != nil {
		return nil, err
	}
	m.Matching, err = m.Filter.count(ctx, q, matching.found)
	return m, err
}

// Request writes the task of the change, with its audit row: the only one, for what became
// of each group is in its history. Values of attributes and what was searched for are not in
// it: the audit log cannot be changed, and a person may have to be forgotten by them.
func (m *ManyChange) Request(ctx context.Context, tx *storage.Tx, w account.Writer, task *ledger.NewTask) (uuid.UUID, error) {
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return uuid.Nil, err
	}
	return task.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupsChanged, Actor: w.Actor,
		Subject: "crash groups", Detail: map[string]any{"filter": m.WithoutValues().Filter, "change": m.Change,
			"searched": m.Filter.Search != "", "matching": m.Matching.Rows, "matching_is_exact": m.Matching.Exact, "task_id": task.ID}})
}

// WithoutValues is the change with the names of attributes only, and without what was
// searched for, often a mail address.
func (m *ManyChange) WithoutValues() *ManyChange {
	n := *m
	n.Filter.Attributes, n.Filter.Search = nil, ""
	for _, a := range m.Filter.Attributes {
		n.Filter.Attributes = append(n.Filter.Attributes, AttributeFilter{Key: a.Key})
	}
	return &n
}

// Forgotten is the change with a filter that has lost its values and selects nothing any more:
// it is no valid change.
func (m *ManyChange) Forgotten() *ManyChange {
	n := m.WithoutValues()
	n.Filter.MadeUntil = time.Time{}
	return n
}

// Matching are the groups that a filter selects. What its searching conditions name is found
// once; the others are asked each time.
type Matching struct {
	// AfterVersions are the versions behind which the next one is, by crash project: each is read
	// when the first group of the project is changed, and holds for all. Who goes on with a
	// change that others began sets them.
	AfterVersions map[int64]string
	filter        GroupFilter
	found         matches
}

// FindMatching finds what the searching conditions of a filter name. *storage.InvalidError:
// attributes of which not all groups can be named, see findCarrying. A list says that it may
// lack some; a change that left them out would be taken for one of all.
func FindMatching(ctx context.Context, q storage.Querier, f GroupFilter) (*Matching, error) {
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, err
	}
	if found.carrying != nil && !found.carrying.exact {
		return nil, storage.Invalid("attribute."+f.Attributes[0].Key,
			"is in too many reports to find all groups: narrow the filter, by another attribute that few of these reports have")
	}
	return &Matching{AfterVersions: map[int64]string{}, filter: f, found: found}, nil
}

// After returns groups behind one, in the order of their ids.
func (m *Matching) After(ctx context.Context, q storage.Querier, id int64, limit int) ([]int64, error) {
	query, args := m.after(id, limit)
	var ids []int64
	err := q.SelectContext(ctx, &ids, query, args...)
	return ids, storage.Wrap(err, "crash groups to change")
}

func (m *Matching) after(id int64, limit int) (query string, args []any) {
	c := m.filter.conditions(m.found)
	c.add("g.id > " + c.arg(id))
	query = `select g.id from crash_groups g` + c.where() + ` order by g.id limit ` + c.arg(limit)
	return query, c.args
}

// among returns those of groups that the filter still selects.
func (m *Matching) among(ctx context.Context, q storage.Querier, groups []int64) ([]int64, error) {
	c := m.filter.conditions(m.found)
	c.add("g.id = any(" + c.arg(pq.Array(groups)) + ")")
	var ids []int64
	err := q.SelectContext(ctx, &ids, `select g.id from crash_groups g`+c.where(), c.args...)
	return ids, storage.Wrap(err, "crash groups that still match")
}

// Change changes those of groups that the filter still selects, as ChangeGroup does it but
// for the audit row, and returns how many that were.
func (m *Matching) Change(ctx context.Context, tx *storage.Tx, w account.Writer, groups []int64, c GroupChange, task uuid.UUID) (int, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	var projects []int64
	err := tx.SelectContext(ctx, &projects, `select distinct crash_project_id from crash_groups where organization_id = $1 and id = any($2)`,
		w.OrganizationID, pq.Array(groups))
	if err != nil {
		return 0, storage.Wrap(err, "crash projects of groups")
	}
	// The projects before the groups, and these in the order of their ids, as all do it.
	if err := share(ctx, tx, projects...); err != nil {
		return 0, err
	}
	var rows []standing
	err = tx.SelectContext(ctx, &rows, `
		with locked as materialized (
			select `+standingColumns+` from crash_groups g where g.organization_id = $1 and g.id = any($2) and g.root_id is null
			order by g.id for no key update
		) select * from locked order by id`, w.OrganizationID, pq.Array(groups))
	if err != nil {
		return 0, storage.Wrap(err, "lock crash groups")
	}
	still, err := m.among(ctx, tx, groups)
	if err != nil {
		return 0, err
	}
	selected := make(map[int64]bool, len(still))
	for _, id := range still {
		selected[id] = true
	}
	var changed []standing
	for _, row := range rows {
		if selected[row.ID] {
			changed = append(changed, row)
		}
	}
	if len(changed) == 0 {
		return 0, nil
	}
	_, err = c.apply(ctx, tx, w, changed, m.AfterVersions, task)
	return len(changed), err
}
