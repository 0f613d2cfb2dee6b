package gate

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// maxReason bounds the reason of an override, in characters.
const maxReason = 1000

// overriding is a gate that is locked to be overridden.
type overriding struct {
	BuildID     int64  `db:"build_id"`
	ProjectID   int64  `db:"project_id"`
	TeamID      int64  `db:"team_id"`
	AppName     string `db:"app_name"`
	Version     string `db:"version"`
	VersionCode string `db:"version_code"`
	Token       string `db:"token"`
	State       State  `db:"state"`
	Override    *State `db:"override_state"`
	Conditions  string `db:"conditions"`
	Held        bool   `db:"held"`
	HeldBy      int64  `db:"held_by"`
	HeldRequest string `db:"held_request_id"`
}

const lockGate = `
select g.build_id, g.project_id, p.team_id, b.app_name, b.version, b.version_code, b.token, g.state, g.override_state, g.conditions,
	g.held_at is not null as held, coalesce(g.held_by, 0) as held_by, g.held_request_id
from gates g join builds b on b.id = g.build_id and b.deleted_at is null join projects p on p.id = b.project_id and p.deleted_at is null
where g.organization_id = $1 and g.build_id = $2 for no key update of g`

func locked(ctx context.Context, tx *storage.Tx, w account.Writer, buildID int64) (*overriding, error) {
	var o overriding
	if err := tx.GetContext(ctx, &o, lockGate, w.OrganizationID, buildID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("gate of build %d", buildID))
	}
	if !w.May(o.TeamID) {
		return nil, ErrNoAccess
	}
	return &o, nil
}

// SetOverride puts a decision with its reason in place of what the conditions say, until it is
// removed. It returns the change, as Evaluate does, nil when the state that counts stays.
// ErrNoAccess; storage.ErrNotFound when the build has no gate.
func SetOverride(ctx context.Context, tx *storage.Tx, w account.Writer, buildID int64, state State, reason string) (*Change, error) {
	if state != Pass && state != Fail {
		return nil, storage.Invalid("state", "must be %s or %s", Pass, Fail)
	}
	reason, err := storage.Name("reason", reason, maxReason)
	if err != nil {
		return nil, err
	}
	o, err := locked(ctx, tx, w, buildID)
	if isNotFound(err) {
		// Its policy may be younger than the build.
		if err := adopt(ctx, tx, []int64{buildID}); err != nil {
			return nil, err
		}
		o, err = locked(ctx, tx, w, buildID)
	}
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `
		update gates set override_state = $2, override_reason = $3, override_by = $4, overridden_at = now(),
			held_at = case when $2 = 'pass' then null else held_at end where build_id = $1`, buildID, state, reason, w.Actor.Name)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("override the gate of build %d", buildID))
	}
	err = account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GateOverridden, Actor: w.Actor,
		Subject: o.subject(), Detail: map[string]any{"build_id": buildID, "state": state, "former": o.effective(), "reason": reason}})
	if err != nil {
		return nil, err
	}
	return o.changed(ctx, tx, w, state, ByOverride, reason)
}

// RemoveOverride lets the conditions decide again. It returns the change, nil when the state that
// counts stays. ErrNoAccess; storage.ErrNotFound when nothing is overridden.
func RemoveOverride(ctx context.Context, tx *storage.Tx, w account.Writer, buildID int64) (*Change, error) {
	o, err := locked(ctx, tx, w, buildID)
	if err != nil {
		return nil, err
	}
	if o.Override == nil {
		return nil, fmt.Errorf("override of the gate of build %d: %w", buildID, storage.ErrNotFound)
	}
	_, err = tx.ExecContext(ctx, `
		update gates set override_state = null, override_reason = '', override_by = '', overridden_at = null,
			held_at = case when state = 'pass' then null else held_at end where build_id = $1`, buildID)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("remove the override of the gate of build %d", buildID))
	}
	err = account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GateOverrideRemoved, Actor: w.Actor,
		Subject: o.subject(), Detail: map[string]any{"build_id": buildID, "state": o.State, "former": *o.Override}})
	if err != nil {
		return nil, err
	}
	return o.changed(ctx, tx, w, o.State, ByOverrideGone, "the override was removed")
}

func (o *overriding) subject() string {
	return fmt.Sprintf("%s %s (build %d)", o.AppName, o.Version, o.BuildID)
}

func (o *overriding) effective() State {
	if o.Override != nil {
		return *o.Override
	}
	return o.State
}

// changed records the change to a state. An override of the same state is in the history, too:
// somebody stands for it.
func (o *overriding) changed(ctx context.Context, tx *storage.Tx, w account.Writer, to State, cause Cause, reason string) (*Change, error) {
	from := o.effective()
	err := record(ctx, tx, []changeRow{{w.OrganizationID, o.BuildID, to, from, cause, w.Actor.Name, reason, o.Conditions}})
	if err != nil {
		return nil, err
	}
	c := Change{OrganizationID: w.OrganizationID, BuildID: o.BuildID, ProjectID: o.ProjectID, AppName: o.AppName, Version: o.Version,
		VersionCode: o.VersionCode, Token: o.Token, From: from, To: to, Reason: reason}
	if o.Held {
		c.Held, c.Released = &Held{UserID: o.HeldBy, RequestID: o.HeldRequest}, to == Pass
	}
	if from == to && !c.Released {
		return nil, nil
	}
	return &c, emit(ctx, tx, []Change{c})
}
