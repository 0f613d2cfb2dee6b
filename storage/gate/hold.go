package gate

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// Begun is what the policy of its app says of a build that was just uploaded.
type Begun struct {
	Gated     bool // the policy covers the build, and has conditions
	Held      bool // the notification that was asked for waits for the gate
	RunSuites bool // the caller inserts the task that starts suites
}

// Begin is part of the upload of a build whose app has a policy: it holds the notification of
// testers that was asked for, where the policy says so.
func Begin(ctx context.Context, tx *storage.Tx, w account.Writer, b *distribution.Build, notify bool, requestID string) (Begun, error) {
	p, err := PolicyOf(ctx, tx, b.OrganizationID, b.ProjectID)
	if isNotFound(err) {
		return Begun{}, nil
	}
	if err != nil || !p.Covers(b.Channel()) {
		return Begun{}, err
	}
	begun := Begun{Gated: len(p.Conditions) > 0, Held: notify && p.HoldNotifications, RunSuites: len(p.RunSuites) > 0}
	if !begun.Held {
		return begun, nil
	}
	_, err = tx.ExecContext(ctx, `update gates set held_at = now(), held_by = nullif($2::bigint, 0), held_request_id = $3 where build_id = $1`,
		b.ID, w.Actor.UserID, storage.WithoutNUL(requestID))
	return begun, storage.Wrap(err, fmt.Sprintf("hold the notification of build %d", b.ID))
}

// Waiting is what became of the notification that an upload asked for.
type Waiting struct {
	Held bool `db:"held"`
	// Task sends it; nil: none is open.
	Task *uuid.UUID `db:"task"`
}

const waitingOf = `
select exists (select from gates where build_id = $2 and held_at is not null) as held,
	(select id from (
		select id, payload from tasks where kind = $3 and coalesce(organization_id, 0) = $1 and state = 'queued'
		union all select id, payload from tasks where kind = $3 and organization_id = $1 and state = 'running') t
		where (payload ->> 'build_id')::bigint = $2 limit 1) as task`

// WaitingOf reads what the notification of a build waits for; kind is that of the tasks that
// send it.
func WaitingOf(ctx context.Context, q storage.Querier, organizationID, buildID int64, kind string) (Waiting, error) {
	var w Waiting
	err := q.GetContext(ctx, &w, waitingOf, organizationID, buildID, kind)
	return w, storage.Wrap(err, fmt.Sprintf("notification of build %d", buildID))
}

// HeldError reports why testers may not be notified of a build.
type HeldError struct{ Reason string }

func (e *HeldError) Error() string { return e.Reason }

// CheckNotify returns a *HeldError when the policy of an app holds notifications and the gate of
// the build is not pass by the policy as it is now. A build that was in a channel of the policy
// stays held in another one.
func CheckNotify(ctx context.Context, q storage.Querier, organizationID, buildID int64) error {
	var holds []State
	err := q.SelectContext(ctx, &holds, `
		select coalesce(g.override_state, case when not `+staleBy+` and not g.recount then g.state end, 'unknown')
		from builds b join gate_policies p on p.project_id = b.project_id left join gates g on g.build_id = b.id
		where b.organization_id = $1 and b.id = $2 and (p.document ->> 'hold_notifications')::boolean
			and `+coveredBy, organizationID, buildID)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("gate of build %d", buildID))
	}
	if len(holds) == 0 || holds[0] == Pass {
		return nil
	}
	return &HeldError{fmt.Sprintf("the gate of the build is %s: testers are notified once it is pass, or somebody overrides it", holds[0])}
}

const mailOf = `
select u.email from users u join memberships m on m.user_id = u.id and m.organization_id = $1
where u.id = $2 and m.blocked_at is null and u.email is not null`

// MailOf is the mail address of a person of the organization; "" when there is none, or the
// person is blocked.
func MailOf(ctx context.Context, q storage.Querier, organizationID, userID int64) (string, error) {
	var list []string
	if err := q.SelectContext(ctx, &list, mailOf, organizationID, userID); err != nil {
		return "", storage.Wrap(err, "mail address of who uploaded a build")
	}
	if len(list) == 0 {
		return "", nil
	}
	return list[0], nil
}
