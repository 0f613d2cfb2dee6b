package tests

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
)

// schedule runs suites by the clock.
type schedule struct {
	ID              string   `json:"id"`
	Name            string   `json:"name"`
	CreationDate    string   `json:"creationDate"`
	LastUpdateDate  string   `json:"lastUpdateDate"`
	CreatorUserName string   `json:"creatorUserName"`
	TestSuiteIDs    []string `json:"testSuiteIds"`
	CronDescription string   `json:"cronDescription"`
	NextRunDates    []string `json:"nextRunDates"`
	Settings        struct {
		Cron          string `json:"cron"`
		Timezone      string `json:"timezone"`
		RunningUserID string `json:"runningUserId"`
		StartDate     string `json:"startDate"`
		EndDate       string `json:"endDate"`
		MaxRuns       *int   `json:"maxRuns"`
		SCTunnelName  string `json:"scTunnelName"`
		BuildName     string `json:"buildName"`
		Environment   string `json:"environment"`
	} `json:"settings"`
	State struct {
		StateName     string `json:"stateName"`
		RunCount      int    `json:"runCount"`
		LastRunDate   string `json:"lastRunDate"`
		NextRunDate   string `json:"nextRunDate"`
		RemainingRuns *int   `json:"remainingRuns"`
		LastRunError  string `json:"lastRunError"`
	} `json:"state"`
}

// Enabled reports whether the clock starts the schedule.
func (s *schedule) Enabled() bool {
	return s.State.StateName == "ENABLED" || s.State.StateName == "RUNNING"
}

// scheduleForm is the form of a schedule, with what was typed.
type scheduleForm struct {
	Name, Cron, Timezone, RunningUser, Start, End, MaxRuns, Tunnel, Build, Environment string
	Chosen                                                                             map[string]bool // suites
	Suites                                                                             []named
	Tunnels                                                                            list[named]
	Fault                                                                              string
}

// mostNames is how many names of suites the list asks for at once, as many as the interface
// returns; those of further suites are seen on the page of the schedule.
const mostNames = 100

// schedulesData is the list of schedules.
type schedulesData struct {
	rows[schedule]
	SuiteOf  map[string]string
	Form     scheduleForm
	Filtered bool
}

func (p *Pages) schedules(c *gin.Context) error {
	form := scheduleForm{Timezone: "UTC", Chosen: map[string]bool{}}
	if suite := c.Query("suite"); suite != "" {
		form.Chosen[suite] = true
	}
	return p.showSchedules(c, form)
}

