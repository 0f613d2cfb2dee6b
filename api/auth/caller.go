package auth

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
)

// Caller is who makes the request: a user of one organization, or an operator,
// who belongs to none (the other members are zero then).
type Caller struct {
	Operator         bool
	OrganizationID   int64
	OrganizationUUID uuid.UUID
	OrganizationSlug string
	UserID           int64
	UserUUID         uuid.UUID
	Email            string // "" for a service account
	Username         string
	Role             account.Role
	Service          bool
	Teams            []account.TeamPlace // by id: the first is the default team
	KeyID            int64

	blocked, stale bool
}

func callerOf(id *account.Identity) *Caller {
	return &Caller{OrganizationID: id.OrganizationID, OrganizationUUID: id.OrganizationUUID,
		OrganizationSlug: id.OrganizationSlug, UserID: id.UserID, UserUUID: id.UserUUID, Email: id.Email,
		Username: id.Username, Role: id.Role, Service: id.UserKind == account.Service, Teams: id.Teams,
		KeyID: id.KeyID, blocked: id.Blocked, stale: id.Stale}
}

// Admin reports whether the caller is the organization's owner or admin.
func (c *Caller) Admin() bool { return c.Role.AtLeast(account.Admin) }

// InTeam reports whether the caller may work in the team: admins in every team
// of the organization, which the caller of this method has checked the team is
// of, members in their own.
func (c *Caller) InTeam(teamID int64) bool {
	if c.Admin() {
		return true
	}
	for _, t := range c.Teams {
		if t.ID == teamID {
			return c.Role.AtLeast(account.Member)
		}
	}
	return false
}

// TeamAdmin reports whether the caller has admin rights inside the team.
func (c *Caller) TeamAdmin(teamID int64) bool {
	if c.Admin() {
		return true
	}
	for _, t := range c.Teams {
		if t.ID == teamID {
			return t.Admin && c.Role.AtLeast(account.Member)
		}
	}
	return false
}

// Label is how the audit log names the caller.
func (c *Caller) Label() string {
	switch {
	case c.Operator:
		return "operator:" + c.Username
	case c.Email != "":
		return c.Email
	}
	return c.Username
}

func (c *Caller) logAttrs() []slog.Attr {
	if c.Operator {
		return []slog.Attr{slog.String("operator", c.Username)}
	}
	return []slog.Attr{slog.Int64("organization_id", c.OrganizationID), slog.Int64("user_id", c.UserID)}
}

type callerKey struct{}

func withCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// WithCaller returns a context that carries the caller, as Require leaves it:
// for handlers that are called without the router.
func WithCaller(ctx context.Context, c *Caller) context.Context { return withCaller(ctx, c) }

// CallerOf gives the caller of a request that went through Require; nil for a
// public route.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Actor is the caller as the audit log wants it.
func Actor(c *gin.Context) account.Actor {
	ctx := c.Request.Context()
	actor := account.Actor{RequestID: respond.RequestID(ctx), IPAddress: c.ClientIP()}
	if caller := CallerOf(ctx); caller != nil {
		actor.UserID, actor.Name = caller.UserID, caller.Label()
	}
	return actor
}
