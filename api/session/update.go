package session

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/session"
)

// updateView is the build that an app should be updated to.
type updateView struct {
	ID           string `json:"id"`
	Version      string `json:"version"`
	VersionCode  string `json:"version_code"`
	ReleaseNotes string `json:"release_notes"`
	FileSize     int64  `json:"file_size"`
	InstallURL   string `json:"install_url"`
	UploadedAt   string `json:"uploaded_at"`
}

// update serves GET /api/1/sdk/update: whether there is a newer build that updates its
// app by itself. Parameters: token, version_code, version, udid. The link leads to the
// install page, which asks closed apps' visitors who they are.
func (h sdkHandlers) update(c *gin.Context) error {
	t, err := h.token(c, session.ScopeUpdate)
	if err != nil {
		return err
	}
	have := session.Installed{ProjectID: t.ProjectID}
	for name, to := range map[string]*string{"version_code": &have.VersionCode, "version": &have.Version, "udid": &have.UDID} {
		if *to, err = storage.Line(name, c.Query(name), 255); err != nil {
			return err
		}
	}
	if have.VersionCode == "" && have.Version == "" {
		return storage.Invalid("version_code", "is required, or version")
	}
	ctx := c.Request.Context()
	id, err := session.NewerBuild(ctx, h.db, have)
	if err != nil {
		return unavailable(c, err)
	}
	if id == 0 {
		return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "update_available": false, "build": nil})
	}
	b, err := distribution.BuildByID(ctx, h.db, t.OrganizationID, t.ProjectID, id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "update_available": true,
		"build": updateView{ID: decimal(b.ID), Version: b.Version,
			VersionCode: b.VersionCode, ReleaseNotes: b.ReleaseNotes, FileSize: b.File.Size, InstallURL: h.cfg.Links.Page(b.Token),
			UploadedAt: legacyTime(b.CreatedAt)}})
}
