package authoring

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// planned is what a change made of which cases a suite runs and how.
type planned struct {
	settings bool // these are others
	moved         // cases that are shared with the suite, and are not any more
	changed  bool
}

// plan changes which cases the suite runs besides its own, and how. The suite is new or locked.
// *MissingError, ErrForbidden and *InvalidError.
func (c *SuiteChange) plan(ctx context.Context, tx *storage.Tx, w account.Writer, team int64, id uuid.UUID) (p planned, err error) {
	if f := c.Plan.Filter; f != nil {
		if f.AllTeams && !w.AllTeams {
			return p, ErrForbidden
		}
		clean := suiteplan.Filter{AllTeams: f.AllTeams}
		if clean.Tags, err = CleanTags(f.Tags); err != nil {
			return p, err
		}
		if clean.NotTags, err = CleanTags(f.NotTags); err != nil {
			return p, err
		}
		c.Plan.Filter = &clean
	}
	if p.settings, err = suiteplan.Write(ctx, tx, w.OrganizationID, id, c.Plan); err != nil {
		return p, err
	}
	if p.moved, err = c.share(ctx, tx, w, id); err != nil {
		return p, err
	}
	p.changed = p.settings || p.in+p.out > 0
	if !p.changed && len(c.in()) == 0 {
		return p, nil
	}
	return p, checkFilter(ctx, tx, id)
}

const filterWithCases = `
select s.filter_tags is not null and (exists (select from test_cases k where k.suite_id = s.id)
	or exists (select from test_suite_cases m where m.suite_id = s.id)) from test_suites s where s.id = $1`

// checkFilter refuses a suite that is a filter and has cases.
func checkFilter(ctx context.Context, tx *storage.Tx, id uuid.UUID) error {
	var both bool
	if err := tx.GetContext(ctx, &both, filterWithCases, id); err != nil {
		return storage.Wrap(err, "filter of test suite "+id.String())
	}
	if both {
		return storage.Invalid("filter", "stands in place of test cases: a suite has one or the other")
	}
	return nil
}

const (
	sharedOf  = `select case_id from test_suite_cases where suite_id = $1 order by case_id`
	casesByID = `select id, team_id, suite_id, name from test_cases where organization_id = $1 and id = any($2::text[])
		order by id for key share`
	insertShare = `insert into test_suite_cases (suite_id, case_id) select $1, unnest($2::text[]) on conflict do nothing`
	deleteShare = `delete from test_suite_cases where suite_id = $1 and case_id = any($2::text[])`
)

// share changes the cases that the suite runs besides its own. A case whose suite it is may be
// among them: it goes on being run when it moves to another one.
func (c *SuiteChange) share(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (m moved, err error) {
	if c.Shared == nil && len(c.AddShared)+len(c.RemoveShared) == 0 {
		return m, nil
	}
	if c.Shared != nil && len(c.AddShared)+len(c.RemoveShared) > 0 {
		return m, storage.Invalid("sharedTestCases", "replaces all of them: addSharedTestCases and removeSharedTestCases cannot be given as well")
	}
	var now []string
	if err := tx.SelectContext(ctx, &now, sharedOf, id); err != nil {
		return m, storage.Wrap(err, "shared cases of test suite "+id.String())
	}
	is, wanted := setOf(now), setOf(now)
	if c.Shared != nil {
		wanted = setOf(*c.Shared)
	}
	for _, one := range c.AddShared {
		wanted[one] = true
	}
	for _, one := range c.RemoveShared {
		delete(wanted, one)
	}
	if len(wanted) > suiteplan.MaxShared {
		return m, storage.Invalid("sharedTestCases", "must be at most %d", suiteplan.MaxShared)
	}
	var in, out []string
	for one := range wanted {
		if !is[one] {
			in = append(in, one)
		}
	}
	for _, one := range now {
		if !wanted[one] {
			out = append(out, one)
		}
	}
	if err := checkShared(ctx, tx, w, in); err != nil {
		return m, err
	}
	if len(in) > 0 {
		if _, err := tx.ExecContext(ctx, insertShare, id, pq.Array(in)); err != nil {
			return m, storage.Wrap(err, "share test cases")
		}
	}
	if len(out) > 0 {
		if _, err := tx.ExecContext(ctx, deleteShare, id, pq.Array(out)); err != nil {
			return m, storage.Wrap(err, "stop sharing test cases")
		}
	}
	return moved{len(in), len(out)}, nil
}

// checkShared keeps cases that a suite is to run from being deleted. Who shares a case lets others
// run it, with the variables of its team: that is the right of who may change it.
func checkShared(ctx context.Context, tx *storage.Tx, w account.Writer, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var found []LockedCase
	if err := tx.SelectContext(ctx, &found, casesByID, w.OrganizationID, pq.Array(ids)); err != nil {
		return storage.Wrap(err, "lock test cases")
	}
	if missing := missingOf(ids, found); len(missing) > 0 {
		return &MissingError{IDs: missing}
	}
	for _, k := range found {
		if !w.May(k.TeamID) {
			return ErrForbidden
		}
	}
	return nil
}
