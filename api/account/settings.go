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
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/setting"
)

// Settings serves GET /api/v3/settings/organization.
func (h *Handlers) Settings(c *gin.Context) error {
	s, err := setting.Of(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"settings": s})
}

// UpdateSettings serves PUT /api/v3/settings/organization.
func (h *Handlers) UpdateSettings(c *gin.Context) error {
	var change setting.Change
	if err := body.Read(c, &change); err != nil {
		return err
	}
	var s *setting.Settings
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		s, err = setting.Update(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID, change)
		return err
	})
	if errors.Is(err, setting.ErrLoginRequired) {
		return &respond.Problem{Status: http.StatusBadRequest, Text: setting.ErrLoginRequired.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"settings": s})
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

func viewStorage(c *setting.Connection) storageView {
	return storageView{Kind: c.Kind, Endpoint: c.Endpoint, Bucket: c.Bucket, Region: c.Region, Prefix: c.Prefix, AccessKey: c.AccessKey}
}

// Storage serves GET /api/v3/settings/storage.
func (h *Handlers) Storage(c *gin.Context) error {
	conn, err := setting.ConnectionOf(c.Request.Context(), h.cfg.DB, callerOf(c).OrganizationID)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"storage": viewStorage(conn)})
}

// storageRequest is a connection as it is set.
type storageRequest struct {
	Kind      string  `json:"kind"` // s3 or http
	Endpoint  string  `json:"endpoint"`
	Bucket    string  `json:"bucket"`
	Region    string  `json:"region"`
	Prefix    string  `json:"prefix"`
	AccessKey string  `json:"access_key"`
	Secret    *string `json:"secret"` // absent: the stored one stays, unless kind, endpoint or access key change
}

// check refuses what the store cannot know: an address that leads where none may.
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

// UpdateStorage serves PUT /api/v3/settings/storage.
func (h *Handlers) UpdateStorage(c *gin.Context) error {
	var req storageRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if err := h.check(c.Request.Context(), req); err != nil {
		return err
	}
	if !h.cfg.SealKeys.CanSeal() {
		return &respond.Problem{Status: http.StatusConflict,
			Text: "this installation keeps no secrets of others: its operator must set SLIPWAY_SIGNING_KEY"}
	}
	conn := setting.Connection{Kind: req.Kind, Endpoint: req.Endpoint, Bucket: req.Bucket, Region: req.Region,
		Prefix: req.Prefix, AccessKey: req.AccessKey}
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		organization := callerOf(c).OrganizationID
		if conn.Secret, err = h.sealedSecret(ctx, tx, organization, req); err != nil {
			return err
		}
		return setting.SetConnection(ctx, tx, auth.Actor(c), organization, conn)
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"storage": viewStorage(&conn)})
}

// sealedSecret is the secret of the connection as it is stored: the one of the
// request, else the one that is stored already.
func (h *Handlers) sealedSecret(ctx context.Context, tx *storage.Tx, organization int64, req storageRequest) ([]byte, error) {
	if req.Secret != nil {
		return seal.Seal(h.cfg.SealKeys, seal.Connection, *req.Secret)
	}
	stored, err := setting.ConnectionOf(ctx, tx, organization)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, &storage.InvalidError{Field: "secret", Msg: "is required"}
	}
	if err != nil {
		return nil, err
	}
	for _, m := range []struct{ name, was, is string }{{"kind", stored.Kind, req.Kind}, {"endpoint", stored.Endpoint, req.Endpoint},
		{"access_key", stored.AccessKey, req.AccessKey}} {
		if m.was != m.is {
			// A secret must not be sent to an address, in a way or with a name that its
			// giver did not mean: S3 signs with it, http sends it.
			return nil, &storage.InvalidError{Field: "secret", Msg: "is required when " + m.name + " changes"}
		}
	}
	return stored.Secret, nil
}

// DeleteStorage serves DELETE /api/v3/settings/storage.
func (h *Handlers) DeleteStorage(c *gin.Context) error {
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return setting.DeleteConnection(ctx, tx, auth.Actor(c), callerOf(c).OrganizationID)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
