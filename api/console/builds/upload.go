package builds

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/artifact"
)

// uploadData is the page of the upload.
type uploadData struct {
	Fault     string // why the last one was refused
	Apps      []named
	Teams     []named
	Groups    []named
	Platforms []artifact.Platform
	Chosen    string // the app that the page's address names
}

func (p *Pages) uploadPage(c *gin.Context) error { return p.uploadWith(c, http.StatusOK, "") }

// uploadWith writes the form, with the reason why a file was refused.
func (p *Pages) uploadWith(c *gin.Context, status int, fault string) (err error) {
	data := uploadData{Fault: fault, Platforms: artifact.Platforms(), Chosen: c.Query("app")}
	if data.Apps, err = p.choices(c); err != nil {
		return err
	}
	if data.Teams, err = p.teams(c); err != nil {
		return err
	}
	if data.Groups, err = p.groups(c); err != nil {
		return err
	}
	return p.pages.Render(c, status, "upload", frame.Page{Title: "Upload a build", Area: "/builds", Data: data})
}

// upload hands the form over as it comes, and leads to the build. What was not taken is
// said on the page that answers, for a script reads it before anybody does.
func (p *Pages) upload(c *gin.Context) error {
	var answer struct {
		Build         *build   `json:"build"`
		InvalidGroups []string `json:"invalid_groups"`
	}
	err := p.API.Upload(c, "/api/v3/builds/upload", &answer)
	if err != nil {
		problem := respond.Explain(err)
		if problem.Status >= http.StatusInternalServerError || problem.Status == http.StatusUnauthorized {
			return err
		}
		return p.uploadWith(c, problem.Status, problem.Text)
	}
	if answer.Build == nil {
		return p.Done(c, "/crashes/symbols", "The file holds native libraries: it was kept as symbols.")
	}
	q := url.Values{"uploaded": {"1"}, "unknown": answer.InvalidGroups}
	return p.Lead(c, fmt.Sprintf("/builds/builds/%d?%s", answer.Build.ID, q.Encode()))
}
