// Package commitstatus serves the setting of an app that says where the statuses of its
// commits go: one repository at GitHub, GitLab or Gitea.
//
// Admins of the organization and of the app's team read and change it; for others of the
// organization it is 403, and what belongs to another one is not found. The token is only
// written: no answer, log line or audit entry has it. Without SLIPWAY_SIGNING_KEY none can be
// stored, and a setting is 409.
//
// An address is checked when it is given, so that a private one is refused at once; each
// request checks again. A token goes out in the clear only where the installation allows
// private addresses. A test reads the repository within the request, and its answer says what
// was seen; it sends no status.
package commitstatus

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/statuscall"
)

// Caller reads the repository of a test; *statuscall.Sender does.
type Caller interface {
	Look(ctx context.Context, at statuscall.Repository) (*statuscall.Seen, statuscall.Result)
}

// Config is what the handlers need.
type Config struct {
	DB     *storage.DB
	Guard  *outbound.Guard // of addresses that are configured
	Caller Caller
	// SealKeys seals the tokens; without one of 32 bytes there are no settings.
	SealKeys seal.Ring
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cfg Config
	// tests bounds the tests under way: each keeps a request for up to ten seconds.
	tests chan struct{}
}

const maxTests = 16

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Guard == nil || cfg.Caller == nil {
		return nil, errors.New("commit status handlers: database, guard and caller are required")
	}
	return &Handlers{cfg: cfg, tests: make(chan struct{}, maxTests)}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, path = respond.InterfaceV3, "/api/v3/projects/:id/commit-status"
	return []route.Route{
		{Method: http.MethodGet, Path: path, Interface: v3, Query: route.NoQuery(), Action: auth.ManageCommitStatus, Handler: h.get},
		{Method: http.MethodPut, Path: path, Interface: v3, Action: auth.ManageCommitStatus, Handler: h.save},
		{Method: http.MethodDelete, Path: path, Interface: v3, Bare: true, Query: route.NoQuery(), Action: auth.ManageCommitStatus,
			Handler: h.delete},
		{Method: http.MethodPost, Path: path + "/test", Interface: v3, Bare: true, Action: auth.ManageCommitStatus, Handler: h.test},
	}
}

// view is a setting as version 3 shows it.
type view struct {
	Provider    commitstatus.Provider `json:"provider"`
	URL         string                `json:"url"`
	Repository  string                `json:"repository"`
	Context     string                `json:"context"`
	HasToken    bool                  `json:"has_token"`
	LastSentAt  *time.Time            `json:"last_sent_at"`
	LastError   string                `json:"last_error"`
	LastErrorAt *time.Time            `json:"last_error_at"`
	CreatedAt   time.Time             `json:"created_at"`
	UpdatedAt   time.Time             `json:"updated_at"`
}

func viewOf(s *commitstatus.Setting) view {
	return view{Provider: s.Provider, URL: s.URL, Repository: s.Repository, Context: s.Context, HasToken: len(s.Token) > 0,
		LastSentAt: s.LastSentAt, LastError: s.LastError, LastErrorAt: s.LastErrorAt, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
}

func show(c *gin.Context, s *commitstatus.Setting) error {
	return respond.JSON(c, http.StatusOK, gin.H{"commit_status": viewOf(s)})
}

// get serves GET /api/v3/projects/{id}/commit-status.
func (h *Handlers) get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	s, err := commitstatus.ForProject(c.Request.Context(), h.cfg.DB, auth.Writer(c), id)
	if err != nil {
		return problem(err)
	}
	return show(c, s)
}

// request is a setting as it is stored: what it leaves out has its default, but for the token,
// which then stays.
type request struct {
	Provider   string `json:"provider"`
	URL        string `json:"url"`
	Repository string `json:"repository"`
	Context    string `json:"context"`
	Token      string `json:"token"`
}

