package tests

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
)

// variable is a value that tests use by its name. The interface never shows that of a
// secret.
type variable struct {
	ID             string `json:"id"`
	Scope          string `json:"scope"`
	TeamID         string `json:"teamId"`
	TestSuiteID    string `json:"testSuiteId"`
	TestCaseID     string `json:"testCaseId"`
	Name           string `json:"name"`
	Value          string `json:"value"`
	IsSecret       bool   `json:"isSecret"`
	Version        int    `json:"version"`
	LastUpdateDate string `json:"lastUpdateDate"`
}

// scopes are what a variable can belong to, from the widest.
var scopes = []named{{"org", "the organization"}, {"team", "a team"}, {"testSuite", "a suite"}, {"testCase", "a test"}}

// Of says what kind of thing the variable belongs to.
func (v *variable) Of() string {
	for _, scope := range scopes {
		if scope.ID == v.Scope {
			return scope.Name
		}
	}
	return v.Scope
}

// variablesData is the list of variables.
type variablesData struct {
	rows[variable]
	Scopes   []named
	Teams    []named
	Suites   []named
	TeamOf   map[string]string
	SuiteOf  map[string]string
	Filtered bool
}

func (p *Pages) variables(c *gin.Context) (err error) {
	q := filters(c)
	data := variablesData{Filtered: len(q) > 0, Scopes: scopes, TeamOf: map[string]string{}, SuiteOf: map[string]string{}}
	if data.rows, err = read[variable](p, c, "/variables", q); err != nil {
		return err
	}
	if data.Teams, err = p.teamChoice(c); err != nil {
		return err
	}
	if data.Suites, err = p.suiteChoice(c); err != nil {
		return err
	}
	for _, team := range data.Teams {
		data.TeamOf[team.ID] = team.Name
	}
	for _, suite := range data.Suites {
		data.SuiteOf[suite.ID] = suite.Name
	}
	return p.show(c, "variables", data.Fault, frame.Page{Title: "Variables", Data: data})
}

func (p *Pages) createVariable(c *gin.Context) error {
	scope := field(c, "scope")
	body := map[string]any{"scope": scope, "name": field(c, "name"), "value": c.PostForm("value"), "isSecret": c.PostForm("secret") != ""}
	switch scope {
	case "team":
		body["teamId"] = field(c, "team")
	case "testSuite":
		body["testSuiteId"] = field(c, "suite")
	case "testCase":
		body["testCaseId"] = field(c, "case")
	}
	err := p.do(c, http.MethodPost, "/variables", body)
	return p.End(c, p.Back(c, "/tests/variables"), "The variable was created.", err)
}

// variableData is the page of a variable. Of is what it belongs to.
type variableData struct {
	Variable *variable
	Of       string
}

func (p *Pages) variable(c *gin.Context) error {
	one, err := get[variable](p, c, "/variables/"+frame.Segment(c, "id"), filters(c))
	if err != nil {
		return err
	}
	data := variableData{Variable: &one, Of: "the organization"}
	switch one.Scope {
	case "team":
		data.Of = "a team"
		teams, err := p.teamChoice(c)
		if err != nil {
			return err
		}
		for _, team := range teams {
			if team.ID == one.TeamID {
				data.Of = "the team " + team.Name
			}
		}
	case "testSuite":
		names, err := p.suiteNames(c, []string{one.TestSuiteID})
		if err != nil {
			return err
		}
		data.Of = "the suite " + names[one.TestSuiteID]
	case "testCase":
		of, err := get[named](p, c, "/testcases/"+one.TestCaseID, nil)
		if err != nil && !absent(err) {
			return err
		}
		data.Of = "the test " + of.Name
	}
	return p.show(c, "variable", "", frame.Page{Title: one.Name, Data: data})
}

// changeVariable changes what was typed; a secret whose value is left empty keeps it.
func (p *Pages) changeVariable(c *gin.Context) error {
	secret, value := c.PostForm("secret") != "", c.PostForm("value")
	body := map[string]any{"name": field(c, "name"), "isSecret": secret}
	if value != "" || c.PostForm("was_secret") == "" {
		body["value"] = value
	}
	if version, err := strconv.Atoi(field(c, "version")); err == nil {
		body["version"] = version
	}
	err := p.do(c, http.MethodPatch, "/variables/"+frame.Segment(c, "id"), body)
	return p.End(c, p.Back(c, "/tests/variables"), "The variable was changed.", err)
}

func (p *Pages) deleteVariable(c *gin.Context) error {
	if err := p.do(c, http.MethodDelete, "/variables/"+frame.Segment(c, "id"), nil); err != nil {
		return p.Refused(c, p.Back(c, "/tests/variables"), err)
	}
	return p.Done(c, "/tests/variables", "The variable was deleted.")
}

// tunnel is a named proxy, without the user and password of its address.
type tunnel struct {
	Name         string `json:"name"`
	Kind         string `json:"kind"`
	Host         string `json:"host"`
	CreationDate string `json:"creationDate"`
}

// tunnelsData is the list of tunnels.
type tunnelsData struct {
	rows[tunnel]
	Manage   bool
	Filtered bool
}

func (p *Pages) tunnels(c *gin.Context) (err error) {
	q := filters(c)
	data := tunnelsData{Filtered: len(q) > 0, Manage: auth.Table()[auth.ManageTunnels].Allow(auth.CallerOf(c.Request.Context())) == nil}
	if data.rows, err = read[tunnel](p, c, "/tunnels", q); err != nil {
		return err
	}
	return p.show(c, "tunnels", data.Fault, frame.Page{Title: "Tunnels", Data: data})
}

func (p *Pages) createTunnel(c *gin.Context) error {
	err := p.do(c, http.MethodPost, "/tunnels", map[string]any{"name": field(c, "name"), "url": field(c, "url")})
	return p.End(c, "/tests/tunnels", "The tunnel was created.", err)
}

func (p *Pages) deleteTunnel(c *gin.Context) error {
	err := p.do(c, http.MethodDelete, "/tunnels/"+url.PathEscape(c.PostForm("name")), nil)
	return p.End(c, "/tests/tunnels", "The tunnel was deleted. Runs that have begun keep it.", err)
}
