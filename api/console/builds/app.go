package builds

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/live"
)

// app is an app as pages show it.
type app struct {
	ID              int64     `json:"id"`
	Name            string    `json:"name"`
	PackageName     string    `json:"package_name"`
	Platform        string    `json:"platform"`
	Description     string    `json:"description"`
	TeamID          int64     `json:"team_id"`
	Folder          string    `json:"folder_name"`
	Slug            string    `json:"landing_page_slug"`
	Mode            string    `json:"landing_page_mode"`
	PageURL         string    `json:"landing_page_url"`
	RetentionBuilds *int      `json:"retention_builds"`
	RetentionDays   *int      `json:"retention_days"`
	AllTesters      bool      `json:"all_testers"`
	Builds          int       `json:"build_count"`
	DuplicateOf     *int64    `json:"duplicate_of"`
	Latest          *latest   `json:"latest_build"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
	limits

	Icon string `json:"-"` // path of its picture
}

// latest is the newest build of an app.
type latest struct {
	ID          int64     `json:"id"`
	Version     string    `json:"version"`
	VersionCode string    `json:"version_code"`
	Status      string    `json:"status"`
	CreatedAt   time.Time `json:"created_at"`
}

// Title is what an app is called where it has no name.
func (a *app) Title() string {
	if strings.TrimSpace(a.Name) != "" {
		return a.Name
	}
	return fmt.Sprintf("App %d", a.ID)
}

func appPath(id any) string { return fmt.Sprintf("/api/v3/projects/%v", id) }

// appOf reads an app.
func (p *Pages) appOf(c *gin.Context, id any) (*app, error) {
	var answer struct {
		Project app `json:"project"`
	}
	err := p.API.Get(c, appPath(id), nil, &answer)
	answer.Project.Icon = p.icon(answer.Project.PageURL)
	return &answer.Project, err
}

// icon is the path of the picture of an install page; an app without one has its first
// letter there.
func (p *Pages) icon(page string) string { return p.local(page) + "/icon" }

// appsData is the page of all apps.
type appsData struct {
	Rights    rights
	Apps      []app
	Teams     []named
	Platforms []artifact.Platform
	Fault     string
	Filtered  bool
	Pager     *frame.Pager
}

func (p *Pages) apps(c *gin.Context) (err error) {
	var answer struct {
		Projects   []app        `json:"projects"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Valued(c.Request.URL.Query())
	data := appsData{Rights: rightsOf(c), Platforms: artifact.Platforms(), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/projects", q, &answer); err != nil {
		return err
	}
	if data.Teams, err = p.teams(c); err != nil {
		return err
	}
	data.Apps, data.Pager = answer.Projects, p.PagesOf(c, answer.Pagination)
	for i := range data.Apps {
		a := &data.Apps[i]
		a.Icon = p.icon(a.PageURL)
	}
	return p.show(c, "index", data.Fault, frame.Page{Title: "Builds", Data: data})
}

func (p *Pages) createApp(c *gin.Context) error {
	body := map[string]any{}
	for member, field := range map[string]string{"name": "name", "package_name": "package", "platform": "platform",
		"folder_name": "folder", "description": "description", "team_id": "team"} {
		if value := strings.TrimSpace(c.PostForm(field)); value != "" {
			body[member] = value
		}
	}
	if err := number(body, "team_id"); err != nil {
		return p.Refused(c, "/builds", err)
	}
	var answer struct {
		Project app `json:"project"`
	}
	if err := p.API.Send(c, http.MethodPost, "/api/v3/projects", body, &answer); err != nil {
		return p.Refused(c, "/builds", err)
	}
	return p.Done(c, fmt.Sprintf("/builds/apps/%d", answer.Project.ID), "The app was created. Upload its first build.")
}

