package auth

import (
	"net"
	"strings"
)

// hosts knows which host names select an organization.
type hosts struct {
	suffix string // ".<base domain>", "" when there is none
	public string
}

func newHosts(baseDomain, publicHost string) hosts {
	h := hosts{public: bareHost(publicHost)}
	if base := bareHost(baseDomain); base != "" {
		h.suffix = "." + base
	}
	return h
}

// bareHost is a host name in lower case, without port and final dot.
func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// organization returns the slug that a host selects, "" for hosts that select
// none. One label stands before the base domain; deeper names select nothing.
func (h hosts) organization(host string) string {
	name := bareHost(host)
	if h.suffix == "" || name == h.public {
		return ""
	}
	slug, ok := strings.CutSuffix(name, h.suffix)
	if !ok || strings.Contains(slug, ".") {
		return ""
	}
	return slug
}

// Organization returns the slug of the organization that a host name selects, "" for
// hosts that select none.
func (a *Authenticator) Organization(host string) string { return a.hosts.organization(host) }

// allow refuses a key on another organization's host. Operators belong to none
// and may use any.
func (h hosts) allow(host string, c *Caller) error {
	slug := h.organization(host)
	if slug == "" || c.Operator || slug == c.OrganizationSlug {
		return nil
	}
	return problemForbidden("this key belongs to another organization than the host")
}
