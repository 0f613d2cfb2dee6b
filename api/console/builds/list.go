package builds

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

// most is the largest page of the lists behind a choice: groups, teams, apps.
const most = "100"

// read asks for a list by the filters of the page. A filter that the route refuses is
// returned as the text to say on the page.
func (p *Pages) read(c *gin.Context, path string, q url.Values, into any) (fault string, err error) {
	err = p.API.Get(c, path, q, into)
	if problem := respond.Explain(err); err != nil && problem.Status == http.StatusBadRequest {
		return problem.Text, nil
	}
	return "", err
}

// show writes a page of the area; with a fault its status is that of a wrong request.
func (p *Pages) show(c *gin.Context, name, fault string, page frame.Page) error {
	page.Area = "/builds"
	return p.pages.ShowList(c, name, fault, page)
}

// local is an address of this installation without its host, so that a page shows it under
// whatever name it was opened; other addresses stay as they are.
func (p *Pages) local(address string) string {
	u, err := url.Parse(address)
	own, ownErr := url.Parse(p.PublicURL())
	if err != nil || ownErr != nil || u.Host != own.Host {
		return address
	}
	return u.RequestURI()
}

// named is an id with its name, for choices.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// groups are the first groups of the organization.
func (p *Pages) groups(c *gin.Context) ([]named, error) {
	var answer struct {
		Groups []named `json:"groups"`
	}
	err := p.API.Get(c, "/api/v3/groups", url.Values{"per_page": {most}}, &answer)
	return answer.Groups, err
}

// teams are the first teams of the organization.
func (p *Pages) teams(c *gin.Context) ([]named, error) {
	var answer struct {
		Teams []named `json:"teams"`
	}
	err := p.API.Get(c, "/api/v3/teams", url.Values{"per_page": {most}}, &answer)
	return answer.Teams, err
}
