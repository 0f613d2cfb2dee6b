package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

const (
	// dueRows is how many rows of what is due of an organization are looked at for a claim.
	dueRows = 1000
	// orphans are rows of gates that are gone, which a claim deletes.
	orphans = 1000
)

// Round is what one call of Evaluate did.
type Round struct {
	Claimed   int // gates
	Evaluated int
	Changes   []Change
	// Recounts: crashes of a build are to be counted anew, which Recount does.
	Recounts bool
}

// Change is a change of a gate's state.
type Change struct {
	OrganizationID int64
	BuildID        int64
	ProjectID      int64
	AppName        string
	Version        string
	VersionCode    string
	Token          string
	From, To       State
	Reason         string // of the conditions that are no pass, or of the override
	// Held is the notification that waited for the gate; nil: none did.
	Held *Held
	// Released: it waits no more. The caller inserts its task in the same transaction.
	Released bool
	// Stuck: nothing that is under way decides the gate, and Held waits for it. From and To are
	// unknown. It is so once for a gate.
	Stuck bool
}

// Held is a notification of testers that waits for a gate.
type Held struct {
	UserID    int64 // who is told when it fails; 0: nobody
	RequestID string
}

// PendingDue reports whether a gate is due, or waits for its crashes to be counted anew.
func PendingDue(ctx context.Context, q storage.Querier) (bool, error) {
	var due bool
	err := q.GetContext(ctx, &due, `select exists (select from gate_due where due_at <= now()) or exists (select from gates where recount)`)
	return due, storage.Wrap(err, "look for gates that are due")
}

// claimGates gives organizations their turn, each with what is due for the longest time first:
// the walk goes from one to the next, so that none fills what is looked at. A gate that
// somebody else evaluates is left out, one of which crashes are counted, and one whose build
// is being removed: who removes it has the build first and the gate then.
const claimGates = `
with recursive walk (organization_id) as (
	(select organization_id from gate_due order by organization_id limit 1)
	union all
	select (select d.organization_id from gate_due d where d.organization_id > walk.organization_id order by d.organization_id limit 1)
	from walk where walk.organization_id is not null
), due as (
	select d.build_id, w.organization_id, min(d.due_at) as due_at,
		row_number() over (partition by w.organization_id order by min(d.due_at), d.build_id) as turn
	from walk w cross join lateral (
		select build_id, due_at from gate_due where organization_id = w.organization_id and due_at <= now() order by due_at limit $2
	) d group by d.build_id, w.organization_id
)
select g.build_id from due d join gates g on g.build_id = d.build_id and not g.recount join builds b on b.id = g.build_id
order by d.turn, d.due_at limit $1 for no key update of g skip locked for key share of b skip locked`

// Evaluate evaluates at most limit of the gates that are due: those of which facts changed, or
// whose time came. Whoever calls it at once, elsewhere, gets others. Events of webhooks are
// written here; what else follows a change is the caller's, in the same transaction.
func Evaluate(ctx context.Context, tx *storage.Tx, limit int) (*Round, error) {
	var builds []int64
	if err := tx.SelectContext(ctx, &builds, claimGates, limit, dueRows); err != nil {
		return nil, storage.Wrap(err, "claim gates that are due")
	}
	if len(builds) == 0 {
		if err := deleteOrphans(ctx, tx); err != nil {
			return nil, err
		}
		var now instants
		err := now.read(ctx, tx)
		return &Round{Recounts: now.Recounts}, err
	}
	round := &Round{Claimed: len(builds)}
	recount, err := takeDue(ctx, tx, builds)
	if err != nil {
		return nil, err
	}
	list, err := readFacts(ctx, tx, builds)
	if err != nil {
		return nil, err
	}
	if list, err = putOff(ctx, tx, list, recount); err != nil {
		return nil, err
	}
	var now instants
	if err := now.read(ctx, tx); err != nil {
		return nil, err
	}
	round.Recounts = now.Recounts
	outcomes := make([]outcome, 0, len(list))
	for _, f := range list {
		outcomes = append(outcomes, f.evaluate(now.Now))
	}
	round.Evaluated = len(outcomes)
	if round.Changes, err = store(ctx, tx, outcomes); err != nil {
		return nil, err
	}
	stuck, err := noteStuck(ctx, tx, outcomes)
	round.Changes = append(round.Changes, stuck...)
	return round, err
}

