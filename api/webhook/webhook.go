// Package webhook serves webhooks over versions 1 and 3 of the distribution interface:
// their settings, their secrets, and the log of what was delivered to them.
//
// Version 3 shows whole records; version 1 has texts: status "1" or "0", actions and apps
// as comma lists. Members read the webhooks of their organization; admins change them, and
// admins of a team those that are limited to apps of the team. What belongs to another
// organization is not found, and so is an app of another one in project_ids: 400, naming
// the member.
//
// An address is checked when it is given, so that a private one is refused at once; each
// delivery checks again. A name that does not resolve yet is taken.
//
// The secret is in the answer that made it (creation in version 3, rotation) and nowhere
// else; without SLIPWAY_SIGNING_KEY none can be stored, and webhooks are 409. A test
// delivery is made within the request, and its outcome is the answer.
package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

// Caller makes the request of a test delivery; *webhookcall.Sender does.
type Caller interface {
	Send(ctx context.Context, r webhookcall.Request) webhookcall.Result
}

// Config is what the handlers need.
type Config struct {
	DB     *storage.DB
	Guard  *outbound.Guard // of addresses that are configured
	Caller Caller
	Queue  *dispatch.Enqueuer // of replays; nil: the relay
	// SealKeys seals the secrets; without one of 32 bytes there are no webhooks.
	SealKeys seal.Ring
	Now      func() time.Time // default time.Now
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cfg Config
	// tests bounds the test deliveries under way: each keeps a request for up to ten
	// seconds.
	tests chan struct{}
}

const maxTests = 32

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Guard == nil || cfg.Caller == nil {
		return nil, errors.New("webhook handlers: database, guard and caller are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{cfg: cfg, tests: make(chan struct{}, maxTests)}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy
	l := legacy{h}
	d := deliveries{h}
	list := []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/webhooks", Interface: v3, Query: []string{"failing", "page", "per_page"},
			Action: auth.ReadWebhooks, Handler: h.list},
		{Method: http.MethodPost, Path: "/api/v3/webhooks", Interface: v3, Action: auth.ManageWebhooks, Handler: h.create},
		{Method: http.MethodGet, Path: "/api/v3/webhooks/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadWebhooks, Handler: h.get},
		{Method: http.MethodPut, Path: "/api/v3/webhooks/:id", Interface: v3, Action: auth.ManageWebhooks, Handler: h.update},
		{Method: http.MethodDelete, Path: "/api/v3/webhooks/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageWebhooks, Handler: h.delete},
		{Method: http.MethodPost, Path: "/api/v3/webhooks/:id/secret", Interface: v3, Action: auth.ManageWebhooks, Handler: h.rotate},
		{Method: http.MethodDelete, Path: "/api/v3/webhooks/:id/secret", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageWebhooks, Handler: h.forget},
		{Method: http.MethodPost, Path: "/api/v3/webhooks/:id/test", Interface: v3, Bare: true, Action: auth.ManageWebhooks, Handler: h.test},
		{Method: http.MethodPost, Path: "/api/v3/webhooks/:id/replay", Interface: v3, Action: auth.ManageWebhooks, Handler: d.replayRange},
		{Method: http.MethodGet, Path: "/api/v3/webhooks/:id/deliveries", Interface: v3, Action: auth.ManageWebhooks, Handler: d.list,
			Query: []string{"status", "event", "from", "to", "page", "per_page"}},
		{Method: http.MethodGet, Path: "/api/v3/webhooks/:id/deliveries/:delivery", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageWebhooks, Handler: d.get},
		{Method: http.MethodPost, Path: "/api/v3/webhooks/:id/deliveries/:delivery/replay", Interface: v3, Bare: true,
			Action: auth.ManageWebhooks, Handler: d.replay},

		{Method: http.MethodGet, Path: "/api/1/webhooks", Interface: v1, Action: auth.ReadWebhooks, Handler: l.list},
	}
	// One address by the document, and the spellings of others that clients send.
	for _, path := range []string{"/api/1/webhook", "/api/1/webhhook", "/api/1/webhooks"} {
		list = append(list,
			route.Route{Method: http.MethodPost, Path: path, Interface: v1, Action: auth.ManageWebhooks, Handler: l.create},
			route.Route{Method: http.MethodGet, Path: path + "/:id", Interface: v1, Action: auth.ReadWebhooks, Handler: l.get},
			route.Route{Method: http.MethodPost, Path: path + "/:id", Interface: v1, Action: auth.ManageWebhooks, Handler: l.update},
			route.Route{Method: http.MethodDelete, Path: path + "/:id", Interface: v1, Action: auth.ManageWebhooks, Handler: h.delete1})
	}
	return list
}

// find reads the webhook that the path names.
func (h *Handlers) find(c *gin.Context) (*webhook.Webhook, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return webhook.ByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
}

// change runs a change of the webhook that the path names in a transaction.
func (h *Handlers) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	return problem(h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w, id) }))
}

// problem gives errors of the store their status.
func problem(err error) error {
	switch {
	case errors.Is(err, webhook.ErrNoAccess):
		return &respond.Problem{Status: http.StatusForbidden, Text: webhook.ErrNoAccess.Error(), Err: err}
	case errors.Is(err, webhook.ErrSuspended):
		return &respond.Problem{Status: http.StatusConflict, Text: "the webhook is suspended: make it active first"}
	case errors.Is(err, seal.ErrUnseal):
		return &respond.Problem{Status: http.StatusConflict, Text: "the secret was stored with another SLIPWAY_SIGNING_KEY: rotate it"}
	}
	return err
}

// checkURL refuses an address at which no delivery would arrive. A name that does not
// resolve now may do so later.
func (h *Handlers) checkURL(ctx context.Context, field string, address *string) error {
	if address == nil || *address == "" {
		return nil // the store says what is missing
	}
	_, err := h.cfg.Guard.CheckURL(ctx, *address)
	if err == nil || errors.Is(err, outbound.ErrUnresolved) {
		return nil
	}
	return &storage.InvalidError{Field: field, Msg: err.Error()}
}

// codeInvalid is the code of version 1 for what cannot be taken.
const codeInvalid = 1

// seal seals a secret; 409 where the installation cannot.
func (h *Handlers) seal(secret string) ([]byte, error) {
	if !h.cfg.SealKeys.CanSeal() {
		return nil, &respond.Problem{Status: http.StatusConflict, Legacy: codeInvalid,
			Text: "this installation keeps no secrets of others: its operator must set SLIPWAY_SIGNING_KEY"}
	}
	return seal.Seal(h.cfg.SealKeys, seal.Webhook, secret)
}
