package tester

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/install"
	"github.com/slipway-qa/slipway/storage/tester"
)

// installs are the handlers of who got which build in version 3.
type installs struct{ *room }

// installView is a way that a device of a person came by a build.
type installView struct {
	ID          int64  `json:"id"`
	BuildID     int64  `json:"build_id"`
	ProjectID   int64  `json:"project_id"`
	AppName     string `json:"app_name"`
	Version     string `json:"version"`
	VersionCode string `json:"version_code"`
	TesterID    int64  `json:"tester_id"` // of the membership; 0: nobody known
	UserID      int64  `json:"user_id"`
	Email       string `json:"email"`
	Name        string `json:"name"`
	Role        string `json:"role"` // "": nobody known
	// Channel is how, Status what that shows: a download that began, or that the app ran.
	Channel install.Channel `json:"channel"`
	Status  string          `json:"status"`
	Device  string          `json:"device"`
	Count   int64           `json:"count"`
	FirstAt time.Time       `json:"first_at"`
	LastAt  time.Time       `json:"last_at"`
}

func installViewOf(i *install.Install) installView {
	status := "downloaded"
	if i.Channel == install.Session {
		status = "installed"
	}
	return installView{ID: i.ID, BuildID: i.BuildID, ProjectID: i.ProjectID, AppName: i.AppName, Version: i.Version,
		VersionCode: i.VersionCode,
		TesterID:    i.TesterID, UserID: i.UserID, Email: i.Email, Name: i.Name, Role: i.Role, Channel: i.Channel,
		Status: status, Device: i.Device,
		Count: i.Count, FirstAt: i.FirstAt.UTC(), LastAt: i.LastAt.UTC()}
}

// page writes a page of them beside other members.
func (h installs) page(c *gin.Context, at pagination.Request, found *install.List, members gin.H) error {
	views := make([]installView, 0, len(found.Installs))
	for i := range found.Installs {
		views = append(views, installViewOf(&found.Installs[i]))
	}
	members["installs"], members["pagination"] = views, at.Of(found.Total)
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, members)
}

// ofBuild serves GET /api/v3/builds/{id}/installs. Parameters: page, per_page, channel,
// user_id.
func (h installs) ofBuild(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	f := install.Filter{Channel: install.Channel(c.Query("channel"))}
	if f.Channel != "" && !slices.Contains(install.Channels(), f.Channel) {
		return storage.Invalid("channel", "must be page, manifest, api or session")
	}
	if text := strings.TrimSpace(c.Query("user_id")); text != "" {
		if f.UserID, err = pagination.ID(text); err != nil {
			return storage.Invalid("user_id", "must be a numeric id")
		}
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if _, err := distribution.BuildByID(ctx, h.db, organization, 0, id); err != nil {
		return err
	}
	people, err := install.PeopleOf(ctx, h.db, organization, id)
	if err != nil {
		return err
	}
	found, err := install.OfBuild(ctx, h.db, organization, id, f, at.Rows())
	if err != nil {
		return err
	}
	return h.page(c, at, found, gin.H{"people": people})
}

// ofTester serves GET /api/v3/testers/{id}/installs. Parameters: page, per_page.
func (h installs) ofTester(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	t, err := tester.ByID(ctx, h.db, organization, id)
	if err != nil {
		return err
	}
	found, err := install.OfUser(ctx, h.db, organization, t.UserID, at.Rows())
	if err != nil {
		return err
	}
	return h.page(c, at, found, gin.H{})
}
