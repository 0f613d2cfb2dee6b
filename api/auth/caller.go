package auth

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth/issuer"
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
	SessionID        int64 // of the console; 0 for all other requests
	// Token is what the token of a request by OIDC says of where it comes from; nil for
	// all other requests.
	Token *issuer.Claims

	rule           Rule // of the request's action
	blocked, stale bool
	oidcOnly       bool            // its organization accepts no keys
	scopes         []account.Scope // what its key is restricted to; nil: to nothing
}

func callerOf(id *account.Identity) *Caller {
	return &Caller{OrganizationID: id.OrganizationID, OrganizationUUID: id.OrganizationUUID,
		OrganizationSlug: id.OrganizationSlug, UserID: id.UserID, UserUUID: id.UserUUID, Email: id.Email,
		Username: id.Username, Role: id.Role, Service: id.UserKind == account.Service, Teams: id.Teams,
		KeyID: id.KeyID, blocked: id.Blocked, stale: id.Stale, oidcOnly: id.OIDCOnly, scopes: id.Scopes}
}

// Admin reports whether the caller is the organization's owner or admin.
func (c *Caller) Admin() bool { return c.Role.AtLeast(account.Admin) }

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

// Writer returns the caller as the stores take it, with the teams in which the rule of
// the request's action lets them change something.
func (c *Caller) Writer(actor account.Actor) account.Writer {
	w := account.Writer{OrganizationID: c.OrganizationID, UserUUID: c.UserUUID, Admin: c.Admin(), AllTeams: c.Admin(), Actor: actor}
	for _, t := range c.Teams {
		if c.rule.OwnTeam && c.Role.AtLeast(account.Member) || c.rule.TeamAdmin && c.TeamAdmin(t.ID) {
			w.Teams = append(w.Teams, t.ID)
		}
	}
	return w
}

// Actions are the actions that the caller may take, in no order. Where a rule is about what
// belongs to a team, the team decides besides.
func (c *Caller) Actions() []Action {
	var all []Action
	for action, rule := range Table() {
		if rule.Allow(c) == nil {
			all = append(all, action)
		}
	}
	return all
}

// Label is how the audit log names the caller.
func (c *Caller) Label() string {
	switch {
	case c.Operator:
		return "operator:" + c.Username
	case c.Token != nil:
		return c.Token.Label()
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

// WithCaller returns a context that carries the caller, as Require leaves it for
// the action: for handlers that are called without the router.
func WithCaller(ctx context.Context, c *Caller, action Action) context.Context {
	as := *c
	as.rule = Table()[action]
	return withCaller(ctx, &as)
}

// CallerOf returns the caller of a request that went through Require; nil for a
// public route.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Organization returns the id of the caller's organization; 0, which finds nothing,
// for an operator and without a caller.
func Organization(c *gin.Context) int64 {
	if caller := CallerOf(c.Request.Context()); caller != nil {
		return caller.OrganizationID
	}
	return 0
}

// Actor returns the caller as the audit log names one.
func Actor(c *gin.Context) account.Actor {
	ctx := c.Request.Context()
	actor := account.Actor{RequestID: respond.RequestID(ctx), IPAddress: c.ClientIP()}
	if caller := CallerOf(ctx); caller != nil {
		actor.UserID, actor.Name = caller.UserID, caller.Label()
		if caller.Token != nil {
			actor.Claims = caller.Token.Shown()
		}
	}
	return actor
}

// Writer returns the caller of a request as the stores take it. A request without
// a caller has a writer of no organization, who may change nothing.
func Writer(c *gin.Context) account.Writer {
	caller := CallerOf(c.Request.Context())
	if caller == nil {
		return account.Writer{Actor: Actor(c)}
	}
	return caller.Writer(Actor(c))
}
