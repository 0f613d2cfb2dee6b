package overview

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// shownRows is how many rows a part shows; the suites and builds among them are a request each.
const shownRows = 6

// builds are the newest build of the apps that were built last.
type builds struct {
	part
	Apps   int
	Newest []build
}

type build struct {
	ID        int64     `json:"id"`
	ProjectID int64     `json:"project_id"`
	AppName   string    `json:"app_name"`
	Version   string    `json:"version"`
	Code      string    `json:"version_code"`
	Platform  string    `json:"platform"`
	Status    string    `json:"status"`
	Crashes   int64     `json:"crashes"`
	CreatedAt time.Time `json:"created_at"`
}

// readBuilds asks for the apps, and for the newest builds among theirs.
func (p *Pages) readBuilds(c *gin.Context, into *builds) error {
	var apps struct {
		Projects []struct {
			Latest *struct {
				ID int64 `json:"id"`
			} `json:"latest_build"`
		} `json:"projects"`
		Pagination pagination `json:"pagination"`
	}
	if err := p.API.Get(c, "/api/v3/projects", url.Values{"per_page": {pageRows}}, &apps); err != nil {
		return err
	}
	into.Apps = apps.Pagination.Total
	var ids []int64
	for _, app := range apps.Projects {
		if app.Latest != nil {
			ids = append(ids, app.Latest.ID)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, id := range ids[:min(len(ids), shownRows)] {
		var answer struct {
			Build build `json:"build"`
		}
		if err := p.API.Get(c, "/api/v3/builds/"+strconv.FormatInt(id, 10), nil, &answer); err != nil {
			return err
		}
		into.Newest = append(into.Newest, answer.Build)
	}
	return nil
}

// suites are the last runs of the newest suites.
type suites struct {
	part
	Total int
	Runs  []suiteRun
}

type suiteRun struct {
	ID           string    `json:"id"`
	SuiteID      string    `json:"testSuiteId"`
	SuiteName    string    `json:"testSuiteName"`
	Status       string    `json:"status"`
	CreationDate time.Time `json:"creationDate"`
	Counts       struct {
		Total  int `json:"total"`
		Passed int `json:"passed"`
		Failed int `json:"failed"`
		Error  int `json:"error"`
	} `json:"counts"`
}

// readSuites asks for the last run of each of the newest suites.
func (p *Pages) readSuites(c *gin.Context, into *suites) error {
	const path = "/v1/ai-authoring/testsuites"
	var all page[struct {
		ID string `json:"id"`
	}]
	if err := p.API.Get(c, path, url.Values{"limit": {strconv.Itoa(shownRows)}}, &all); err != nil {
		return err
	}
	into.Total = all.Data.Total
	for _, suite := range all.Data.Items {
		var runs page[suiteRun]
		if err := p.API.Get(c, path+"/"+url.PathEscape(suite.ID)+"/runs", url.Values{"limit": {"1"}}, &runs); err != nil {
			return err
		}
		into.Runs = append(into.Runs, runs.Data.Items...)
	}
	slices.SortFunc(into.Runs, func(a, b suiteRun) int { return b.CreationDate.Compare(a.CreationDate) })
	return nil
}

// page is a page of a list of the authoring interface.
type page[T any] struct {
	Data struct {
		Items []T `json:"items"`
		Total int `json:"total"`
	} `json:"data"`
}

// schedules are those that are due next.
type schedules struct {
	part
	Total int
	Next  []schedule
}

type schedule struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Settings struct {
		Cron     string `json:"cron"`
		Timezone string `json:"timezone"`
	} `json:"settings"`
	State struct {
		Name    string     `json:"stateName"`
		NextRun *time.Time `json:"nextRunDate"`
		Error   string     `json:"lastRunError"`
	} `json:"state"`
}

// readSchedules asks for the newest schedules, and sorts them by when they are due.
func (p *Pages) readSchedules(c *gin.Context, into *schedules) error {
	var all page[schedule]
	if err := p.API.Get(c, "/v1/ai-authoring/test-schedules", url.Values{"limit": {pageRows}}, &all); err != nil {
		return err
	}
	into.Total = all.Data.Total
	for _, s := range all.Data.Items {
		if s.State.NextRun != nil {
			into.Next = append(into.Next, s)
		}
	}
	slices.SortFunc(into.Next, func(a, b schedule) int { return a.State.NextRun.Compare(*b.State.NextRun) })
	into.Next = into.Next[:min(len(into.Next), shownRows)]
	return nil
}

// tasks are those that failed, and the number of those that wait or run.
type tasks struct {
	part
	Dead   []task
	Total  int
	Queued int
	Runs   int
}

type task struct {
	ID         string     `json:"id"`
	Type       string     `json:"type"`
	FinishedAt *time.Time `json:"finished_at"`
	Error      *string    `json:"error"`
}

// readTasks asks for the dead tasks, and for the numbers of the open ones.
func (p *Pages) readTasks(c *gin.Context, into *tasks) error {
	for state, total := range map[string]*int{"dead": &into.Total, "queued": &into.Queued, "running": &into.Runs} {
		var answer struct {
			Tasks      []task     `json:"tasks"`
			Pagination pagination `json:"pagination"`
		}
		query := url.Values{"state": {state}, "per_page": {"1"}}
		if state == "dead" {
			query.Set("per_page", strconv.Itoa(shownRows))
		}
		if err := p.API.Get(c, "/api/v3/tasks", query, &answer); err != nil {
			return err
		}
		*total = answer.Pagination.Total
		if state == "dead" {
			into.Dead = answer.Tasks
		}
	}
	return nil
}
