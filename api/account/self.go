package account

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
)

// selfView is who calls, and what they may do.
type selfView struct {
	ID               int64        `json:"id"` // of the user
	Kind             string       `json:"kind"`
	Username         string       `json:"username"`
	Email            string       `json:"email"` // "" of a service account
	Label            string       `json:"label"`
	Role             account.Role `json:"role"`
	OrganizationID   int64        `json:"organization_id"`
	OrganizationSlug string       `json:"organization_slug"`
	KeyID            *int64       `json:"key_id"`
	Teams            []selfTeam   `json:"teams"`
	Rights           []string     `json:"rights"`
}

// selfTeam is a team of the caller's.
type selfTeam struct {
	ID    int64 `json:"id"`
	Admin bool  `json:"admin"`
}

// Self serves GET /api/v3/me.
func (h *Handlers) Self(c *gin.Context) error {
	caller := callerOf(c)
	view := selfView{ID: caller.UserID, Kind: string(account.Person), Username: caller.Username, Email: caller.Email, Label: caller.Label(),
		Role: caller.Role, OrganizationID: caller.OrganizationID, OrganizationSlug: caller.OrganizationSlug, Teams: []selfTeam{},
		Rights: []string{}}
	if caller.Service {
		view.Kind = string(account.Service)
	}
	if caller.KeyID != 0 {
		view.KeyID = &caller.KeyID
	}
	for _, t := range caller.Teams {
		view.Teams = append(view.Teams, selfTeam{ID: t.ID, Admin: t.Admin || caller.Admin()})
	}
	for _, action := range caller.Actions() {
		view.Rights = append(view.Rights, string(action))
	}
	slices.Sort(view.Rights)
	return respond.JSON(c, http.StatusOK, gin.H{"me": view})
}
