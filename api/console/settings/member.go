package settings

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
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
