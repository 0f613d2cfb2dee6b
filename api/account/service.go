package account

import (
	"context"
	"errors"
	"net/http"
	"strconv"
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
	// TeamIDs are teams beside it. A member for whom none is named joins the caller's first
	// team, where the organization has several.
	TeamIDs body.List `json:"team_ids"`
}

// teams reads the teams that a request names.
func (r *serviceRequest) teams() ([]int64, error) {
	ids := make([]int64, 0, len(r.TeamIDs))
	for _, text := range r.TeamIDs {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return nil, storage.Invalid("team_ids", "must be ids of teams")
		}
		ids = append(ids, id)
	}
	return ids, nil
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
	n := account.NewServiceAccount{OrganizationID: caller.OrganizationID, Username: req.Username, Name: req.Name,
		Role: account.Role(req.Role), TeamID: req.TeamID}
	var err error
	if n.MoreTeams, err = req.teams(); err != nil {
		return err
	}
	if len(caller.Teams) > 0 {
		n.DefaultTeam = caller.Teams[0].ID
	}
	var made newService
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = h.createService(ctx, tx, auth.Actor(c), n)
		return err
	})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusCreated, gin.H{"service_account": viewService(made.account), "teams": made.teams,
		"key": made.key, "secret": made.secret.Text})
}

// newService is a service account that was created, with its first key.
type newService struct {
	account *account.Membership
	key     *account.KeyRow
	secret  account.Secret
	teams   []account.TeamName
}

func (h *Handlers) createService(ctx context.Context, tx *storage.Tx, actor account.Actor,
	n account.NewServiceAccount) (made newService, err error) {
	u, err := account.CreateServiceAccount(ctx, tx, actor, n)
	if errors.Is(err, storage.ErrConflict) {
		return made, &respond.Problem{Status: http.StatusConflict, Text: "username: is taken, maybe by another organization", Err: err}
	}
	if err != nil {
		return made, err
	}
	made.key, made.secret, err = account.CreateKey(ctx, tx, actor, h.cfg.Keys, account.NewKey{
		OrganizationID: n.OrganizationID, UserID: u.ID, Kind: account.KindAPI})
	if err != nil {
		return made, err
	}
	if made.teams, err = account.TeamsOfUser(ctx, tx, n.OrganizationID, u.ID); err != nil {
		return made, err
	}
	made.account, err = account.ServiceAccountByID(ctx, tx, n.OrganizationID, u.ID)
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
