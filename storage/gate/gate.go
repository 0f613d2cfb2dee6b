// Package gate decides whether a build may go on: by the policy of its app, whose conditions
// look at test suites, crashes, sessions, the package, its symbols and its testers.
//
// A Policy is a document with named conditions. A build of one of its channels has a gate, a row
// that holds what the conditions said when they were last evaluated: pass, fail, or unknown with
// what is missing. A gate is never pass because nothing was measured.
//
// Gates are evaluated when a fact changes, and not by looking for changes. Whoever writes a
// fact adds a row to gate_due in the same transaction: triggers do it where facts change rarely
// (a suite run ended, a signature was verified, somebody installed), and the statements that
// count crashes and sessions do it for all of a batch. Rows are only added, so that nobody waits
// for anybody. Evaluate locks some of the gates that are due, deletes their rows, reads the facts
// of all of them in a fixed number of statements, and stores what changed; a fact that comes
// meanwhile has a row of its own, and the gate is evaluated again. Time passing is a fact too:
// a gate whose window closes has a row that is due then.
//
// Crashes are not counted by reading them: gate_crashes has the number of each key of a build in
// each window of its policy, which the transaction that records crashes adds to. They are
// counted from the reports when a build gets a policy with another window, or a crash left whose
// user cannot be told from the numbers: Recount does it in bounded steps, of one build at a time,
// and the gate is not evaluated until all are counted.
//
// A person with the right may override a gate. A change of its state, whatever the cause, is a
// row of its history and an event for webhooks, and lets a notification go that waited for it.
// Errors are those of the database; a worker that dies leaves the rows of gate_due as they were.
package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Reasons why a gate has no conditions.
const (
	ReasonNoPolicy   = "no policy"
	ReasonNotCovered = "the policy does not cover the channel of this build"
	ReasonNotYet     = "not evaluated yet"
	// ReasonNoConditions is that of a policy which only has suites run.
	ReasonNoConditions = "the policy has no conditions"
)

// Override is what a person decided in place of the conditions.
type Override struct {
	State  State
	Reason string
	By     string
	At     time.Time
}

// Gate is the gate of a build.
type Gate struct {
	BuildID   int64
	ProjectID int64
	TeamID    int64
	// State is what counts: the override's, else that of the conditions.
	State State
	// Evaluated is that of the conditions.
	Evaluated   State
	Reason      string // why there are no conditions; "" when there are
	Conditions  []Result
	EvaluatedAt *time.Time
	Override    *Override
	// Held: a notification of testers waits for it.
	Held bool
	// Due: a fact or the policy changed since it was evaluated, or it is evaluated now.
	Due bool
	// Open: nothing decides it, as there is no policy with conditions that covers the build.
	Open bool
}

// Decided reports whether there is nothing to wait for.
func (g *Gate) Decided() bool {
	return g.Override != nil || g.Open || g.State != Unknown && !g.Due
}

type gateRow struct {
	BuildID        int64      `db:"build_id"`
	ProjectID      int64      `db:"project_id"`
	TeamID         int64      `db:"team_id"`
	There          bool       `db:"there"`
	Policy         bool       `db:"policy"`
	Covered        bool       `db:"covered"`
	NoConditions   bool       `db:"no_conditions"` // of the policy
	Stale          bool       `db:"stale"`         // evaluated by a policy that is another now
	State          State      `db:"state"`
	Reason         string     `db:"reason"`
	Conditions     []byte     `db:"conditions"`
	EvaluatedAt    *time.Time `db:"evaluated_at"`
	OverrideState  *State     `db:"override_state"`
	OverrideReason string     `db:"override_reason"`
	OverrideBy     string     `db:"override_by"`
	OverriddenAt   *time.Time `db:"overridden_at"`
	Held           bool       `db:"held"`
	Due            bool       `db:"due"`
}

// coveredBy, staleBy and noConditions are of builds b, gates g and gate_policies p.
const (
	coveredBy = `(p.project_id is not null and (p.channels is null or coalesce(b.metadata ->> 'channel', '') = any(p.channels)
		or coalesce((p.document ->> 'hold_notifications')::boolean and g.channel = any(p.channels), false)))`
	staleBy      = `(g.evaluated_at is not null and g.policy_version <> coalesce(p.version, 0))`
	noConditions = `(jsonb_array_length(coalesce(nullif(p.document -> 'conditions', 'null'), '[]')) = 0)`
)

const selectGate = `
select b.id as build_id, b.project_id, pr.team_id, g.build_id is not null as there, p.project_id is not null as policy,
	` + coveredBy + ` as covered, p.project_id is not null and ` + noConditions + ` as no_conditions, coalesce(` + staleBy +
	`, false) as stale,
	coalesce(g.state, 'unknown') as state, coalesce(g.reason, '') as reason, coalesce(g.conditions, '[]') as conditions, g.evaluated_at,
	g.override_state, coalesce(g.override_reason, '') as override_reason, coalesce(g.override_by, '') as override_by, g.overridden_at,
	g.held_at is not null as held,
	coalesce(g.recount, false) or exists (select from gate_due d where d.build_id = b.id and d.due_at <= now()) as due
from builds b join projects pr on pr.id = b.project_id and pr.deleted_at is null
left join gates g on g.build_id = b.id
left join gate_policies p on p.project_id = b.project_id
where b.organization_id = $1 and b.id = $2 and b.deleted_at is null`

