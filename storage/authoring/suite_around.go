package authoring

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// Around are the steps of a suite that are executed around those of each of its cases. The
// lists are nil where there are none.
type Around struct {
	SetUp    []step.Step // before the case's own setUp
	TearDown []step.Step // after the case's own tearDown, whatever came before
}

// aroundDocs are the lists as they are stored; null for none.
type aroundDocs struct {
	SetUp    *string `db:"set_up"`
	TearDown *string `db:"tear_down"`
}

func (d *aroundDocs) around(suite uuid.UUID) (a Around, err error) {
	for _, part := range []struct {
		doc   *string
		steps *[]step.Step
	}{{d.SetUp, &a.SetUp}, {d.TearDown, &a.TearDown}} {
		if part.doc == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*part.doc), part.steps); err != nil {
			return a, fmt.Errorf("steps around the cases of suite %s: %w", suite, err)
		}
	}
	return a, nil
}

// setAround stores what is done before and after the tests of a suite. The suite's uses of
// step groups are those of these lists.
const setAround = `
with gone as (
	delete from step_group_uses where suite_id = $1 and not group_id = any($4::uuid[])
), added as (
	insert into step_group_uses (group_id, suite_id) select id, $1 from unnest($4::uuid[]) as id
	on conflict do nothing
)
update test_suites set set_up = $2, tear_down = $3 where id = $1`

// changeAround replaces those lists of a suite that are given, keeps what is known of their
// steps, and reports whether that changes anything. The suite is new or locked. Step groups
// that cannot be run are an InvalidError.
func changeAround(ctx context.Context, tx *storage.Tx, organizationID int64, id uuid.UUID, setUp,
	tearDown *[]step.Step) (changed bool, err error) {
	if setUp == nil && tearDown == nil {
		return false, nil
	}
	var docs aroundDocs
	if err := tx.GetContext(ctx, &docs, `select set_up, tear_down from test_suites where id = $1`, id); err != nil {
		return false, storage.Wrap(err, "steps around the cases of a suite")
	}
	before, err := docs.around(id)
	if err != nil {
		return false, err
	}
	next := before
	for _, part := range []struct {
		given *[]step.Step
		steps *[]step.Step
	}{{setUp, &next.SetUp}, {tearDown, &next.TearDown}} {
		if part.given == nil {
			continue
		}
		steps, err := copySteps(*part.given)
		if err != nil {
			return false, err
		}
		step.KeepRecorded(*part.steps, steps)
		*part.steps = steps
	}
	groups, err := stepgroup.Hold(ctx, tx, organizationID, stepgroup.Part{Path: step.SetUp, Steps: next.SetUp},
		stepgroup.Part{Path: step.TearDown, Steps: next.TearDown})
	if err != nil {
		return false, err
	}
	setUpDoc, err := optionalSteps(step.SetUp, next.SetUp)
	if err != nil {
		return false, err
	}
	tearDownDoc, err := optionalSteps(step.TearDown, next.TearDown)
	if err != nil {
		return false, err
	}
	if step.SameJSON(next, before) {
		return false, nil
	}
	_, err = tx.ExecContext(ctx, setAround, id, setUpDoc, tearDownDoc, storage.UUIDs(groups))
	return true, storage.Wrap(err, "write the steps around the cases of a suite")
}
