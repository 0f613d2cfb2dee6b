// Package gate serves the gates of builds and the policies of apps over version 3 of the
// distribution interface.
//
// A gate is read by whoever reads the build, and with ?wait= as soon as it is decided: pass,
// fail, or overridden, with no fact that is still to be looked at (package wait). Admins, and the
// admins of the app's team, set the policy and override; both are in the audit log.
//
// A badge is a picture for a page of others, which has no key: its address is part of the gate
// and signed with the installation's secret. Who has it sees the state of that build and nothing
// else.
//
// What belongs to another organization is not found. Failures are those of version 3.
package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Config is what the handlers need.
type Config struct {
	DB       *storage.DB
	Links    link.Links
	Follower *gatechange.Follower
	Log      *slog.Logger // default slog.Default
}

// Handlers are the handlers of the room's routes. Run lets ?wait= work.
type Handlers struct {
	cfg     Config
	watcher *wait.Watcher

	mu     sync.Mutex
	secret []byte // of the installation, once it was read
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Follower == nil {
		return nil, errors.New("gate handlers: database and follower of changes are required")
	}
	h := &Handlers{cfg: cfg}
	h.watcher = wait.NewWatcher(wait.Config{Name: "gates", Log: cfg.Log, Ended: h.decided})
	return h, nil
}

// Watcher is that of the gates that are waited for: its Run ends their waits.
func (h *Handlers) Watcher() *wait.Watcher { return h.watcher }

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/gate", Interface: v3, Query: []string{"wait"}, Action: auth.ReadBuilds,
			Handler: h.get, Deadline: wait.Deadline},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/gate/history", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadBuilds, Handler: h.history},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/gate/override", Interface: v3, Action: auth.OverrideGate, Handler: h.override},
		{Method: http.MethodDelete, Path: "/api/v3/builds/:id/gate/override", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.OverrideGate, Handler: h.removeOverride},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/gate/badge.svg", Interface: v3, Query: []string{"token"},
			Public: "the link is signed", Handler: h.badge},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id/gate-policy", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadProjects, Handler: h.policy},
		{Method: http.MethodPut, Path: "/api/v3/projects/:id/gate-policy", Interface: v3, Action: auth.ManageGates, Handler: h.savePolicy},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id/gate-policy", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageGates, Handler: h.deletePolicy},
	}
}

// waitID returns the id by which a build's gate is waited for: a watcher waits for ids of
// tasks and runs; builds have numbers.
func waitID(build int64) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[8:], uint64(build))
	return id
}

func buildOf(id uuid.UUID) int64 { return int64(binary.BigEndian.Uint64(id[8:])) }

// decided returns those of the builds whose gates nobody has to wait for any more.
func (h *Handlers) decided(ctx context.Context, list []uuid.UUID) ([]uuid.UUID, error) {
	builds := make([]int64, len(list))
	for i, id := range list {
		builds[i] = buildOf(id)
	}
	ended, err := gate.Decided(ctx, h.cfg.DB, builds)
	out := make([]uuid.UUID, len(ended))
	for i, build := range ended {
		out[i] = waitID(build)
	}
	return out, err
}

// get serves GET /api/v3/builds/{id}/gate, with ?wait= when the gate is decided or the time is
// over.
func (h *Handlers) get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	most, err := wait.For(c)
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	g, err := gate.Ask(ctx, h.cfg.DB, organization, id)
	if err != nil {
		return err
	}
	if most > 0 && !g.Decided() {
		if err := h.watcher.Wait(ctx, organization, waitID(id), most); err != nil {
			return err
		}
	}
	return h.show(c, id)
}

// show responds with the gate as it is now.
func (h *Handlers) show(c *gin.Context, id int64) error {
	g, err := gate.Of(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	view, err := h.view(c.Request.Context(), g)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"gate": view})
}

// history serves GET /api/v3/builds/{id}/gate/history, newest first. Parameters: page, per_page.
func (h *Handlers) history(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if _, err := gate.Of(ctx, h.cfg.DB, organization, id); err != nil {
		return err
	}
	rows, total, err := gate.History(ctx, h.cfg.DB, organization, id, at.Rows())
	if err != nil {
		return err
	}
	views := make([]changeView, 0, len(rows))
	for i := range rows {
		views = append(views, h.changeView(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"changes": views, "pagination": at.Envelope(total)})
}

// overrideRequest is the body of an override.
type overrideRequest struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// override serves POST /api/v3/builds/{id}/gate/override.
func (h *Handlers) override(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in overrideRequest
	if err := body.Read(c, &in); err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx) (*gate.Change, error) {
		return gate.SetOverride(ctx, tx, auth.Writer(c), id, gate.State(in.State), in.Reason)
	})
	if err != nil {
		return err
	}
	return h.show(c, id)
}

// removeOverride serves DELETE /api/v3/builds/{id}/gate/override.
func (h *Handlers) removeOverride(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx) (*gate.Change, error) {
		return gate.RemoveOverride(ctx, tx, auth.Writer(c), id)
	})
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// change changes a gate and does what follows, in one transaction.
func (h *Handlers) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx) (*gate.Change, error)) error {
	ctx := c.Request.Context()
	return problem(h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		change, err := do(ctx, tx)
		if err != nil || change == nil {
			return err
		}
		return h.cfg.Follower.Follow(ctx, tx, []gate.Change{*change})
	}))
}

// policy serves GET /api/v3/projects/{id}/gate-policy; 404 when the app has none.
func (h *Handlers) policy(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	p, err := gate.PolicyOf(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"gate_policy": policyViewOf(p)})
}

// savePolicy serves PUT /api/v3/projects/{id}/gate-policy: the body is the whole policy.
func (h *Handlers) savePolicy(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in gate.Policy
	if err := body.Read(c, &in); err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return gate.SavePolicy(ctx, tx, auth.Writer(c), id, &in) })
	if err != nil {
		return problem(err)
	}
	return h.policy(c)
}

// deletePolicy serves DELETE /api/v3/projects/{id}/gate-policy.
func (h *Handlers) deletePolicy(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return gate.DeletePolicy(ctx, tx, auth.Writer(c), id) })
	if err != nil {
		return problem(err)
	}
	c.Status(http.StatusNoContent)
	return nil
}

// problem gives the errors of the store their status.
func problem(err error) error {
	if errors.Is(err, gate.ErrNoAccess) {
		return &respond.Problem{Status: http.StatusForbidden, Text: gate.ErrNoAccess.Error()}
	}
	return err
}
