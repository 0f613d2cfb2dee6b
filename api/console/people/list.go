package people

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

// most is the largest page of the lists behind a choice: groups, teams, apps.
const most = "100"

// read asks for a list by the filters of the page. A filter that the route refuses, or that
// names nothing, is returned as the text to say on the page.
func (p *Pages) read(c *gin.Context, path string, q url.Values, into any) (fault string, err error) {
	if err = p.API.Get(c, path, q, into); err == nil {
		return "", nil
	}
	problem := respond.Explain(err)
	switch {
	case problem.Status == http.StatusBadRequest:
		return "This filter was not understood: " + problem.Text, nil
	case problem.Status == http.StatusNotFound && len(q) > 0:
		return "What the filter names is not there.", nil
	}
	return "", err
}

// show writes a page of the area; with a fault its status is that of a wrong request.
func (p *Pages) show(c *gin.Context, name, fault string, page frame.Page) error {
	page.Area = "/people"
	return p.pages.ShowList(c, name, fault, page)
}

// addresses reads mail addresses that stand in lines, or behind commas or spaces.
func addresses(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

// named is an id with its name, for choices.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Title is the name, or the number where there is none: apps need no name.
func (n named) Title() string { return cmp.Or(strings.TrimSpace(n.Name), fmt.Sprintf("App %d", n.ID)) }

// groupNames are the first groups of the organization.
func (p *Pages) groupNames(c *gin.Context) ([]named, error) {
	var answer struct {
		Groups []named `json:"groups"`
	}
	err := p.API.Get(c, "/api/v3/groups", url.Values{"per_page": {most}}, &answer)
	return answer.Groups, err
}

// teamNames are the first teams of the organization.
func (p *Pages) teamNames(c *gin.Context) ([]named, error) {
	var answer struct {
		Teams []named `json:"teams"`
	}
	err := p.API.Get(c, "/api/v3/teams", url.Values{"per_page": {most}}, &answer)
	return answer.Teams, err
}

// byID are the names of choices by their ids.
func byID(list []named) map[int64]string {
	names := make(map[int64]string, len(list))
	for _, n := range list {
		names[n.ID] = n.Name
	}
	return names
}
