package builds

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
)

// token is what an app sends its sessions with.
type token struct {
	ID             int64      `json:"id"`
	Name           string     `json:"name"`
	Hint           string     `json:"hint"`
	Scopes         []string   `json:"scopes"`
	QuotaPerMinute *int       `json:"quota_per_minute"`
	CreatedAt      time.Time  `json:"created_at"`
	RevokedAt      *time.Time `json:"revoked_at"`
}

// tokens is the page of an app's SDK tokens.
func (p *Pages) tokens(c *gin.Context) error {
	return p.tokensWith(c, frame.Valued(c.Request.URL.Query()).Encode(), "")
}

// tokensWith is the page of the tokens with the text of a new one, which is shown this once:
// it goes into no address and no cookie.
func (p *Pages) tokensWith(c *gin.Context, query, secret string) error {
	begun, err := p.beginApp(c, "tokens")
	if err != nil {
		return err
	}
	data := struct {
		appData
		Tokens []token
		Secret string
		Scopes []string
	}{appData: begun, Secret: secret, Scopes: []string{"session:post", "feedback:post", "update:read"}}
	var answer struct {
		Tokens     []token      `json:"sdk_tokens"`
		Pagination frame.Paging `json:"pagination"`
	}
	path := appPath(data.App.ID) + "/sdk-tokens"
	if query != "" {
		path += "?" + query
	}
	if data.Fault, err = p.read(c, path, nil, &answer); err != nil {
		return err
	}
	data.Tokens, data.Pager = answer.Tokens, p.PagesOf(c, answer.Pagination)
	return p.show(c, "tokens", data.Fault, frame.Page{Title: data.App.Title(), Data: data})
}

// createToken makes a token, and answers with the page that has its text.
func (p *Pages) createToken(c *gin.Context) error {
	body := map[string]any{"name": strings.TrimSpace(c.PostForm("name")), "scopes": append([]string{}, c.PostFormArray("scope")...)}
	if quota := strings.TrimSpace(c.PostForm("quota")); quota != "" {
		body["quota_per_minute"] = quota
	}
	id := frame.Segment(c, "id")
	page := "/builds/apps/" + id + "/tokens"
	if err := number(body, "quota_per_minute"); err != nil {
		return p.Refused(c, page, err)
	}
	var answer struct {
		Secret string `json:"secret"`
	}
	if err := p.API.Send(c, http.MethodPost, appPath(id)+"/sdk-tokens", body, &answer); err != nil {
		return p.Refused(c, page, err)
	}
	return p.tokensWith(c, "", answer.Secret)
}

func (p *Pages) revokeToken(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, appPath(frame.Segment(c, "id"))+"/sdk-tokens/"+frame.Segment(c, "token"), nil, nil)
	if err != nil && respond.Explain(err).Status == http.StatusNotFound {
		err = &respond.Problem{Status: http.StatusNotFound, Text: "this token was revoked already", Err: err}
	}
	return p.End(c, "/builds/apps/"+frame.Segment(c, "id")+"/tokens", "The token was revoked.", err)
}
