package authoring

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// Case is a test case. Its time of update and its modifier tell of the case
// itself: moving it from suite to suite changes neither.
type Case struct {
	Owner
	ID       string
	SuiteID  *uuid.UUID
	Name     string
	Tags     []string // never nil
	Settings capability.RunSettings
	// Quarantine is why the case does not fail its suites for now; nil where it does.
	Quarantine *Quarantine
}

// Quarantine is a time in which failures of a case do not fail its suites. Package quarantine
// begins and ends it.
type Quarantine struct {
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

// Runnable reports whether the case has a target.
func (c *Case) Runnable() bool {
	return len(c.Settings.Targets()) > 0
}

// CaseFilter selects cases of a list.
type CaseFilter struct {
	OrganizationID int64
	Search         string    // part of the name, in any case
	From, To       time.Time // creation; From inclusive, To exclusive; zero: no bound
	User           *uuid.UUID
	Team           *uuid.UUID
	Suites         []uuid.UUID
	Unassigned     bool       // also (or, without Suites, only) cases of no suite
	RunBy          *uuid.UUID // only those that this suite runs
	LastStatus     string     // of the newest run, NotRun without one; "": any
	Tags           []string   // all of which the case has
	Content        string     // part of a line of what the case is searched by: name, tags, intent, steps
	ByLastRun      bool       // the order is that of the newest run; those without one are last
	Quarantined    bool       // only those in quarantine
	storage.Page
}

// NotRun is the LastStatus of a case without a run.
const NotRun = "NONE"

func (f CaseFilter) conditions() *Conditions {
	m := ConditionsOf(f.OrganizationID)
	m.Named(f.Search)
	m.Created(f.From, f.To)
	m.By(f.User, f.Team)
	if len(f.Suites) > 0 || f.Unassigned {
		m.Narrow = true
	}
	switch {
	case len(f.Suites) > 0 && f.Unassigned:
		m.And("(c.suite_id = any(" + m.Arg(storage.UUIDs(f.Suites)) + "::uuid[]) or c.suite_id is null)")
	case len(f.Suites) > 0:
		m.And("c.suite_id = any(" + m.Arg(storage.UUIDs(f.Suites)) + "::uuid[])")
	case f.Unassigned:
		m.And("c.suite_id is null")
	}
	if f.RunBy != nil {
		m.Narrow = true
		m.And("c.id in (select x.id from test_suites s cross join lateral (" + suiteplan.MembersOf("s") +
			") x where s.organization_id = $1 and s.id = " + m.Arg(*f.RunBy) + "::uuid)")
	}
	if f.LastStatus != "" {
		m.Narrow = true
		m.And("c.id in (select x.case_id from test_case_results x where x.organization_id = $1 and x.state = " + m.Arg(f.LastStatus) + ")")
	}
	if f.Quarantined {
		m.Narrow = true
		m.And("c.id in (select q.case_id from test_quarantines q where q.organization_id = $1 and q.until > now())")
	}
	m.Tagged(f.Tags)
	if f.Content != "" {
		m.Narrow = true
		m.And("c.id in (select t.case_id from test_case_texts t where t.organization_id = $1 and lower(t.text) like lower(" +
			m.Arg("%"+likeEscapes.Replace(f.Content)+"%") + "))")
	}
	return m
}

// page returns the statement of a page and its arguments. In the order of the newest runs
// the page is cut from the index of these.
func (f CaseFilter) page(m *Conditions) (string, []any) {
	if !f.ByLastRun {
		return m.Page("test_cases", caseColumns, OwnerTables, f.Page)
	}
	how, among := "not materialized", ""
	if m.Narrow {
		how = "materialized"
	}
	if m.Filtered() {
		among = " and x.case_id in (select id from matching)"
	}
	n := len(m.Args)
	args := append(m.Args[:n:n], f.RowLimit(), f.RowOffset())
	return `
with matching as ` + how + ` (select c.id from test_cases c where ` + m.Where() + `),
page as (
	select x.case_id as id, x.run_at from test_case_results x where x.organization_id = $1` + among + `
	order by x.run_at desc, x.case_id desc limit $` + strconv.Itoa(n+1) + ` offset $` + strconv.Itoa(n+2) + `
)
select (select count(*) from matching) as total, ` + caseColumns + `
from page join test_cases c on c.id = page.id` + OwnerTables + `
order by page.run_at desc, page.id desc`, args
}

// Cases returns a page of cases, newest first or in the order of their runs, and the number of all that match.
func Cases(ctx context.Context, q storage.Querier, f CaseFilter) ([]Case, int, error) {
	m, rows := f.conditions(), []caseRow{}
	if f.RowLimit() > 0 {
		query, args := f.page(m)
		if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
			return nil, 0, storage.Wrap(err, "list test cases")
		}
	}
	list := make([]Case, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].testCase(); err != nil {
			return nil, 0, err
		}
	}
	if len(rows) > 0 {
		return list, rows[0].Total, nil
	}
	// A page without rows does not tell the total.
	var total int
	err := q.GetContext(ctx, &total, m.Total("test_cases"), m.Args...)
	return list, total, storage.Wrap(err, "count test cases")
}

const caseByID = `
select ` + caseColumns + ` from test_cases c` + OwnerTables + `
where c.organization_id = $1 and c.id = $2`

