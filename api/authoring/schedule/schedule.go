// Package schedule serves test schedules, which run suites by the clock, and their firings.
//
// What settings mean is checked by the store, and a suite, user, tunnel or environment that is not
// there is a 400 with its own code. An answer has the next times at which the schedule fires: five
// of one schedule, and the stored one of each in a list, as a search of the calendar is long. A run
// by hand is a firing too, whatever the state.
package schedule

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// Schedules are the handlers of what runs suites by the clock.
type Schedules struct{ *handler.Base }

// List serves GET /test-schedules, newest first. Parameters: ids (array), search
// (part of the name), startDate, endDate (creation), userId (creator), teamId,
// testSuiteIds (array; schedules with any of them), skip, limit.
func (h Schedules) List(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) schedule.Filter {
		f := schedule.Filter{OrganizationID: auth.Organization(c), IDs: q.UUIDs("ids"), Search: q.Search(),
			User: q.UUID("userId"), Team: q.UUID("teamId"), Suites: q.UUIDs("testSuiteIds"), Page: q.Page()}
		f.From, f.To = q.Dates()
		return f
	}, schedule.List, viewListedSchedule)
}

// Get serves GET /test-schedules/{id}.
func (h Schedules) Get(c *gin.Context) error {
	row, err := handler.Item(h.Base, c, schedule.ByID)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewSchedule(row))
}

// Create serves POST /test-schedules. Members, all optional: name, settings,
// testSuiteIds, stateName, teamId.
func (h Schedules) Create(c *gin.Context) error {
	var in scheduleBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	n, err := in.create()
	if err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*schedule.Schedule, error) {
		return schedule.Create(ctx, tx, w, n)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusCreated, viewSchedule(row))
}

// Update serves POST /test-schedules/{id}; only members that are sent are changed:
// name, settings (of which again only the members that are sent; null removes),
// testSuiteIds, stateName.
func (h Schedules) Update(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var in scheduleBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	change, err := in.change()
	if err != nil {
		return err
	}
	return h.apply(c, id, change, in.TeamID)
}

// Enable serves POST /test-schedules/{id}/enable.
func (h Schedules) Enable(c *gin.Context) error { return h.setState(c, schedule.Enabled) }

// Disable serves POST /test-schedules/{id}/disable.
func (h Schedules) Disable(c *gin.Context) error { return h.setState(c, schedule.Disabled) }

func (h Schedules) setState(c *gin.Context, state schedule.State) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	return h.apply(c, id, schedule.Change{State: &state}, nil)
}

// apply changes a schedule of the team and writes it as it is then; nil is any team.
func (h Schedules) apply(c *gin.Context, id uuid.UUID, change schedule.Change, team *string) error {
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*schedule.Schedule, error) {
		row, err := schedule.Update(ctx, tx, w, id, change)
		if err != nil {
			return nil, err
		}
		return row, request.Unchanged("teamId", team, &row.TeamUUID)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewSchedule(row))
}

// Delete serves DELETE /test-schedules/{id}. The runs that it has started go on.
func (h Schedules) Delete(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return schedule.Delete(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
