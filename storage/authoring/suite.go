package authoring

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// Suite is a set of cases; a case has one suite at most, and others may run it too (package suiteplan).
type Suite struct {
	Owner
	ID      uuid.UUID
	Name    string
	Tags    []string // never nil
	Healing string   // mode of its cases; "": the organization's
	Drift   string   // likewise
	Trace   string   // likewise
	Retries *int     // of its cases that fail, unless they say so themselves; nil: as the organization
	// DefaultEnvironment is the name of the environment of runs that name none; "": none.
	DefaultEnvironment string
	Retention          RunRetention // of its runs, unless nil as the organization
	CaseCount          int          // that it runs
	RunCount           int
	// Plan is which cases it runs and how. Lists leave the order, the dependencies and Shared out.
	Plan   suiteplan.Settings
	Shared []string // ids of cases that it runs though their suite is another, or none
	Around          // of one suite; lists leave it out
	// Login is the case that signs in before the others; nil: none. Lists leave it out.
	Login *login.Login
}

// SuiteFilter selects suites of a list.
type SuiteFilter struct {
	OrganizationID int64
	IDs            []uuid.UUID // nil: all
	Search         string
	Tags           []string // all of which the suite has
	From, To       time.Time
	User           *uuid.UUID
	Team           *uuid.UUID
	storage.Page
}

func (f SuiteFilter) conditions() *Conditions {
	m := ConditionsOf(f.OrganizationID)
	m.Named(f.Search)
	m.Created(f.From, f.To)
	m.By(f.User, f.Team)
	m.Tagged(f.Tags)
	if f.IDs != nil {
		m.Narrow = true
		m.And("c.id = any(" + m.Arg(storage.UUIDs(f.IDs)) + "::uuid[])")
	}
	return m
}

// suiteColumns count the cases when they are read, so that the number is never wrong.
var suiteColumns = `c.id, c.name, c.tags, c.healing, c.drift, c.trace, c.retries, c.default_environment, c.run_count,
	c.run_retention_days, c.run_retention_runs,
	(select count(*) from (` + suiteplan.MembersOf("c") + `) member) as case_count, ` + suiteplan.Columns + `, ` + OwnerColumns

type suiteRow struct {
	Owner
	ID                 uuid.UUID      `db:"id"`
	Name               string         `db:"name"`
	Tags               pq.StringArray `db:"tags"`
	Healing            string         `db:"healing"`
	Drift              string         `db:"drift"`
	Trace              string         `db:"trace"`
	Retries            *int           `db:"retries"`
	DefaultEnvironment string         `db:"default_environment"`
	CaseCount          int            `db:"case_count"`
	RunCount           int            `db:"run_count"`
	Total              int            `db:"total"` // of lists
	suiteplan.Row
	RunRetention
	Login []byte `db:"login"`
	aroundDocs
}

func (r *suiteRow) suite() (Suite, error) {
	s := Suite{Owner: r.Owner, ID: r.ID, Name: r.Name, Tags: r.Tags, Healing: r.Healing, Drift: r.Drift, Trace: r.Trace, Retries: r.Retries,
		DefaultEnvironment: r.DefaultEnvironment, Retention: r.RunRetention, CaseCount: r.CaseCount, RunCount: r.RunCount}
	if s.Tags == nil {
		s.Tags = []string{}
	}
	s.Shared = r.Shared
	var err error
	s.Plan, err = r.Settings()
	return s, err
}

// Suites returns a page of suites, newest first, and the number of all that match.
func Suites(ctx context.Context, q storage.Querier, f SuiteFilter) ([]Suite, int, error) {
	m, rows := f.conditions(), []suiteRow{}
	if f.RowLimit() > 0 {
		query, args := m.Page("test_suites", suiteColumns, OwnerTables, f.Page)
		if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
			return nil, 0, storage.Wrap(err, "list test suites")
		}
	}
	list := make([]Suite, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].suite(); err != nil {
			return nil, 0, err
		}
	}
	if len(rows) > 0 {
		return list, rows[0].Total, nil
	}
	var total int
	err := q.GetContext(ctx, &total, m.Total("test_suites"), m.Args...)
	return list, total, storage.Wrap(err, "count test suites")
}

var suiteByID = `
select ` + suiteColumns + `, ` + suiteplan.Details + `, c.set_up, c.tear_down, c.login from test_suites c` + OwnerTables + `
where c.organization_id = $1 and c.id = $2`

