package crash

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

// Projects serves GET /api/v3/crash-projects.
func (h *Handlers) Projects(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	list, err := crashproject.List(ctx, h.store.DB(), organization, at.Rows())
	if err != nil {
		return err
	}
	total, err := crashproject.Count(ctx, h.store.DB(), organization)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_projects": list, "pagination": at.Envelope(total)})
}

// Project serves GET /api/v3/crash-projects/{id}.
func (h *Handlers) Project(c *gin.Context) error {
	p, err := h.project(c, auth.Organization(c))
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_project": p})
}

// project reads the crash project of the path.
func (h *Handlers) project(c *gin.Context, organization int64) (*crashproject.Project, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return crashproject.ByID(c.Request.Context(), h.store.DB(), organization, id)
}

// projectRequest creates or changes a crash project.
type projectRequest struct {
	Name *string `json:"name"`
	// ProjectID is the app whose crashes it receives; 0: none.
	ProjectID *int64 `json:"project_id"`
	// Libraries are what is not the project's own code.
	Libraries *[]string `json:"libraries"`
	// AllowedOrigins are those of the pages that may post to it; *: all.
	AllowedOrigins []string `json:"allowed_origins"`
}

// change is what a request changes of a project that there is.
func (r *projectRequest) change() crashproject.Change {
	c := crashproject.Change{Name: r.Name, ProjectID: r.ProjectID, Libraries: r.Libraries}
	if r.AllowedOrigins != nil {
		c.Origins = &r.AllowedOrigins
	}
	return c
}

// CreateProject serves POST /api/v3/crash-projects: the answer is the project with
// its first token.
func (h *Handlers) CreateProject(c *gin.Context) error {
	var req projectRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if req.Name == nil {
		return &storage.InvalidError{Field: "name", Msg: "is required"}
	}
	var p *crashproject.Project
	var token *crashproject.Token
	var secret account.Secret
	ctx, w := c.Request.Context(), auth.Writer(c)
	err := h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		if p, err = h.createProject(ctx, tx, w, req); err != nil {
			return err
		}
		token, secret, err = crashproject.CreateToken(ctx, tx, w.Actor, h.keys,
			crashproject.NewToken{OrganizationID: w.OrganizationID, ProjectID: p.ID})
		return err
	})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusCreated, gin.H{"crash_project": p, "crash_token": token, "secret": secret.Text})
}

func (h *Handlers) createProject(ctx context.Context, tx *storage.Tx, w account.Writer, req projectRequest) (*crashproject.Project, error) {
	p, err := crashproject.Create(ctx, tx, w.Actor, w.OrganizationID, *req.Name)
	if err != nil {
		return nil, nameTaken(err)
	}
	if req.ProjectID == nil && req.Libraries == nil && req.AllowedOrigins == nil {
		return p, nil
	}
	change := req.change()
	change.Name = nil
	return crashproject.Update(ctx, tx, w.Actor, w.OrganizationID, p.ID, change)
}

// nameTaken says in words what a conflict is about.
func nameTaken(err error) error {
	return conflict(err, "name: another crash project has it")
}

// conflict gives a conflict its words.
func conflict(err error, text string) error {
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: text, Err: err}
	}
	return err
}

// UpdateProject serves PUT /api/v3/crash-projects/{id}.
func (h *Handlers) UpdateProject(c *gin.Context) error {
	w := auth.Writer(c)
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	var req projectRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		p, err = crashproject.Update(ctx, tx, w.Actor, w.OrganizationID, p.ID, req.change())
		return err
	})
	if err != nil {
		return nameTaken(err)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_project": p})
}

// removeTimeout bounds the deletion of objects after the commit.
const removeTimeout = 15 * time.Second

// DeleteProject serves DELETE /api/v3/crash-projects/{id}.
func (h *Handlers) DeleteProject(c *gin.Context) error {
	w := auth.Writer(c)
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	var objects []string
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		objects, err = crashproject.Delete(ctx, tx, w.Actor, w.OrganizationID, p.ID)
		return err
	})
	if err != nil {
		return notDeleted(err)
	}
	if len(objects) > 0 {
		// The rows are gone: what cannot be deleted now is left to the sweep.
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
		defer cancel()
		_ = h.objects.Delete(removing, objects...)
	}
	return respond.Empty(c, http.StatusNoContent)
}

// notDeleted says in words what keeps a project from being deleted.
func notDeleted(err error) error {
	switch {
	case errors.Is(err, crashproject.ErrTokenInForce):
		return conflict(err, "the crash project has received reports, and a token of it for reports is in force; revoke that first")
	case errors.Is(err, crashproject.ErrManyPurged):
		return conflict(err,
			"too many reports of the crash project were removed to delete it now; revoke its tokens, and delete it when they have aged")
	}
	return conflict(err, "the crash project has reports; revoke its tokens to end it, or remove them first")
}

// Tokens serves GET /api/v3/crash-projects/{id}/tokens.
func (h *Handlers) Tokens(c *gin.Context) error {
	organization := auth.Organization(c)
	p, err := h.project(c, organization)
	if err != nil {
		return err
	}
	list, err := crashproject.Tokens(c.Request.Context(), h.store.DB(), organization, p.ID, storage.FirstPage())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"crash_tokens": list})
}

// tokenRequest is a crash token to create.
type tokenRequest struct {
	Name           string   `json:"name"`
	Scopes         []string `json:"scopes"`
	QuotaPerMinute int64    `json:"quota_per_minute"`
}

// CreateToken serves POST /api/v3/crash-projects/{id}/tokens.
func (h *Handlers) CreateToken(c *gin.Context) error {
	w := auth.Writer(c)
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	var req tokenRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	var token *crashproject.Token
	var secret account.Secret
	ctx := c.Request.Context()
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) (err error) {
		token, secret, err = crashproject.CreateToken(ctx, tx, w.Actor, h.keys, crashproject.NewToken{
			OrganizationID: w.OrganizationID, ProjectID: p.ID, Name: req.Name, Scopes: req.Scopes,
			QuotaPerMinute: int(min(req.QuotaPerMinute, math.MaxInt32))})
		return err
	})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusCreated, gin.H{"crash_token": token, "secret": secret.Text})
}

// RevokeToken serves DELETE /api/v3/crash-projects/{id}/tokens/{token}.
func (h *Handlers) RevokeToken(c *gin.Context) error {
	w := auth.Writer(c)
	p, err := h.project(c, w.OrganizationID)
	if err != nil {
		return err
	}
	id, err := pagination.ID(c.Param("token"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.store.DB().InTx(ctx, func(tx *storage.Tx) error {
		return crashproject.RevokeTokenOf(ctx, tx, w.Actor, w.OrganizationID, p.ID, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
