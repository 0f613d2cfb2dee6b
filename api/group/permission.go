package group

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// permissions are the handlers of the list of administrators.
type permissions struct{ *room }

// adminView is an administrator in version 1. Permissions are "*:rw" for who may change
// all apps, else "ID:rw" for each app of the own teams and "ID:r" for each other one.
type adminView struct {
	Email       string   `json:"email"` // of a service account the user name
	Role        string   `json:"role"`
	Permissions []string `json:"permissions"`
}

const (
	// adminPage is how many administrators a page has: each may have a permission for
	// each app.
	adminPage = 100
	// maxPermissions bounds the apps of one administrator; the newest are shown.
	maxPermissions = 1000
)

// roleName is a role as version 1 calls it.
func roleName(r account.Role) string {
	switch r {
	case account.Owner:
		return "account-owner"
	case account.Admin:
		return "account-manager"
	}
	return "admin"
}

// list serves GET /api/1/cpanel/permissions: the owners, the admins of the organization
// and those of teams. Parameters of ours: page, per_page (100 by default and at most).
func (h permissions) list(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Options{Default: adminPage, Max: adminPage})
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	admins, total, err := account.Administrators(ctx, h.db, organization, at.Rows())
	if err != nil {
		return err
	}
	var apps []distribution.OwnedProject
	if slices.ContainsFunc(admins, func(a account.Administrator) bool { return a.Role == account.Member }) {
		if apps, err = distribution.OwnedProjects(ctx, h.db, organization, maxPermissions); err != nil {
			return err
		}
	}
	views := make([]adminView, 0, len(admins))
	for _, a := range admins {
		views = append(views, adminView{Email: a.Login, Role: roleName(a.Role), Permissions: permissionsOf(a, apps)})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "admins": views, "pagination": at.Envelope(total)})
}

func permissionsOf(a account.Administrator, apps []distribution.OwnedProject) []string {
	if a.Role != account.Member {
		return []string{"*:rw"}
	}
	list := make([]string, 0, len(apps))
	for _, app := range apps {
		right := ":r"
		if slices.Contains(a.Teams, app.TeamID) {
			right = ":rw"
		}
		list = append(list, strconv.FormatInt(app.ID, 10)+right)
	}
	return list
}
