package settings

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// key is a key without its secret.
type key struct {
	ID         int64      `json:"id"`
	Kind       string     `json:"kind"`
	Name       string     `json:"name"`
	Hint       string     `json:"hint"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// keysAnswer is a page of keys.
type keysAnswer struct {
	Keys       []key        `json:"keys"`
	Pagination frame.Paging `json:"pagination"`
}

// session is a session of the console.
type session struct {
	ID         int64     `json:"id"`
	Device     string    `json:"device"`
	Address    string    `json:"address"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	Current    bool      `json:"current"`
}

// ownData is the page of what belongs to who is signed in.
type ownData struct {
	Rights   rights
	Keys     []key
	Sessions []session
	Fault    string
	Pager    *frame.Pager
}

func (p *Pages) own(c *gin.Context) (err error) {
	var answer keysAnswer
	var sessions struct {
		Sessions []session `json:"sessions"`
	}
	data := ownData{Rights: rightsOf(c)}
	if data.Fault, err = p.read(c, "/api/v3/me/keys", frame.Filters(c), &answer); err != nil {
		return err
	}
	if err := p.API.Get(c, "/api/v3/me/sessions", nil, &sessions); err != nil {
		return err
	}
	data.Keys, data.Sessions, data.Pager = answer.Keys, sessions.Sessions, p.PagesOf(c, answer.Pagination)
	return p.show(c, "own", data.Fault, frame.Page{Title: "Settings", Data: data})
}

// keyBody is the key that a form asks for.
func keyBody(c *gin.Context) map[string]any {
	return map[string]any{"kind": c.PostForm("kind"), "name": c.PostForm("name"), "regenerate": c.PostForm("regenerate") != ""}
}

// secretAnswer is an answer with a secret in it.
type secretAnswer struct {
	Secret string `json:"secret"`
}

func (p *Pages) createKey(c *gin.Context) error {
	var answer secretAnswer
	if err := p.API.Send(c, http.MethodPost, "/api/v3/me/keys", keyBody(c), &answer); err != nil {
		return p.Refused(c, p.Back(c, "/settings"), err)
	}
	return p.showSecret(c, "Your new key", secretData{At: "own", What: "The key", Secret: answer.Secret, Back: "/settings"})
}

func (p *Pages) endKey(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, "/api/v3/me/keys/"+frame.Segment(c, "id"), nil, nil)
	return p.End(c, p.Back(c, "/settings"), "The key has ended.", err)
}

func (p *Pages) endSession(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, "/api/v3/me/sessions/"+frame.Segment(c, "id"), nil, nil)
	return p.End(c, p.Back(c, "/settings"), "The session has ended: that browser is signed out.", err)
}
