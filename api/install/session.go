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

// errLink is for a link that is used up, too old or invented.
var errLink = &respond.Problem{Status: http.StatusGone,
	Text: "this sign-in link was used already, or it is too old. Open the page of the app and ask for a new one"}

// linkDigest is the digest of the path's link.
func linkDigest(c *gin.Context) (account.Digest, error) {
	text := c.Param("link")
	if !strings.HasPrefix(text, linkPrefix) || len(text) > maxSecret {
		return account.Digest{}, errLink
	}
	return account.DigestOf(text), nil
}

// Session serves GET /session/{link} with a button. Looking at a link does not
// use it: programs that check mail for harm look at all of them.
func (h *Handlers) Session(c *gin.Context) error {
	digest, err := linkDigest(c)
	if err != nil {
		return err
	}
	if _, err := distribution.PeekSignInLink(c.Request.Context(), h.cfg.DB, digest, h.cfg.Now()); err != nil {
		return expiredLink(err)
	}
	return h.render(c, http.StatusOK, "session", sessionView{head: h.head("Sign in"), Host: h.host,
		Action: h.base + "/session/" + c.Param("link")})
}

// Confirm serves POST /session/{link}: it uses the link up, begins a session and
// leads to the page.
func (h *Handlers) Confirm(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	digest, err := linkDigest(c)
	if err != nil {
		return err
	}
	secret, err := h.random()
	if err != nil {
		return err
	}
	ctx, now, path := c.Request.Context(), h.cfg.Now(), ""
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		path, err = distribution.UseSignInLink(ctx, tx, digest, account.DigestOf(secret), now, now.Add(sessionAge*time.Second))
		return err
	})
	if err != nil {
		return expiredLink(err)
	}
	h.setSession(c, secret)
	return h.redirect(c, path)
}

// SignOut serves POST /sign-out; the form's member to is the page to return to.
func (h *Handlers) SignOut(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	to := strings.TrimPrefix(c.PostForm("to"), h.base)
	if session, ok := h.session(c); ok {
		if err := distribution.EndSession(c.Request.Context(), h.cfg.DB, session); err != nil {
			return err
		}
	}
	h.setSession(c, "")
	return h.redirect(c, to)
}

// redirect leads to a page of an app, and nowhere else; without one it shows that
// what was asked for is done.
func (h *Handlers) redirect(c *gin.Context, path string) error {
	name, ok := strings.CutPrefix(path, "/install/")
	if !ok || !pageName.MatchString(name) {
		return h.render(c, http.StatusOK, problemPage, problemView{head: h.head("Done"), Heading: "Done", Text: "You can close this page."})
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, h.path(name))
	return nil
}

func expiredLink(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return errLink
	}
	return err
}