// CaseByID reads one case; ErrNotFound also for another organization's.
func CaseByID(ctx context.Context, q storage.Querier, organizationID int64, id string) (*Case, error) {
	if !isID(id) {
		return nil, fmt.Errorf("test case: %w", storage.ErrNotFound)
	}
	var row caseRow
	if err := q.GetContext(ctx, &row, caseByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "test case "+id)
	}
	c, err := row.testCase()
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// NewCase is a case to create, with its first revision.
type NewCase struct {
	Team     *uuid.UUID // nil: the writer's default team; an unknown one is an InvalidError of teamId
	SuiteID  *uuid.UUID // ErrSuiteNotFound when it does not exist
	Name     string
	Tags     []string
	Settings capability.RunSettings
	Revision Revision     // Intent, Steps, DiscoveredIntent, Description, Reasoning
	Data     *rows.Sealed // nil for none
}

// check cleans the members and returns the settings as they are stored.
func (n *NewCase) check() (settings string, err error) {
	if n.Name, err = storage.Name("name", n.Name, MaxName); err != nil {
		return "", err
	}
	if n.Tags, err = CleanTags(n.Tags); err != nil {
		return "", err
	}
	if len(n.Settings.RunTargets) > MaxTargets {
		return "", storage.Invalid("runSettings.runTargets", "must be at most %d", MaxTargets)
	}
	if n.Settings.RunTargets == nil {
		n.Settings.RunTargets = []capability.Target{}
	}
	return document("runSettings", n.Settings, maxSettings)
}

const insertCase = `
insert into test_cases (id, organization_id, team_id, suite_id, name, tags, run_settings, runnable, creator_uuid, modifier_uuid)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`

// CreateCase inserts a case with its first revision.
func CreateCase(ctx context.Context, tx *storage.Tx, w account.Writer, n NewCase) (*Case, error) {
	settings, err := n.check()
	if err != nil {
		return nil, err
	}
	of, err := TeamFor(ctx, tx, w, n.Team)
	if err != nil {
		return nil, err
	}
	if n.SuiteID != nil {
		if err := KeepSuite(ctx, tx, w, *n.SuiteID); err != nil {
			return nil, err
		}
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	runnable := len(n.Revision.Steps) > 0 && (&Case{Settings: n.Settings}).Runnable()
	if _, err := tx.ExecContext(ctx, insertCase, id, w.OrganizationID, of.ID, n.SuiteID, n.Name, pq.Array(n.Tags),
		settings, runnable, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "create test case")
	}
	if err := n.addData(ctx, tx, w.OrganizationID, id); err != nil {
		return nil, err
	}
	if err := addRevision(ctx, tx, w.OrganizationID, id, &n.Revision); err != nil {
		return nil, err
	}
	if err := auditCase(ctx, tx, w, account.TestCaseCreated, id, map[string]any{"name": n.Name}); err != nil {
		return nil, err
	}
	return CaseByID(ctx, tx, w.OrganizationID, id)
}

func auditCase(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, id string, detail any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "test case " + id, Detail: detail})
}

// LockedCase is what a change of a case looks at before.
type LockedCase struct {
	ID      string     `db:"id"`
	TeamID  int64      `db:"team_id"`
	SuiteID *uuid.UUID `db:"suite_id"`
	Name    string     `db:"name"`
}

const selectCaseForLock = `
select id, team_id, suite_id, name from test_cases where organization_id = $1 and id = $2 for `

// LockCase locks a case that the writer may change.
func LockCase(ctx context.Context, tx *storage.Tx, w account.Writer, id, strength string) (*LockedCase, error) {
	if !isID(id) {
		return nil, fmt.Errorf("test case: %w", storage.ErrNotFound)
	}
	var c LockedCase
	if err := tx.GetContext(ctx, &c, selectCaseForLock+strength, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, "test case "+id)
	}
	if !w.May(c.TeamID) {
		return nil, ErrForbidden
	}
	return &c, nil
}

// RenameCase changes the name of a case.
func RenameCase(ctx context.Context, tx *storage.Tx, w account.Writer, id, name string) (*Case, error) {
	name, err := storage.Name("name", name, MaxName)
	if err != nil {
		return nil, err
	}
	before, err := LockCase(ctx, tx, w, id, "no key update")
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `update test_cases set name = $2, modifier_uuid = $3, updated_at = now() where id = $1`,
		id, name, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "rename test case "+id)
	}
	err = auditCase(ctx, tx, w, account.TestCaseRenamed, id, map[string]any{"from": before.Name, "to": name})
	if err != nil {
		return nil, err
	}
	return CaseByID(ctx, tx, w.OrganizationID, id)
}

// DeleteCase deletes a case with its revisions and variables; its runs stay. *InUseError for
// the login of a suite. Package run has the way to delete a case whose runs may be open.
func DeleteCase(ctx context.Context, tx *storage.Tx, w account.Writer, id string) error {
	c, err := LockCase(ctx, tx, w, id, "update")
	if err != nil {
		return err
	}
	if err := checkNoLogin(ctx, tx, w.OrganizationID, []string{id}, nil); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from test_cases where id = $1`, id); err != nil {
		return storage.Wrap(err, "delete test case "+id)
	}
	return auditCase(ctx, tx, w, account.TestCaseDeleted, id, map[string]any{"name": c.Name})
}

const setBuildName = `
update test_cases set run_settings = jsonb_set(run_settings, '{lastBuildName}', to_jsonb($2::text))
where id = $1 and run_settings ->> 'lastBuildName' is distinct from $2::text`

// SetBuildName keeps the name of the last run's build in the case's settings.
func SetBuildName(ctx context.Context, tx *storage.Tx, caseID, buildName string) error {
	buildName, err := storage.Line("buildName", buildName, MaxBuildName)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, setBuildName, caseID, buildName)
	return storage.Wrap(err, "keep the build name of test case "+caseID)
}
