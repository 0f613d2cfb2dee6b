package account

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// serviceView is a service account as answers show it.
type serviceView struct {
	ID        int64        `json:"id"`
	UUID      uuid.UUID    `json:"uuid"`
	Username  string       `json:"username"`
	Name      string       `json:"name"`
	Role      account.Role `json:"role"`
	Blocked   bool         `json:"blocked"`
	CreatedAt time.Time    `json:"created_at"`
}

func viewService(m *account.Membership) serviceView {
	return serviceView{ID: m.ID, UUID: m.UUID, Username: m.Username, Name: m.Name, Role: m.Role,
		Blocked: m.BlockedAt != nil, CreatedAt: m.CreatedAt}
}

// ServiceAccounts answers GET /api/v3/service-accounts.
func (h *Handlers) ServiceAccounts(c *gin.Context) {
	r, rows, err := paged(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	list, total, err := account.ServiceAccounts(c.Request.Context(), h.cfg.DB, caller(c).OrganizationID, rows)
	if err != nil {
		respond.V3(c, err)
		return
	}
	views := make([]serviceView, 0, len(list))
	for i := range list {
		views = append(views, viewService(&list[i]))
	}
	respond.JSON(c, http.StatusOK, gin.H{"service_accounts": views, "pagination": r.Envelope(total)})
}

// serviceRequest is a service account to make.
type serviceRequest struct {
	Username string `json:"username"`
	Name     string `json:"name"`
	Role     string `json:"role"` // member (default), admin or owner
	TeamID   int64  `json:"team_id"`
}

// CreateServiceAccount answers POST /api/v3/service-accounts with the account and
// its first API key.
func (h *Handlers) CreateServiceAccount(c *gin.Context) {
	if err := lasting(c); err != nil {
		respond.V3(c, err)
		return
	}
	req := serviceRequest{Role: string(account.Member)}
	if err := body.Read(c, &req); err != nil {
		respond.V3(c, err)
		return
	}
	who := caller(c)
	if err := below(who, account.Role(req.Role)); err != nil {
		respond.V3(c, err)
		return
	}
	var m *account.Membership
	var row *account.KeyRow
	var secret account.Secret
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateServiceAccount(ctx, tx, auth.Actor(c), account.NewServiceAccount{OrganizationID: who.OrganizationID,
			Username: req.Username, Name: req.Name, Role: account.Role(req.Role), TeamID: req.TeamID})
		if err != nil {
			return taken(err, "username: is taken, maybe by another organization")
		}
		row, secret, err = account.CreateKey(ctx, tx, auth.Actor(c), h.cfg.Keys, account.NewKey{
			OrganizationID: who.OrganizationID, UserID: u.ID, Kind: account.KindAPI})
		if err != nil {
			return err
		}
		m, err = account.ServiceAccountByID(ctx, tx, who.OrganizationID, u.ID)
		return err
	})
	if err != nil {
		respond.V3(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	respond.JSON(c, http.StatusCreated, gin.H{"service_account": viewService(m), "key": row, "secret": secret.Text})
}

// below refuses a role above the caller's: it would be a way up.
func below(who *auth.Caller, role account.Role) error {
	if role.AtLeast(account.Member) && !who.Role.AtLeast(role) {
		return &respond.Problem{Status: http.StatusForbidden, Text: "role: is above your own"}
	}
	return nil
}

// service finds the service account of the path, which must not stand above the
// caller.
func (h *Handlers) service(c *gin.Context) (*account.Membership, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	m, err := account.ServiceAccountByID(c.Request.Context(), h.cfg.DB, caller(c).OrganizationID, id)
	if err != nil {
		return nil, err
	}
	return m, below(caller(c), m.Role)
}

// DeleteServiceAccount answers DELETE /api/v3/service-accounts/{id}.
func (h *Handlers) DeleteServiceAccount(c *gin.Context) {
	m, err := h.service(c)
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			return account.DeleteServiceAccount(ctx, tx, auth.Actor(c), caller(c).OrganizationID, m.ID)
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}

// ServiceKeys answers GET /api/v3/service-accounts/{id}/keys.
func (h *Handlers) ServiceKeys(c *gin.Context) { h.ofService(c, h.listKeys) }

// CreateServiceKey answers POST /api/v3/service-accounts/{id}/keys.
func (h *Handlers) CreateServiceKey(c *gin.Context) { h.ofService(c, h.createKey) }

// DeleteServiceKey answers DELETE /api/v3/service-accounts/{id}/keys/{key}.
func (h *Handlers) DeleteServiceKey(c *gin.Context) {
	h.ofService(c, func(c *gin.Context, userID int64) { h.deleteKey(c, userID, "key") })
}

func (h *Handlers) ofService(c *gin.Context, answer func(*gin.Context, int64)) {
	m, err := h.service(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	answer(c, m.ID)
}
