package crash

import (
	"slices"
	"strings"
)

// AnyOrigin lets the pages of all origins post.
const AnyOrigin = "*"

// AnyOrigin reports whether the pages of all origins may post with the token.
func (t *Token) AnyOrigin() bool { return slices.Contains(t.Origins, AnyOrigin) }

// AllowsOrigin reports whether the pages of an origin may post with the token.
func (t *Token) AllowsOrigin(origin string) bool { return OriginAllowed(t.Origins, origin) }

// OriginAllowed reports whether an origin, as browsers send it, is among those that a crash
// project allows.
func OriginAllowed(list []string, origin string) bool {
	origin = strings.ToLower(origin)
	for _, allowed := range list {
		scheme, below, wild := strings.Cut(allowed, "://*.")
		switch {
		case allowed == AnyOrigin || allowed == origin:
			return true
		case wild && strings.HasPrefix(origin, scheme+"://") && strings.HasSuffix(origin, "."+below):
			return true
		}
	}
	return false
}
