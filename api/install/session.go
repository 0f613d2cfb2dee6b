package install

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

type sessionView struct {
	head
	Host   string
	Action string
}

// errLink is the answer to a link that is used up, too old or made up.
var errLink = &respond.Problem{Status: http.StatusGone,
	Text: "this sign-in link was used already, or it is too old. Open the page of the app and ask for a new one"}

// link is the digest of the path's link.
func (h *Handlers) link(c *gin.Context) (account.Digest, error) {
	text := c.Param("link")
	if !strings.HasPrefix(text, linkPrefix) || len(text) > maxSecret {
		return account.Digest{}, errLink
	}
	return account.DigestOf(text), nil
}

// Session answers GET /session/{link} with a button. Looking at a link does not
// use it: programs that check mail for harm look at all of them.
func (h *Handlers) Session(c *gin.Context) {
	digest, err := h.link(c)
	if err == nil {
		_, err = distribution.PeekSignInLink(c.Request.Context(), h.cfg.DB, digest, h.cfg.Now())
	}
	if err != nil {
		h.fail(c, expiredLink(err))
		return
	}
	h.render(c, http.StatusOK, "session", sessionView{head: h.head("Sign in"), Host: h.host,
		Action: h.base + "/session/" + c.Param("link")})
}

// Confirm answers POST /session/{link}: it uses the link up, begins a session and
// leads to the page.
func (h *Handlers) Confirm(c *gin.Context) {
	if err := h.ownOrigin(c); err != nil {
		h.fail(c, err)
		return
	}
	digest, err := h.link(c)
	if err != nil {
		h.fail(c, err)
		return
	}
	secret, err := h.random()
	if err != nil {
		h.fail(c, err)
		return
	}
	ctx, now, path := c.Request.Context(), h.cfg.Now(), ""
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		path, err = distribution.UseSignInLink(ctx, tx, digest, account.DigestOf(secret), now, now.Add(sessionAge*time.Second))
		return err
	})
	if err != nil {
		h.fail(c, expiredLink(err))
		return
	}
	h.setSession(c, secret)
	h.redirect(c, path)
}

// SignOut answers POST /sign-out; the form's member to is the page to return to.
func (h *Handlers) SignOut(c *gin.Context) {
	if err := h.ownOrigin(c); err != nil {
		h.fail(c, err)
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	to := strings.TrimPrefix(c.PostForm("to"), h.base)
	if session, ok := h.session(c); ok {
		if err := distribution.EndSession(c.Request.Context(), h.cfg.DB, session); err != nil {
			h.fail(c, err)
			return
		}
	}
	h.setSession(c, "")
	h.redirect(c, to)
}

// redirect leads to a page of an app, and nowhere else; without one it says that
// it is done.
func (h *Handlers) redirect(c *gin.Context, path string) {
	name, ok := strings.CutPrefix(path, "/install/")
	if !ok || !pageName.MatchString(name) {
		h.render(c, http.StatusOK, problemPage, problemView{head: h.head("Done"), Heading: "Done", Text: "You can close this page."})
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, h.path(name))
}

func expiredLink(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return errLink
	}
	return err
}
