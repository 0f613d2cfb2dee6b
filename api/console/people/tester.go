package people

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// tester is a tester as pages show it.
type tester struct {
	ID        int64      `json:"id"` // of the membership
	UserID    int64      `json:"user_id"`
	Email     string     `json:"email"`
	Name      string     `json:"name"`
	Role      string     `json:"role"`
	Groups    []named    `json:"groups"`
	Blocked   bool       `json:"blocked"`
	LastLogin *time.Time `json:"last_login"`
	CreatedAt time.Time  `json:"created_at"`
	Invite    *struct {
		Status      string     `json:"status"`
		InvitedBy   string     `json:"invited_by"`
		InvitedAt   time.Time  `json:"invited_at"`
		InstalledAt *time.Time `json:"installed_at"`
	} `json:"invite"` // to the build that the list names
}

// Title is the name, or the mail address where there is none.
func (t *tester) Title() string { return cmp.Or(strings.TrimSpace(t.Name), t.Email) }

// State says whether the tester may sign in.
func (t *tester) State() string {
	if t.Blocked {
		return "blocked"
	}
	return "active"
}

// testersData is the list of testers.
type testersData struct {
	Rights   rights
	Testers  []tester
	Groups   []named
	Build    string // the filter by a build, which adds a column
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) testers(c *gin.Context) (err error) {
	var answer struct {
		Testers    []tester     `json:"testers"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Filters(c)
	data := testersData{Rights: rightsOf(c), Build: q.Get("build_id"), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/testers", q, &answer); err != nil {
		return err
	}
	if data.Groups, err = p.groupNames(c); err != nil {
		return err
	}
	data.Testers, data.Pager = answer.Testers, p.PagesOf(c, answer.Pagination)
	return p.show(c, "testers", data.Fault, frame.Page{Title: "People", Data: data})
}

// newTestersData is the form for testers, with what was typed.
type newTestersData struct {
	Rights              rights
	Emails, Name, Group string
	Notify              bool
	Groups              []named
	Fault               string
}

func (p *Pages) newTesters(c *gin.Context) error {
	return p.showNewTesters(c, newTestersData{Group: c.Query("group"), Notify: true})
}

func (p *Pages) showNewTesters(c *gin.Context, data newTestersData) (err error) {
	if data.Groups, err = p.groupNames(c); err != nil {
		return err
	}
	data.Rights = rightsOf(c)
	return p.show(c, "newtesters", data.Fault, frame.Page{Title: "Add testers", Data: data})
}

func (p *Pages) addTesters(c *gin.Context) error {
	data := newTestersData{Emails: c.PostForm("emails"), Name: c.PostForm("name"), Group: strings.TrimSpace(c.PostForm("group")),
		Notify: c.PostForm("notify") != ""}
	body := map[string]any{"emails": addresses(data.Emails), "name": data.Name, "notify": data.Notify}
	if data.Group != "" {
		body["groups"] = []string{data.Group}
	}
	var answer struct {
		Invited int     `json:"invited"`
		Created int     `json:"created"`
		Tester  *tester `json:"tester"`
	}
	err := p.API.Send(c, http.MethodPost, "/api/v3/testers", body, &answer)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showNewTesters(c, data)
	}
	path := "/people"
	if answer.Tester != nil {
		path = fmt.Sprintf("/people/testers/%d", answer.Tester.ID)
	}
	return p.Done(c, path, fmt.Sprintf("%d added, of whom %d are new.", answer.Invited, answer.Created))
}

// groupApps is a group of a tester with the apps that it lets them install.
type groupApps struct {
	named
	Apps  []named
	Total int
}

// testerData is the page of a tester.
type testerData struct {
	Rights  rights
	Tester  *tester
	Groups  []groupApps
	Others  []named // groups that the tester is not in
	Devices []device
	// Installs are the builds that the tester got, a page of them.
	Installs []install
	Pager    *frame.Pager
	Fault    string
}

// install is a way that a device of a tester came by a build.
type install struct {
	BuildID     int64     `json:"build_id"`
	AppName     string    `json:"app_name"`
	Version     string    `json:"version"`
	VersionCode string    `json:"version_code"`
	Channel     string    `json:"channel"`
	Status      string    `json:"status"`
	Device      string    `json:"device"`
	Count       int64     `json:"count"`
	FirstAt     time.Time `json:"first_at"`
	LastAt      time.Time `json:"last_at"`
}

// Title is the app and the version, or the number of the build.
func (i install) Title() string {
	version := i.Version
	if i.VersionCode != "" && i.VersionCode != i.Version {
		version += " (" + i.VersionCode + ")"
	}
	return cmp.Or(strings.TrimSpace(i.AppName+" "+version), fmt.Sprintf("Build %d", i.BuildID))
}

// How is the channel in words.
func (i install) How() string {
	switch i.Channel {
	case "page":
		return "install page"
	case "manifest":
		return "iOS manifest"
	case "session":
		return "session of the app"
	}
	return i.Channel
}

// shownGroups is for how many groups the page of a tester reads the apps.
const shownGroups = 20

func (p *Pages) tester(c *gin.Context) (err error) {
	var answer struct {
		Tester tester `json:"tester"`
	}
	if err := p.API.Get(c, testerPath(c, ""), nil, &answer); err != nil {
		return err
	}
	t := &answer.Tester
	data := testerData{Rights: rightsOf(c), Tester: t}
	if data.Groups, err = p.appsOfGroups(c, t.Groups); err != nil {
		return err
	}
	all, err := p.groupNames(c)
	if err != nil {
		return err
	}
	within := byID(t.Groups)
	for _, g := range all {
		if _, ok := within[g.ID]; !ok {
			data.Others = append(data.Others, g)
		}
	}
	if data.Rights.ReadDevices {
		if data.Devices, err = p.devicesOf(c, t); err != nil {
			return err
		}
	}
	var got struct {
		Installs   []install    `json:"installs"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, testerPath(c, "/installs"), frame.Query(c, "page", "per_page"), &got); err != nil {
		return err
	}
	data.Installs, data.Pager = got.Installs, p.PagesOf(c, got.Pagination)
	return p.show(c, "tester", data.Fault, frame.Page{Title: t.Title(), Data: data})
}

