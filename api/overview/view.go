package overview

import (
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/overview"
)

// answer is the whole answer. A part is nil when the caller may not read it.
type answer struct {
	At              time.Time      `json:"at"`
	Since           time.Time      `json:"since"`
	Crashes         *crashesView   `json:"crashes"`
	NewGroups       *groupsView    `json:"new_groups"`
	RegressedGroups *groupsView    `json:"regressed_groups"`
	Builds          *buildsView    `json:"builds"`
	SuiteRuns       *suiteRunsView `json:"suite_runs"`
	Schedules       *schedulesView `json:"schedules"`
	LateTasks       *tasksView     `json:"late_tasks"`
	FailedTasks     *tasksView     `json:"failed_tasks"`
	Webhooks        *webhooksView  `json:"webhooks"`
	Withheld        []withheld     `json:"withheld"`
}

// withheld is a part that the caller may not read.
type withheld struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
}

type countView struct {
	Total int  `json:"total"`
	Exact bool `json:"is_exact"`
}

type projectView struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type versionView struct {
	Project projectView `json:"crash_project"`
	Version string      `json:"version"`
	Crashes int64       `json:"crashes"`
}

type dayView struct {
	Day      string  `json:"day"`
	Crashes  int64   `json:"crashes"`
	Versions []int64 `json:"versions"`
	Others   int64   `json:"others"`
}

type newestView struct {
	Project           projectView `json:"crash_project"`
	Version           string      `json:"version"`
	Crashes           int64       `json:"crashes"`
	Sessions          int64       `json:"sessions"`
	CrashFreeSessions *float64    `json:"crash_free_sessions"`
	CrashFreeUsers    *float64    `json:"crash_free_users"`
}

type crashesView struct {
	Total          int64         `json:"total"`
	Projects       countView     `json:"crash_projects"`
	Versions       []versionView `json:"versions"`
	Days           []dayView     `json:"days"`
	NewestVersions []newestView  `json:"newest_versions"`
}

func crashesOf(c *overview.Crashes) *crashesView {
	v := &crashesView{Total: c.Total(), Projects: countView(c.Projects), Versions: []versionView{}, NewestVersions: []newestView{}}
	for _, of := range c.Versions {
		v.Versions = append(v.Versions, versionView{projectView{of.ProjectID, of.ProjectName}, of.Version, of.Crashes})
	}
	for _, d := range c.Days {
		v.Days = append(v.Days, dayView{d.Day.Format(time.DateOnly), d.Crashes, d.Versions, d.Others()})
	}
	for i := range c.Newest {
		n := &c.Newest[i]
		v.NewestVersions = append(v.NewestVersions, newestView{projectView{n.ProjectID, n.ProjectName}, n.Version, n.Crashes, n.Sessions,
			n.CrashFreeSessions(), n.CrashFreeUsers()})
	}
	return v
}

type groupView struct {
	ID         int64       `json:"id"`
	Title      string      `json:"title"`
	State      string      `json:"state"`
	Crashes    int64       `json:"count"`
	FirstSeen  time.Time   `json:"first_seen"`
	LastSeen   time.Time   `json:"last_seen"`
	ReopenedAt *time.Time  `json:"reopened_at"`
	Project    projectView `json:"crash_project"`
}

type groupsView struct {
	countView
	Groups []groupView `json:"groups"`
}

func groupsOf(found *overview.Groups) *groupsView {
	v := &groupsView{countView(found.Count), []groupView{}}
	for i := range found.Groups {
		g := &found.Groups[i]
		v.Groups = append(v.Groups, groupView{g.ID, g.Title, g.State, g.Crashes, g.FirstSeen.UTC(), g.LastSeen.UTC(), utc(g.ReopenedAt),
			projectView{g.ProjectID, g.ProjectName}})
	}
	return v
}

