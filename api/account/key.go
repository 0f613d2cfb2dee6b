package account

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// keyRequest is a key to make.
type keyRequest struct {
	Kind       string `json:"kind"` // api (default) or access
	Name       string `json:"name"`
	Regenerate bool   `json:"regenerate"` // ends the former keys of the kind at once
}

func (r keyRequest) kind() (account.KeyKind, error) {
	switch r.Kind {
	case "", "api":
		return account.KindAPI, nil
	case "access":
		return account.KindAccess, nil
	}
	return "", &storage.InvalidError{Field: "kind", Msg: "must be api or access"}
}

// Keys answers GET /api/v3/me/keys.
func (h *Handlers) Keys(c *gin.Context) { h.listKeys(c, caller(c).UserID) }

// CreateKey answers POST /api/v3/me/keys.
func (h *Handlers) CreateKey(c *gin.Context) { h.createKey(c, caller(c).UserID) }

// DeleteKey answers DELETE /api/v3/me/keys/{id}.
func (h *Handlers) DeleteKey(c *gin.Context) { h.deleteKey(c, caller(c).UserID, "id") }

func (h *Handlers) listKeys(c *gin.Context, userID int64) {
	ctx, org := c.Request.Context(), caller(c).OrganizationID
	r, rows, err := paged(c)
	if err != nil {
		respond.V3(c, err)
		return
	}
	list, err := account.Keys(ctx, h.cfg.DB, org, userID, rows)
	if err != nil {
		respond.V3(c, err)
		return
	}
	total, err := account.CountKeys(ctx, h.cfg.DB, org, userID)
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.JSON(c, http.StatusOK, gin.H{"keys": list, "pagination": r.Envelope(total)})
}

// lasting refuses callers who are here for an hour: a Bearer token that leaked must
// not become a key that lasts.
func lasting(c *gin.Context) error {
	if caller(c).KeyID == 0 {
		return &respond.Problem{Status: http.StatusForbidden, Text: "a Bearer token cannot make keys; use an API key"}
	}
	return nil
}

func (h *Handlers) createKey(c *gin.Context, userID int64) {
	if err := lasting(c); err != nil {
		respond.V3(c, err)
		return
	}
	var req keyRequest
	if err := body.Read(c, &req); err != nil {
		respond.V3(c, err)
		return
	}
	kind, err := req.kind()
	if err != nil {
		respond.V3(c, err)
		return
	}
	var row *account.KeyRow
	var secret account.Secret
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		make := account.CreateKey
		if req.Regenerate {
			make = account.RotateKey
		}
		var err error
		row, secret, err = make(ctx, tx, auth.Actor(c), h.cfg.Keys, account.NewKey{
			OrganizationID: caller(c).OrganizationID, UserID: userID, Kind: kind, Name: req.Name})
		return err
	})
	if err != nil {
		respond.V3(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	respond.JSON(c, http.StatusCreated, gin.H{"key": row, "secret": secret.Text})
}

// deleteKey ends a key of the user; one that has ended is not found.
func (h *Handlers) deleteKey(c *gin.Context, userID int64, param string) {
	id, err := pagination.ID(c.Param(param))
	if err == nil {
		org := caller(c).OrganizationID
		err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
			if _, err := account.KeyOf(ctx, tx, org, userID, id); err != nil {
				return err
			}
			return account.RevokeKey(ctx, tx, auth.Actor(c), org, id)
		})
	}
	if err != nil {
		respond.V3(c, err)
		return
	}
	respond.Empty(c, http.StatusNoContent)
}
