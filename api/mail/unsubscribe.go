package mail

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	store "github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/letter"
)

// person is who a token names.
type person struct{ organizationID, userID int64 }

// person reads the token of the path; a token that is not ours is 404.
func (h *Handlers) person(c *gin.Context) (person, error) {
	secret, err := h.installationSecret(c.Request.Context())
	if err != nil {
		return person{}, err
	}
	organizationID, userID, err := letter.ReadUnsubscribeToken(secret, c.Param("token"))
	return person{organizationID, userID}, err
}

// UnsubscribePage serves GET /mail/unsubscribe/{token}: what holds, and the button that
// changes it.
func (h *Handlers) UnsubscribePage(c *gin.Context) error {
	p, err := h.person(c)
	if err != nil {
		return err
	}
	s, err := store.SubscriptionOf(c.Request.Context(), h.cfg.DB, p.organizationID, p.userID)
	if err != nil {
		return err
	}
	return h.pages.render(c, http.StatusOK, pageView{Title: "Mail from " + s.Organization, Subscription: s})
}

// maxForm bounds the form: one short member.
const maxForm = 4 << 10

// Unsubscribe serves POST /mail/unsubscribe/{token}. It unsubscribes, whatever the body
// is, except for the page's own form with action=subscribe.
func (h *Handlers) Unsubscribe(c *gin.Context) error {
	p, err := h.person(c)
	if err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	unsubscribe := c.PostForm("action") != "subscribe"
	var s *store.Subscription
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		if s, err = store.SubscriptionOf(ctx, tx, p.organizationID, p.userID); err != nil {
			return err
		}
		actor := account.Actor{UserID: p.userID, Name: s.Email, RequestID: respond.RequestID(ctx), IPAddress: c.ClientIP()}
		if err := store.SetUnsubscribed(ctx, tx, actor, p.organizationID, p.userID, unsubscribe); err != nil {
			return err
		}
		s.Unsubscribed = unsubscribe
		return nil
	})
	if err != nil {
		return err
	}
	title := "You are subscribed again"
	if unsubscribe {
		title = "You are unsubscribed"
	}
	return h.pages.render(c, http.StatusOK, pageView{Title: title, Subscription: s, Done: true})
}

// fail writes a failure as a page and logs it when it is the service's own.
func (h *Handlers) fail(c *gin.Context, err error) {
	ctx := c.Request.Context()
	p := respond.Explain(err)
	view := pageView{Title: "That did not work", Text: "Please try again."}
	switch {
	case p.Status >= http.StatusInternalServerError && errors.Is(context.Cause(ctx), context.Canceled):
		c.Status(statusGone)
		return
	case p.Status >= http.StatusInternalServerError:
		h.cfg.Log.ErrorContext(ctx, "request failed", "route", c.FullPath(), "error", err)
		view = pageView{Title: "Something went wrong", Text: "Please try again in a minute. Request: " + respond.RequestID(ctx)}
	case p.Status == http.StatusNotFound:
		view = pageView{Title: "This page does not exist", Text: "The link may be incomplete. If you are no tester any more, you get no mail."}
	}
	if c.Writer.Written() {
		return
	}
	if err := h.pages.render(c, p.Status, view); err != nil {
		panic(err) // the router writes the failure, for want of a page to write it on
	}
}

// statusGone marks in logs that the visitor went away first, as package respond has it.
const statusGone = 499
