package schedule

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/storage/cron"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// scheduleView is a test schedule.
type scheduleView struct {
	ID                   uuid.UUID            `json:"id"`
	OrgID                uuid.UUID            `json:"orgId"`
	TeamID               uuid.UUID            `json:"teamId"`
	Name                 string               `json:"name"`
	CreationDate         string               `json:"creationDate"`
	LastUpdateDate       string               `json:"lastUpdateDate"`
	CreatorUserID        uuid.UUID            `json:"creatorUserId"`
	CreatorUserName      string               `json:"creatorUserName"`
	LastModifierUserID   uuid.UUID            `json:"lastModifierUserId"`
	LastModifierUserName string               `json:"lastModifierUserName"`
	TestSuiteIDs         []uuid.UUID          `json:"testSuiteIds"`
	Settings             scheduleSettingsView `json:"settings"`
	State                scheduleStateView    `json:"state"`
	// CronDescription says in words when the schedule fires; not without settings.
	CronDescription string `json:"cronDescription,omitempty"`
	// NextRunDates are the next times at which it fires, of which nextRunDate is the
	// first; in a list that one alone.
	NextRunDates []string `json:"nextRunDates"`
}

// scheduleSettingsView is {} for a schedule without settings. Those that are
// optional are there only when they are set.
type scheduleSettingsView struct {
	Cron          string     `json:"cron,omitempty"`
	Timezone      string     `json:"timezone,omitempty"`
	RunningUserID *uuid.UUID `json:"runningUserId,omitempty"`
	StartDate     string     `json:"startDate,omitempty"`
	EndDate       string     `json:"endDate,omitempty"`
	MaxRuns       *int       `json:"maxRuns,omitempty"`
	SCTunnelName  string     `json:"scTunnelName,omitempty"`
	Environment   string     `json:"environment,omitempty"`
	BuildName     string     `json:"buildName,omitempty"`
}

// scheduleStateView is what a schedule does: lastRunDate is there after a run,
// nextRunDate while it is enabled, remainingRuns while it is and has maxRuns.
type scheduleStateView struct {
	StateName     schedule.State `json:"stateName"`
	RunCount      int            `json:"runCount"`
	LastRunDate   string         `json:"lastRunDate,omitempty"`
	NextRunDate   string         `json:"nextRunDate,omitempty"`
	RemainingRuns *int           `json:"remainingRuns,omitempty"`
	LastRunError  string         `json:"lastRunError,omitempty"`
}

// shownTimes is how many of the next times are shown of one schedule: enough to see the pattern.
const shownTimes = 5

// viewSchedule is one schedule, with its next times.
func viewSchedule(row *schedule.Schedule) scheduleView {
	view := viewListedSchedule(row)
	view.NextRunDates = []string{}
	for _, at := range row.Upcoming(shownTimes) {
		view.NextRunDates = append(view.NextRunDates, answer.Stamp(at))
	}
	return view
}

// viewListedSchedule is a schedule of a list. Its next time is the one that is stored: each further
// one takes a search of the calendar, which may go five years far.
func viewListedSchedule(row *schedule.Schedule) scheduleView {
	view := scheduleView{ID: row.ID, OrgID: row.OrganizationUUID, TeamID: row.TeamUUID, Name: row.Name,
		CreationDate: answer.Stamp(row.CreatedAt), LastUpdateDate: answer.Stamp(row.UpdatedAt), CreatorUserID: row.CreatorUUID,
		CreatorUserName: row.CreatorName, LastModifierUserID: row.ModifierUUID, LastModifierUserName: row.ModifierName,
		TestSuiteIDs: row.SuiteIDs, Settings: viewScheduleSettings(row.Settings),
		State: scheduleStateView{StateName: row.State, RunCount: row.RunCount, LastRunDate: answer.StampOnce(row.LastRunAt),
			NextRunDate: answer.StampOnce(row.NextRunAt), RemainingRuns: row.Remaining(), LastRunError: row.LastError}}
	if view.TestSuiteIDs == nil {
		view.TestSuiteIDs = []uuid.UUID{}
	}
	view.NextRunDates = []string{}
	if row.NextRunAt != nil {
		view.NextRunDates = append(view.NextRunDates, answer.Stamp(*row.NextRunAt))
	}
	if row.Settings == nil {
		return view
	}
	// The store has parsed it before it was kept.
	if expression, err := cron.Parse(row.Settings.Cron); err == nil {
		view.CronDescription = expression.Describe()
	}
	return view
}

func viewScheduleSettings(s *schedule.Settings) scheduleSettingsView {
	if s == nil {
		return scheduleSettingsView{}
	}
	return scheduleSettingsView{Cron: s.Cron, Timezone: s.Timezone, RunningUserID: &s.RunningUser, StartDate: answer.StampOnce(s.StartAt),
		EndDate: answer.StampOnce(s.EndAt), MaxRuns: s.MaxRuns, SCTunnelName: s.Tunnel, BuildName: s.BuildName, Environment: s.Environment}
}
