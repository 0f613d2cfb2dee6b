package session

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/session"
)

// TokenHeader carries the SDK token of a request.
const TokenHeader = "X-SDK-Token"

// sdkLeak is a personal key in place of an SDK token.
func sdkLeak() intake.Leak {
	return intake.Leak{Actor: "sdk-receiver", Where: "in place of an SDK token",
		Reason: "An app sent its sessions with this key in place of an SDK token. Everybody who has the app can read the key, so it was ended. " +
			"Make a new key for your own use, and give the app an SDK token of its project."}
}

func refused(status int, text string) error {
	return &respond.Problem{Status: status, Text: "token: " + text}
}

// token returns the token of a request, which must have the scope, and takes one
// request of its quota.
func (r *room) token(c *gin.Context, scope string) (*session.Token, error) {
	text := c.GetHeader(TokenHeader)
	if text == "" {
		text = c.Query("token")
	}
	return r.admit(c, text, scope)
}

func (r *room) admit(c *gin.Context, text, scope string) (*session.Token, error) {
	if text == "" {
		return nil, refused(http.StatusUnauthorized, "is missing; pass the SDK token of the app in the header "+TokenHeader+" or in the query")
	}
	t, err := r.find(c.Request.Context(), c.ClientIP(), text)
	if err != nil {
		return nil, err
	}
	allowOrigin(c, t.Origins)
	if !slices.Contains(t.Scopes, scope) {
		return nil, refused(http.StatusForbidden, "has no scope "+scope)
	}
	if t.QuotaPerMinute == nil {
		return t, nil
	}
	if wait := r.quotas.Take(t.ID, *t.QuotaPerMinute); wait > 0 {
		return nil, &respond.Problem{Status: http.StatusTooManyRequests, Text: "token: its quota of requests a minute is used up",
			RetryAfter: wait}
	}
	return t, nil
}

// find returns the token of a text that came from an address, or the refusal.
func (r *room) find(ctx context.Context, address, text string) (*session.Token, error) {
	if len(text) > token.MaxText {
		return nil, refused(http.StatusUnauthorized, "is not known")
	}
	digest := account.DigestOf(text)
	if wait := r.guesses.Wait(address, text, digest); wait > 0 {
		return nil, &respond.Problem{Status: http.StatusTooManyRequests, Text: "token: too many tokens that are not known came from this address",
			RetryAfter: wait}
	}
	t, err := r.tokens.Find(ctx, digest)
	if err != nil {
		return nil, err
	}
	if t != nil {
		r.guesses.Valid(digest)
		return t, nil
	}
	r.guesses.Wrong(address, text)
	if key, err := account.ParseKey(text); err == nil {
		if err := key.In(r.cfg.Region); err != nil && r.cfg.Region != "" {
			return nil, refused(http.StatusUnauthorized, err.Error())
		}
		if key.Kind == account.KindAPI || key.Kind == account.KindAccess {
			r.cfg.Leaks.Found(ctx, key.Digest, sdkLeak())
			return nil, refused(http.StatusUnauthorized,
				"this is a personal key and not the SDK token of an app; a key that an app holds is revoked, and its owner told")
		}
		if key.Kind != account.KindSDK {
			return nil, refused(http.StatusUnauthorized, "this key is not the SDK token of an app")
		}
	}
	return nil, refused(http.StatusUnauthorized, "is not known, or was revoked")
}

// tokenHandlers serve the tokens of an app to its team's admins.
type tokenHandlers Handlers

// project reads the app of the path.
func (h tokenHandlers) project(c *gin.Context) (*distribution.Project, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	p, err := distribution.ProjectByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return nil, err
	}
	if !auth.Writer(c).May(p.TeamID) {
		return nil, denied(distribution.ErrNotTeamAdmin)
	}
	return p, nil
}

// denied is for what takes an admin of the app's team.
func denied(err error) error {
	return &respond.Problem{Status: http.StatusForbidden, Text: err.Error(), Err: err}
}

// list serves GET /api/v3/projects/{id}/sdk-tokens, newest first. Parameters: page,
// per_page.
func (h tokenHandlers) list(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	p, err := h.project(c)
	if err != nil {
		return err
	}
	rows, total, err := session.Tokens(c.Request.Context(), h.db, p.OrganizationID, p.ID, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"sdk_tokens": rows, "pagination": at.Envelope(total)})
}

// tokenBody is a token to create.
type tokenBody struct {
	Name           string    `json:"name"`
	Scopes         body.List `json:"scopes"`
	QuotaPerMinute int64     `json:"quota_per_minute"`
}

// create serves POST /api/v3/projects/{id}/sdk-tokens. The answer has the token's text,
// this once.
func (h tokenHandlers) create(c *gin.Context) error {
	p, err := h.project(c)
	if err != nil {
		return err
	}
	var in tokenBody
	if err := body.Read(c, &in); err != nil {
		return err
	}
	var row *session.TokenRow
	var secret account.Secret
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		row, secret, err = session.CreateToken(ctx, tx, w, h.cfg.Keys, session.NewToken{ProjectID: p.ID, Name: in.Name, Scopes: in.Scopes,
			QuotaPerMinute: int(max(min(in.QuotaPerMinute, math.MaxInt32), -1))}, denied(distribution.ErrNotTeamAdmin))
		return err
	})
	if err != nil {
		return err
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusCreated, gin.H{"sdk_token": row, "secret": secret.Text})
}

// revoke serves DELETE /api/v3/projects/{id}/sdk-tokens/{token}.
func (h tokenHandlers) revoke(c *gin.Context) error {
	p, err := h.project(c)
	if err != nil {
		return err
	}
	id, err := pagination.ID(c.Param("token"))
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.db.InTx(ctx, func(tx *storage.Tx) error {
		return session.RevokeToken(ctx, tx, w, p.ID, id, denied(distribution.ErrNotTeamAdmin))
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