// SuiteByID reads one suite; ErrNotFound also for another organization's.
func SuiteByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Suite, error) {
	var row suiteRow
	if err := q.GetContext(ctx, &row, suiteByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "test suite "+id.String())
	}
	s, err := row.suite()
	if err != nil {
		return nil, err
	}
	if s.Around, err = row.around(id); err != nil {
		return nil, err
	}
	s.Login, err = login.Read(row.Login)
	return &s, err
}

var suiteAddresses = `
select distinct coalesce(c.run_settings->>'testUrl', '') from test_suites s cross join lateral (` + suiteplan.MembersOf("s") + `) x
join test_cases c on c.id = x.id where s.id = $2 and s.organization_id = $1`

// SuiteAddresses returns the addresses at which the cases that a suite runs begin, each once; "" for
// those that have none.
func SuiteAddresses(ctx context.Context, q storage.Querier, organizationID int64, suiteID uuid.UUID) (addresses []string, err error) {
	err = q.SelectContext(ctx, &addresses, suiteAddresses, organizationID, suiteID)
	return addresses, storage.Wrap(err, "addresses of the cases of a suite")
}

// NewSuite is a suite to create.
type NewSuite struct {
	Team *uuid.UUID // as of NewCase
	Name string
	Tags []string
	// Healing is how its cases heal, unless they say so themselves; "": as the
	// organization.
	Healing string
	// Drift is what follows where they drift, likewise.
	Drift string
	// Trace is which traces of them are kept, likewise.
	Trace string
	// Retries is how often those that fail are played again, likewise; nil: as the organization.
	Retries *int
	// DefaultEnvironment is the name of the environment of runs that name none; "": none.
	DefaultEnvironment string
	Retention          RunRetention
	Around
	Login *login.Login // nil: none
	Cases []string     // *MissingError for those that do not exist
	// Plan and Shared as of SuiteChange.
	Plan   suiteplan.Change
	Shared []string
}

const insertSuite = `
insert into test_suites (id, organization_id, team_id, name, tags, healing, drift, trace, creator_uuid, modifier_uuid, retries,
	default_environment)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11)`

// CreateSuite inserts a suite and moves the cases into it.
func CreateSuite(ctx context.Context, tx *storage.Tx, w account.Writer, n NewSuite) (*Suite, error) {
	name, err := storage.Name("name", n.Name, MaxName)
	if err != nil {
		return nil, err
	}
	tags, err := CleanTags(n.Tags)
	if err != nil {
		return nil, err
	}
	if err := checkCount("testCases", n.Cases); err != nil {
		return nil, err
	}
	if err := CheckHealing("healing", n.Healing); err != nil {
		return nil, err
	}
	if err := CheckDrift("drift", n.Drift); err != nil {
		return nil, err
	}
	if err := CheckTrace("trace", n.Trace); err != nil {
		return nil, err
	}
	if err := capability.CheckRetries("retries", n.Retries); err != nil {
		return nil, err
	}
	of, err := TeamFor(ctx, tx, w, n.Team)
	if err != nil {
		return nil, err
	}
	if err := checkEnvironment(ctx, tx, w.OrganizationID, of.ID, n.DefaultEnvironment); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, insertSuite, id, w.OrganizationID, of.ID, name, pq.Array(tags), n.Healing, n.Drift, n.Trace, w.UserUUID,
		n.Retries, n.DefaultEnvironment); err != nil {
		return nil, storage.Wrap(err, "create test suite")
	}
	if _, err := changeAround(ctx, tx, w.OrganizationID, id, given(n.SetUp), given(n.TearDown)); err != nil {
		return nil, err
	}
	if _, err := changeRetention(ctx, tx, id, &n.Retention); err != nil {
		return nil, err
	}
	if _, err := changeLogin(ctx, tx, w.OrganizationID, of.ID, id, &LoginChange{n.Login}); err != nil {
		return nil, err
	}
	moved, err := (&SuiteChange{Add: n.Cases}).move(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	if _, err := (&SuiteChange{Plan: n.Plan, AddShared: n.Shared}).plan(ctx, tx, w, of.ID, id); err != nil {
		return nil, err
	}
	detail := createdDetail(name, moved.in, n.Login)
	detail["shared"] = len(n.Shared)
	err = auditSuite(ctx, tx, w, account.TestSuiteCreated, id, detail)
	if err != nil {
		return nil, err
	}
	return SuiteByID(ctx, tx, w.OrganizationID, id)
}

// given are the steps of a new suite; nil for none.
func given(steps []step.Step) *[]step.Step {
	if len(steps) == 0 {
		return nil
	}
	return &steps
}

func auditSuite(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, id uuid.UUID, detail any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "test suite " + id.String(), Detail: detail})
}
