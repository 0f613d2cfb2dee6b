package account

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
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