// instants are the time of an evaluation, and whether crashes are to be counted.
type instants struct {
	Now      time.Time `db:"now"`
	Recounts bool      `db:"recounts"`
}

func (i *instants) read(ctx context.Context, tx *storage.Tx) error {
	err := tx.GetContext(ctx, i, `select now() as now, exists (select from gates where recount) as recounts`)
	return storage.Wrap(err, "time of the evaluation")
}

// deleteOrphans deletes rows whose gate is gone: a fact came while it was deleted.
func deleteOrphans(ctx context.Context, tx *storage.Tx) error {
	_, err := tx.ExecContext(ctx, `delete from gate_due where ctid = any(array(
		select d.ctid from gate_due d where d.due_at <= now() and not exists (select from gates g where g.build_id = d.build_id)
		limit $1))`, orphans)
	return storage.Wrap(err, "delete what is due of gates that are gone")
}

// takeDue deletes what is due of gates. The facts are read afterwards: one that is not among
// them has a row that was not seen here. It returns the builds whose crashes are to be counted
// anew.
func takeDue(ctx context.Context, tx *storage.Tx, builds []int64) (map[int64]bool, error) {
	var rows []struct {
		BuildID int64 `db:"build_id"`
		Recount bool  `db:"recount"`
	}
	err := tx.SelectContext(ctx, &rows, `
		with taken as (delete from gate_due where build_id = any($1) returning build_id, recount)
		select build_id, bool_or(recount) as recount from taken group by 1`, ids(builds))
	recount := map[int64]bool{}
	for _, row := range rows {
		if row.Recount {
			recount[row.BuildID] = true
		}
	}
	return recount, storage.Wrap(err, "take what is due of gates")
}

// outcome is what became of a gate.
type outcome struct {
	*facts
	state      State
	reason     string // why there are no conditions
	conditions []Result
	doc        string    // of the conditions
	next       time.Time // zero: no time changes it
}

// evaluate judges the conditions.
func (f *facts) evaluate(now time.Time) outcome {
	o := outcome{facts: f, state: Unknown, conditions: []Result{}}
	if f.policy == nil {
		o.reason = ReasonNoPolicy
		if f.PolicyVersion != 0 {
			o.reason = ReasonNotCovered
		}
		return o
	}
	if len(f.policy.Conditions) == 0 {
		o.reason = ReasonNoConditions
	}
	for i := range f.policy.Conditions {
		o.conditions = append(o.conditions, f.policy.Conditions[i].judge(f, now))
	}
	o.state, o.next = together(o.conditions), earliest(o.conditions)
	return o
}

// effective is the state that counts.
func (f *facts) effective(evaluated State) State {
	if f.OverrideState != nil {
		return *f.OverrideState
	}
	return evaluated
}

// why are the reasons of the conditions that are no pass, the failed ones first.
func (o *outcome) why() string {
	var text string
	for _, state := range []State{Fail, Unknown} {
		for i := range o.conditions {
			if r := &o.conditions[i]; r.State == state && (state == Fail || text == "") {
				if text != "" {
					text += "; "
				}
				text += r.Name + ": " + r.Reason
			}
		}
	}
	return storage.Cut(text, maxWhy)
}

// maxWhy bounds the reasons in a mail or an event, in characters.
const maxWhy = 1000

const storeGates = `
update gates g set state = n.state, reason = n.reason, conditions = n.conditions::jsonb, policy_version = n.policy_version,
	before_id = nullif(n.before_id, 0), evaluated_at = now(), sessions = n.sessions,
	held_at = case when n.released then null else g.held_at end
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[], $8::boolean[])
	as n(build_id, state, reason, conditions, policy_version, before_id, sessions, released)
where g.build_id = n.build_id`

const insertNext = `
insert into gate_due (build_id, organization_id, due_at)
select * from unnest($1::bigint[], $2::bigint[], $3::timestamptz[])`