type buildView struct {
	ID          int64     `json:"id"`
	ProjectID   int64     `json:"project_id"`
	AppName     string    `json:"app_name"`
	Version     string    `json:"version"`
	VersionCode string    `json:"version_code"`
	Platform    string    `json:"platform"`
	Status      string    `json:"status"`
	Crashes     int64     `json:"crashes"`
	Gate        string    `json:"gate"`
	CreatedAt   time.Time `json:"created_at"`
}

type buildsView struct {
	Apps   countView   `json:"apps"`
	Newest []buildView `json:"newest"`
}

func buildsOf(found *overview.Builds) *buildsView {
	v := &buildsView{countView(found.Apps), []buildView{}}
	for _, b := range found.Newest {
		b.CreatedAt = b.CreatedAt.UTC()
		v.Newest = append(v.Newest, buildView(b))
	}
	return v
}

type suiteRunView struct {
	ID        uuid.UUID `json:"id"`
	SuiteID   uuid.UUID `json:"suite_id"`
	SuiteName string    `json:"suite_name"`
	Status    string    `json:"status"`
	Total     int       `json:"total"`
	Passed    int       `json:"passed"`
	Failed    int       `json:"failed"`
	Errors    int       `json:"errors"`
	CreatedAt time.Time `json:"created_at"`
}

type suiteRunsView struct {
	Suites countView      `json:"suites"`
	Last   []suiteRunView `json:"last"`
}

func suiteRunsOf(found *overview.SuiteRuns) *suiteRunsView {
	v := &suiteRunsView{countView(found.Suites), []suiteRunView{}}
	for _, r := range found.Last {
		r.CreatedAt = r.CreatedAt.UTC()
		v.Last = append(v.Last, suiteRunView(r))
	}
	return v
}

type scheduleView struct {
	ID        uuid.UUID `json:"id"`
	Name      string    `json:"name"`
	State     string    `json:"state"`
	Cron      string    `json:"cron"`
	Timezone  string    `json:"timezone"`
	NextRunAt time.Time `json:"next_run_at"`
	LastError string    `json:"last_error"`
}

type schedulesView struct {
	countView
	Next []scheduleView `json:"next"`
}

func schedulesOf(found *overview.Schedules) *schedulesView {
	v := &schedulesView{countView(found.Count), []scheduleView{}}
	for _, s := range found.Next {
		s.NextRunAt = s.NextRunAt.UTC()
		v.Next = append(v.Next, scheduleView(s))
	}
	return v
}

type taskView struct {
	ID         uuid.UUID  `json:"id"`
	Kind       string     `json:"type"`
	Queue      string     `json:"queue"`
	State      string     `json:"state"`
	RunAt      time.Time  `json:"run_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Error      *string    `json:"error"`
}

type tasksView struct {
	countView
	Tasks []taskView `json:"tasks"`
}

func tasksOf(found *overview.Tasks) *tasksView {
	v := &tasksView{countView(found.Count), []taskView{}}
	for _, t := range found.Tasks {
		t.RunAt, t.FinishedAt = t.RunAt.UTC(), utc(t.FinishedAt)
		v.Tasks = append(v.Tasks, taskView(t))
	}
	return v
}

type webhookView struct {
	ID              int64      `json:"id"`
	Name            string     `json:"name"`
	Status          string     `json:"status"`
	SuspendedReason string     `json:"suspended_reason"`
	Failures        int        `json:"failures"`
	FailingSince    *time.Time `json:"failing_since"`
	Undelivered     int        `json:"undelivered"`
}

type webhooksView struct {
	Total int           `json:"total"`
	List  []webhookView `json:"webhooks"`
}

func webhooksOf(found *overview.Webhooks) *webhooksView {
	v := &webhooksView{found.Failing, []webhookView{}}
	for _, w := range found.List {
		v.List = append(v.List, webhookView{ID: w.ID, Name: w.Name, Status: string(w.Status), SuspendedReason: w.SuspendedReason,
			Failures: w.Failures, FailingSince: utc(w.FailingSince), Undelivered: w.Undelivered})
	}
	return v
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
