package schedule

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// eachOnce drops repetitions of suites and bounds their number.
func eachOnce(ids []uuid.UUID) ([]uuid.UUID, error) {
	out, seen := []uuid.UUID{}, make(map[uuid.UUID]bool, min(len(ids), MaxSuites))
	for _, id := range ids {
		if seen[id] {
			continue
		}
		if len(out) == MaxSuites {
			return nil, storage.Invalid("testSuiteIds", "must have at most %d elements", MaxSuites)
		}
		seen[id] = true
		out = append(out, id)
	}
	return out, nil
}

// lockSuitesToKeep comes after the lock of the schedule (see the package's comment).
const lockSuitesToKeep = `
select id, team_id from test_suites where organization_id = $1 and id = any($2::uuid[])
order by id for key share`

// lockedSuites are the teams of suites that cannot be deleted until the transaction
// ends.
type lockedSuites map[uuid.UUID]int64

func lockSuitesByID(ctx context.Context, tx *storage.Tx, organizationID int64, ids []uuid.UUID) (lockedSuites, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var found []struct {
		ID     uuid.UUID `db:"id"`
		TeamID int64     `db:"team_id"`
	}
	if err := tx.SelectContext(ctx, &found, lockSuitesToKeep, organizationID, storage.UUIDs(ids)); err != nil {
		return nil, storage.Wrap(err, "lock test suites")
	}
	locked := make(lockedSuites, len(found))
	for _, s := range found {
		locked[s.ID] = s.TeamID
	}
	return locked, nil
}

// check refuses suites that do not exist, and those of teams that are not the
// writer's; suites that a schedule has already may stay in it.
func (k lockedSuites) check(w account.Writer, ids, already []uuid.UUID) error {
	var missing, foreign []uuid.UUID
	for _, id := range ids {
		switch team, ok := k[id]; {
		case !ok:
			missing = append(missing, id)
		case !w.May(team) && !slices.Contains(already, id):
			foreign = append(foreign, id)
		}
	}
	switch {
	case len(missing) > 0:
		return &MissingSuitesError{IDs: missing}
	case len(foreign) > 0:
		return &ForeignSuitesError{IDs: foreign}
	}
	return nil
}

const suitesOfSchedule = `
select suite_id, position from test_schedule_suites where schedule_id = $1 order by suite_id`

type scheduleSuite struct {
	ID       uuid.UUID `db:"suite_id"`
	Position int       `db:"position"`
}

// suitesOf returns the suites of a schedule, which is locked. To change them they are
// locked too, in the order of the suites: a suite that is deleted at the same time
// takes its rows out of many schedules.
func suitesOf(ctx context.Context, tx *storage.Tx, schedule uuid.UUID, toChange bool) ([]uuid.UUID, error) {
	query := suitesOfSchedule
	if toChange {
		query += ` for update`
	}
	var found []scheduleSuite
	if err := tx.SelectContext(ctx, &found, query, schedule); err != nil {
		return nil, storage.Wrap(err, "test suites of a schedule")
	}
	slices.SortFunc(found, func(a, b scheduleSuite) int { return cmp.Compare(a.Position, b.Position) })
	ids := make([]uuid.UUID, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	return ids, nil
}

const (
	emptySchedule = `delete from test_schedule_suites where schedule_id = $1`
	fillSchedule  = `
insert into test_schedule_suites (schedule_id, suite_id, position)
select $1, s.id, s.position - 1 from unnest($2::uuid[]) with ordinality as s(id, position)`
)

// replaceSuites replaces the suites of a locked schedule; the new ones are locked.
func replaceSuites(ctx context.Context, tx *storage.Tx, schedule uuid.UUID, ids []uuid.UUID) error {
	if _, err := tx.ExecContext(ctx, emptySchedule, schedule); err != nil {
		return storage.Wrap(err, "take test suites out of a schedule")
	}
	return addSuites(ctx, tx, schedule, ids)
}

func addSuites(ctx context.Context, tx *storage.Tx, schedule uuid.UUID, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, fillSchedule, schedule, storage.UUIDs(ids))
	return storage.Wrap(err, "put test suites into a schedule")
}
