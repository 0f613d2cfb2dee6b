package builds

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// appSettings is the page of an app's settings.
func (p *Pages) appSettings(c *gin.Context) error {
	begun, err := p.beginApp(c, "settings")
	if err != nil {
		return err
	}
	data := struct {
		appData
		Teams []named
		Who   *who
	}{appData: begun}
	if data.Teams, err = p.teams(c); err != nil {
		return err
	}
	if data.Who, err = p.who(c, appPath(data.App.ID), "/builds/apps/"+fmt.Sprint(data.App.ID), data.App.AllTesters); err != nil {
		return err
	}
	return p.show(c, "settings", "", frame.Page{Title: data.App.Title(), Data: data})
}

const settingsPage = "/builds/apps/:id/settings"

// changeApp sends those settings of the form that differ from what the app has: a value
// that stands from former rules is then not looked at again.
func (p *Pages) changeApp(c *gin.Context) error {
	id := frame.Segment(c, "id")
	now, err := p.appOf(c, id)
	if err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	body := map[string]any{}
	for member, is := range map[string]struct{ from, to string }{
		"name":              {now.Name, strings.TrimSpace(c.PostForm("name"))},
		"folder_name":       {now.Folder, strings.TrimSpace(c.PostForm("folder"))},
		"description":       {now.Description, text(c, "description")},
		"landing_page_mode": {now.Mode, c.PostForm("mode")},
		"landing_page_slug": {now.Slug, strings.TrimSpace(c.PostForm("slug"))},
		"team_id":           {fmt.Sprint(now.TeamID), c.PostForm("team")},
	} {
		if is.from != is.to {
			body[member] = is.to
		}
	}
	if body["team_id"] == "" {
		delete(body, "team_id") // the form has no choice of teams
	}
	if err := number(body, "team_id"); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	if len(body) == 0 {
		return p.Done(c, p.Back(c, "/builds"), "Nothing was changed.")
	}
	return p.change(c, settingsPage, appPath(id), body, "The settings were saved.")
}

func (p *Pages) changeAppPage(c *gin.Context) error {
	return p.change(c, settingsPage, appPath(frame.Segment(c, "id")), limitsChange(c), "The install page was changed.")
}

func (p *Pages) copyApp(c *gin.Context) error {
	body := map[string]any{}
	for member, field := range map[string]string{"name": "name", "folder_name": "folder"} {
		if value := strings.TrimSpace(c.PostForm(field)); value != "" {
			body[member] = value
		}
	}
	var answer struct {
		Project app `json:"project"`
	}
	if err := p.API.Send(c, http.MethodPost, appPath(frame.Segment(c, "id"))+"/copy", body, &answer); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	return p.Done(c, fmt.Sprintf("/builds/apps/%d", answer.Project.ID), "The app was copied. This is the copy.")
}

func (p *Pages) deleteApp(c *gin.Context) error {
	if err := p.API.Send(c, http.MethodDelete, appPath(frame.Segment(c, "id")), nil, nil); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	return p.Done(c, "/builds", "The app was deleted. Its files, sessions and crashes are being removed.")
}
