package tests

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

const (
	// authoring begins the paths of the interface that the pages ask.
	authoring  = "/v1/ai-authoring"
	badRequest = http.StatusBadRequest
	// perPage is how many rows a page of a list has.
	perPage = 25
	// most is the largest page of the interface's lists, for choices.
	most = "100"
)

// answer is the envelope of the interface's answers.
type answer[T any] struct {
	Data T `json:"data"`
}

// list is a page of a list of the interface.
type list[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// get reads what the interface has at a path.
func get[T any](p *Pages, c *gin.Context, path string, q url.Values) (T, error) {
	var a answer[T]
	err := p.API.Get(c, authoring+path, q, &a)
	return a.Data, err
}

// post sends a body to a path of the interface and reads what it answers.
func post[T any](p *Pages, c *gin.Context, path string, body any) (T, error) {
	var a answer[T]
	err := p.API.Send(c, http.MethodPost, authoring+path, body, &a)
	return a.Data, err
}

// do sends a change whose answer is of no interest.
func (p *Pages) do(c *gin.Context, method, path string, body any) error {
	return p.API.Send(c, method, authoring+path, body, nil)
}

// rows are a page of a list as a page shows it. Fault says why there are none: the filters
// of the address were refused.
type rows[T any] struct {
	list[T]
	Fault string
	Pager *frame.Pager
}

// read asks for the page of a list that the parameter of the address says.
func read[T any](p *Pages, c *gin.Context, path string, q url.Values) (found rows[T], err error) {
	page := pageNumber(c)
	q.Set("limit", strconv.Itoa(perPage))
	q.Set("skip", strconv.Itoa((page-1)*perPage))
	found.list, err = get[list[T]](p, c, path, q)
	if err != nil {
		if problem := respond.Explain(err); problem.Status == badRequest {
			found.Fault = "This filter was not understood: " + problem.Text
			return found, nil
		}
		return found, err
	}
	if found.Total > perPage || page > 1 {
		found.Pager = p.Pages(c, page, perPage, found.Total)
	}
	return found, nil
}

func pageNumber(c *gin.Context) int {
	page, err := strconv.Atoi(c.Query("page"))
	if err != nil {
		return 1
	}
	return max(1, page)
}

// filters are the parameters of the page's address that have a value, without those that
// are the page's own: the interface refuses what it does not know.
func filters(c *gin.Context, own ...string) url.Values {
	// The first four are of the page, or of answers that are no page.
	return frame.Filters(c, append([]string{"page", "format", "download", "wait"}, own...)...)
}

// absent reports whether an error is that something is not there, as when it was removed
// since its list was read.
func absent(err error) bool { return respond.Explain(err).Status == http.StatusNotFound }

// field is a member of a form without the spaces around it.
func field(c *gin.Context, name string) string { return strings.TrimSpace(c.PostForm(name)) }

// words are those of a text that stand behind commas.
func words(text string) []string {
	all := []string{}
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// orNull is a text of a form, or null, which clears what is stored.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// named is an id with its name, for choices.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// suiteChoice are the newest suites of the organization.
func (p *Pages) suiteChoice(c *gin.Context) ([]named, error) {
	found, err := get[list[named]](p, c, "/testsuites", url.Values{"limit": {most}})
	return found.Items, err
}

// suiteNames are the names of suites by their ids.
func (p *Pages) suiteNames(c *gin.Context, ids []string) (map[string]string, error) {
	names := map[string]string{}
	if len(ids) == 0 {
		return names, nil
	}
	found, err := get[list[named]](p, c, "/testsuites", url.Values{"ids": ids, "limit": {most}})
	for _, suite := range found.Items {
		names[suite.ID] = suite.Name
	}
	return names, err
}

// teamChoice are the first teams of the organization, as the interface names them.
func (p *Pages) teamChoice(c *gin.Context) ([]named, error) {
	var found struct {
		Teams []struct {
			UUID string `json:"uuid"`
			Name string `json:"name"`
		} `json:"teams"`
	}
	err := p.API.Get(c, "/api/v3/teams", url.Values{"per_page": {most}}, &found)
	teams := make([]named, 0, len(found.Teams))
	for _, team := range found.Teams {
		teams = append(teams, named{ID: team.UUID, Name: team.Name})
	}
	return teams, err
}
