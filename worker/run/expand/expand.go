// Package expand makes the list of all steps of a job: those of its suite and its case in
// their phases, with the steps of step groups in the place of those that run them.
//
// The groups are those of the run, as they were when it was made. A run of an old revision may
// name a group that was deleted before: such a job ends with the name of the group and plays
// nothing.
package expand

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// Refusal is why the steps of a job cannot be played. Text is for people.
type Refusal struct{ Code, Text string }

func (e *Refusal) Error() string { return e.Code + ": " + e.Text }

// Expand returns all steps of a job. A *Refusal says what is wrong with them; other errors are
// those of the database.
func Expand(ctx context.Context, q storage.Querier, w *run.Work) (*group.Plan, error) {
	var plan group.Plan
	for _, part := range parts(w) {
		err := plan.Add(part, w.Groups)
		var wrong *step.InvalidError
		var missing *group.MissingError
		switch {
		case errors.As(err, &missing):
			name, err := stepgroup.Name(ctx, q, w.Run.OrganizationID, missing.ID)
			if err != nil {
				return nil, err
			}
			return nil, gone(missing, name)
		case errors.As(err, &wrong):
			return nil, &Refusal{run.CodeGroup, fmt.Sprintf("the steps cannot be played: %s%s %s", listOf(part), wrong.Path, wrong.Msg)}
		case err != nil:
			return nil, err
		}
	}
	return &plan, nil
}

// parts are the lists of a job in the order in which they are executed. Their prefixes are
// no part of an id.
func parts(w *run.Work) (list []group.Part) {
	for _, p := range []group.Part{
		{Phase: step.SetUp, Prefix: "suite:setUp:", Steps: w.Suite.SetUp},
		{Phase: step.SetUp, Prefix: step.SetUp + ":", Steps: w.SetUp},
		{Steps: w.Steps},
		{Phase: step.TearDown, Prefix: step.TearDown + ":", Steps: w.TearDown},
		{Phase: step.TearDown, Prefix: "suite:tearDown:", Steps: w.Suite.TearDown},
	} {
		if len(p.Steps) > 0 {
			list = append(list, p)
		}
	}
	return list
}

func listOf(p group.Part) string {
	if p.Phase == "" {
		return "steps"
	}
	return p.Phase
}

// gone says which group is missing.
func gone(missing *group.MissingError, name string) *Refusal {
	if name == "" {
		return &Refusal{run.CodeNoGroup, "there is no step group " + missing.ID + ", which the test runs"}
	}
	return &Refusal{run.CodeNoGroup, fmt.Sprintf("the step group %q (%s), which the test runs, was deleted", name, missing.ID)}
}
