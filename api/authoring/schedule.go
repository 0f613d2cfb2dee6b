package authoring

import (
	"context"
	"net/http"

	"github.com/slipway-qa/slipway/storage/schedule"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Schedules answers GET /test-schedules, newest first. Parameters: ids (array),
// search (part of the name), startDate, endDate (creation), userId (creator),
// teamId, testSuiteIds (array; schedules with any of them), skip, limit.
func (h *Handlers) Schedules(c *gin.Context) {
	q := queryOf(c)
	f := schedule.ScheduleFilter{OrganizationID: organization(c), IDs: q.uuids("ids"), Search: q.search(),
		User: q.uuid("userId"), Team: q.uuid("teamId"), Suites: q.uuids("testSuiteIds"), Page: q.page()}
	f.From, f.To = q.dates()
	if q.err != nil {
		fail(c, q.err, testSchedule)
		return
	}
	rows, total, err := schedule.Schedules(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		fail(c, err, testSchedule)
		return
	}
	data(c, http.StatusOK, listOf(rows, total, viewSchedule))
}

// Schedule answers GET /test-schedules/{id}.
func (h *Handlers) Schedule(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var row *schedule.Schedule
	if err == nil {
		row, err = schedule.ScheduleByID(c.Request.Context(), h.cfg.DB, organization(c), id)
	}
	if err != nil {
		fail(c, err, testSchedule)
		return
	}
	data(c, http.StatusOK, viewDescribed(row))
}

// CreateSchedule answers POST /test-schedules. Members, all optional: name,
// settings, testSuiteIds, stateName, teamId.
func (h *Handlers) CreateSchedule(c *gin.Context) {
	var in scheduleBody
	err := read(c, &in)
	var n schedule.NewSchedule
	if err == nil {
		n, err = in.create()
	}
	var row *schedule.Schedule
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = schedule.CreateSchedule(ctx, tx, w, n)
			return err
		})
	}
	if err != nil {
		fail(c, err, testSchedule)
		return
	}
	data(c, http.StatusCreated, viewDescribed(row))
}

// UpdateSchedule answers POST /test-schedules/{id}; only members that are sent are
// changed: name, settings (of which again only the members that are sent; null
// removes), testSuiteIds, stateName.
func (h *Handlers) UpdateSchedule(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var in scheduleBody
	if err == nil {
		err = read(c, &in)
	}
	var change schedule.ScheduleChange
	if err == nil {
		change, err = in.change()
	}
	h.updateSchedule(c, id, change, err)
}

// EnableSchedule answers POST /test-schedules/{id}/enable. A body says nothing.
func (h *Handlers) EnableSchedule(c *gin.Context) { h.turn(c, schedule.ScheduleEnabled) }

// DisableSchedule answers POST /test-schedules/{id}/disable.
func (h *Handlers) DisableSchedule(c *gin.Context) { h.turn(c, schedule.ScheduleDisabled) }

func (h *Handlers) turn(c *gin.Context, state schedule.ScheduleState) {
	id, err := uuidParam(c, "id")
	h.updateSchedule(c, id, schedule.ScheduleChange{State: &state}, err)
}

// updateSchedule changes a schedule, unless the request was wrong, and answers it.
func (h *Handlers) updateSchedule(c *gin.Context, id uuid.UUID, change schedule.ScheduleChange, err error) {
	var row *schedule.Schedule
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
			row, err = schedule.UpdateSchedule(ctx, tx, w, id, change)
			return err
		})
	}
	if err != nil {
		fail(c, err, testSchedule)
		return
	}
	data(c, http.StatusOK, viewDescribed(row))
}

// DeleteSchedule answers DELETE /test-schedules/{id}. What it has started runs on.
func (h *Handlers) DeleteSchedule(c *gin.Context) {
	id, err := uuidParam(c, "id")
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			return schedule.DeleteSchedule(ctx, tx, w, id)
		})
	}
	if err != nil {
		fail(c, err, testSchedule)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
