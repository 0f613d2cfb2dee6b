package reading

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// GroupSort is an order of the group list.
type GroupSort string

// The orders; each has an index that begins with the organization.
const (
	SortLastSeen  GroupSort = "last_seen"
	SortFirstSeen GroupSort = "first_seen"
	SortCount     GroupSort = "count"
	SortUsers     GroupSort = "users"
)

// Validate refuses an unknown order.
func (s GroupSort) Validate() error {
	if s != SortLastSeen && s != SortFirstSeen && s != SortCount && s != SortUsers {
		return &storage.InvalidError{Field: "sort", Msg: "must be last_seen, first_seen, count or users"}
	}
	return nil
}

// GroupFilter selects a page of groups. Zero values select all.
type GroupFilter struct {
	OrganizationID int64              `json:"-"`
	Projects       []int64            `json:"project,omitempty"`
	States         []crash.GroupState `json:"state,omitempty"`
	Assignees      []int64            `json:"assignee,omitempty"` // 0: nobody
	Classifiers    []string           `json:"classifier,omitempty"`
	Severities     []crash.Severity   `json:"severity,omitempty"` // of the worst report
	Versions       []string           `json:"version,omitempty"`  // groups of which one of the versions was reported
	// part of title, culprit, classifier or a message, or the beginning of the fingerprint
	Search     string                `json:"search,omitempty"`
	Attributes []condition.Attribute `json:"attributes,omitempty"`
	// Window selects groups that were seen in it, counts them in it, and sorts by that.
	Window Window `json:"window,omitzero"`
	// FirstSeenFrom selects groups that are new since then, RegressedFrom those that
	// regressed since then.
	FirstSeenFrom time.Time `json:"first_seen_from,omitzero"`
	RegressedFrom time.Time `json:"regressed_from,omitzero"`
	// MadeUntil leaves out the groups that were made later, of a change of many.
	MadeUntil time.Time `json:"made_until,omitzero"`
	// Without is what is not read of the groups.
	Without   Omitted   `json:"-"`
	Sort      GroupSort `json:"-"` // "": last_seen
	Ascending bool      `json:"-"`
	Limit     int       `json:"-"`
	Offset    int       `json:"-"`
}

// Omitted is what is not read of the groups of a list: a group may have hundreds of hosts.
type Omitted struct{ Hosts, Newest bool }

// matches are the groups that the searching conditions of a filter name, found once for
// the count and the page.
type matches struct {
	carrying *carrying // nil: no attribute is asked for
	texts    []int64   // nil: nothing is searched, or too many were found
}

func (f *GroupFilter) find(ctx context.Context, q storage.Querier) (m matches, err error) {
	if len(f.Attributes) > 0 {
		if m.carrying, err = findCarrying(ctx, q, f.OrganizationID, f.Attributes); err != nil {
			return m, err
		}
	}
	if f.Search != "" {
		m.texts, err = findText(ctx, q, f.OrganizationID, f.Search)
	}
	return m, err
}

// count counts the groups. Where one condition named them, there is nothing to count.
func (f *GroupFilter) count(ctx context.Context, q storage.Querier, m matches) (storage.Total, error) {
	named := m.texts
	if m.carrying != nil && f.Search == "" && m.carrying.newest == nil && m.carrying.values == nil {
		named = m.carrying.ids
	}
	if named != nil && (f.Search == "" || m.carrying == nil) && !f.narrowed() {
		n := len(slices.Compact(slices.Sorted(slices.Values(named))))
		return storage.Total{Rows: min(n, storage.CountReach), Exact: n <= storage.CountReach}, nil
	}
	c := f.conditions(m)
	total, err := condition.Count(ctx, q, c, `select from crash_groups g`+c.Where(), m.reach())
	return total, storage.Wrap(err, "count crash groups")
}

// narrowed reports whether the filter has conditions besides the searching ones.
func (f *GroupFilter) narrowed() bool {
	return len(f.Projects)+len(f.States)+len(f.Assignees)+len(f.Classifiers)+len(f.Severities)+len(f.Versions) > 0 || !f.Window.IsZero() ||
		!f.FirstSeenFrom.IsZero() || !f.RegressedFrom.IsZero() || !f.MadeUntil.IsZero()
}

