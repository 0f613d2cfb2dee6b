package install

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks/letter"
)

// sessionHandlers serve the sign-in to closed pages, and the end of a session.
type sessionHandlers struct {
	visitReader
	origin  *http.CrossOriginProtection
	brake   *remote.Brake
	letters *letter.Writer
}

type sessionView struct {
	head
	Host   string
	Action string
}

// errLink is for a link that is used up, too old or invented.
var errLink = &respond.Problem{Status: http.StatusGone,
	Text: "this sign-in link was used already, or it is too old. Open the page of the app and ask for a new one"}

// link is the digest of the path's link.
func (h *sessionHandlers) link(c *gin.Context) (account.Digest, error) {
	text := c.Param("link")
	if !strings.HasPrefix(text, linkPrefix) || len(text) > maxSecret {
		return account.Digest{}, errLink
	}
	return account.DigestOf(text), nil
}

// Session serves GET /session/{link} with a button. Looking at a link does not
// use it: programs that check mail for harm look at all of them.
func (h *sessionHandlers) Session(c *gin.Context) error {
	digest, err := h.link(c)
	if err != nil {
		return err
	}
	if _, err := visitor.PeekSignInLink(c.Request.Context(), h.cfg.DB, digest, h.cfg.Now()); err != nil {
		return expiredLink(err)
	}
	return h.render(c, http.StatusOK, "session", sessionView{head: h.head("Sign in"), Host: h.host,
		Action: h.base + "/session/" + c.Param("link")})
}

// Confirm serves POST /session/{link}: it uses the link up, begins a session and
// leads to the page.
func (h *sessionHandlers) Confirm(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	digest, err := h.link(c)
	if err != nil {
		return err
	}
	secret, err := h.random()
	if err != nil {
		return err
	}
	ctx, now := c.Request.Context(), h.cfg.Now()
	var used *visitor.UsedLink
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		used, err = visitor.UseSignInLink(ctx, tx, digest, account.DigestOf(secret), now, now.Add(sessionAge*time.Second))
		if err != nil {
			return err
		}
		return tester.SignedIn(ctx, tx, auth.Actor(c), used.OrganizationID, used.UserID)
	})
	if err != nil {
		return expiredLink(err)
	}
	h.setSession(c, secret)
	return h.redirect(c, used.Path)
}

// SignOut serves POST /sign-out; the form's member to is the page to return to.
func (h *sessionHandlers) SignOut(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	to := strings.TrimPrefix(c.PostForm("to"), h.base)
	if session, ok := h.session(c); ok {
		if err := visitor.EndSession(c.Request.Context(), h.cfg.DB, session); err != nil {
			return err
		}
	}
	h.setSession(c, "")
	return h.redirect(c, to)
}

// ownPage is the form of the pages that a sign-in may lead to.
var ownPage = regexp.MustCompile(`^/(install/[A-Za-z0-9][A-Za-z0-9._-]{0,127}|me(/devices|/feedback|/leave|/apps/[0-9]{1,18})?|udid(/register)?|console/sign-in)(\?build=[A-Za-z0-9][A-Za-z0-9._-]{0,127})?$`)

// redirect leads to a page of this service, and nowhere else; without one it shows that
// what was asked for is done.
func (h *sessionHandlers) redirect(c *gin.Context, path string) error {
	if !ownPage.MatchString(path) {
		return h.render(c, http.StatusOK, problemPage, problemView{head: h.head("Done"), Heading: "Done", Text: "You can close this page."})
	}
	h.leadTo(c, path)
	return nil
}

// leadTo sends the browser to a path of this service.
func (s *site) leadTo(c *gin.Context, path string) {
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, s.base+path)
}

func expiredLink(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return errLink
	}
	return err
}

// secretBytes is the length of sign-in links and sessions: nothing to guess, so a
// plain digest of them may be stored.
const secretBytes = 32

func (h *sessionHandlers) random() (string, error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(h.cfg.Random, b); err != nil {
		return "", fmt.Errorf("random text: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// errOrigin refuses forms that another site posts.
var errOrigin = errors.New("posted from another site")

// ownOrigin checks that a form was posted by a page of this installation.
func (h *sessionHandlers) ownOrigin(c *gin.Context) error {
	if err := h.origin.Check(c.Request); err != nil {
		return &respond.Problem{Status: http.StatusForbidden, Text: "this form was sent from another site", Err: errOrigin}
	}
	return nil
}

// signOutView is the form that ends a session; Email is shown before its button.
type signOutView struct{ Action, Here, Email, Label string }

func (r *visitReader) signOutView(v *visit) signOutView {
	return signOutView{Action: r.base + "/sign-out", Here: r.path(v.name), Email: v.visitor.Email, Label: "Sign out"}
}
