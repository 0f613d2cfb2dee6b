package people

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
	"github.com/slipway-qa/slipway/storage"
)

// group is a group of testers.
type group struct {
	ID            int64     `json:"id"`
	Name          string    `json:"name"`
	TeamID        int64     `json:"team_id"`
	Private       bool      `json:"private"`
	TestersCount  int       `json:"testers_count"`
	ProjectsCount int       `json:"projects_count"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// groupsData is the list of groups.
type groupsData struct {
	Rights   rights
	Groups   []group
	Teams    []named
	TeamName map[int64]string
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) groups(c *gin.Context) (err error) {
	var answer struct {
		Groups     []group      `json:"groups"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Filters(c)
	data := groupsData{Rights: rightsOf(c), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/groups", q, &answer); err != nil {
		return err
	}
	if data.Teams, err = p.teamNames(c); err != nil {
		return err
	}
	data.Groups, data.TeamName, data.Pager = answer.Groups, byID(data.Teams), p.PagesOf(c, answer.Pagination)
	return p.show(c, "groups", data.Fault, frame.Page{Title: "Groups", Data: data})
}

// newGroupData is the form for a group, with what was typed.
type newGroupData struct {
	Rights       rights
	Name, Emails string
	TeamID       string
	Private      bool
	Chosen       map[int64]bool // apps
	Teams, Apps  []named
	Fault        string
}

func (p *Pages) newGroup(c *gin.Context) error { return p.showNewGroup(c, newGroupData{}) }

func (p *Pages) showNewGroup(c *gin.Context, data newGroupData) (err error) {
	if data.Teams, err = p.teamNames(c); err != nil {
		return err
	}
	if data.Apps, err = p.appNames(c); err != nil {
		return err
	}
	data.Rights = rightsOf(c)
	return p.show(c, "newgroup", data.Fault, frame.Page{Title: "New group", Data: data})
}

// appNames are the first apps of the organization.
func (p *Pages) appNames(c *gin.Context) ([]named, error) {
	var answer struct {
		Projects []named `json:"projects"`
	}
	err := p.API.Get(c, "/api/v3/projects", url.Values{"per_page": {most}}, &answer)
	return answer.Projects, err
}

func (p *Pages) createGroup(c *gin.Context) error {
	data := newGroupData{Name: c.PostForm("name"), Emails: c.PostForm("testers"), TeamID: c.PostForm("team"),
		Private: c.PostForm("private") != "", Chosen: map[int64]bool{}}
	apps := c.PostFormArray("apps")
	for _, id := range numbers(apps) {
		data.Chosen[id] = true
	}
	body := map[string]any{"name": data.Name, "private": data.Private, "projects": apps, "testers": addresses(data.Emails)}
	if id, err := strconv.ParseInt(data.TeamID, 10, 64); err == nil {
		body["team_id"] = id
	}
	var answer struct {
		Group group `json:"group"`
	}
	err := p.API.Send(c, http.MethodPost, "/api/v3/groups", body, &answer)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showNewGroup(c, data)
	}
	return p.Done(c, fmt.Sprintf("/people/groups/%d", answer.Group.ID), "The group was created.")
}

