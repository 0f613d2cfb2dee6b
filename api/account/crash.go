package account

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// CrashProjects answers GET /api/v3/crash-projects.
func (h *Handlers) CrashProjects(c *gin.Context) {
	ctx, org := c.Request.Context(), caller(c).OrganizationID
	r, rows, err := paged(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	list, err := account.CrashProjects(ctx, h.cfg.DB, org, rows)
	if err != nil {
		respond.V3(c, err)
		return
	}
	total, err := account.CountCrashProjects(ctx, h.cfg.DB, org)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_projects": list, "pagination": r.Envelope(total)})
}

// CrashProject answers GET /api/v3/crash-projects/{id}.
func (h *Handlers) CrashProject(c *gin.Context) {
	p, err := h.crashProject(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_project": p})
}

func (h *Handlers) crashProject(c *gin.Context) (*account.CrashProject, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	return account.CrashProjectByID(c.Request.Context(), h.cfg.DB, caller(c).OrganizationID, id)
}

// crashProjectRequest makes or changes a crash project.
type crashProjectRequest struct {
	Name *string `json:"name"`
	// ProjectID is the app whose crashes it receives; 0: none.
	ProjectID *int64 `json:"project_id"`
}

// CreateCrashProject answers POST /api/v3/crash-projects with the project and its
// first token.
func (h *Handlers) CreateCrashProject(c *gin.Context) {
	var req crashProjectRequest
	if err := body.Read(c, &req); err != nil {
		respond.V3(c, err)
		return
	}
	if req.Name == nil {
		respond.V3(c, &storage.InvalidError{Field: "name", Msg: "is required"})
		return
	}
	var p *account.CrashProject
	var token *account.CrashToken
	var secret account.Secret
	org, actor := caller(c).OrganizationID, auth.Actor(c)
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		var err error
		if p, err = account.CreateCrashProject(ctx, tx, actor, org, *req.Name); err != nil {
			return taken(err, "name: another crash project has it")
		}
		if req.ProjectID != nil {
			if p, err = account.UpdateCrashProject(ctx, tx, actor, org, p.ID, account.CrashProjectChange{ProjectID: req.ProjectID}); err != nil {
				return err
			}
		}
		token, secret, err = account.CreateCrashToken(ctx, tx, actor, h.cfg.Keys, account.NewCrashToken{OrganizationID: org, ProjectID: p.ID})
		return err
	})
	if err != nil {
		respond.V3(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	respond.JSON(c, http.StatusCreated, gin.H{"crash_project": p, "crash_token": token, "secret": secret.Text})
}

// taken gives a conflict its words.
func taken(err error, text string) error {
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: text, Err: err}
	}
	return err
}

// UpdateCrashProject answers PUT /api/v3/crash-projects/{id}.
func (h *Handlers) UpdateCrashProject(c *gin.Context) {
	var req crashProjectRequest
	p, err := h.crashProject(c)
	if err == nil {
		err = body.Read(c, &req)
	}
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			var err error
			p, err = account.UpdateCrashProject(ctx, tx, auth.Actor(c), p.OrganizationID, p.ID,
				account.CrashProjectChange{Name: req.Name, ProjectID: req.ProjectID})
			return taken(err, "name: another crash project has it")
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_project": p})
}

// DeleteCrashProject answers DELETE /api/v3/crash-projects/{id}.
func (h *Handlers) DeleteCrashProject(c *gin.Context) {
	p, err := h.crashProject(c)
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			return taken(account.DeleteCrashProject(ctx, tx, auth.Actor(c), p.OrganizationID, p.ID),
				"the crash project has received reports; revoke its tokens to end it")
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}

// CrashTokens answers GET /api/v3/crash-projects/{id}/tokens.
func (h *Handlers) CrashTokens(c *gin.Context) {
	p, err := h.crashProject(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	list, err := account.CrashTokens(c.Request.Context(), h.cfg.DB, p.OrganizationID, p.ID, storage.FirstPage())
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"crash_tokens": list})
}

// tokenRequest is a crash token to make.
type tokenRequest struct {
	Name           string   `json:"name"`
	Scopes         []string `json:"scopes"`
	QuotaPerMinute int64    `json:"quota_per_minute"`
}

// CreateCrashToken answers POST /api/v3/crash-projects/{id}/tokens.
func (h *Handlers) CreateCrashToken(c *gin.Context) {
	var req tokenRequest
	var token *account.CrashToken
	var secret account.Secret
	p, err := h.crashProject(c)
	if err == nil {
		err = body.Read(c, &req)
	}
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			var err error
			token, secret, err = account.CreateCrashToken(ctx, tx, auth.Actor(c), h.cfg.Keys, account.NewCrashToken{
				OrganizationID: p.OrganizationID, ProjectID: p.ID, Name: req.Name, Scopes: req.Scopes, QuotaPerMinute: int(min(req.QuotaPerMinute, math.MaxInt32))})
			return err
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	respond.JSON(c, http.StatusCreated, gin.H{"crash_token": token, "secret": secret.Text})
}

// DeleteCrashToken answers DELETE /api/v3/crash-projects/{id}/tokens/{token}.
func (h *Handlers) DeleteCrashToken(c *gin.Context) {
	p, err := h.crashProject(c)
	var id int64
	if err == nil {
		id, err = pagination.ID(c.Param("token"))
	}
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			return account.RevokeCrashTokenOf(ctx, tx, auth.Actor(c), p.OrganizationID, p.ID, id)
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
