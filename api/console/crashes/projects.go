package crashes

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// project is a crash project, which receives reports.
type project struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	ProjectID *int64    `json:"project_id"` // the app
	Origins   []string  `json:"allowed_origins"`
	CreatedAt time.Time `json:"created_at"`
}

// token is one by which programs send reports or symbols.
type token struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	Hint           string     `json:"hint"`
	Scopes         []string   `json:"scopes"`
	QuotaPerMinute *int       `json:"quota_per_minute"`
	CreatedAt      time.Time  `json:"created_at"`
	RevokedAt      *time.Time `json:"revoked_at"`
}

// Sends reports whether the token is for reports.
func (t token) Sends() bool {
	return len(t.Scopes) == 0 || strings.Contains(strings.Join(t.Scopes, " "), "error")
}

func (p *Pages) projectPath(c *gin.Context) string {
	return area + "/projects/" + frame.Segment(c, "id")
}

func apiProject(c *gin.Context) string { return "/api/v3/crash-projects/" + frame.Segment(c, "id") }

// projects serves GET /console/crashes/projects.
func (p *Pages) projects(c *gin.Context) error {
	var view struct {
		Projects   []project `json:"crash_projects"`
		Pagination envelope  `json:"pagination"`
	}
	fault, err := refused(p.API.Get(c, "/api/v3/crash-projects", frame.Valued(c.Request.URL.Query()), &view))
	if err != nil {
		return err
	}
	return p.show(c, "projects", fault, frame.Page{Title: "Crash projects", Data: map[string]any{"Fault": fault,
		"Projects": view.Projects, "Pagination": view.Pagination, "Pager": p.pager(c, view.Pagination)}})
}

// secretData is the page that shows a new token, once.
type secretData struct {
	Project project
	Token   token
	Secret  string
	URL     string // of the installation
}

// createProject serves POST /console/crashes/projects. The answer is the page with the
// token: a redirect would have to keep it somewhere.
func (p *Pages) createProject(c *gin.Context) error {
	var view struct {
		Project project `json:"crash_project"`
		Token   token   `json:"crash_token"`
		Secret  string  `json:"secret"`
	}
	body := map[string]any{"name": c.PostForm("name")}
	if err := p.API.Send(c, http.MethodPost, "/api/v3/crash-projects", body, &view); err != nil {
		return p.Refused(c, p.Back(c, area+"/projects"), err)
	}
	return p.showSecret(c, secretData{Project: view.Project, Token: view.Token, Secret: view.Secret})
}

func (p *Pages) showSecret(c *gin.Context, data secretData) error {
	data.URL = p.PublicURL()
	return p.pages.Render(c, http.StatusCreated, "secret", frame.Page{Title: "New token", Area: area, Data: data})
}

// project serves GET /console/crashes/projects/{id}: its name, app and tokens.
func (p *Pages) project(c *gin.Context) error {
	var view struct {
		Project project `json:"crash_project"`
	}
	if err := p.API.Get(c, apiProject(c), nil, &view); err != nil {
		return err
	}
	var list struct {
		Tokens []token `json:"crash_tokens"`
	}
	if err := p.API.Get(c, apiProject(c)+"/tokens", nil, &list); err != nil {
		return err
	}
	var apps struct {
		Projects []named `json:"projects"`
	}
	if err := p.API.Get(c, "/api/v3/projects", url.Values{"per_page": {wholePage}}, &apps); err != nil {
		return err
	}
	chosen := int64(0)
	if view.Project.ProjectID != nil {
		chosen = *view.Project.ProjectID
	}
	known, options := chosen == 0, make([]choice, 0, len(apps.Projects))
	for _, app := range apps.Projects {
		known = known || app.ID == chosen
		options = append(options, choice{Value: strconv.FormatInt(app.ID, 10), Text: app.Name, Chosen: app.ID == chosen})
	}
	if !known {
		options = append(options, choice{Value: strconv.FormatInt(chosen, 10), Text: "App " + strconv.FormatInt(chosen, 10), Chosen: true})
	}
	return p.show(c, "project", "", frame.Page{Title: "Crash project " + storage.Cut(view.Project.Name, maxHeading),
		Data: map[string]any{"Project": view.Project, "Tokens": list.Tokens, "Apps": options}})
}

