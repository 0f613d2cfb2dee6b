package setting

import (
	"net"
	"net/netip"

	"github.com/slipway-qa/slipway/api/connection"
)

// admissionSettings bound what an api takes on at once.
type admissionSettings struct {
	Connections           int `env:"SLIPWAY_CONNECTIONS" default:"10000" help:"Connections of clients that an api keeps; beyond that, those that wait for their sender are closed for others. 0: no bound."`
	ConnectionsPerAddress int `env:"SLIPWAY_CONNECTIONS_PER_ADDRESS" default:"2000" help:"Connections that one address may have, an IPv4 address or an IPv6 network of 64 bits; loopback and trusted proxies stand for many and are not bounded. 0: no bound."`
	Searches              int `env:"SLIPWAY_SEARCHES" default:"0" help:"Searches over many rows (crashes, audit log, testers, sessions) that one api runs at once; organizations share them. 0: as many as it has processors, at least two."`
}

// Bounded returns the listener of an api within the bounds of connections.
func (s *Settings) Bounded(listener net.Listener) *connection.Listener {
	var proxies []netip.Prefix
	for _, text := range s.TrustedProxies {
		if p, err := netip.ParsePrefix(text); err == nil {
			proxies = append(proxies, p.Masked())
		} else if a, err := netip.ParseAddr(text); err == nil {
			proxies = append(proxies, netip.PrefixFrom(a, a.BitLen()))
		}
	}
	return connection.Listen(listener, connection.Config{Most: s.Connections, PerAddress: s.ConnectionsPerAddress,
		Shared: func(from netip.Addr) bool {
			if from.IsLoopback() {
				return true
			}
			for _, p := range proxies {
				if p.Contains(from) {
					return true
				}
			}
			return false
		}})
}
