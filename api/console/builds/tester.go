package builds

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

// tester is who may have an app.
type tester struct {
	ID        int64      `json:"id"`
	UserID    int64      `json:"user_id"`
	Email     string     `json:"email"`
	Name      string     `json:"name"`
	Role      string     `json:"role"`
	Groups    []named    `json:"groups"`
	Blocked   bool       `json:"blocked"`
	LastLogin *time.Time `json:"last_login"`
}

// testers is the page of who may have an app.
func (p *Pages) testers(c *gin.Context) error {
	begun, err := p.beginApp(c, "testers")
	if err != nil {
		return err
	}
	data := struct {
		appData
		Testers  []tester
		Filtered bool
	}{appData: begun, Filtered: c.Query("search") != ""}
	var answer struct {
		Testers    []tester     `json:"testers"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, appPath(data.App.ID)+"/testers", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Testers, data.Pager = answer.Testers, p.PagesOf(c, answer.Pagination)
	return p.show(c, "testers", data.Fault, frame.Page{Title: data.App.Title(), Data: data})
}

// addTesters gives an app to people by their mail addresses, one a line or with commas.
func (p *Pages) addTesters(c *gin.Context) error {
	emails := strings.FieldsFunc(c.PostForm("emails"), func(r rune) bool { return strings.ContainsRune(",; \r\n\t", r) })
	var answer struct {
		Added int `json:"added"`
	}
	err := p.API.Send(c, http.MethodPost, appPath(frame.Segment(c, "id"))+"/testers", map[string]any{"emails": emails}, &answer)
	done := fmt.Sprintf("The app was given to %d testers.", answer.Added)
	switch answer.Added {
	case 0:
		done = "They have the app already."
	case 1:
		done = "The app was given to 1 tester."
	}
	return p.End(c, p.Back(c, "/builds"), done, err)
}

// removeTester takes an app back from a tester.
func (p *Pages) removeTester(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, appPath(frame.Segment(c, "id"))+"/testers/"+frame.Segment(c, "user"), nil, nil)
	if err != nil && respond.Explain(err).Status == http.StatusNotFound {
		err = &respond.Problem{Status: http.StatusNotFound, Err: err,
			Text: "this tester was not given the app alone, but by a group or because every tester may have it: " +
				"change the group, or the settings of the app"}
	}
	return p.End(c, p.Back(c, "/builds"), "The app was taken back from the tester.", err)
}

// invitation is a person's invitation to a build.
type invitation struct {
	TesterID     int64      `json:"tester_id"`
	UserID       int64      `json:"user_id"`
	Email        string     `json:"email"`
	Name         string     `json:"name"`
	Blocked      bool       `json:"blocked"`
	Status       string     `json:"status"`
	InvitedBy    string     `json:"invited_by"`
	InvitedAt    time.Time  `json:"invited_at"`
	SentAt       *time.Time `json:"sent_at"`
	OpenedAt     *time.Time `json:"opened_at"`
	InstalledAt  *time.Time `json:"installed_at"` // when the download began
	UsedAt       *time.Time `json:"used_at"`      // when the app ran
	RevokedAt    *time.Time `json:"revoked_at"`
	DownloadLink string     `json:"download_link"`
}

// State is how far the person came: downloaded, until a session shows that it is installed.
func (i invitation) State() string {
	switch {
	case i.RevokedAt != nil:
		return "revoked"
	case i.UsedAt != nil:
		return "installed"
	case i.Status == "installed":
		return "downloaded"
	}
	return i.Status
}

// invites is the page of who was invited to a build, and how far they came.
func (p *Pages) invites(c *gin.Context) error {
	begun, err := p.beginBuild(c, "invites")
	if err != nil {
		return err
	}
	data := struct {
		buildData
		Invites  []invitation
		Groups   []named
		Statuses []string
		Filtered bool
	}{buildData: begun, Statuses: []string{"created", "sent", "opened", "installed", "revoked"}, Filtered: c.Query("status") != ""}
	var answer struct {
		Invites    []invitation `json:"invites"`
		Pagination frame.Paging `json:"pagination"`
	}
	if data.Fault, err = p.read(c, buildPath(data.Build.ID)+"/invites", frame.Valued(c.Request.URL.Query()), &answer); err != nil {
		return err
	}
	data.Invites, data.Pager = answer.Invites, p.PagesOf(c, answer.Pagination)
	if data.Groups, err = p.groups(c); err != nil {
		return err
	}
	return p.show(c, "invites", data.Fault, frame.Page{Title: data.Build.App() + " " + data.Build.Title(), Data: data})
}

// invite invites groups to a build.
func (p *Pages) invite(c *gin.Context) error {
	body := map[string]any{"groups": append([]string{}, c.PostFormArray("group")...), "comment": text(c, "comment"),
		"notify": c.PostForm("notify") != ""}
	var answer struct {
		Invited int      `json:"invited"`
		Invalid []string `json:"invalid_groups"`
	}
	err := p.API.Send(c, http.MethodPost, buildPath(frame.Segment(c, "id"))+"/invites", body, &answer)
	done := fmt.Sprintf("%d people were invited.", answer.Invited)
	if answer.Invited == 1 {
		done = "1 person was invited."
	}
	if len(answer.Invalid) > 0 {
		done += " There is no group " + strings.Join(answer.Invalid, ", ") + "."
	}
	return p.End(c, p.Back(c, "/builds"), done, err)
}

func (p *Pages) revokeInvite(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, buildPath(frame.Segment(c, "id"))+"/invites/"+frame.Segment(c, "user"), nil, nil)
	return p.End(c, p.Back(c, "/builds"), "The invitation was revoked.", err)
}