func (p *Pages) showSchedules(c *gin.Context, form scheduleForm) (err error) {
	q := filters(c, "suite")
	data := schedulesData{Filtered: len(q) > 0}
	if data.rows, err = read[schedule](p, c, "/test-schedules", q); err != nil {
		return err
	}
	var ids []string
	for i := range data.Items {
		for _, id := range data.Items[i].TestSuiteIDs {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if data.SuiteOf, err = p.suiteNames(c, ids[:min(len(ids), mostNames)]); err != nil {
		return err
	}
	if data.Form, err = p.choices(c, form); err != nil {
		return err
	}
	return p.show(c, "schedules", data.Fault+form.Fault, frame.Page{Title: "Test schedules", Data: data})
}

// choices are what the form of a schedule offers, with the suites that are chosen.
func (p *Pages) choices(c *gin.Context, form scheduleForm) (_ scheduleForm, err error) {
	if form.Suites, err = p.suiteChoice(c); err != nil {
		return form, err
	}
	var missing []string
	for id := range form.Chosen {
		if !slices.ContainsFunc(form.Suites, func(s named) bool { return s.ID == id }) {
			missing = append(missing, id)
		}
	}
	names, err := p.suiteNames(c, missing)
	if _, err = frame.Refusal(err); err != nil {
		return form, err
	}
	for id, name := range names {
		form.Suites = append(form.Suites, named{ID: id, Name: name})
	}
	form.Tunnels, err = p.tunnelChoice(c)
	return form, err
}

// typedSchedule is the form as it was sent.
func typedSchedule(c *gin.Context) scheduleForm {
	form := scheduleForm{Name: field(c, "name"), Cron: field(c, "cron"), Timezone: field(c, "timezone"), RunningUser: field(c, "user"),
		Start: field(c, "start"), End: field(c, "end"), MaxRuns: field(c, "max_runs"), Tunnel: field(c, "tunnel"), Build: field(c, "build"),
		Environment: field(c, "environment"), Chosen: map[string]bool{}}
	for _, id := range c.PostFormArray("suite") {
		form.Chosen[id] = true
	}
	return form
}

// body is what the form asks the interface for. The runs are made for who is signed in,
// unless the form names another.
func (form *scheduleForm) body(c *gin.Context) (body map[string]any, fault string) {
	if form.RunningUser == "" {
		form.RunningUser = auth.CallerOf(c.Request.Context()).UserUUID.String()
	}
	settings := map[string]any{"cron": form.Cron, "timezone": form.Timezone, "runningUserId": form.RunningUser,
		"startDate": orNull(form.Start), "endDate": orNull(form.End), "maxRuns": nil,
		"scTunnelName": orNull(form.Tunnel), "buildName": orNull(form.Build), "environment": orNull(form.Environment)}
	if form.MaxRuns != "" {
		n, err := strconv.Atoi(form.MaxRuns)
		if err != nil {
			return nil, "The number of runs is no number."
		}
		settings["maxRuns"] = n
	}
	suites := c.PostFormArray("suite")
	if suites == nil {
		suites = []string{}
	}
	body = map[string]any{"testSuiteIds": suites, "settings": settings}
	if form.Name != "" {
		body["name"] = form.Name
	}
	return body, ""
}

func (p *Pages) createSchedule(c *gin.Context) error {
	form := typedSchedule(c)
	body, fault := form.body(c)
	if form.Fault = fault; fault != "" {
		return p.showSchedules(c, form)
	}
	made, err := post[schedule](p, c, "/test-schedules", body)
	if form.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if form.Fault != "" {
		return p.showSchedules(c, form)
	}
	return p.Done(c, "/tests/schedules/"+made.ID, "The schedule was created.")
}

// schedulePath is the path in the interface of the schedule that the page's path names.
func schedulePath(c *gin.Context) string { return "/test-schedules/" + frame.Segment(c, "id") }

// firing is what became of a time at which a schedule was due.
type firing struct {
	ID              string     `json:"id"`
	FireDate        string     `json:"fireDate"`
	Trigger         string     `json:"trigger"`
	Outcome         string     `json:"outcome"`
	Reason          string     `json:"reason"`
	MissedCount     int        `json:"missedCount"`
	MissedUntilDate string     `json:"missedUntilDate"`
	SuiteRuns       []suiteRun `json:"suiteRuns"`
}

// scheduleData is the page of a schedule, with its history.
type scheduleData struct {
	Schedule *schedule
	rows[firing]
	SuiteOf map[string]string
	Form    scheduleForm
}

func (p *Pages) schedule(c *gin.Context) error {
	one, err := get[schedule](p, c, schedulePath(c), filters(c, "startDate", "endDate"))
	if err != nil {
		return err
	}
	s := &one.Settings
	form := scheduleForm{Name: one.Name, Cron: s.Cron, Timezone: s.Timezone, RunningUser: s.RunningUserID, Start: s.StartDate, End: s.EndDate,
		Tunnel: s.SCTunnelName, Build: s.BuildName, Environment: s.Environment, Chosen: map[string]bool{}}
	if s.MaxRuns != nil {
		form.MaxRuns = strconv.Itoa(*s.MaxRuns)
	}
	for _, id := range one.TestSuiteIDs {
		form.Chosen[id] = true
	}
	return p.showSchedule(c, &one, form)
}

func (p *Pages) showSchedule(c *gin.Context, one *schedule, form scheduleForm) (err error) {
	data := scheduleData{Schedule: one}
	if data.rows, err = read[firing](p, c, schedulePath(c)+"/runs", frame.Query(c, "startDate", "endDate")); err != nil {
		return err
	}
	if data.SuiteOf, err = p.suiteNames(c, one.TestSuiteIDs); err != nil {
		return err
	}
	if data.Form, err = p.choices(c, form); err != nil {
		return err
	}
	return p.show(c, "schedule", data.Fault+form.Fault, frame.Page{Title: one.Name, Data: data})
}

func (p *Pages) changeSchedule(c *gin.Context) error {
	one, err := get[schedule](p, c, schedulePath(c), nil)
	if err != nil {
		return err
	}
	form := typedSchedule(c)
	body, fault := form.body(c)
	if fault == "" {
		err = p.do(c, http.MethodPost, schedulePath(c), body)
		if fault, err = frame.Refusal(err); err != nil {
			return err
		}
	}
	if form.Fault = fault; fault != "" {
		return p.showSchedule(c, &one, form)
	}
	return p.Done(c, "/tests/schedules/"+one.ID, "The schedule was changed.")
}

// switchSchedule enables or disables a schedule.
func (p *Pages) switchSchedule(c *gin.Context) error {
	to, notice := "disable", "The schedule is paused."
	if field(c, "to") == "enable" {
		to, notice = "enable", "The schedule goes on."
	}
	err := p.do(c, http.MethodPost, schedulePath(c)+"/"+to, nil)
	return p.End(c, p.Back(c, "/tests/schedules"), notice, err)
}

func (p *Pages) runSchedule(c *gin.Context) error {
	back := "/tests/schedules/" + frame.Segment(c, "id")
	fired, err := post[firing](p, c, schedulePath(c)+"/run", nil)
	if err != nil {
		return p.Refused(c, back, err)
	}
	if fired.Outcome != "STARTED" {
		return p.Refused(c, back, wrong("Nothing was started: "+fired.Reason))
	}
	return p.Done(c, back, "The suites run now. "+fired.Reason)
}

func (p *Pages) deleteSchedule(c *gin.Context) error {
	if err := p.do(c, http.MethodDelete, schedulePath(c), nil); err != nil {
		return p.Refused(c, p.Back(c, "/tests/schedules"), err)
	}
	return p.Done(c, "/tests/schedules", "The schedule was deleted. The runs that it has started go on.")
}