// changeProject serves POST /console/crashes/projects/{id}.
func (p *Pages) changeProject(c *gin.Context) error {
	app := int64(0)
	if text := c.PostForm("project_id"); text != "" {
		var err error
		if app, err = strconv.ParseInt(text, 10, 64); err != nil {
			return p.Refused(c, p.projectPath(c), storage.Invalid("app", "must be the number of one"))
		}
	}
	body := map[string]any{"name": c.PostForm("name"), "project_id": app}
	if text, given := c.GetPostForm("allowed_origins"); given {
		body["allowed_origins"] = strings.Fields(text)
	}
	return p.End(c, p.projectPath(c), "The crash project was changed.", p.API.Send(c, http.MethodPut, apiProject(c), body, nil))
}

// deleteProject serves POST /console/crashes/projects/{id}/delete.
func (p *Pages) deleteProject(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, apiProject(c), nil, nil); err != nil {
		return p.Refused(c, p.projectPath(c), err)
	}
	return p.Done(c, area+"/projects", "The crash project was deleted.")
}

// createToken serves POST /console/crashes/projects/{id}/tokens, as createProject does.
func (p *Pages) createToken(c *gin.Context) error {
	body := map[string]any{"name": c.PostForm("name")}
	if scopes := c.PostFormArray("scopes"); len(scopes) > 0 {
		body["scopes"] = scopes
	}
	if text := strings.TrimSpace(c.PostForm("quota_per_minute")); text != "" {
		quota, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return p.Refused(c, p.projectPath(c), storage.Invalid("reports a minute", "must be a number"))
		}
		body["quota_per_minute"] = quota
	}
	var view struct {
		Token  token  `json:"crash_token"`
		Secret string `json:"secret"`
	}
	if err := p.API.Send(c, http.MethodPost, apiProject(c)+"/tokens", body, &view); err != nil {
		return p.Refused(c, p.projectPath(c), err)
	}
	var of struct {
		Project project `json:"crash_project"`
	}
	if err := p.API.Get(c, apiProject(c), nil, &of); err != nil {
		return err
	}
	return p.showSecret(c, secretData{Project: of.Project, Token: view.Token, Secret: view.Secret})
}

// endToken serves POST /console/crashes/projects/{id}/tokens/{token}/end.
func (p *Pages) endToken(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, apiProject(c)+"/tokens/"+frame.Segment(c, "token"), nil, nil)
	return p.End(c, p.projectPath(c), "The token has ended: what comes with it is refused from now on.", err)
}

// version is one of a crash project, with its crashes, sessions and users.
type version struct {
	Version           string    `json:"version"`
	FirstSeen         time.Time `json:"first_seen"`
	LastSeen          time.Time `json:"last_seen"`
	Crashes           int64     `json:"crashes"`
	Sessions          int64     `json:"sessions"`
	Users             int64     `json:"users"`
	CrashFreeSessions *float64  `json:"crash_free_sessions"`
	CrashFreeUsers    *float64  `json:"crash_free_users"`
	Days              []struct {
		Crashes int64 `json:"crashes"`
	} `json:"days"`
}

// PerDay are the crashes of each day of the window.
func (v *version) PerDay() []int64 {
	var list []int64
	for _, d := range v.Days {
		list = append(list, d.Crashes)
	}
	return list
}

// versions serves GET /console/crashes/projects/{id}/versions.
func (p *Pages) versions(c *gin.Context) error {
	var view struct {
		Versions   []version `json:"versions"`
		Pagination envelope  `json:"pagination"`
	}
	fault, err := refused(p.API.Get(c, apiProject(c)+"/versions", frame.Valued(c.Request.URL.Query()), &view))
	if err != nil {
		return err
	}
	var of struct {
		Project project `json:"crash_project"`
	}
	if err := forbidden(p.API.Get(c, apiProject(c), nil, &of)); err != nil {
		return err
	}
	name := of.Project.Name
	if name == "" {
		name = "crash project " + c.Param("id")
	}
	windows := []choice{{Text: "All time", Link: address(c, "days", "", "from", "", "to", ""), Chosen: c.Query("days") == ""}}
	for _, days := range []string{"7", "30", "90"} {
		windows = append(windows, choice{Text: "Last " + days + " days", Link: address(c, "days", days, "from", "", "to", ""),
			Chosen: c.Query("days") == days})
	}
	from := ""
	if days, err := strconv.Atoi(c.Query("days")); err == nil && fault == "" {
		from = p.Now().UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
	}
	return p.show(c, "versions", fault, frame.Page{Title: "Versions of " + storage.Cut(name, maxHeading), Data: map[string]any{
		"Fault": fault, "ID": c.Param("id"), "Name": name, "Versions": view.Versions, "Pagination": view.Pagination,
		"Pager": p.pager(c, view.Pagination), "Windows": windows, "From": from}})
}