func (r *gateRow) gate() (*Gate, error) {
	g := &Gate{BuildID: r.BuildID, ProjectID: r.ProjectID, TeamID: r.TeamID, State: r.State, Evaluated: r.State, Reason: r.Reason,
		EvaluatedAt: r.EvaluatedAt, Held: r.Held, Due: r.Due || r.Covered && r.Stale, Open: !r.Covered || r.NoConditions}
	if err := json.Unmarshal(r.Conditions, &g.Conditions); err != nil {
		return nil, fmt.Errorf("conditions of the gate of build %d: %w", r.BuildID, err)
	}
	if !r.Covered {
		g.State, g.Evaluated, g.Conditions = Unknown, Unknown, []Result{}
	}
	switch {
	case !r.Policy:
		g.Reason = ReasonNoPolicy
	case !r.Covered:
		g.Reason = ReasonNotCovered
	case r.NoConditions:
		g.Reason = ReasonNoConditions
	case r.EvaluatedAt == nil:
		g.Reason = ReasonNotYet
	}
	if r.OverrideState != nil {
		g.State = *r.OverrideState
		g.Override = &Override{State: *r.OverrideState, Reason: r.OverrideReason, By: r.OverrideBy, At: *r.OverriddenAt}
	}
	return g, nil
}

// Of reads the gate of a build of the organization; one without a policy is unknown with the
// reason. storage.ErrNotFound is no build.
func Of(ctx context.Context, q storage.Querier, organizationID, buildID int64) (*Gate, error) {
	row, err := read(ctx, q, organizationID, buildID)
	if err != nil {
		return nil, err
	}
	return row.gate()
}

func read(ctx context.Context, q storage.Querier, organizationID, buildID int64) (*gateRow, error) {
	var row gateRow
	err := q.GetContext(ctx, &row, selectGate, organizationID, buildID)
	return &row, storage.Wrap(err, fmt.Sprintf("gate of build %d", buildID))
}

// Ask is Of for a build that nobody may have looked at since its app has this policy: it has
// the gate evaluated where that was not done.
func Ask(ctx context.Context, db *storage.DB, organizationID, buildID int64) (*Gate, error) {
	row, err := read(ctx, db, organizationID, buildID)
	if err != nil {
		return nil, err
	}
	switch {
	case row.Covered && !row.There:
		if err := db.InTx(ctx, func(tx *storage.Tx) error { return adopt(ctx, tx, []int64{buildID}) }); err != nil {
			return nil, err
		}
		row.Due = true
	case row.There && row.Stale && !row.Due:
		// By a policy that is another now, or gone.
		if _, err := db.ExecContext(ctx, insertDue, ids([]int64{buildID}), false); err != nil {
			return nil, storage.Wrap(err, "have a gate evaluated")
		}
		row.Due = true
	}
	return row.gate()
}

// insertGates inserts the gates of builds, with what they take from the policy of their app.
const insertGates = `
insert into gates (build_id, organization_id, project_id, version, channel, windows, crash_users, sessions, watched_until)
select b.id, b.organization_id, b.project_id, b.version, coalesce(b.metadata ->> 'channel', ''), p.windows, p.crash_users, p.sessions,
	b.created_at + interval '30 days'
from builds b join gate_policies p on p.project_id = b.project_id
where b.id = any($1) and b.deleted_at is null and (p.channels is null or coalesce(b.metadata ->> 'channel', '') = any(p.channels))
order by b.id
on conflict (build_id) do nothing`

const insertDue = `
insert into gate_due (build_id, organization_id, due_at, recount)
select build_id, organization_id, now(), $2 from gates where build_id = any($1)`

// adopt makes the gates of builds that came before their policy, and has them evaluated; their
// crashes are counted then.
func adopt(ctx context.Context, tx *storage.Tx, builds []int64) error {
	if _, err := tx.ExecContext(ctx, insertGates, ids(builds)); err != nil {
		return storage.Wrap(err, "make gates")
	}
	_, err := tx.ExecContext(ctx, insertDue, ids(builds), true)
	return storage.Wrap(err, "have gates evaluated")
}

// StateOf is the state that counts of a build's gate, unknown for one without, and where another
// policy decided it than the one that covers the build now. storage.ErrNotFound is no build.
func StateOf(ctx context.Context, q storage.Querier, buildID int64) (State, error) {
	var state State
	err := q.GetContext(ctx, &state, `
		select coalesce(g.override_state, case when `+coveredBy+` and not `+staleBy+` then g.state end, 'unknown')
		from builds b join projects a on a.id = b.project_id and a.deleted_at is null
		left join gates g on g.build_id = b.id left join gate_policies p on p.project_id = b.project_id
		where b.id = $1 and b.deleted_at is null`, buildID)
	return state, storage.Wrap(err, fmt.Sprintf("gate of build %d", buildID))
}

const decidedBuilds = `
select w.id from unnest($1::bigint[]) as w(id)
left join gates g on g.build_id = w.id
left join builds b on b.id = w.id and b.deleted_at is null
left join gate_policies p on p.project_id = b.project_id
where b.id is null or g.override_state is not null or not ` + coveredBy + ` or ` + noConditions + `
	or g.state <> 'unknown' and g.evaluated_at is not null and not g.recount and not ` + staleBy + `
	and not exists (select from gate_due d where d.build_id = w.id and d.due_at <= now())`

// Decided returns those of the builds whose gate is pass or fail, or overridden, with nothing
// that is still to be evaluated; those that no policy with conditions covers, and those that are
// gone.
func Decided(ctx context.Context, q storage.Querier, builds []int64) ([]int64, error) {
	var list []int64
	err := q.SelectContext(ctx, &list, decidedBuilds, ids(builds))
	return list, storage.Wrap(err, "gates that are decided")
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
