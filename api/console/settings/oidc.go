package settings

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	storageoidc "github.com/slipway-qa/slipway/storage/oidc"
)

// oidc is the configuration of the organization's token issuer.
type oidc struct {
	Enabled          bool                `json:"enabled"`
	Mode             string              `json:"mode"`
	IssuerURL        string              `json:"issuer_url"`
	ExpectedIssuer   string              `json:"expected_issuer"`
	Audience         string              `json:"audience"`
	Algorithms       []string            `json:"allowed_algorithms"`
	Scopes           []string            `json:"required_scopes"`
	Claims           map[string][]string `json:"required_claims"`
	JWKSCacheSeconds optional            `json:"jwks_cache_seconds"`
	ClockSkewSeconds optional            `json:"clock_skew_seconds"`
	Role             string              `json:"role"`
	AllTeams         bool                `json:"all_teams"`
	TeamIDs          []optional          `json:"team_ids"`
}

// oidcView is the configuration with what an answer adds.
type oidcView struct {
	oidc
	Username  string    `json:"username"`
	ConfigKey string    `json:"config_key"`
	KeyHint   string    `json:"config_key_hint"`
	UpdatedAt time.Time `json:"updated_at"`
}

type oidcAnswer struct {
	OIDC oidcView `json:"oidc"`
}

// oidcOutcome is what a test of the issuer found.
type oidcOutcome struct {
	OK         bool     `json:"ok"`
	Error      string   `json:"error"`
	Issuer     string   `json:"issuer"`
	JWKSURI    string   `json:"jwks_uri"`
	KeyCount   int      `json:"key_count"`
	Algorithms []string `json:"algorithms"`
	Usable     []string `json:"usable_algorithms"`
}

// oidcData is the page of OIDC.
type oidcData struct {
	Rights     rights
	There      bool // there is a configuration
	OIDC       oidcView
	Claims     string // a line for each
	Algorithms []string
	Teams      []named
	Chosen     map[string]bool // algorithms and numbers of teams
	Fault      string
	Outcome    *oidcOutcome
}

const oidcPath = "/api/v3/settings/oidc"

func (p *Pages) oidc(c *gin.Context) error { return p.showStoredOIDC(c, nil) }

// showStoredOIDC shows what is stored, with the outcome of a test or without.
func (p *Pages) showStoredOIDC(c *gin.Context, outcome *oidcOutcome) error {
	var answer oidcAnswer
	there, err := p.found(c, oidcPath, &answer)
	if err != nil {
		return err
	}
	data := oidcData{There: there, OIDC: answer.OIDC, Claims: claimLines(answer.OIDC.Claims), Outcome: outcome}
	if !there {
		data.OIDC.Enabled, data.OIDC.AllTeams, data.OIDC.Algorithms = true, true, []string{"RS256"}
	}
	return p.showOIDC(c, data)
}

func (p *Pages) showOIDC(c *gin.Context, data oidcData) (err error) {
	data.Rights, data.Algorithms, data.Chosen = rightsOf(c), storageoidc.Algorithms(), chosen(data.OIDC.Algorithms)
	for _, id := range data.OIDC.TeamIDs {
		data.Chosen[fmt.Sprint(id)] = true
	}
	if data.Teams, err = p.teams(c); err != nil {
		return err
	}
	return p.show(c, "oidc", data.Fault, frame.Page{Title: "OIDC", Data: data})
}

// claimLines writes claims as lines "name = value".
func claimLines(claims map[string][]string) string {
	var lines []string
	for name, values := range claims {
		for _, value := range values {
			lines = append(lines, name+" = "+value)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// claimsOf reads such lines; of several values of a claim any does.
func claimsOf(lines string) map[string][]string {
	claims := map[string][]string{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); name != "" {
			claims[name] = append(claims[name], strings.TrimSpace(value))
		}
	}
	return claims
}

func (p *Pages) saveOIDC(c *gin.Context) error {
	text := func(name string) string { return strings.TrimSpace(c.PostForm(name)) }
	data := oidcData{Claims: c.PostForm("claims"), There: text("there") != ""}
	o := &data.OIDC.oidc
	*o = oidc{Enabled: text("enabled") != "", Mode: text("mode"), IssuerURL: text("issuer_url"), ExpectedIssuer: text("expected_issuer"),
		Audience: text("audience"), Algorithms: c.PostFormArray("algorithms"), Scopes: texts(text("scopes")), Claims: claimsOf(data.Claims),
		Role: text("role"), AllTeams: text("all_teams") != "", TeamIDs: []optional{}}
	for _, id := range c.PostFormArray("team_ids") {
		o.TeamIDs = append(o.TeamIDs, optional(id))
	}
	o.JWKSCacheSeconds, o.ClockSkewSeconds = typed(c, "jwks_cache_seconds"), typed(c, "clock_skew_seconds")
	var answer oidcAnswer
	err := p.API.Send(c, http.MethodPost, oidcPath, o, &answer)
	if data.Fault, err = frame.Refusal(err); err != nil {
		return err
	}
	if data.Fault != "" {
		return p.showOIDC(c, data)
	}
	if answer.OIDC.ConfigKey != "" {
		return p.showConfigKey(c, answer.OIDC.ConfigKey)
	}
	return p.Done(c, "/settings/oidc", "The configuration was saved.")
}

func (p *Pages) showConfigKey(c *gin.Context, key string) error {
	return p.showSecret(c, "OIDC configuration key", secretData{At: "oidc", Back: "/settings/oidc", Secret: key,
		What: "The configuration key, which requests send in X-OIDC-Config-Key beside their token,"})
}

func (p *Pages) testOIDC(c *gin.Context) error {
	var outcome oidcOutcome
	if err := p.API.Send(c, http.MethodPost, oidcPath+"/test", map[string]any{}, &outcome); err != nil {
		return p.Refused(c, "/settings/oidc", err)
	}
	return p.showStoredOIDC(c, &outcome)
}

func (p *Pages) replaceOIDCKey(c *gin.Context) error {
	var answer oidcAnswer
	if err := p.API.Send(c, http.MethodPost, oidcPath+"/key", nil, &answer); err != nil {
		return p.Refused(c, "/settings/oidc", err)
	}
	return p.showConfigKey(c, answer.OIDC.ConfigKey)
}

func (p *Pages) deleteOIDC(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, oidcPath, nil, nil)
	return p.End(c, "/settings/oidc", "The configuration was deleted. Tokens of the issuer are refused now.", err)
}
