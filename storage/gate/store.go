package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// ErrNoAccess means that the writer is no admin of the team that the app belongs to.
var ErrNoAccess = errors.New("this takes admin rights on the app's team")

// StoredPolicy is the policy of an app.
type StoredPolicy struct {
	Policy
	Version   int64
	UpdatedAt time.Time
	UpdatedBy string
}

// renewed is how many of the newest builds of an app are evaluated by a policy that changed;
// older ones are when somebody asks for their gate.
const renewed = 20

// PolicyOf reads the policy of an app of the organization. storage.ErrNotFound: no such app, or
// it has none.
func PolicyOf(ctx context.Context, q storage.Querier, organizationID, projectID int64) (*StoredPolicy, error) {
	var row struct {
		Version   int64     `db:"version"`
		Document  []byte    `db:"document"`
		UpdatedAt time.Time `db:"updated_at"`
		UpdatedBy string    `db:"updated_by"`
	}
	err := q.GetContext(ctx, &row, `
		select p.version, p.document, p.updated_at, p.updated_by from gate_policies p
		join projects a on a.id = p.project_id and a.deleted_at is null
		where p.organization_id = $1 and p.project_id = $2`, organizationID, projectID)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("gate policy of app %d", projectID))
	}
	p := &StoredPolicy{Version: row.Version, UpdatedAt: row.UpdatedAt, UpdatedBy: row.UpdatedBy}
	if err := json.Unmarshal(row.Document, &p.Policy); err != nil {
		return nil, fmt.Errorf("gate policy of app %d: %w", projectID, err)
	}
	return p, nil
}

// lockApp keeps two changes of one policy, and its app's removal, in order.
const lockApp = `
select id, team_id, name from projects where id = $2 and organization_id = $1 and deleted_at is null for no key update`

type app struct {
	ID     int64  `db:"id"`
	TeamID int64  `db:"team_id"`
	Name   string `db:"name"`
}

func lockedApp(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) (*app, error) {
	var a app
	if err := tx.GetContext(ctx, &a, lockApp, w.OrganizationID, projectID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("app %d", projectID))
	}
	if !w.May(a.TeamID) {
		return nil, ErrNoAccess
	}
	return &a, nil
}

const savePolicy = `
insert into gate_policies as p (project_id, organization_id, version, document, channels, windows, crash_users, sessions, updated_by)
values ($1, $2, 1, $3, $4, $5, $6, $7, $8)
on conflict (project_id) do update set version = p.version + 1, document = excluded.document, channels = excluded.channels,
	windows = excluded.windows, crash_users = excluded.crash_users, sessions = excluded.sessions, updated_at = now(),
	updated_by = excluded.updated_by`

// SavePolicy sets the policy of an app in place of the one that it has, and has the gates of its
// newest builds evaluated. ErrNoAccess, storage.ErrNotFound; *storage.InvalidError of a policy
// that breaks a rule or names a suite that the organization does not have.
func SavePolicy(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, p *Policy) error {
	if err := p.Check(); err != nil {
		return err
	}
	a, err := lockedApp(ctx, tx, w, projectID)
	if err != nil {
		return err
	}
	if err := checkSuites(ctx, tx, w, p); err != nil {
		return err
	}
	doc, err := p.document()
	if err != nil {
		return err
	}
	var channels any
	if len(p.Channels) > 0 {
		channels = pq.Array(p.Channels)
	}
	_, err = tx.ExecContext(ctx, savePolicy, projectID, w.OrganizationID, doc, channels, ids(p.windows()), p.countsUsers(),
		p.countsSessions(), w.Actor.Name)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("save the gate policy of app %d", projectID))
	}
	if err := renew(ctx, tx, projectID); err != nil {
		return err
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GatePolicyChanged, Actor: w.Actor,
		Subject: a.Name, Detail: map[string]any{"project_id": projectID, "policy": json.RawMessage(doc)}})
}

// checkSuites refuses suites that the organization does not have, and those to run that the
// writer may not run.
func checkSuites(ctx context.Context, tx *storage.Tx, w account.Writer, p *Policy) error {
	suites := p.suites()
	if len(suites) == 0 {
		return nil
	}
	var rows []struct {
		ID   uuid.UUID `db:"id"`
		Team int64     `db:"team_id"`
	}
	err := tx.SelectContext(ctx, &rows, `select id, team_id from test_suites where organization_id = $1 and id = any($2::uuid[])`,
		w.OrganizationID, storage.UUIDs(suites))
	if err != nil {
		return storage.Wrap(err, "suites of a gate policy")
	}
	teams := make(map[uuid.UUID]int64, len(rows))
	for _, row := range rows {
		teams[row.ID] = row.Team
	}
	for i := range p.Conditions {
		for j, id := range p.Conditions[i].SuiteIDs {
			if _, there := teams[id]; !there {
				return storage.Invalid(fmt.Sprintf("conditions[%d].suite_ids[%d]", i, j), "is no suite of the organization")
			}
		}
	}
	for i := range p.RunSuites {
		path := fmt.Sprintf("run_suites[%d].suite_id", i)
		team, there := teams[p.RunSuites[i].SuiteID]
		switch {
		case !there:
			return storage.Invalid(path, "is no suite of the organization")
		case !w.May(team):
			return storage.Invalid(path, "is a suite of a team that is not yours")
		}
	}
	return nil
}

const newestBuilds = `
select id from builds where (project_id, id) >= ($1::bigint, 0) and (project_id, id) <= ($1, 9223372036854775807) and deleted_at is null
order by project_id desc, id desc limit $2`

// renew has the gates of the newest builds of an app evaluated.
func renew(ctx context.Context, tx *storage.Tx, projectID int64) error {
	var builds []int64
	if err := tx.SelectContext(ctx, &builds, newestBuilds, projectID, renewed); err != nil {
		return storage.Wrap(err, "newest builds of an app")
	}
	if len(builds) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, insertGates, ids(builds)); err != nil {
		return storage.Wrap(err, "make gates")
	}
	// Those that have a gate and are counted by these windows are not counted anew: Evaluate looks.
	_, err := tx.ExecContext(ctx, `
		insert into gate_due (build_id, organization_id, due_at, recount)
		select build_id, organization_id, now(), evaluated_at is null from gates
		where build_id = any($1) or held_at is not null and project_id = $2`,
		ids(builds), projectID)
	return storage.Wrap(err, "have gates evaluated")
}

// DeletePolicy removes the policy of an app: its builds have no gate any more, and notifications
// that were held go out. ErrNoAccess, storage.ErrNotFound.
func DeletePolicy(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) error {
	a, err := lockedApp(ctx, tx, w, projectID)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `delete from gate_policies where project_id = $1`, projectID))
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("gate policy of app %d: %w", projectID, storage.ErrNotFound)
	}
	if err := renew(ctx, tx, projectID); err != nil {
		return err
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GatePolicyDeleted, Actor: w.Actor,
		Subject: a.Name, Detail: map[string]any{"project_id": projectID}})
}
