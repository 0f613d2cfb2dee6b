package settings

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage/account"
)

// member is somebody of the organization who is more than a tester.
type member struct {
	ID       int64  `json:"id"`
	Kind     string `json:"kind"`
	Username string `json:"username"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Role     string `json:"role"`
	Teams    []struct {
		named
		Admin bool `json:"admin"`
	} `json:"teams"`
	Keys       int        `json:"keys"`
	Blocked    bool       `json:"blocked"`
	LastSeenAt *time.Time `json:"last_seen_at"`
	JoinedAt   time.Time  `json:"joined_at"`
}

// Service reports whether it is a service account.
func (m *member) Service() bool { return m.Kind == "service" }

// membersData is the list of members.
type membersData struct {
	Rights   rights
	Members  []member
	Filtered bool
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) members(c *gin.Context) (err error) {
	var answer struct {
		Members    []member     `json:"members"`
		Pagination frame.Paging `json:"pagination"`
	}
	q := frame.Filters(c)
	data := membersData{Rights: rightsOf(c), Filtered: q.Has("search") || q.Has("role")}
	if data.Fault, err = p.read(c, "/api/v3/members", q, &answer); err != nil {
		return err
	}
	data.Members, data.Pager = answer.Members, p.PagesOf(c, answer.Pagination)
	return p.show(c, "members", data.Fault, frame.Page{Title: "Members", Data: data})
}

// memberData is the page of a member.
type memberData struct {
	Rights rights
	Member *member
	Change bool     // may be changed from here
	Roles  []string // that the reader may give
}

const memberPath = "/api/v3/members/"

func (p *Pages) member(c *gin.Context) error {
	var answer struct {
		Member member `json:"member"`
	}
	if err := p.API.Get(c, memberPath+frame.Segment(c, "id"), nil, &answer); err != nil {
		return err
	}
	data := memberData{Rights: rightsOf(c), Member: &answer.Member, Change: !answer.Member.Service() && frame.May(c, auth.ManageMembers)}
	for _, role := range []account.Role{account.Owner, account.Admin, account.Member} {
		if caller := auth.CallerOf(c.Request.Context()); caller != nil && caller.Role.AtLeast(role) {
			data.Roles = append(data.Roles, string(role))
		}
	}
	data.Change = data.Change && slices.Contains(data.Roles, answer.Member.Role)
	title := answer.Member.Email
	if title == "" {
		title = answer.Member.Username
	}
	return p.show(c, "member", "", frame.Page{Title: title, Data: data})
}

func (p *Pages) changeRole(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPut, memberPath+frame.Segment(c, "id"), map[string]any{"role": c.PostForm("role")}, nil)
	return p.End(c, p.Back(c, "/settings/members/"+frame.Segment(c, "id")), "The role was changed.", err)
}

func (p *Pages) removeMember(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, memberPath+frame.Segment(c, "id"), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, "/settings/members/"+frame.Segment(c, "id")), err)
	}
	return p.Done(c, "/settings/members", "The member was removed: keys and sessions have ended.")
}