// reach is how far the groups are counted.
func (m *matches) reach() int {
	if m.carrying != nil && m.carrying.newest != nil {
		return checkedGroups // each group that is counted has its reports read
	}
	return storage.CountReach
}

func (f *GroupFilter) conditions(m matches) *condition.List {
	c := &condition.List{}
	organization := c.Arg(f.OrganizationID)
	c.Add("g.organization_id = " + organization)
	c.Add("g.root_id is null") // parts are shown with the group that they were merged into
	c.OneOf("g.crash_project_id", f.Projects)
	if len(f.States) > 0 {
		c.Add("(" + crash.ShownState + ") = any(" + c.Arg(pq.Array(f.States)) + ")")
	}
	if len(f.Assignees) > 0 {
		of := "g.assignee_id = any(" + c.Arg(pq.Array(f.Assignees)) + ")"
		if slices.Contains(f.Assignees, 0) {
			of = "(" + of + " or g.assignee_id is null)"
		}
		c.Add(of)
	}
	if len(f.Classifiers) > 0 {
		c.Add("g.classifier = any(" + c.Arg(pq.Array(f.Classifiers)) + ")")
	}
	severities(c, "g.severity", f.Severities)
	if len(f.Versions) > 0 {
		c.Add("g.id in (select coalesce(h.root_id, h.id) from crash_group_values v join crash_groups h on h.id = v.group_id" +
			" where h.organization_id = " + organization + " and v.kind = 'version' and v.value = any(" + c.Arg(pq.Array(f.Versions)) + "))")
	}
	switch {
	case m.texts != nil:
		c.Add("g.id = any(" + c.Arg(pq.Array(m.texts)) + ")")
	case f.Search != "":
		c.Add("g.id in (" + foundBy(c, f.OrganizationID, organization, f.Search) + ")")
	}
	if m.carrying != nil {
		c.Add(m.carrying.condition(f.OrganizationID, c))
	}
	seenIn(c, f.Window)
	c.Span("g.first_seen", f.FirstSeenFrom, time.Time{})
	c.Span("g.reopened_at", f.RegressedFrom, time.Time{})
	if !f.MadeUntil.IsZero() {
		c.Add("g.created_at <= " + c.Arg(f.MadeUntil))
	}
	return c
}

// escapeLike takes the pattern characters of LIKE literally.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// Groups returns a page of groups and how many match.
func Groups(ctx context.Context, q storage.Querier, f GroupFilter) ([]Group, storage.Total, error) {
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, storage.Total{}, err
	}
	return f.list(ctx, q, found)
}

// GroupsAndFacets returns what Groups and FacetsOfGroups return; what the searching
// conditions name is found once for both.
func GroupsAndFacets(ctx context.Context, q storage.Querier, f GroupFilter) ([]Group, storage.Total, *GroupFacets, error) {
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, storage.Total{}, nil, err
	}
	groups, total, err := f.list(ctx, q, found)
	if err != nil {
		return nil, storage.Total{}, nil, err
	}
	facets, err := f.facets(ctx, q, found)
	return groups, total, facets, err
}

// list reads a page of the groups that were found, and how many match.
func (f *GroupFilter) list(ctx context.Context, q storage.Querier, found matches) ([]Group, storage.Total, error) {
	if f.Sort == "" {
		f.Sort = SortLastSeen
	}
	if err := f.Sort.Validate(); err != nil {
		return nil, storage.Total{}, err
	}
	total, err := f.count(ctx, q, found)
	if err != nil {
		return nil, storage.Total{}, err
	}
	total.Exact = total.Exact && (found.carrying == nil || found.carrying.exact)
	groups := []Group{}
	limit := min(f.Limit, ListReach-f.Offset)
	if limit <= 0 || total.Exact && f.Offset >= total.Rows {
		return groups, total, nil
	}
	query, args := f.page(found, limit+1)
	if err := q.SelectContext(ctx, &groups, query, args...); err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "list crash groups")
	}
	groups = condition.Cut(groups, limit, &total)
	if !f.Window.IsZero() {
		if err := countInWindow(ctx, q, groups, f.Window); err != nil {
			return nil, storage.Total{}, err
		}
	}
	if err := readRecent(ctx, q, groups); err != nil {
		return nil, storage.Total{}, err
	}
	return groups, total, readValues(ctx, q, groups, listValues, f.Without)
}

