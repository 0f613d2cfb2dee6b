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
	SuiteRuns       []suiteRunView         `json:"suiteRuns"`
}

func viewFiring(f *schedule.Firing) firingView {
	view := firingView{ID: f.ID, ScheduleID: f.ScheduleID, FireDate: stamp(f.At), Trigger: f.Trigger, Outcome: f.Outcome,
		Reason: f.Reason, MissedCount: f.Missed, MissedUntilDate: stampOnce(f.MissedUntil), UserID: f.User,
		CreationDate: stamp(f.CreatedAt), SuiteRuns: make([]suiteRunView, 0, len(f.SuiteRuns))}
	for i := range f.SuiteRuns {
		view.SuiteRuns = append(view.SuiteRuns, viewSuiteRun(&f.SuiteRuns[i]))
	}
	return view
}

// start serves POST /test-schedules/{id}/run with the firing: the suites are run now,
// by tasks, whatever the state.
func (h schedules) start(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	var firing *schedule.Firing
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		var started []schedule.StartedRun
		if firing, started, err = schedule.FireNow(ctx, tx, w, id, respond.RequestID(ctx), h.cfg.Quotas); err != nil {
			return err
		}
		var list []*ledger.NewTask
		for _, run := range started {
			list = append(list, tasks.NewSuiteRun(run.OrganizationID, respond.RequestID(ctx), run.ID))
		}
		return h.cfg.Queue.Insert(ctx, tx, list...)
	})
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, viewFiring(firing))
}

// firings serves GET /test-schedules/{id}/runs, the history, latest first.
// Parameters: startDate, endDate (when it was due), skip, limit.
func (h schedules) firings(c *gin.Context) error {
	q := queryOf(c)
	f := schedule.FiringFilter{OrganizationID: auth.Organization(c), Page: q.page()}
	f.From, f.To = q.dates()
	if q.err != nil {
		return q.err
	}
	var err error
	if f.ScheduleID, err = uuidParam(c, "id"); err != nil {
		return err
	}
	if _, err := schedule.ByID(c.Request.Context(), h.cfg.DB, f.OrganizationID, f.ScheduleID); err != nil {
		return err
	}
	rows, total, err := schedule.Firings(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewFiring))
}
