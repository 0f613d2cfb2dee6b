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
	// Scopes are what the key is restricted to; none: to nothing.
	Scopes body.List `json:"scopes"`
}

// scopes are nil when the request says nothing of them: an empty list is refused, rather than
// taken for a key without restriction.
func (r keyRequest) scopes() []account.Scope {
	if r.Scopes == nil {
		return nil
	}
	scopes := []account.Scope{}
	for _, name := range r.Scopes {
		scopes = append(scopes, account.Scope(name))
	}
	return scopes
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

// Keys serves GET /api/v3/me/keys.
func (h *Handlers) Keys(c *gin.Context) error { return h.listKeys(c, callerOf(c).UserID) }

// CreateKey serves POST /api/v3/me/keys.
func (h *Handlers) CreateKey(c *gin.Context) error { return h.createKey(c, callerOf(c).UserID) }

// DeleteKey serves DELETE /api/v3/me/keys/{id}.
func (h *Handlers) DeleteKey(c *gin.Context) error { return h.deleteKey(c, callerOf(c).UserID, "id") }

func (h *Handlers) listKeys(c *gin.Context, userID int64) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), callerOf(c).OrganizationID
	list, err := account.Keys(ctx, h.cfg.DB, organization, userID, at.Rows())
	if err != nil {
		return err
	}
	total, err := account.CountKeys(ctx, h.cfg.DB, organization, userID)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"keys": list, "pagination": at.Envelope(total)})
}

// lasting refuses callers who are here for an hour: a Bearer token that leaked must
// not become a key that lasts. A person in the console who came by a link has no key yet.
func lasting(caller *auth.Caller) error {
	if caller.KeyID == 0 && caller.SessionID == 0 {
		return &respond.Problem{Status: http.StatusForbidden, Text: "a Bearer token cannot make keys; use an API key"}
	}
	return nil
}

func (h *Handlers) createKey(c *gin.Context, userID int64) error {
	caller := callerOf(c)
	if err := lasting(caller); err != nil {
		return err
	}
	var req keyRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	kind, err := req.kind()
	if err != nil {
		return err
	}
	store := account.CreateKey
	if req.Regenerate {
		store = account.RotateKey
	}
	var row *account.KeyRow
	var secret account.Secret
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		row, secret, err = store(ctx, tx, auth.Actor(c), h.cfg.Keys, account.NewKey{
			OrganizationID: caller.OrganizationID, UserID: userID, Kind: kind, Name: req.Name, Scopes: req.scopes()})
		return err
	})
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusCreated, gin.H{"key": row, "secret": secret.Text})
}

// deleteKey ends a key of the user; one that has ended is not found.
func (h *Handlers) deleteKey(c *gin.Context, userID int64, param string) error {
	id, err := pagination.ID(c.Param(param))
	if err != nil {
		return err
	}
	organization := callerOf(c).OrganizationID
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		if _, err := account.KeyOf(ctx, tx, organization, userID, id); err != nil {
			return err
		}
		return account.RevokeKey(ctx, tx, auth.Actor(c), organization, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