// store writes outcomes, and returns the changes of the states that count.
func store(ctx context.Context, tx *storage.Tx, list []outcome) ([]Change, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var builds, versions, before, nextBuilds, nextOrganizations []int64
	var states, reasons, docs, next []string
	var sessions, released []bool
	var changes []Change
	var rows []changeRow
	for i := range list {
		o := &list[i]
		doc, err := json.Marshal(o.conditions)
		if err != nil {
			return nil, fmt.Errorf("conditions of the gate of build %d: %w", o.BuildID, err)
		}
		o.doc = storage.WithoutNUL(string(doc))
		from, to := o.effective(o.State), o.effective(o.state)
		release := o.HeldAt != nil && o.releases(to)
		builds, states, reasons, docs = append(builds, o.BuildID), append(states, string(o.state)), append(reasons, o.reason), append(docs, o.doc)
		versions, before = append(versions, o.PolicyVersion), append(before, o.BeforeID)
		sessions, released = append(sessions, o.policy != nil && o.policy.countsSessions()), append(released, release)
		if !o.next.IsZero() {
			nextBuilds, nextOrganizations = append(nextBuilds, o.BuildID), append(nextOrganizations, o.OrganizationID)
			next = append(next, o.next.UTC().Format(time.RFC3339Nano))
		}
		if from == to && !release {
			continue
		}
		c := o.change(from, to, o.why())
		c.Released = release
		changes = append(changes, c)
		if from != to {
			rows = append(rows, changeRow{o.OrganizationID, o.BuildID, to, from, o.cause(), "", o.why(), o.doc})
		}
	}
	_, err := tx.ExecContext(ctx, storeGates, ids(builds), pq.Array(states), pq.Array(reasons), pq.Array(docs), ids(versions), ids(before),
		pq.Array(sessions), pq.Array(released))
	if err != nil {
		return nil, storage.Wrap(err, "store gates")
	}
	if len(next) > 0 {
		if _, err := tx.ExecContext(ctx, insertNext, ids(nextBuilds), ids(nextOrganizations), pq.Array(next)); err != nil {
			return nil, storage.Wrap(err, "when gates are due next")
		}
	}
	if err := record(ctx, tx, rows); err != nil {
		return nil, err
	}
	return changes, emit(ctx, tx, changes)
}

// releases reports whether a notification that is held goes out in a state: when the gate
// passes, and when no policy holds it any more. That of a build that is not watched any more is
// for a person to let go, who overrides the gate.
func (f *facts) releases(to State) bool {
	return f.Watched && (to == Pass || f.policy == nil || !f.policy.HoldNotifications)
}

// cause is why the state changed.
func (f *facts) cause() Cause {
	if f.EvaluatedAt != nil && f.EvaluatedBy != f.PolicyVersion {
		return ByPolicy
	}
	return ByConditions
}

func (f *facts) change(from, to State, reason string) Change {
	c := Change{OrganizationID: f.OrganizationID, BuildID: f.BuildID, ProjectID: f.ProjectID, AppName: f.AppName, Version: f.Version,
		VersionCode: f.VersionCode, Token: f.Token, From: from, To: to, Reason: reason}
	if f.HeldAt != nil {
		c.Held = &Held{UserID: f.HeldBy, RequestID: f.HeldRequest}
	}
	return c
}

// eventData are the members of the event gate.
type eventData struct {
	State  State  `json:"state"`
	Former State  `json:"formerState"`
	Reason string `json:"reason"`
}

// emit writes the events of gates that are pass or fail now.
func emit(ctx context.Context, tx *storage.Tx, changes []Change) error {
	var events []webhook.Event
	for i := range changes {
		c := &changes[i]
		if c.From == c.To || c.To == Unknown {
			continue
		}
		events = append(events, webhook.Event{OrganizationID: c.OrganizationID, Action: webhook.Gate, ProjectID: c.ProjectID, BuildID: c.BuildID,
			Data: eventData{c.To, c.From, c.Reason}})
	}
	return webhook.Emit(ctx, tx, events...)
}
