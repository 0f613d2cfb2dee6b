package audit

import (
	"context"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// expiring are the organizations that have events older than they keep, 0 for the
// installation's own. One look into audit_events_at for each organization.
const expiring = `
select coalesce(k.id, 0) from (
	select id, coalesce(audit_days, $1::integer) as days from organizations union all select null, $1::integer
) k
where k.days > 0 and case when k.id is null
	then exists (select from audit_events e where e.organization_id is null and e.at < now() - make_interval(days => k.days))
	else exists (select from audit_events e where e.organization_id = k.id and e.at < now() - make_interval(days => k.days)) end
order by k.id nulls first`

// Expiring returns the organizations with events whose retention is over; 0 stands for
// the installation's own events. keepDays holds where an organization says nothing; 0
// keeps for ever.
func Expiring(ctx context.Context, q storage.Querier, keepDays int) ([]int64, error) {
	ids := []int64{}
	err := q.SelectContext(ctx, &ids, expiring, keepDays)
	return ids, storage.Wrap(err, "find audit events beyond their retention")
}

// expire deletes what is old enough: the trigger of audit_events refuses the rows that are
// younger.
const expire = `
delete from audit_events where id in (
	select e.id from audit_events e
	where e.organization_id = $1 and e.at < now() - make_interval(days =>
		(select coalesce(audit_days, $2::integer) from organizations where id = $1))
		and (select coalesce(audit_days, $2::integer) from organizations where id = $1) > 0
	order by e.at, e.id limit $3)`

const expireInstallation = `
delete from audit_events where id in (
	select e.id from audit_events e
	where e.organization_id is null and $1::integer > 0 and e.at < now() - make_interval(days => $1::integer)
	order by e.at, e.id limit $2)`

// Expire deletes at most limit events of an organization (0: the installation's own)
// whose retention is over, the oldest first, and returns how many.
func Expire(ctx context.Context, tx *storage.Tx, organizationID int64, keepDays, limit int) (int64, error) {
	_, err := tx.ExecContext(ctx, `select set_config('slipway.audit_retention', 'on', true), set_config('slipway.audit_days', $1, true)`,
		strconv.Itoa(keepDays))
	if err != nil {
		return 0, storage.Wrap(err, "begin audit retention")
	}
	var n int64
	if organizationID == 0 {
		n, err = storage.Affected(tx.ExecContext(ctx, expireInstallation, keepDays, limit))
	} else {
		n, err = storage.Affected(tx.ExecContext(ctx, expire, organizationID, keepDays, limit))
	}
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `select set_config('slipway.audit_retention', 'off', true)`)
	return n, storage.Wrap(err, "end audit retention")
}

// RecordExpired writes how many events of an organization a round of retention deleted.
func RecordExpired(ctx context.Context, tx *storage.Tx, organizationID, deleted int64) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.AuditExpired,
		Actor: account.Actor{Name: account.ActorRetention}, Subject: "audit log", Detail: map[string]any{"deleted": deleted}})
}
