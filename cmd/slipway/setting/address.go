package setting

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
)

// AddressRule is whether addresses from users (webhooks, issuers, storage connections, servers of
// commit statuses, tested pages, tunnels) may lead into private networks and to this machine.
type AddressRule struct {
	allow  bool
	reason string // for people
}

// String says whether such addresses are allowed, and why.
func (r AddressRule) String() string {
	if r.allow {
		return "allowed, because " + r.reason
	}
	return "refused, because " + r.reason
}

// addressRule returns the rule of these settings. listen is the address of slipway up;
// nil for the tiers, which refuse unless the setting says otherwise. A listener on this
// machine alone shows nothing: behind a proxy it serves the world, and then the public
// address or the base domain is one of the world.
func (s *Settings) addressRule(listen net.Addr) AddressRule {
	switch {
	case s.AllowPrivateAddresses != nil:
		return AddressRule{*s.AllowPrivateAddresses, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES says so"}
	case listen == nil:
		return AddressRule{false, "SLIPWAY_ALLOW_PRIVATE_ADDRESSES is not set"}
	case !Loopback(listen):
		return AddressRule{false, "SLIPWAY_LISTEN is not on this machine alone"}
	case s.PublicURL != "" && !LoopbackURL(s.PublicURL):
		return AddressRule{false, "SLIPWAY_PUBLIC_URL leads to others than this machine"}
	case s.BaseDomain != "" && !loopbackHost(s.BaseDomain):
		return AddressRule{false, "SLIPWAY_BASE_DOMAIN leads to others than this machine"}
	}
	return AddressRule{true, "only this machine reaches Slipway"}
}

// StartAddresses puts the rule into the settings and says in the log which it is.
func (s *Settings) StartAddresses(listen net.Addr, log *slog.Logger) AddressRule {
	rule := s.addressRule(listen)
	s.AllowPrivateAddresses = &rule.allow
	log.Info("addresses from users in private networks", "allowed", rule.allow, "reason", rule.reason, terminal.Routine, true)
	return rule
}

// Loopback reports whether only this machine reaches the address.
func Loopback(addr net.Addr) bool {
	at, err := netip.ParseAddrPort(addr.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// LoopbackURL reports whether an address names this machine. One that cannot be read
// does not.
func LoopbackURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopbackHost(u.Hostname())
}

// loopbackHost reports whether a host name is this machine's on every machine:
// localhost and what is below it (RFC 6761, section 6.3), 127.0.0.0/8 and ::1.
func loopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Reachable returns an address that can be called for one to listen at.
func Reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
