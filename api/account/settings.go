package account

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/seal"
)

// Settings answers GET /api/v3/settings/organization.
func (h *Handlers) Settings(c *gin.Context) {
	s, err := distribution.SettingsOf(c.Request.Context(), h.cfg.DB, caller(c).OrganizationID)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"settings": s})
}

// UpdateSettings answers PUT /api/v3/settings/organization.
func (h *Handlers) UpdateSettings(c *gin.Context) {
	var change distribution.SettingsChange
	var s *distribution.Settings
	err := body.Read(c, &change)
	if err == nil {
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			var err error
			s, err = distribution.ChangeSettings(ctx, tx, auth.Actor(c), caller(c).OrganizationID, change)
			return err
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"settings": s})
}

// storageView is the connection without its secret.
type storageView struct {
	Kind      string `json:"kind"`
	Endpoint  string `json:"endpoint"`
	Bucket    string `json:"bucket"`
	Region    string `json:"region"`
	Prefix    string `json:"prefix"`
	AccessKey string `json:"access_key"`
}

func viewStorage(c *distribution.Connection) storageView {
	return storageView{Kind: c.Kind, Endpoint: c.Endpoint, Bucket: c.Bucket, Region: c.Region, Prefix: c.Prefix, AccessKey: c.AccessKey}
}

// Storage answers GET /api/v3/settings/storage.
func (h *Handlers) Storage(c *gin.Context) {
	conn, err := distribution.ConnectionOf(c.Request.Context(), h.cfg.DB, caller(c).OrganizationID)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"storage": viewStorage(conn)})
}

// storageRequest is a connection as it is set.
type storageRequest struct {
	Kind      string  `json:"kind"` // s3 or http
	Endpoint  string  `json:"endpoint"`
	Bucket    string  `json:"bucket"`
	Region    string  `json:"region"`
	Prefix    string  `json:"prefix"`
	AccessKey string  `json:"access_key"`
	Secret    *string `json:"secret"` // absent: the stored one stays
}

// check looks at what the store cannot know: where the address leads.
func (h *Handlers) check(ctx context.Context, r storageRequest) error {
	u, err := url.Parse(r.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return &storage.InvalidError{Field: "endpoint", Msg: "must be an http or https URL"}
	}
	if r.Kind == "s3" && strings.Trim(u.Path, "/") != "" {
		return &storage.InvalidError{Field: "endpoint", Msg: "of S3 is scheme, host and port only"}
	}
	if _, err := h.cfg.Guard.CheckURL(ctx, r.Endpoint); err != nil {
		return &storage.InvalidError{Field: "endpoint", Msg: err.Error()}
	}
	return nil
}

// UpdateStorage answers PUT /api/v3/settings/storage.
func (h *Handlers) UpdateStorage(c *gin.Context) {
	var req storageRequest
	var conn distribution.Connection
	err := body.Read(c, &req)
	if err == nil {
		err = h.check(c.Request.Context(), req)
	}
	if err == nil {
		conn = distribution.Connection{Kind: req.Kind, Endpoint: req.Endpoint, Bucket: req.Bucket, Region: req.Region,
			Prefix: req.Prefix, AccessKey: req.AccessKey}
		err = h.setStorage(c, &conn, req.Secret)
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"storage": viewStorage(&conn)})
}

func (h *Handlers) setStorage(c *gin.Context, conn *distribution.Connection, secret *string) error {
	org := caller(c).OrganizationID
	if len(h.cfg.SigningKey) < 32 {
		return &respond.Problem{Status: http.StatusConflict,
			Text: "this installation keeps no secrets of others: its operator must set SLIPWAY_SIGNING_KEY"}
	}
	return h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		stored, err := distribution.ConnectionOf(ctx, tx, org)
		switch {
		case secret != nil:
			conn.Secret, err = seal.Seal(h.cfg.SigningKey, seal.Connection, *secret)
		case errors.Is(err, storage.ErrNotFound):
			err = &storage.InvalidError{Field: "secret", Msg: "is required"}
		case err == nil && stored.Endpoint != conn.Endpoint:
			// A secret must not be sent to an address that its giver did not mean.
			err = &storage.InvalidError{Field: "secret", Msg: "is required when the endpoint changes"}
		case err == nil:
			conn.Secret = stored.Secret
		}
		if err != nil {
			return err
		}
		return distribution.SetConnection(ctx, tx, auth.Actor(c), org, *conn)
	})
}

// DeleteStorage answers DELETE /api/v3/settings/storage.
func (h *Handlers) DeleteStorage(c *gin.Context) {
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return distribution.DeleteConnection(ctx, tx, auth.Actor(c), caller(c).OrganizationID)
	})
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
