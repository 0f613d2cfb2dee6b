package baseline

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// maxFindings bounds the accepted findings of a case: beyond that rules are to be left out.
const maxFindings = 2000

// Finding is a finding of accessibility that somebody accepted.
type Finding struct {
	Key        string    `db:"key"`
	StepID     string    `db:"step_id"`
	Rule       string    `db:"rule"`
	Impact     string    `db:"impact"`
	Element    string    `db:"element"`
	RunID      uuid.UUID `db:"run_id"`
	Accepter   uuid.UUID `db:"accepter_uuid"`
	AcceptedAt time.Time `db:"accepted_at"`
}

const findingColumns = `key, step_id, rule, impact, element, run_id, accepter_uuid, accepted_at`

const acceptFindings = `
insert into test_accepted_findings (case_id, key, organization_id, step_id, rule, impact, element, run_id, accepter_uuid)
select $1, f.key, $2, $3, f.rule, f.impact, f.element, $4, $5
from unnest($6::text[], $7::text[], $8::text[], $9::text[]) as f(key, rule, impact, element)
order by f.key
on conflict do nothing`

// AcceptFindings accepts findings of a step of a run: runs show them, and do not fail by them.
// It returns how many were not accepted before.
func AcceptFindings(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, runID uuid.UUID, stepID string,
	list []step.Finding) (int, error) {
	if _, err := authoring.LockCase(ctx, tx, w, caseID, "no key update"); err != nil {
		return 0, err
	}
	var has int
	if err := tx.GetContext(ctx, &has, `select count(*) from test_accepted_findings where case_id = $1`, caseID); err != nil {
		return 0, storage.Wrap(err, "count accepted findings")
	}
	if has+len(list) > maxFindings {
		return 0, storage.Invalid("findings", "a case has at most %d accepted findings: leave out rules by withoutRules", maxFindings)
	}
	var keys, rules, impacts, elements []string
	for i := range list {
		keys, rules = append(keys, list[i].Key), append(rules, list[i].Rule)
		impacts, elements = append(impacts, list[i].Impact), append(elements, list[i].Element)
	}
	n, err := storage.Affected(tx.ExecContext(ctx, acceptFindings, caseID, w.OrganizationID, stepID, runID, w.UserUUID,
		pq.Array(keys), pq.Array(rules), pq.Array(impacts), pq.Array(elements)))
	if err != nil || n == 0 {
		return 0, err
	}
	return int(n), account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestFindingsAccepted, Actor: w.Actor,
		Subject: "test case " + caseID, Detail: map[string]any{"step": stepID, "findings": n}})
}

// RemoveFinding takes back that a finding was accepted.
func RemoveFinding(ctx context.Context, tx *storage.Tx, w account.Writer, caseID, key string) error {
	if _, err := authoring.LockCase(ctx, tx, w, caseID, "no key update"); err != nil {
		return err
	}
	var rule string
	err := tx.GetContext(ctx, &rule, `delete from test_accepted_findings where case_id = $1 and key = $2 returning rule`,
		caseID, storage.WithoutNUL(key))
	if err != nil {
		return storage.Wrap(err, "accepted finding")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestFindingRemoved, Actor: w.Actor,
		Subject: "test case " + caseID, Detail: map[string]any{"rule": rule}})
}

// Findings returns a page of the accepted findings of a case, the newest first, and the number
// of all. The caller knows that the case is the organization's.
func Findings(ctx context.Context, q storage.Querier, caseID string, page storage.Page) ([]Finding, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from test_accepted_findings where case_id = $1`, caseID); err != nil {
		return nil, 0, storage.Wrap(err, "count accepted findings")
	}
	list := []Finding{}
	err := q.SelectContext(ctx, &list, `select `+findingColumns+` from test_accepted_findings where case_id = $1
		order by accepted_at desc, key limit $2 offset $3`, caseID, page.RowLimit(), page.RowOffset())
	return list, total, storage.Wrap(err, "list accepted findings")
}

// AcceptedKeys returns the keys of all accepted findings of a case.
func AcceptedKeys(ctx context.Context, q storage.Querier, caseID string) (map[string]bool, error) {
	var keys []string
	err := q.SelectContext(ctx, &keys, `select key from test_accepted_findings where case_id = $1 limit $2`, caseID, maxFindings)
	if err != nil {
		return nil, storage.Wrap(err, "accepted findings")
	}
	set := make(map[string]bool, len(keys))
	for _, key := range keys {
		set[key] = true
	}
	return set, nil
}