// page is the statement that reads a page of groups.
func (f *GroupFilter) page(found matches, limit int) (query string, args []any) {
	direction := "desc"
	if f.Ascending {
		direction = "asc"
	}
	c := f.conditions(found)
	order := fmt.Sprintf("g.%s %s, g.id %s", f.Sort, direction, direction)
	if f.Sort != SortCount || f.Window.IsZero() {
		// The page is cut before anything is joined to it.
		query = `select ` + groupColumns + ` from (select g.* from crash_groups g` + c.Where() + ` order by ` + order +
			" limit " + c.Arg(limit) + " offset " + c.Arg(f.Offset) + `) g
			join crash_projects p on p.id = g.crash_project_id order by ` + order
		return query, c.Args
	}
	where := c.Where()
	query = `with counted as (` + countedIn(c, f.Window, `select g.id from crash_groups g`+where) + `)
		select ` + groupColumns + ` from counted join crash_groups g on g.id = counted.root
		join crash_projects p on p.id = g.crash_project_id
		order by counted.n ` + direction + `, g.id ` + direction
	return query + " limit " + c.Arg(limit) + " offset " + c.Arg(f.Offset), c.Args
}

// Row is a recorded crash as the lists and the single crash show it.
type Row struct {
	ID          uuid.UUID       `db:"id"`
	ProjectID   int64           `db:"crash_project_id"`
	ProjectName string          `db:"project_name"`
	GroupID     *int64          `db:"group_id"`
	Key         []byte          `db:"key"`
	Algorithm   *int            `db:"algorithm"`
	UUID        uuid.UUID       `db:"uuid"`
	ConflictOf  *uuid.UUID      `db:"uuid_conflict_of"`
	State       crash.State     `db:"state"`
	Format      string          `db:"format"`
	Error       *string         `db:"error"`
	OccurredAt  *time.Time      `db:"occurred_at"` // nil while pending
	ReceivedAt  time.Time       `db:"received_at"`
	ProcessedAt *time.Time      `db:"processed_at"`
	Lang        string          `db:"lang"`
	Agent       string          `db:"agent"`
	Classifier  string          `db:"classifier"`
	Message     string          `db:"message"`
	Version     string          `db:"version"`
	Host        string          `db:"host"`
	Duplicates  int             `db:"duplicates"`
	Severity    crash.Severity  `db:"severity"`
	BuildID     *int64          `db:"build_id"`   // of the app; nil: not known
	Attributes  json.RawMessage `db:"attributes"` // nil in lists
	// Symbols is how much of it reads as the developer wrote it; nil: nothing was looked up.
	Symbols *crash.SymbolState `db:"symbols"`
}

const rowColumns = `c.id, c.crash_project_id, coalesce(p.name, '') as project_name,
	coalesce(h.root_id, h.id) as group_id, k.key, k.algorithm,
	c.uuid, c.uuid_conflict_of, c.state, c.format, c.error, c.occurred_at, c.received_at, c.processed_at,
	c.lang, c.agent, c.classifier, c.message, c.version, c.host, c.duplicates, c.build_id, c.severity,
	(select s.state from crash_symbolications s where s.crash_id = c.id) as symbols`

const rowTables = ` from crashes c` + rowSources

const rowSources = `
	left join crash_projects p on p.id = c.crash_project_id
	left join crash_group_keys k on k.id = c.key_id
	left join crash_groups h on h.id = k.group_id`

// HasAttribute reports whether the filter has the attribute, or its value as the text that it
// searches for. A filter of other projects than project, where that is not 0, has not.
func (f *GroupFilter) HasAttribute(a condition.Attribute, project int64) bool {
	if project != 0 && len(f.Projects) > 0 && !slices.Contains(f.Projects, project) {
		return false
	}
	return slices.ContainsFunc(f.Attributes, func(b condition.Attribute) bool { return a.Names(b.Key, b.Value) }) ||
		a.Value != "" && strings.EqualFold(strings.TrimSpace(f.Search), a.Value)
}