// numbers are those of the texts that are ids.
func numbers(texts []string) []int64 {
	ids := make([]int64, 0, len(texts))
	for _, text := range texts {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// groupData is the page of a group.
type groupData struct {
	Rights  rights
	Group   *group
	Team    string
	Teams   []named
	Testers []tester
	Apps    []named
	Others  []named // apps that the group does not have
	Fault   string
	Pager   *frame.Pager
}

func (p *Pages) group(c *gin.Context) (err error) {
	var answer struct {
		Group group `json:"group"`
	}
	if err := p.API.Get(c, groupPath(c, ""), nil, &answer); err != nil {
		return err
	}
	data := groupData{Rights: rightsOf(c), Group: &answer.Group}
	var people struct {
		Testers    []tester     `json:"testers"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, groupPath(c, "/testers"), frame.Filters(c), &people); err != nil {
		return err
	}
	data.Testers, data.Pager = people.Testers, p.PagesOf(c, people.Pagination)
	if data.Apps, err = p.appsOf(c); err != nil {
		return err
	}
	if data.Teams, err = p.teamNames(c); err != nil {
		return err
	}
	data.Team = byID(data.Teams)[answer.Group.TeamID]
	if data.Rights.Groups {
		if data.Others, err = p.otherApps(c, data.Apps); err != nil {
			return err
		}
	}
	return p.show(c, "group", data.Fault, frame.Page{Title: answer.Group.Name, Data: data})
}

// otherApps are the first apps of the organization without some.
func (p *Pages) otherApps(c *gin.Context, without []named) ([]named, error) {
	all, err := p.appNames(c)
	has := byID(without)
	return slices.DeleteFunc(all, func(app named) bool { _, ok := has[app.ID]; return ok }), err
}

// groupPath is the path of a route of the group that the page's path names.
func groupPath(c *gin.Context, rest string) string {
	return "/api/v3/groups/" + frame.Segment(c, "id") + rest
}

// appsOf reads all apps of a group: a change replaces them, so none may be missing.
func (p *Pages) appsOf(c *gin.Context) (apps []named, err error) {
	for page := 1; ; page++ {
		var answer struct {
			Projects   []named      `json:"projects"`
			Pagination frame.Paging `json:"pagination"`
		}
		q := url.Values{"per_page": {most}, "page": {strconv.Itoa(page)}}
		if err := p.API.Get(c, groupPath(c, "/projects"), q, &answer); err != nil {
			return nil, err
		}
		apps = append(apps, answer.Projects...)
		if len(answer.Projects) == 0 || len(apps) >= answer.Pagination.Total {
			return apps, nil
		}
	}
}

// backToGroup is the page of the group that the path names.
func backToGroup(c *gin.Context) string { return "/people/groups/" + frame.Segment(c, "id") }

func (p *Pages) changeGroup(c *gin.Context) error {
	body := map[string]any{"name": c.PostForm("name"), "private": c.PostForm("private") != ""}
	if id, err := strconv.ParseInt(c.PostForm("team"), 10, 64); err == nil {
		body["team_id"] = id
	}
	err := p.API.Send(c, http.MethodPut, groupPath(c, ""), body, nil)
	return p.End(c, p.Back(c, backToGroup(c)), "The group was changed.", err)
}

func (p *Pages) deleteGroup(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, groupPath(c, ""), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, backToGroup(c)), err)
	}
	return p.Done(c, "/people/groups", "The group was deleted. Its testers stay testers.")
}

// addToGroup adds people by mail address, or one by the number of the person.
func (p *Pages) addToGroup(c *gin.Context) error {
	body := map[string]any{}
	if emails := addresses(c.PostForm("emails")); len(emails) > 0 {
		body["emails"] = emails
	}
	if user := strings.TrimSpace(c.PostForm("user")); user != "" {
		body["user_ids"] = []string{user}
	}
	err := p.API.Send(c, http.MethodPost, groupPath(c, "/testers"), body, nil)
	return p.End(c, p.Back(c, backToGroup(c)), "The group has more testers.", err)
}

// joinGroup adds the tester of a page to the group that is chosen there.
func (p *Pages) joinGroup(c *gin.Context) error {
	path := "/api/v3/groups/" + url.PathEscape(c.PostForm("group")) + "/testers"
	err := p.API.Send(c, http.MethodPost, path, map[string]any{"user_ids": []string{c.PostForm("user")}}, nil)
	return p.End(c, p.Back(c, "/people"), "The tester is in the group.", err)
}

func (p *Pages) removeFromGroup(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, groupPath(c, "/testers/"+frame.Segment(c, "user")), nil, nil)
	return p.End(c, p.Back(c, backToGroup(c)), "The tester is no longer in the group.", err)
}

func (p *Pages) addApp(c *gin.Context) error {
	ids := numbers([]string{c.PostForm("app")})
	if len(ids) == 0 {
		return p.Refused(c, p.Back(c, backToGroup(c)), storage.Invalid("app", "must be chosen"))
	}
	return p.replaceApps(c, "The group may install the app.", func(apps []int64) []int64 { return append(apps, ids...) })
}

func (p *Pages) removeApp(c *gin.Context) error {
	ids := numbers([]string{c.Param("app")})
	return p.replaceApps(c, "The group may no longer install the app.", func(apps []int64) []int64 {
		return slices.DeleteFunc(apps, func(id int64) bool { return slices.Contains(ids, id) })
	})
}

// replaceApps changes the apps of a group: the route takes all of them.
func (p *Pages) replaceApps(c *gin.Context, notice string, change func([]int64) []int64) error {
	apps, err := p.appsOf(c)
	if err != nil {
		return p.Refused(c, p.Back(c, backToGroup(c)), err)
	}
	ids := make([]int64, 0, len(apps)+1)
	for _, app := range apps {
		ids = append(ids, app.ID)
	}
	err = p.API.Send(c, http.MethodPut, groupPath(c, ""), map[string]any{"projects": change(ids)}, nil)
	return p.End(c, p.Back(c, backToGroup(c)), notice, err)
}
