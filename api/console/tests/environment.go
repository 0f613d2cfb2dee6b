package tests

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/tests/step"
)

// environment is a named set of what tests run with. The interface never shows the values of
// secrets, and of headers with credentials.
type environment struct {
	ID             string            `json:"id"`
	Name           string            `json:"name"`
	TeamID         string            `json:"teamId"`
	TestURL        string            `json:"testUrl"`
	Tunnel         string            `json:"tunnel"`
	Targets        []step.Target     `json:"targets"`
	Variables      map[string]string `json:"variables"`
	SecretNames    []string          `json:"secretNames"`
	Headers        map[string]string `json:"headers"`
	SecretHeaders  []string          `json:"secretHeaders"`
	Version        int               `json:"version"`
	LastUpdateDate string            `json:"lastUpdateDate"`
}

// environmentForm is what a form says of an environment: Variables, Headers and Targets as
// JSON. Stored is the environment as it is; without an id it is a new one.
type environmentForm struct {
	Stored                      environment
	Name, Team, TestURL, Tunnel string
	Variables, Headers, Targets string
	Version                     int
	Fault                       string
	Teams                       []named
	Tunnels                     list[named]
	Change                      bool // whoever looks may change it
}

// environmentsData is the list of environments, and the form of a new one.
type environmentsData struct {
	rows[environment]
	Form     environmentForm
	TeamOf   map[string]string
	Filtered bool
}

func environmentPath(c *gin.Context) string { return "/environments/" + frame.Segment(c, "id") }

// environmentChoices fills in what the form offers.
func (p *Pages) environmentChoices(c *gin.Context, form *environmentForm) (err error) {
	form.Change = frame.May(c, auth.ChangeVariables)
	if form.Teams, err = p.teamChoice(c); err != nil {
		return err
	}
	form.Tunnels, err = p.tunnelChoice(c)
	return err
}

func (p *Pages) environments(c *gin.Context) error {
	return p.showEnvironments(c, environmentForm{Variables: "{}", Headers: "{}", Targets: "[]"})
}

func (p *Pages) showEnvironments(c *gin.Context, form environmentForm) (err error) {
	q := filters(c)
	data := environmentsData{Form: form, Filtered: len(q) > 0, TeamOf: map[string]string{}}
	if data.rows, err = read[environment](p, c, "/environments", q); err != nil {
		return err
	}
	if err := p.environmentChoices(c, &data.Form); err != nil {
		return err
	}
	for _, team := range data.Form.Teams {
		data.TeamOf[team.ID] = team.Name
	}
	return p.show(c, "environments", data.Fault+form.Fault, frame.Page{Title: "Environments", Data: data})
}

// typedEnvironment is the form as it was sent.
func typedEnvironment(c *gin.Context) environmentForm {
	version, _ := strconv.Atoi(field(c, "version"))
	return environmentForm{Name: field(c, "name"), Team: field(c, "team"), TestURL: field(c, "url"), Tunnel: field(c, "tunnel"),
		Variables: c.PostForm("variables"), Headers: c.PostForm("headers"), Targets: c.PostForm("targets"), Version: version}
}

// body is what the form changes of what is stored: names that are not there any more are
// removed, and secrets whose value was left empty stay. fault says what cannot be read.
func (f *environmentForm) body(c *gin.Context) (body map[string]any, fault string) {
	body = map[string]any{"testUrl": f.TestURL, "tunnel": f.Tunnel}
	variables, fault := textsOf(f.Variables, "The variables", f.Stored.Variables)
	if fault != "" {
		return nil, fault
	}
	headers, fault := textsOf(f.Headers, "The headers", f.Stored.Headers)
	if fault != "" {
		return nil, fault
	}
	targets, fault := readJSON(f.Targets, "The browsers")
	if fault != "" {
		return nil, fault
	}
	secrets := map[string]*string{}
	written(c, "secret-", f.Stored.SecretNames, secrets)
	written(c, "header-", f.Stored.SecretHeaders, headers)
	if name := field(c, "secret_name"); name != "" {
		value := c.PostForm("secret_value")
		secrets[name] = &value
	}
	body["variables"], body["headers"], body["secrets"], body["targets"] = variables, headers, secrets, targets
	return body, ""
}

