package account

import (
	"context"
	"errors"
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

// ServiceAccounts serves GET /api/v3/service-accounts.
func (h *Handlers) ServiceAccounts(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	list, total, err := account.ServiceAccounts(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID, at.Rows())
	if err != nil {
		return err
	}
	views := make([]serviceView, 0, len(list))
	for i := range list {
		views = append(views, viewService(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"service_accounts": views, "pagination": at.Envelope(total)})
}

// serviceRequest is a service account to make.
type serviceRequest struct {
	Username string `json:"username"`
	Name     string `json:"name"`
	Role     string `json:"role"` // member (default), admin or owner
	TeamID   int64  `json:"team_id"`
}

// CreateServiceAccount serves POST /api/v3/service-accounts: the answer is the account
// with its first API key.
func (h *Handlers) CreateServiceAccount(c *gin.Context) error {
	caller := callerOf(c)
	if err := lasting(caller); err != nil {
		return err
	}
	req := serviceRequest{Role: string(account.Member)}
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if err := below(caller, account.Role(req.Role)); err != nil {
		return err
	}
	var made newService
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = h.createService(ctx, tx, auth.Actor(c), caller.OrganizationID, req)
		return err
	})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusCreated, gin.H{"service_account": viewService(made.account), "key": made.key, "secret": made.secret.Text})
}

// newService is a service account that was created, with its first key.
type newService struct {
	account *account.Membership
	key     *account.KeyRow
	secret  account.Secret
}

func (h *Handlers) createService(ctx context.Context, tx *storage.Tx, actor account.Actor, organization int64, req serviceRequest) (made newService, err error) {
	u, err := account.CreateServiceAccount(ctx, tx, actor, account.NewServiceAccount{OrganizationID: organization,
		Username: req.Username, Name: req.Name, Role: account.Role(req.Role), TeamID: req.TeamID})
	if errors.Is(err, storage.ErrConflict) {
		return made, &respond.Problem{Status: http.StatusConflict, Text: "username: is taken, maybe by another organization", Err: err}
	}
	if err != nil {
		return made, err
	}
	made.key, made.secret, err = account.CreateKey(ctx, tx, actor, h.cfg.Keys, account.NewKey{
		OrganizationID: organization, UserID: u.ID, Kind: account.KindAPI})
	if err != nil {
		return made, err
	}
	made.account, err = account.ServiceAccountByID(ctx, tx, organization, u.ID)
	return made, err
}

// below refuses a role above the caller's: it would be a way up.
func below(caller *auth.Caller, role account.Role) error {
	if role.AtLeast(account.Member) && !caller.Role.AtLeast(role) {
		return &respond.Problem{Status: http.StatusForbidden, Text: "role: is above your own"}
	}
	return nil
}

// service reads the service account of the path, which must not stand above the
// caller.
func (h *Handlers) service(c *gin.Context) (*account.Membership, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	caller := callerOf(c)
	m, err := account.ServiceAccountByID(c.Request.Context(), h.cfg.DB, caller.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	return m, below(caller, m.Role)
}

// DeleteServiceAccount serves DELETE /api/v3/service-accounts/{id}.
func (h *Handlers) DeleteServiceAccount(c *gin.Context) error {
	m, err := h.service(c)
	if err != nil {
		return err
	}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return account.DeleteServiceAccount(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID, m.ID)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// ServiceKeys serves GET /api/v3/service-accounts/{id}/keys.
func (h *Handlers) ServiceKeys(c *gin.Context) error {
	m, err := h.service(c)
	if err != nil {
		return err
	}
	return h.listKeys(c, m.ID)
}

// CreateServiceKey serves POST /api/v3/service-accounts/{id}/keys.
func (h *Handlers) CreateServiceKey(c *gin.Context) error {
	m, err := h.service(c)
	if err != nil {
		return err
	}
	return h.createKey(c, m.ID)
}

// DeleteServiceKey serves DELETE /api/v3/service-accounts/{id}/keys/{key}.
func (h *Handlers) DeleteServiceKey(c *gin.Context) error {
	m, err := h.service(c)
	if err != nil {
		return err
	}
	return h.deleteKey(c, m.ID, "key")
}