// number makes a member that a form sent as text a number.
func number(body map[string]any, member string) error {
	text, ok := body[member].(string)
	if !ok {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return &respond.Problem{Status: http.StatusBadRequest, Text: member + ": must be a number", Err: err}
	}
	body[member] = n
	return nil
}

// appData is what the pages of one app share: the app, and which of its tabs is open.
type appData struct {
	App    *app
	Tab    string
	Rights rights
	Fault  string
	Pager  *frame.Pager
}

// beginApp reads the app of the page's path.
func (p *Pages) beginApp(c *gin.Context, tab string) (appData, error) {
	a, err := p.appOf(c, frame.Segment(c, "id"))
	return appData{App: a, Tab: tab, Rights: rightsOf(c)}, err
}

// app is the page of an app: its builds.
func (p *Pages) app(c *gin.Context) error {
	begun, err := p.beginApp(c, "builds")
	if err != nil {
		return err
	}
	data := struct {
		appData
		Builds   []build
		Gated    bool // any of them has a gate
		Filtered bool
	}{appData: begun}
	q := frame.Valued(c.Request.URL.Query())
	data.Filtered = q.Has("search") || q.Has("version") || q.Has("tag")
	var at frame.Paging
	if data.Builds, at, data.Fault, err = p.buildsOf(c, data.App.ID, q); err != nil {
		return err
	}
	data.Pager = p.PagesOf(c, at)
	data.Gated = slices.ContainsFunc(data.Builds, func(b build) bool { return b.Gate != nil })
	page := frame.Page{Title: data.App.Title(), Data: data}
	for i := range data.Builds {
		if data.Builds[i].Verification == verifying {
			page.Live = append(page.Live, live.Of(live.Build, data.Builds[i].ID))
		}
	}
	page.Live = append(page.Live, liveGates(data.Builds)...)
	return p.show(c, "app", data.Fault, page)
}

// buildsOf reads a page of an app's builds, each with its size against the one before it of
// its kind and channel in the list.
func (p *Pages) buildsOf(c *gin.Context, id int64, q url.Values) (list []build, at frame.Paging, fault string, err error) {
	type answer struct {
		Builds     []build      `json:"builds"`
		Pagination frame.Paging `json:"pagination"`
	}
	var page answer
	path := appPath(id) + "/builds"
	if fault, err = p.read(c, path, q, &page); err != nil || fault != "" {
		return nil, at, fault, err
	}
	list, at = page.Builds, page.Pagination
	if behind := at.Page * at.PerPage; len(list) > 0 && behind < at.Total {
		// The last ones of the page are measured by the first of the next.
		next := url.Values{}
		for name, values := range q {
			next[name] = values
		}
		next.Set("page", strconv.Itoa(at.Page+1))
		var further answer
		if err := p.API.Get(c, path, next, &further); err != nil {
			return nil, at, "", err
		}
		list = append(list, further.Builds...)
	}
	measure(list)
	return list[:len(page.Builds)], at, "", nil
}

// retention is the page of what goes by age or number.
func (p *Pages) retention(c *gin.Context) error {
	begun, err := p.beginApp(c, "retention")
	if err != nil {
		return err
	}
	data := struct {
		appData
		Builds []build
	}{appData: begun}
	var answer struct {
		Builds     []build      `json:"builds"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, appPath(data.App.ID)+"/retention", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Builds, data.Pager = answer.Builds, p.PagesOf(c, answer.Pagination)
	return p.show(c, "retention", data.Fault, frame.Page{Title: data.App.Title(), Data: data})
}

func (p *Pages) changeRetention(c *gin.Context) error {
	body := map[string]any{}
	for member, field := range map[string]string{"retention_builds": "builds", "retention_days": "days"} {
		body[member] = nil // as the organization says
		if value := strings.TrimSpace(c.PostForm(field)); value != "" {
			body[member] = value
		}
	}
	return p.change(c, "/builds/apps/:id/retention", appPath(frame.Segment(c, "id")), body, "The retention was changed.")
}
