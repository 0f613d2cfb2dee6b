// Package mail serves what people decide about mail: an organization's templates and
// settings, the addresses that get none, the page where a recipient unsubscribes, and
// the way in for mail that came back.
//
// Templates are checked when they are stored, by package mailtemplate, and previewed
// without being sent. Changes are audited.
//
// The unsubscribe page needs no sign-in: its token names the person under an HMAC.
// Opening it changes nothing, for mail scanners open links; its button does, and so
// does the one-click POST of RFC 8058, which mail readers send. There is a way back.
//
// Mail servers pass delivery status notifications (RFC 3464) to one route, with the
// credentials of an operator. Only a mail that was sent from here to the recipient that
// the notification names is believed.
//
// Failures are 400 for a member that breaks a rule, 403, and 404 also for what belongs
// to another organization. Those of the page are pages.
package mail

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers need.
type Config struct {
	DB    *storage.DB
	Links link.Links
	Log   *slog.Logger
	Now   func() time.Time // default time.Now
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cfg   Config
	pages *pages

	mu     sync.Mutex
	secret []byte // of the installation, once it was read
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Log == nil {
		return nil, errors.New("mail handlers: database and log are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	pages, err := newPages()
	if err != nil {
		return nil, err
	}
	return &Handlers{cfg: cfg, pages: pages}, nil
}

// maxNotification bounds mail that came back: it may contain the whole of what was
// sent.
const maxNotification = 1 << 20

const publicPage = "the token in the path names the person; mail readers have no other credentials (RFC 8058)"

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, templates, suppressions = respond.InterfaceV3, "/api/v3/settings/mail-templates", "/api/v3/settings/mail/suppressions"
	return []route.Route{
		{Method: http.MethodGet, Path: templates, Interface: v3, Query: []string{"page", "per_page"}, Action: auth.ManageMail,
			Handler: h.Templates},
		{Method: http.MethodGet, Path: templates + "/:kind", Interface: v3, Query: route.NoQuery(), Action: auth.ManageMail, Handler: h.Template},
		{Method: http.MethodPut, Path: templates + "/:kind", Interface: v3, Action: auth.ManageMail, Handler: h.UpdateTemplate},
		{Method: http.MethodDelete, Path: templates + "/:kind", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageMail, Handler: h.ResetTemplate},
		{Method: http.MethodPost, Path: templates + "/:kind/preview", Interface: v3, Action: auth.ManageMail, Handler: h.Preview},
		{Method: http.MethodGet, Path: "/api/v3/settings/mail", Interface: v3, Query: route.NoQuery(), Action: auth.ManageMail,
			Handler: h.Settings},
		{Method: http.MethodPut, Path: "/api/v3/settings/mail", Interface: v3, Action: auth.ManageMail, Handler: h.UpdateSettings},
		{Method: http.MethodGet, Path: suppressions, Interface: v3, Query: []string{"page", "per_page", "search"},
			Action: auth.ManageMail, Handler: h.Suppressions},
		{Method: http.MethodDelete, Path: suppressions + "/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageMail, Handler: h.RemoveSuppression},
		{Method: http.MethodPost, Path: "/ops/mail/bounces", Interface: v3, Action: auth.ReceiveMail, Handler: h.Bounce, Body: maxNotification},
		{Method: http.MethodGet, Path: "/mail/unsubscribe/:token", Public: publicPage, Handler: h.UnsubscribePage, Fail: h.fail},
		{Method: http.MethodPost, Path: "/mail/unsubscribe/:token", Public: publicPage, Handler: h.Unsubscribe, Fail: h.fail},
	}
}

// callerOf is who calls; the table of package auth keeps operators out of what belongs
// to an organization.
func callerOf(c *gin.Context) *auth.Caller { return auth.CallerOf(c.Request.Context()) }

func (h *Handlers) inTx(c *gin.Context, fn func(ctx context.Context, tx *storage.Tx) error) error {
	ctx := c.Request.Context()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) })
}

// installationSecret reads the secret once.
func (h *Handlers) installationSecret(ctx context.Context) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.secret != nil {
		return h.secret, nil
	}
	secret, err := account.InstallationSecret(ctx, h.cfg.DB)
	h.secret = secret
	return secret, err
}
