package rule

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// List lists the rules of an organization in the order in which they were created. With a crash
// project, those that look at its reports.
func List(ctx context.Context, q storage.Querier, organization, project int64) ([]Rule, error) {
	list := []Rule{}
	err := q.SelectContext(ctx, &list, `select `+columns+` from crash_rules r
		where r.organization_id = $1 and ($2 = 0 or r.crash_project_id = $2 or r.crash_project_id is null) order by r.id`, organization, project)
	return list, storage.Wrap(err, "rules of crash groups")
}

// ByID reads a rule.
func ByID(ctx context.Context, q storage.Querier, organization, id int64) (*Rule, error) {
	var r Rule
	err := q.GetContext(ctx, &r, `select `+columns+` from crash_rules r where r.organization_id = $1 and r.id = $2`, organization, id)
	return &r, storage.Wrap(err, fmt.Sprintf("crash rule %d", id))
}

// check refuses a rule whose members break a rule, or that names what is not there.
func (r *Rule) check(ctx context.Context, tx *storage.Tx, organization int64) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.ProjectID != nil {
		_, err := crashproject.ByID(ctx, tx, organization, *r.ProjectID)
		if errors.Is(err, storage.ErrNotFound) {
			return storage.Invalid("crash_project_id", "must be a crash project of the organization")
		}
		if err != nil {
			return err
		}
	}
	if r.AssigneeID != nil {
		if err := crash.Assignable(ctx, tx, organization, *r.AssigneeID); err != nil {
			return err
		}
	}
	slices.Sort(r.People)
	r.People = slices.Compact(r.People)
	readers, err := readersAmong(ctx, tx, organization, r.People)
	if err != nil {
		return err
	}
	if len(readers) != len(r.People) {
		return storage.Invalid("mail", "must be persons of the organization who may read crashes")
	}
	return nil
}

// Reader is a person who may read crashes.
type Reader struct {
	ID    int64  `db:"id"`
	Email string `db:"email"`
	Name  string `db:"name"`
}

// readersAmong are those of some users who may read the crashes of an organization now.
func readersAmong(ctx context.Context, q storage.Querier, organization int64, users []int64) ([]Reader, error) {
	if len(users) == 0 {
		return nil, nil
	}
	var list []Reader
	err := q.SelectContext(ctx, &list, `select u.id, u.email, u.name from users u join memberships m on m.user_id = u.id
		where m.organization_id = $1 and u.id = any($2) and u.kind = 'person' and u.email is not null
			and m.blocked_at is null and m.role <> 'tester' order by u.id`, organization, pq.Array(users))
	return list, storage.Wrap(err, "people of crash rules")
}

// Readers are the people whom rules name, as far as they may read crashes now, by id.
func Readers(ctx context.Context, q storage.Querier, organization int64, rules []Rule) (map[int64]Reader, error) {
	var users []int64
	for i := range rules {
		users = append(users, rules[i].People...)
		if rules[i].AssigneeID != nil {
			users = append(users, *rules[i].AssigneeID)
		}
	}
	list, err := readersAmong(ctx, q, organization, users)
	byID := make(map[int64]Reader, len(list))
	for _, p := range list {
		byID[p.ID] = p
	}
	return byID, err
}

// lockRules lets one rule of an organization be created at a time, so that they stay within their
// bound.
const lockRules = `select pg_advisory_xact_lock(hashtextextended('crash rules ' || $1::text, 0))`

// Create stores a rule, with its audit row. *storage.InvalidError names the member that breaks
// a rule; storage.ErrConflict: there are MaxRules.
func Create(ctx context.Context, tx *storage.Tx, w account.Writer, r Rule) (*Rule, error) {
	if err := r.check(ctx, tx, w.OrganizationID); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, lockRules, w.OrganizationID); err != nil {
		return nil, storage.Wrap(err, "lock the rules of an organization")
	}
	var there int
	if err := tx.GetContext(ctx, &there, `select count(*) from crash_rules where organization_id = $1`, w.OrganizationID); err != nil {
		return nil, storage.Wrap(err, "count crash rules")
	}
	if there >= MaxRules {
		return nil, fmt.Errorf("an organization has at most %d crash rules: %w", MaxRules, storage.ErrConflict)
	}
	var made Rule
	err := tx.GetContext(ctx, &made, `insert into crash_rules as r (organization_id, crash_project_id, name, enabled, trigger, above, minutes,
			conditions, people, webhook, assignee_id, repeat_hours)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning `+columns,
		w.OrganizationID, r.ProjectID, r.Name, r.Enabled, r.Trigger, r.Above, r.Minutes, r.Conditions, r.people(), r.Webhook,
		r.AssigneeID, r.RepeatHours)
	if err != nil {
		return nil, storage.Wrap(err, "create a crash rule")
	}
	return &made, audit(ctx, tx, w, account.CrashRuleCreated, &made)
}

// people is the column of those who get a mail.
func (r *Rule) people() any {
	if r.People == nil {
		return pq.Int64Array{}
	}
	return r.People
}

// Update replaces a rule, with its audit row. What it fired for stays fired.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, r Rule) (*Rule, error) {
	if err := r.check(ctx, tx, w.OrganizationID); err != nil {
		return nil, err
	}
	var made Rule
	err := tx.GetContext(ctx, &made, `update crash_rules r set crash_project_id = $3, name = $4, enabled = $5, trigger = $6, above = $7,
			minutes = $8, conditions = $9, people = $10, webhook = $11, assignee_id = $12, repeat_hours = $13, updated_at = now()
		where r.organization_id = $1 and r.id = $2 returning `+columns,
		w.OrganizationID, r.ID, r.ProjectID, r.Name, r.Enabled, r.Trigger, r.Above, r.Minutes, r.Conditions, r.people(), r.Webhook,
		r.AssigneeID, r.RepeatHours)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("crash rule %d", r.ID))
	}
	return &made, audit(ctx, tx, w, account.CrashRuleUpdated, &made)
}

// Delete deletes a rule, with its audit row. The histories of groups keep what it did.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	var gone Rule
	err := tx.GetContext(ctx, &gone, `delete from crash_rules r where r.organization_id = $1 and r.id = $2 returning `+
		columns, w.OrganizationID, id)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("crash rule %d", id))
	}
	return audit(ctx, tx, w, account.CrashRuleDeleted, &gone)
}

func audit(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, r *Rule) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor, Subject: r.Name,
		Detail: map[string]any{"id": r.ID, "trigger": r.Trigger, "enabled": r.Enabled}})
}
