package authoring

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// schedules are the handlers of what runs suites by the clock.
type schedules struct{ *room }

// list serves GET /test-schedules, newest first. Parameters: ids (array), search
// (part of the name), startDate, endDate (creation), userId (creator), teamId,
// testSuiteIds (array; schedules with any of them), skip, limit.
func (h schedules) list(c *gin.Context) error {
	q := queryOf(c)
	f := schedule.Filter{OrganizationID: auth.Organization(c), IDs: q.uuids("ids"), Search: q.search(),
		User: q.uuid("userId"), Team: q.uuid("teamId"), Suites: q.uuids("testSuiteIds"), Page: q.page()}
	f.From, f.To = q.dates()
	if q.err != nil {
		return q.err
	}
	rows, total, err := schedule.List(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewListedSchedule))
}

// get serves GET /test-schedules/{id}.
func (h schedules) get(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	row, err := schedule.ByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, viewSchedule(row))
}

// create serves POST /test-schedules. Members, all optional: name, settings,
// testSuiteIds, stateName, teamId.
func (h schedules) create(c *gin.Context) error {
	var in scheduleBody
	if err := read(c, &in); err != nil {
		return err
	}
	n, err := in.create()
	if err != nil {
		return err
	}
	var row *schedule.Schedule
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = schedule.Create(ctx, tx, w, n)
		return err
	})
	if err != nil {
		return err
	}
	return data(c, http.StatusCreated, viewSchedule(row))
}

// update serves POST /test-schedules/{id}; only members that are sent are changed:
// name, settings (of which again only the members that are sent; null removes),
// testSuiteIds, stateName.
func (h schedules) update(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	var in scheduleBody
	if err := read(c, &in); err != nil {
		return err
	}
	change, err := in.change()
	if err != nil {
		return err
	}
	return h.apply(c, id, change, in.TeamID)
}

// enable serves POST /test-schedules/{id}/enable.
func (h schedules) enable(c *gin.Context) error { return h.setState(c, schedule.Enabled) }

// disable serves POST /test-schedules/{id}/disable.
func (h schedules) disable(c *gin.Context) error { return h.setState(c, schedule.Disabled) }

func (h schedules) setState(c *gin.Context, state schedule.State) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	return h.apply(c, id, schedule.Change{State: &state}, nil)
}

// apply changes a schedule of the team and writes it as it is then; nil is any team.
func (h schedules) apply(c *gin.Context, id uuid.UUID, change schedule.Change, team *string) error {
	var row *schedule.Schedule
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if row, err = schedule.Update(ctx, tx, w, id, change); err != nil {
			return err
		}
		return unchanged("teamId", team, &row.TeamUUID)
	})
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, viewSchedule(row))
}

// delete serves DELETE /test-schedules/{id}. The runs that it has started go on.
func (h schedules) delete(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return schedule.Delete(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
