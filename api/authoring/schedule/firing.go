package schedule

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/testrun"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/tasks"
)

// firingView is what became of a time at which a schedule was due, or of a run by
// hand. A record of times that were missed says how many, and the last of them.
type firingView struct {
	ID              uuid.UUID              `json:"id"`
	ScheduleID      uuid.UUID              `json:"scheduleId"`
	FireDate        string                 `json:"fireDate"`
	Trigger         schedule.FiringTrigger `json:"trigger"`
	Outcome         schedule.FiringOutcome `json:"outcome"`
	Reason          string                 `json:"reason,omitempty"`
	MissedCount     int                    `json:"missedCount,omitempty"`
	MissedUntilDate string                 `json:"missedUntilDate,omitempty"`
	UserID          uuid.UUID              `json:"userId"`
	CreationDate    string                 `json:"creationDate"`
	SuiteRuns       []testrun.SuiteRunView `json:"suiteRuns"`
}

func viewFiring(f *schedule.Firing) firingView {
	view := firingView{ID: f.ID, ScheduleID: f.ScheduleID, FireDate: answer.Stamp(f.At), Trigger: f.Trigger, Outcome: f.Outcome,
		Reason: f.Reason, MissedCount: f.Missed, MissedUntilDate: answer.StampOnce(f.MissedUntil), UserID: f.User,
		CreationDate: answer.Stamp(f.CreatedAt), SuiteRuns: make([]testrun.SuiteRunView, 0, len(f.SuiteRuns))}
	for i := range f.SuiteRuns {
		view.SuiteRuns = append(view.SuiteRuns, testrun.ViewSuiteRun(&f.SuiteRuns[i]))
	}
	return view
}

// Start serves POST /test-schedules/{id}/run with the firing: the suites are run now,
// by tasks, whatever the state.
func (h Schedules) Start(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var firing *schedule.Firing
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		var started []schedule.StartedRun
		if firing, started, err = schedule.FireNow(ctx, tx, w, id, respond.RequestID(ctx), h.Quotas); err != nil {
			return err
		}
		var list []*ledger.NewTask
		for _, run := range started {
			list = append(list, tasks.NewSuiteRun(run.OrganizationID, respond.RequestID(ctx), run.ID))
		}
		return h.Queue.Insert(ctx, tx, list...)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewFiring(firing))
}

// Firings serves GET /test-schedules/{id}/runs, the history, latest first.
// Parameters: startDate, endDate (when it was due), skip, limit.
func (h Schedules) Firings(c *gin.Context) error {
	q := request.QueryOf(c)
	f := schedule.FiringFilter{OrganizationID: auth.Organization(c), Page: q.Page()}
	f.From, f.To = q.Dates()
	if q.Err != nil {
		return q.Err
	}
	var err error
	if f.ScheduleID, err = request.UUIDParam(c, "id"); err != nil {
		return err
	}
	if _, err := schedule.ByID(c.Request.Context(), h.DB, f.OrganizationID, f.ScheduleID); err != nil {
		return err
	}
	rows, total, err := schedule.Firings(c.Request.Context(), h.DB, f)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, viewFiring))
}
