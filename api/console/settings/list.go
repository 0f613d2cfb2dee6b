package settings

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
)

// most is the largest page of the lists behind a choice: teams, apps.
const most = "100"

// read asks for a list by the filters of the page. A filter that the route refuses is
// returned as the text to say on the page.
func (p *Pages) read(c *gin.Context, path string, q url.Values, into any) (fault string, err error) {
	err = p.API.Get(c, path, q, into)
	if problem := respond.Explain(err); err != nil && problem.Status == http.StatusBadRequest {
		return "This filter was not understood: " + problem.Text, nil
	}
	return "", err
}

// found asks for what may not be there.
func (p *Pages) found(c *gin.Context, path string, into any) (bool, error) {
	err := p.API.Get(c, path, nil, into)
	if err != nil && respond.Explain(err).Status == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// texts reads texts that stand in lines, or behind commas or spaces.
func texts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) })
}

// optional is a number or a word that was typed, or null where nothing was. What is no number
// goes to the api as it was typed, which refuses it where it wants one.
type optional string

// MarshalJSON writes null, a number or a text.
func (o optional) MarshalJSON() ([]byte, error) {
	text := strings.TrimSpace(string(o))
	if text == "" {
		return []byte("null"), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.AppendInt(nil, n, 10), nil
	}
	return json.Marshal(text)
}

// UnmarshalJSON reads the same.
func (o *optional) UnmarshalJSON(text []byte) error {
	var value *string
	switch {
	case string(text) == "null":
		*o = ""
	case json.Unmarshal(text, &value) == nil:
		*o = optional(*value)
	default:
		*o = optional(text)
	}
	return nil
}

// typed is the value of a field.
func typed(c *gin.Context, name string) optional {
	return optional(strings.TrimSpace(c.PostForm(name)))
}

// chosen are the values of checkboxes.
func chosen(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

// named is an id with its name, for choices.
type named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// teams are the first teams of the organization.
func (p *Pages) teams(c *gin.Context) ([]named, error) {
	var answer struct {
		Teams []named `json:"teams"`
	}
	err := p.API.Get(c, "/api/v3/teams", url.Values{"per_page": {most}}, &answer)
	return answer.Teams, err
}

// apps are the first apps of the organization.
func (p *Pages) apps(c *gin.Context) ([]named, error) {
	var answer struct {
		Projects []named `json:"projects"`
	}
	err := p.API.Get(c, "/api/v3/projects", url.Values{"per_page": {most}}, &answer)
	return answer.Projects, err
}
