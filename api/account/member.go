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
	"github.com/slipway-qa/slipway/storage/tester"
)

// memberView is a member of the organization who is more than a tester.
type memberView struct {
	ID         int64               `json:"id"` // of the user
	UUID       uuid.UUID           `json:"uuid"`
	Kind       string              `json:"kind"` // person or service
	Username   string              `json:"username"`
	Email      string              `json:"email"` // "" of a service account
	Name       string              `json:"name"`
	Role       account.Role        `json:"role"`
	Teams      []account.StaffTeam `json:"teams"`
	Keys       int                 `json:"keys"` // in force
	Blocked    bool                `json:"blocked"`
	LastSeenAt *time.Time          `json:"last_seen_at"` // null: not known
	JoinedAt   time.Time           `json:"joined_at"`
}

func viewMember(m *account.Staff) memberView {
	view := memberView{ID: m.ID, UUID: m.UUID, Kind: string(m.Kind), Username: m.Username, Name: m.Name, Role: m.Role,
		Teams: m.Teams, Keys: m.Keys, Blocked: m.BlockedAt != nil, JoinedAt: m.JoinedAt.UTC()}
	if m.Email != nil {
		view.Email = *m.Email
	}
	if view.Teams == nil {
		view.Teams = []account.StaffTeam{}
	}
	if m.LastSeenAt != nil {
		at := m.LastSeenAt.UTC()
		view.LastSeenAt = &at
	}
	return view
}

// maxSearch bounds the text that members are searched by: names have as many characters.
const maxSearch = 255

// Members serves GET /api/v3/members: who is more than a tester, the longest there first.
// Parameters: search (part of mail address or name), role, page, per_page.
func (h *Handlers) Members(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	f := account.StaffFilter{OrganizationID: callerOf(c).OrganizationID, Role: account.Role(c.Query("role"))}
	if f.Search, err = storage.Line("search", c.Query("search"), maxSearch); err != nil {
		return err
	}
	switch f.Role {
	case "", account.Owner, account.Admin, account.Member:
	default:
		return storage.Invalid("role", "must be owner, admin or member")
	}
	list, total, err := account.StaffOf(c.Request.Context(), h.cfg.DB, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]memberView, 0, len(list))
	for i := range list {
		views = append(views, viewMember(&list[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"members": views, "pagination": at.Envelope(total)})
}

// Member serves GET /api/v3/members/{id}.
func (h *Handlers) Member(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.respondMember(c, id)
}

func (h *Handlers) respondMember(c *gin.Context, id int64) error {
	m, err := account.StaffByID(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"member": viewMember(m)})
}

// UpdateMember serves PUT /api/v3/members/{id}: the role of a person.
func (h *Handlers) UpdateMember(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in struct {
		Role string `json:"role"`
	}
	if err := body.Read(c, &in); err != nil {
		return err
	}
	caller := callerOf(c)
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return account.ChangeRole(ctx, tx, auth.Actor(c), caller.OrganizationID, id, caller.Role, account.Role(in.Role))
	})
	if err != nil {
		return refusedMember(err)
	}
	return h.respondMember(c, id)
}

// DeleteMember serves DELETE /api/v3/members/{id}: the person leaves the organization.
func (h *Handlers) DeleteMember(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	caller := callerOf(c)
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return tester.RemoveMember(ctx, tx, auth.Actor(c), caller.OrganizationID, id, caller.Role)
	})
	if err != nil {
		return refusedMember(err)
	}
	return respond.Empty(c, http.StatusNoContent)
}

// refusedMember is why a member cannot be changed.
func refusedMember(err error) error {
	switch {
	case errors.Is(err, account.ErrAbove):
		return &respond.Problem{Status: http.StatusForbidden, Text: "role: is above your own", Err: err}
	case errors.Is(err, account.ErrService):
		return &respond.Problem{Status: http.StatusConflict, Text: "a service account has its own address, /api/v3/service-accounts", Err: err}
	case errors.Is(err, storage.ErrConflict):
		return &respond.Problem{Status: http.StatusConflict, Text: "an organization keeps at least one owner who is not blocked", Err: err}
	}
	return err
}