// textsOf reads an object of texts that was typed; null stands for the names of stored that it
// has not.
func textsOf(typed, what string, stored map[string]string) (texts map[string]*string, fault string) {
	compact, fault := readJSON(typed, what)
	if fault != "" {
		return nil, fault
	}
	given := map[string]string{}
	if err := json.Unmarshal(compact, &given); err != nil {
		return nil, what + ` are an object of texts: {"country": "de"}.`
	}
	texts = map[string]*string{}
	for name := range stored {
		texts[name] = nil
	}
	for name, value := range given {
		texts[name] = &value
	}
	return texts, ""
}

// written takes the fields of values that nobody can read: what was typed, or null where the
// box says that it goes.
func written(c *gin.Context, prefix string, names []string, into map[string]*string) {
	for _, name := range names {
		if c.PostForm("drop-"+prefix+name) != "" {
			into[name] = nil
		} else if value := c.PostForm(prefix + name); value != "" {
			into[name] = &value
		}
	}
}

func (p *Pages) createEnvironment(c *gin.Context) error {
	form := typedEnvironment(c)
	body, fault := form.body(c)
	if form.Fault = fault; fault != "" {
		return p.showEnvironments(c, form)
	}
	body["name"] = form.Name
	if form.Team != "" {
		body["teamId"] = form.Team
	}
	made, err := post[environment](p, c, "/environments", body)
	if form.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if form.Fault != "" {
		return p.showEnvironments(c, form)
	}
	return p.Done(c, "/tests/environments/"+made.ID, "The environment was created.")
}

func (p *Pages) environment(c *gin.Context) error {
	one, err := get[environment](p, c, environmentPath(c), filters(c))
	if err != nil {
		return err
	}
	form := environmentForm{Stored: one, TestURL: one.TestURL, Tunnel: one.Tunnel, Version: one.Version}
	for _, member := range []struct {
		to *string
		of any
	}{{&form.Variables, one.Variables}, {&form.Headers, one.Headers}, {&form.Targets, one.Targets}} {
		if *member.to, err = indented(member.of); err != nil {
			return err
		}
	}
	return p.showEnvironment(c, form)
}

func (p *Pages) showEnvironment(c *gin.Context, form environmentForm) error {
	if err := p.environmentChoices(c, &form); err != nil {
		return err
	}
	return p.show(c, "environment", form.Fault, frame.Page{Title: form.Stored.Name, Data: form})
}

func (p *Pages) changeEnvironment(c *gin.Context) error {
	form := typedEnvironment(c)
	var err error
	if form.Stored, err = get[environment](p, c, environmentPath(c), nil); err != nil {
		return err
	}
	body, fault := form.body(c)
	if form.Fault = fault; fault != "" {
		return p.showEnvironment(c, form)
	}
	if form.Version > 0 {
		body["version"] = form.Version
	}
	form.Fault, err = frame.Refusal(p.do(c, http.MethodPatch, environmentPath(c), body))
	if err != nil {
		return err
	}
	if form.Fault != "" {
		return p.showEnvironment(c, form)
	}
	return p.Done(c, "/tests/environments/"+form.Stored.ID, "The environment was changed. Runs that have begun keep what they had.")
}

func (p *Pages) deleteEnvironment(c *gin.Context) error {
	if err := p.do(c, http.MethodDelete, environmentPath(c), nil); err != nil {
		return p.Refused(c, "/tests/environments/"+frame.Segment(c, "id"), err)
	}
	return p.Done(c, "/tests/environments",
		"The environment was deleted. Schedules and suites that name it start nothing until they name another.")
}
