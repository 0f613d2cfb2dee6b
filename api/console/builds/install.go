package builds

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// installed is a way that a device of a person came by a build.
type installed struct {
	TesterID int64     `json:"tester_id"`
	UserID   int64     `json:"user_id"` // 0: nobody known
	Email    string    `json:"email"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Channel  string    `json:"channel"`
	Status   string    `json:"status"`
	Device   string    `json:"device"`
	Count    int64     `json:"count"`
	FirstAt  time.Time `json:"first_at"`
	LastAt   time.Time `json:"last_at"`
}

// IsTester reports whether the person has a page among the testers.
func (i installed) IsTester() bool { return i.Role == "tester" }

// people are how many members got a build.
type people struct {
	Downloaded int  `json:"downloaded"`
	Installed  int  `json:"installed"`
	Exact      bool `json:"exact"`
}

// installs is the page of who got a build, how, and on which device.
func (p *Pages) installs(c *gin.Context) error {
	begun, err := p.beginBuild(c, "installs")
	if err != nil {
		return err
	}
	data := struct {
		buildData
		Installs []installed
		People   people
		Channels []string
		Filtered bool
	}{buildData: begun, Channels: []string{"page", "manifest", "api", "session"}, Filtered: c.Query("channel") != "" ||
		c.Query("user_id") != ""}
	var answer struct {
		Installs   []installed  `json:"installs"`
		People     people       `json:"people"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, buildPath(data.Build.ID)+"/installs", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Installs, data.People, data.Pager = answer.Installs, answer.People, p.PagesOf(c, answer.Pagination)
	return p.show(c, "installs", data.Fault, frame.Page{Title: data.Build.App() + " " + data.Build.Title(), Data: data})
}
