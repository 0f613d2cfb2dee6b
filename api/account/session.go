package account

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// sessionView is a session of the console as answers show it.
type sessionView struct {
	account.ConsoleSession
	Current bool `json:"current"` // the request was made with it
}

// Sessions serves GET /api/v3/me/sessions: the caller's sessions of the console that have
// not ended, the one used last first.
func (h *Handlers) Sessions(c *gin.Context) error {
	caller := callerOf(c)
	list, err := account.ConsoleSessions(c.Request.Context(), h.cfg.DB, caller.OrganizationID, caller.UserID, h.cfg.Now())
	if err != nil {
		return err
	}
	views := make([]sessionView, 0, len(list))
	for _, s := range list {
		views = append(views, sessionView{ConsoleSession: s, Current: s.ID == caller.SessionID})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"sessions": views})
}

// DeleteSession serves DELETE /api/v3/me/sessions/{id}: the browser is signed out at once.
func (h *Handlers) DeleteSession(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	caller := callerOf(c)
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		if err := account.EndConsoleSession(ctx, tx, caller.OrganizationID, caller.UserID, id); err != nil {
			return err
		}
		return account.Audit(ctx, tx, account.Event{OrganizationID: caller.OrganizationID, Type: account.ConsoleSessionEnded,
			Actor: auth.Actor(c), Subject: fmt.Sprintf("session %d", id), Detail: map[string]any{"user_id": caller.UserID}})
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
