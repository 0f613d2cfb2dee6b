// Package bulk changes all groups that a filter selects.
//
// Such a change is a task, for they may be a million. The request fixes what is meant: the
// filter, and that groups which are made later are left alone; later than it, or than the count
// that somebody saw before it. The task reads the groups in the order of their ids and changes
// them in parts; a group is changed when the filter still selects it, so that what somebody
// decided meanwhile, and what an earlier attempt changed, is not undone.
package bulk

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// GroupChange is a change of all groups that a filter selects.
type GroupChange struct {
	Filter reading.GroupFilter `json:"filter"`
	Change crash.GroupChange   `json:"change"`
	// Matching is how many there were when it was asked for.
	Matching storage.Total `json:"matching"`
}

// Validate refuses a change of nothing, and one that a single group would refuse.
func (m *GroupChange) Validate() error {
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

// Plan counts the groups that a filter selects now, and checks the change. A filter
// without MadeUntil means those that are made until now.
func Plan(ctx context.Context, q storage.Querier, f reading.GroupFilter, c crash.GroupChange) (*GroupChange, error) {
	m := &GroupChange{Filter: f, Change: c}
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
	if err := c.CheckUntil(now); err != nil {
		return nil, err
	}
	if c.Assignee != nil {
		if err := crash.Assignable(ctx, q, f.OrganizationID, *c.Assignee); err != nil {
			return nil, err
		}
	}
	matching, err := Find(ctx, q, m.Filter)
	if err != nil {
		return nil, err
	}
	m.Matching, err = matching.Count(ctx, q)
	return m, err
}

// Request writes the task of the change, with its audit row: the only one, for what became
// of each group is in its history. Values of attributes and what was searched for are not in
// it: the audit log cannot be changed, and a person may have to be forgotten by them.
func (m *GroupChange) Request(ctx context.Context, tx *storage.Tx, w account.Writer, task *ledger.NewTask) (uuid.UUID, error) {
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return uuid.Nil, err
	}
	return task.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupsChanged, Actor: w.Actor,
		Subject: "crash groups", Detail: map[string]any{"filter": m.WithoutValues().Filter, "change": m.Change,
			"searched": m.Filter.Search != "", "matching": m.Matching.Rows, "matching_is_exact": m.Matching.Exact, "task_id": task.ID}})
}

// WithoutValues is the change with the names of attributes only, and without what was
// searched for, often a mail address.
func (m *GroupChange) WithoutValues() *GroupChange {
	n := *m
	n.Filter.Attributes, n.Filter.Search = nil, ""
	for _, a := range m.Filter.Attributes {
		n.Filter.Attributes = append(n.Filter.Attributes, condition.Attribute{Key: a.Key})
	}
	return &n
}

// Forgotten is the change with a filter that has lost its values and selects nothing any more:
// it is no valid change.
func (m *GroupChange) Forgotten() *GroupChange {
	n := m.WithoutValues()
	n.Filter.MadeUntil = time.Time{}
	return n
}

// Matching are the groups that a change of many is of.
type Matching struct {
	*reading.Selection
	// AfterVersions are the versions behind which the next one is, by crash project: each is read
	// when the first group of the project is changed, and holds for all. Who goes on with a
	// change that others began sets them.
	AfterVersions map[int64]string
}

// Find finds what the searching conditions of a filter name. *storage.InvalidError:
// attributes of which not all groups can be named. A list says that it may lack some; a change
// that left them out would be taken for one of all.
func Find(ctx context.Context, q storage.Querier, f reading.GroupFilter) (*Matching, error) {
	found, err := reading.Select(ctx, q, f)
	if err != nil {
		return nil, err
	}
	return &Matching{Selection: found, AfterVersions: map[int64]string{}}, nil
}

// Change changes those of groups that the filter still selects, as crash.ChangeGroups does it,
// and returns how many that were.
func (m *Matching) Change(ctx context.Context, tx *storage.Tx, w account.Writer, groups []int64, c crash.GroupChange,
	task uuid.UUID) (int, error) {
	still := func() ([]int64, error) { return m.Among(ctx, tx, groups) }
	return crash.ChangeGroups(ctx, tx, w, groups, c, crash.Following{Still: still, AfterVersions: m.AfterVersions, TaskID: task})
}
