package suiteplan

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// NewPlan is the plan of a suite run to make.
type NewPlan struct {
	OrganizationID      int64
	SuiteID, SuiteRunID uuid.UUID
	// Targets: the run has some, so that a case needs none of its own.
	Targets bool
	// Shard is the part of the cases that can be run; nil for all cases.
	Shard *Shard
}

// Make writes the plan of a suite run, whose suite is locked. It returns the cases in it, and how
// many of them can be run. *InvalidError for too many cases.
func Make(ctx context.Context, tx *storage.Tx, n NewPlan) (cases []string, runnable int, err error) {
	settings, err := read(ctx, tx, n.SuiteID)
	if err != nil {
		return nil, 0, err
	}
	found, err := membersOf(ctx, tx, n.OrganizationID, n.SuiteID, n.Targets)
	if err != nil {
		return nil, 0, err
	}
	for _, k := range found {
		if k.Runnable {
			runnable++
		}
		if k.Runnable || n.Shard == nil {
			cases = append(cases, k.ID)
		}
	}
	if n.Shard != nil {
		if cases, err = part(ctx, tx, n, cases, settings.DependsOn); err != nil {
			return nil, 0, err
		}
		runnable = len(cases)
	}
	return cases, runnable, insert(ctx, tx, n.SuiteRunID, order(cases, settings.Order, settings.DependsOn))
}

const insertPlan = `
with plan as (
	insert into suite_run_cases (suite_run_id, place, case_id, needs, needed)
	select $1, p.place, p.case_id, p.needs::text[], p.needed
	from unnest($2::text[], $3::text[], $4::boolean[]) with ordinality as p(case_id, needs, needed, place)
)
update suite_runs set planned = true where id = $1`

func insert(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, plan []Planned) error {
	cases, needs, needed := make([]string, len(plan)), make([]string, len(plan)), make([]bool, len(plan))
	for i, one := range plan {
		text, err := pq.Array(one.Needs).Value()
		if err != nil {
			return storage.Wrap(err, "needs of test case "+one.CaseID)
		}
		cases[i], needs[i], needed[i] = one.CaseID, text.(string), one.Needed
	}
	_, err := tx.ExecContext(ctx, insertPlan, suiteRunID, pq.Array(cases), pq.Array(needs), pq.Array(needed))
	return storage.Wrap(err, "plan of suite run "+suiteRunID.String())
}

const take = `
delete from suite_run_cases where suite_run_id = $1 and place < $2::int + (
	select coalesce(min(place), 0) from suite_run_cases where suite_run_id = $1)
returning place, case_id, needs, needed`

type planRow struct {
	Place  int            `db:"place"`
	CaseID string         `db:"case_id"`
	Needs  pq.StringArray `db:"needs"`
	Needed bool           `db:"needed"`
}

// Take returns the next cases of a plan, at most limit of them, in their order, and takes them out
// of it. None are left when it returns fewer. The suite run is locked.
func Take(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, limit int) ([]Planned, error) {
	var rows []planRow
	if err := tx.SelectContext(ctx, &rows, take, suiteRunID, limit); err != nil {
		return nil, storage.Wrap(err, "next cases of suite run "+suiteRunID.String())
	}
	plan := make([]Planned, len(rows))
	slices.SortFunc(rows, func(a, b planRow) int { return cmp.Compare(a.Place, b.Place) })
	for i, row := range rows {
		plan[i] = Planned{CaseID: row.CaseID, Needs: row.Needs, Needed: row.Needed}
	}
	return plan, nil
}
