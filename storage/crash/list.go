package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// GroupSort is an order of the group list.
type GroupSort string

// The orders; each has an index that begins with the organization.
const (
	SortLastSeen  GroupSort = "last_seen"
	SortFirstSeen GroupSort = "first_seen"
	SortCount     GroupSort = "count"
)

// Validate refuses an unknown order.
func (s GroupSort) Validate() error {
	if s != SortLastSeen && s != SortFirstSeen && s != SortCount {
		return &storage.InvalidError{Field: "sort", Msg: "must be last_seen, first_seen or count"}
	}
	return nil
}

// GroupFilter selects a page of groups. Zero values select all.
type GroupFilter struct {
	OrganizationID int64
	ProjectID      int64
	State          GroupState
	Search         string // part of title, culprit or classifier, or the beginning of the fingerprint
	Attributes     []AttributeFilter
	// From and To select groups that were seen in between: last seen at From or
	// later, first seen before To.
	From, To  time.Time
	Sort      GroupSort // "": last_seen
	Ascending bool
	Limit     int
	Offset    int
}

func (f *GroupFilter) conditions() *conditions {
	c := &conditions{}
	organization := c.arg(f.OrganizationID)
	c.add("g.organization_id = " + organization)
	if f.ProjectID != 0 {
		c.add("g.crash_project_id = " + c.arg(f.ProjectID))
	}
	if f.State != "" {
		c.add("g.state = " + c.arg(string(f.State)))
	}
	c.span("g.last_seen", f.From, time.Time{})
	c.span("g.first_seen", time.Time{}, f.To)
	if f.Search != "" {
		part := c.arg("%" + escapeLike(f.Search) + "%")
		start := c.arg(escapeLike(strings.ToLower(f.Search)) + "%")
		c.add(fmt.Sprintf("(g.title ilike %[1]s or g.culprit ilike %[1]s or g.classifier ilike %[1]s"+
			" or encode(g.fingerprint, 'hex') like %[2]s)", part, start))
	}
	if len(f.Attributes) > 0 {
		inner := &conditions{args: c.args}
		inner.add("c.organization_id = " + organization)
		inner.attributes("c.attributes", f.Attributes)
		c.args = inner.args
		c.add("g.id in (select k.group_id from crashes c join crash_group_keys k on k.id = c.key_id" +
			inner.where() + ")")
	}
	return c
}

// escapeLike takes the pattern characters of LIKE literally.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// Groups returns a page of groups and the number of all that match.
func Groups(ctx context.Context, q storage.Querier, f GroupFilter) ([]Group, int, error) {
	if f.Sort == "" {
		f.Sort = SortLastSeen
	}
	if err := f.Sort.Validate(); err != nil {
		return nil, 0, err
	}
	c := f.conditions()
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from crash_groups g`+c.where(), c.args...); err != nil {
		return nil, 0, storage.Wrap(err, "count crash groups")
	}
	direction := "desc"
	if f.Ascending {
		direction = "asc"
	}
	groups := []Group{}
	query := fmt.Sprintf(`select %s from crash_groups g join crash_projects p on p.id = g.crash_project_id%s
		order by g.%s %s, g.id %s`, groupColumns, c.where(), f.Sort, direction, direction)
	query += " limit " + c.arg(f.Limit) + " offset " + c.arg(f.Offset)
	if err := q.SelectContext(ctx, &groups, query, c.args...); err != nil {
		return nil, 0, storage.Wrap(err, "list crash groups")
	}
	return groups, total, readValues(ctx, q, groups, listValues)
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
	State       State           `db:"state"`
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
	BuildID     *int64          `db:"build_id"`   // of the app; nil: not known
	Attributes  json.RawMessage `db:"attributes"` // nil in lists
}

const rowColumns = `c.id, c.crash_project_id, coalesce(p.name, '') as project_name, k.group_id, k.key, k.algorithm,
	c.uuid, c.uuid_conflict_of, c.state, c.format, c.error, c.occurred_at, c.received_at, c.processed_at,
	c.lang, c.agent, c.classifier, c.message, c.version, c.host, c.duplicates, c.build_id`

const rowTables = ` from crashes c
	left join crash_projects p on p.id = c.crash_project_id
	left join crash_group_keys k on k.id = c.key_id`

// CrashFilter selects a page of a group's crashes, newest first.
type CrashFilter struct {
	OrganizationID int64
	GroupID        int64 // as ResolveGroup returns it
	Attributes     []AttributeFilter
	From, To       time.Time // of the occurrence; From inclusive, To exclusive
	Limit, Offset  int
}

// Crashes returns a page of crashes and the number of all that match.
func Crashes(ctx context.Context, q storage.Querier, f CrashFilter) ([]Row, int, error) {
	var keys []int64
	err := q.SelectContext(ctx, &keys, `select id from crash_group_keys where group_id = $1 order by id`, f.GroupID)
	if err != nil {
		return nil, 0, storage.Wrap(err, "keys of a crash group")
	}
	rows := []Row{}
	if len(keys) == 0 {
		return rows, 0, nil
	}
	c := &conditions{}
	if len(keys) == 1 {
		// The plain condition lets the index crashes_key yield the order.
		c.add("c.key_id = " + c.arg(keys[0]))
	} else {
		c.add("c.key_id = any(" + c.arg(pq.Array(keys)) + ")")
	}
	c.add("c.organization_id = " + c.arg(f.OrganizationID))
	c.attributes("c.attributes", f.Attributes)
	c.span("c.occurred_at", f.From, f.To)
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from crashes c`+c.where(), c.args...); err != nil {
		return nil, 0, storage.Wrap(err, "count crashes")
	}
	query := `select ` + rowColumns + rowTables + c.where() + ` order by c.occurred_at desc, c.id desc`
	query += " limit " + c.arg(f.Limit) + " offset " + c.arg(f.Offset)
	err = q.SelectContext(ctx, &rows, query, c.args...)
	return rows, total, storage.Wrap(err, "list crashes")
}