// save serves PUT /api/v3/projects/{id}/commit-status.
func (h *Handlers) save(c *gin.Context) error {
	var req request
	if err := body.Read(c, &req); err != nil {
		return err
	}
	setting := commitstatus.Setting{Provider: commitstatus.Provider(req.Provider), URL: req.URL, Repository: req.Repository,
		Context: req.Context}
	if err := setting.Complete(); err != nil {
		return err
	}
	if req.Token != "" {
		var err error
		if setting.Token, err = h.seal(req.Token); err != nil {
			return err
		}
	}
	if err := h.checkURL(c.Request.Context(), setting.URL); err != nil {
		return err
	}
	var after *commitstatus.Setting
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (err error) {
		setting.ProjectID = id
		after, err = commitstatus.Save(ctx, tx, w, setting)
		return err
	})
	if err != nil {
		return err
	}
	return show(c, after)
}

// seal seals a token; 409 where the installation cannot.
func (h *Handlers) seal(token string) ([]byte, error) {
	if err := commitstatus.CheckToken(token); err != nil {
		return nil, err
	}
	if !h.cfg.SealKeys.CanSeal() {
		return nil, &respond.Problem{Status: http.StatusConflict,
			Text: "this installation keeps no secrets of others: its operator must set SLIPWAY_SIGNING_KEY"}
	}
	return seal.Seal(h.cfg.SealKeys, seal.CommitStatus, token)
}

// checkURL refuses an address at which no status would arrive. A name that does not resolve
// now may do so later.
func (h *Handlers) checkURL(ctx context.Context, address string) error {
	if !h.cfg.Guard.AllowsPrivate() && strings.HasPrefix(strings.ToLower(address), "http:") {
		return storage.Invalid("url", "must be https: the token would go out in the clear")
	}
	_, err := h.cfg.Guard.CheckURL(ctx, address)
	if err == nil || errors.Is(err, outbound.ErrUnresolved) {
		return nil
	}
	return &storage.InvalidError{Field: "url", Msg: err.Error()}
}

// delete serves DELETE /api/v3/projects/{id}/commit-status.
func (h *Handlers) delete(c *gin.Context) error {
	if err := h.change(c, commitstatus.Delete); err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// testView is what a test saw. OK only when the provider showed the repository.
type testView struct {
	OK         bool   `json:"ok"`
	Status     *int   `json:"status"`     // of the answer; null: there was none
	Repository string `json:"repository"` // as the provider writes it
	Push       *bool  `json:"push"`       // null: the provider does not say
	Error      string `json:"error"`
}

// test serves POST /api/v3/projects/{id}/commit-status/test: the repository is read now, with
// the stored token.
func (h *Handlers) test(c *gin.Context) error {
	var setting *commitstatus.Setting
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (err error) {
		setting, err = commitstatus.Test(ctx, tx, w, id)
		return err
	})
	if err != nil {
		return err
	}
	token, err := seal.Unseal(h.cfg.SealKeys, seal.CommitStatus, setting.Token)
	if err != nil {
		return &respond.Problem{Status: http.StatusConflict, Text: "the token was stored with another SLIPWAY_SIGNING_KEY: store it again"}
	}
	select {
	case h.tests <- struct{}{}:
		defer func() { <-h.tests }()
	default:
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many tests are under way", RetryAfter: statuscall.Timeout}
	}
	seen, result := h.cfg.Caller.Look(c.Request.Context(), statuscall.Repository{Provider: setting.Provider, URL: setting.URL,
		Path: setting.Repository, Token: token})
	v := testView{OK: seen != nil, Error: result.Error}
	if result.HTTPStatus != 0 {
		v.Status = &result.HTTPStatus
	}
	if seen != nil {
		v.Repository, v.Push = seen.Path, seen.Push
	}
	return respond.JSON(c, http.StatusOK, gin.H{"test": v})
}

// change runs a change of the app's setting in a transaction.
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
	if errors.Is(err, distribution.ErrNotTeamAdmin) {
		return &respond.Problem{Status: http.StatusForbidden, Text: distribution.ErrNotTeamAdmin.Error(), Err: err}
	}
	return err
}
