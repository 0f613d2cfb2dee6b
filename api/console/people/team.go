package people

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
)

// team is a team of members.
type team struct {
	ID            int64     `json:"id"`
	UUID          string    `json:"uuid"`
	Name          string    `json:"name"`
	MembersCount  int       `json:"members_count"`
	ProjectsCount int       `json:"projects_count"`
	GroupsCount   int       `json:"groups_count"`
	CreatedAt     time.Time `json:"created_at"`
}

// member is somebody in a team.
type member struct {
	UserID   int64     `json:"user_id"`
	Email    string    `json:"email"`
	Username string    `json:"username"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Admin    bool      `json:"admin"`
	Blocked  bool      `json:"blocked"`
	AddedAt  time.Time `json:"added_at"`
}

// Login is the mail address, or the user name of a service account.
func (m *member) Login() string { return cmp.Or(m.Email, m.Username) }

// teamsData is the list of teams.
type teamsData struct {
	Rights   rights
	Teams    []team
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) teams(c *gin.Context) (err error) {
	var answer struct {
		Teams      []team       `json:"teams"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Filters(c)
	data := teamsData{Rights: rightsOf(c), Filtered: len(q) > 0}
	if data.Fault, err = p.read(c, "/api/v3/teams", q, &answer); err != nil {
		return err
	}
	data.Teams, data.Pager = answer.Teams, p.PagesOf(c, answer.Pagination)
	return p.show(c, "teams", data.Fault, frame.Page{Title: "Teams", Data: data})
}

func (p *Pages) createTeam(c *gin.Context) error {
	var answer struct {
		Team team `json:"team"`
	}
	err := p.API.Send(c, http.MethodPost, "/api/v3/teams", map[string]any{"name": c.PostForm("name")}, &answer)
	if err != nil {
		return p.Refused(c, p.Back(c, "/people/teams"), err)
	}
	return p.Done(c, fmt.Sprintf("/people/teams/%d", answer.Team.ID), "The team was created. Add its members.")
}

// teamData is the page of a team.
type teamData struct {
	Rights  rights
	Team    *team
	Members []member
	Fault   string
	Pager   *frame.Pager
}

func (p *Pages) team(c *gin.Context) (err error) {
	var answer struct {
		Team team `json:"team"`
	}
	if err := p.API.Get(c, teamPath(c, ""), nil, &answer); err != nil {
		return err
	}
	var people struct {
		Members    []member     `json:"members"`
		Pagination frame.Paging `json:"pagination"`
	}
	data := teamData{Rights: rightsOf(c), Team: &answer.Team}
	if data.Fault, err = p.read(c, teamPath(c, "/members"), frame.Filters(c), &people); err != nil {
		return err
	}
	data.Members, data.Pager = people.Members, p.PagesOf(c, people.Pagination)
	return p.show(c, "team", data.Fault, frame.Page{Title: answer.Team.Name, Data: data})
}

// teamPath is the path of a route of the team that the page's path names.
func teamPath(c *gin.Context, rest string) string {
	return "/api/v3/teams/" + frame.Segment(c, "id") + rest
}

func backToTeam(c *gin.Context) string { return "/people/teams/" + frame.Segment(c, "id") }

func (p *Pages) renameTeam(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPut, teamPath(c, ""), map[string]any{"name": c.PostForm("name")}, nil)
	return p.End(c, p.Back(c, backToTeam(c)), "The team has its new name.", err)
}

func (p *Pages) deleteTeam(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, teamPath(c, ""), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, backToTeam(c)), err)
	}
	return p.Done(c, "/people/teams", "The team was deleted.")
}

func (p *Pages) addMember(c *gin.Context) error {
	body := map[string]any{"email": strings.TrimSpace(c.PostForm("email")), "admin": c.PostForm("admin") != ""}
	err := p.API.Send(c, http.MethodPost, teamPath(c, "/members"), body, nil)
	return p.End(c, p.Back(c, backToTeam(c)), "The team has a new member.", err)
}

func (p *Pages) setTeamAdmin(c *gin.Context) error {
	user, err := strconv.ParseInt(c.Param("user"), 10, 64)
	if err != nil {
		return p.Refused(c, backToTeam(c), storage.ErrNotFound)
	}
	admin, notice := c.PostForm("admin") != "", "The member is no longer an admin of the team."
	if admin {
		notice = "The member is an admin of the team."
	}
	err = p.API.Send(c, http.MethodPost, teamPath(c, "/members"), map[string]any{"user_id": user, "admin": admin}, nil)
	return p.End(c, p.Back(c, backToTeam(c)), notice, err)
}

func (p *Pages) removeMember(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, teamPath(c, "/members/"+frame.Segment(c, "user")), nil, nil)
	return p.End(c, p.Back(c, backToTeam(c)), "The member is no longer in the team, and stays in the organization.", err)
}
