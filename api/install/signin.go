package install

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

const (
	// linkAge leaves a mail time for servers that put unknown senders off.
	linkAge = time.Hour
	// linksPerHour bounds the mails that strangers can have a person sent.
	linksPerHour = 5
	// maxForm bounds the form: one address.
	maxForm = 4 << 10
	// linkPrefix keeps links out of the request log, which hides what looks like
	// a key.
	linkPrefix = "slp_link_"
)

type signInView struct {
	head
	App    appView
	Action string
	Email  string
	Fault  string // why the address was not taken
}

type sentView struct {
	head
	App         appView
	Email, Here string
	Hours       int
}

func (r *visitReader) signInView(v *visit) signInView {
	return signInView{head: r.head("Sign in"), App: r.app(v), Action: r.path(v.name) + "/sign-in"}
}

// SignIn serves POST /install/{name}/sign-in. The answer says nothing about the
// address.
func (h *sessionHandlers) SignIn(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	if err := slowDown(c, h.brake); err != nil {
		return err
	}
	v, err := h.find(c)
	if err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	email := strings.TrimSpace(c.PostForm("email"))
	if err := account.CheckEmail(email); err != nil {
		view := h.signInView(v)
		view.Email, view.Fault = printable(email, 254), "Please enter a mail address, such as name@example.com."
		return h.render(c, http.StatusBadRequest, "signin", view)
	}
	into := target{organizationID: v.Project.OrganizationID, name: v.Project.Name, path: "/install/" + v.name}
	if err := h.sendLink(c.Request.Context(), into, email); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, "sent", sentView{head: h.head("Look into your mail"), App: h.app(v), Email: email,
		Here: h.path(v.name), Hours: int(linkAge.Hours())})
}

// slowDown refuses a remote address that asks too often.
func slowDown(c *gin.Context, brake *remote.Brake) error {
	if wait := brake.Wait(c.ClientIP()); wait > 0 {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many requests", RetryAfter: wait}
	}
	return nil
}

// target is what a sign-in link leads to.
type target struct {
	organizationID int64  // 0: the one that the person used last, or the one of slug
	slug           string // of the organization that the host selects; "" when none
	name           string // of the app; "": the organization's
	path           string
}

// sendLink writes the mail to a member who may have one. It always takes
// SignInTime.
func (h *sessionHandlers) sendLink(ctx context.Context, into target, email string) error {
	done := time.NewTimer(h.cfg.SignInTime)
	defer done.Stop()
	err := h.writeLink(ctx, into, email)
	switch {
	case errors.Is(err, storage.ErrNotFound): // no member, or blocked
	case errors.Is(err, storage.ErrConflict):
		h.cfg.Log.InfoContext(ctx, "no more sign-in links for this person", "path", into.path)
	case err != nil:
		return err
	}
	select {
	case <-done.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *sessionHandlers) writeLink(ctx context.Context, into target, email string) error {
	if into.organizationID == 0 {
		place, err := visitor.PlaceByEmail(ctx, h.cfg.DB, email, into.slug)
		if err != nil {
			return err
		}
		into.organizationID, into.name = place.OrganizationID, place.Name
	}
	org := into.organizationID
	userID, isBlocked, err := visitor.SignInCandidate(ctx, h.cfg.DB, org, email)
	if err != nil {
		return err
	}
	if isBlocked {
		return storage.ErrNotFound
	}
	random, err := h.random()
	if err != nil {
		return err
	}
	secret, now := linkPrefix+random, h.cfg.Now()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		// To the address that is stored: two spellings that the database takes
		// for one may be two mailboxes.
		m, err := account.MemberByLogin(ctx, tx, org, email)
		if err != nil {
			return err
		}
		if m.ID != userID || m.Email == nil {
			return storage.ErrNotFound
		}
		err = visitor.CreateSignInLink(ctx, tx, org, userID, account.DigestOf(secret),
			into.path, now.Add(linkAge), now.Add(-time.Hour), linksPerHour)
		if err != nil {
			return err
		}
		_, err = h.letters.Write(ctx, tx, letter.Letter{OrganizationID: org, UserID: userID, Recipient: *m.Email,
			Content: mailtemplate.SignIn{App: into.name, Link: h.cfg.Links.SignIn(secret), Minutes: int(linkAge.Minutes())},
			Urgent:  true, RequestID: respond.RequestID(ctx)})
		return err
	})
}

// printable makes a name fit for a header and one line of text.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most-1]) + "…"
	}
	return strings.TrimSpace(s)
}
