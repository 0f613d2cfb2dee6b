package auth

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/account"
)

// Scopes are what the caller's key is restricted to; nil: to nothing.
func (c *Caller) Scopes() []account.Scope { return slices.Clone(c.scopes) }

// Restricted returns the caller with no more rights than the scopes have. A caller who has
// scopes already keeps them.
func (c *Caller) Restricted(scopes ...account.Scope) *Caller {
	as := *c
	if as.scopes == nil {
		as.scopes = slices.Clone(scopes)
	}
	return &as
}

// inScope reports whether the caller's key allows what takes a scope: "" is allowed to
// keys without restriction only, and reading to all.
func (c *Caller) inScope(scope account.Scope) bool {
	switch {
	case c.scopes == nil:
		return true
	case scope == account.ScopeRead:
		return true
	}
	return scope != "" && slices.Contains(c.scopes, scope)
}

func (c *Caller) scopeList() string {
	names := make([]string, 0, len(c.scopes))
	for _, scope := range c.scopes {
		names = append(names, string(scope))
	}
	return strings.Join(names, ", ")
}