// appsOfGroups reads the apps of a tester's groups.
func (p *Pages) appsOfGroups(c *gin.Context, groups []named) ([]groupApps, error) {
	list := make([]groupApps, 0, len(groups))
	for i, g := range groups {
		var answer struct {
			Projects   []named      `json:"projects"`
			Pagination frame.Paging `json:"pagination"`
		}
		if i < shownGroups {
			path := fmt.Sprintf("/api/v3/groups/%d/projects", g.ID)
			if err := p.API.Get(c, path, url.Values{"per_page": {"25"}}, &answer); err != nil {
				return nil, err
			}
		}
		list = append(list, groupApps{named: g, Apps: answer.Projects, Total: answer.Pagination.Total})
	}
	return list, nil
}

// testerPath is the path of a route of the tester that the page's path names.
func testerPath(c *gin.Context, rest string) string {
	return "/api/v3/testers/" + frame.Segment(c, "id") + rest
}

func (p *Pages) blockTester(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPost, testerPath(c, "/block"), nil, nil)
	return p.End(c, p.Back(c, "/people"), "The tester is blocked: no sign-in, no installation, no mail.", err)
}

func (p *Pages) unblockTester(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, testerPath(c, "/block"), nil, nil)
	return p.End(c, p.Back(c, "/people"), "The tester is no longer blocked.", err)
}

func (p *Pages) removeTester(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, testerPath(c, ""), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, "/people"), err)
	}
	return p.Done(c, "/people", "The tester was removed from the organization.")
}
