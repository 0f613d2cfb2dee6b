package outbound

import "net/netip"

// Rule is why an address is refused, in words for people.
type Rule string

// The rules. Those of addresses follow IANA's registries of special-purpose
// addresses for IPv4 and IPv6 (RFC 6890 and its updates).
const (
	RuleLoopback      Rule = "loopback address"
	RulePrivate       Rule = "private address"
	RuleShared        Rule = "shared address (carrier-grade NAT)"
	RuleLinkLocal     Rule = "link-local address"
	RuleMetadata      Rule = "cloud metadata service"
	RuleUnspecified   Rule = "unspecified address"
	RuleMulticast     Rule = "multicast address"
	RuleBroadcast     Rule = "broadcast address"
	RuleDocumentation Rule = "documentation address"
	RuleBenchmark     Rule = "benchmarking address"
	RuleReserved      Rule = "reserved address"
	RuleMapped        Rule = "IPv4 address in IPv6 form"
	RuleZone          Rule = "address with a zone"

	RuleScheme    Rule = "only http and https"
	RuleUser      Rule = "user name or password in the URL"
	RulePort      Rule = "port of another protocol"
	RuleSpelling  Rule = "unusual spelling of an address"
	RuleDowngrade Rule = "redirect from https to http"
	RuleNetwork   Rule = "only TCP"
)

func (r Rule) private() bool {
	return r == RuleLoopback || r == RulePrivate || r == RuleShared
}

func (r Rule) metadata() bool { return r == RuleMetadata || r == RuleLinkLocal }

// addressBlock is a range of addresses and the rule that refuses it.
type addressBlock struct {
	prefix netip.Prefix
	rule   Rule
}

// metadataHost reports whether an address is one at which a cloud serves a machine
// its secrets, by the clouds' documentation. Most lie in blocks that are refused
// anyway; because they are listed here they stay refused when private addresses are
// allowed.
func metadataHost(addr netip.Addr) bool {
	switch addr.String() {
	case "169.254.169.254", // AWS, Azure, Google, Oracle, OpenStack and most others
		"169.254.169.253", "169.254.169.123", // AWS: resolver, time
		"169.254.170.2", "169.254.170.23", // AWS: container and pod credentials
		"169.254.42.42",                                  // Scaleway
		"100.100.100.200",                                // Alibaba
		"168.63.129.16",                                  // Azure: wire server, a public address
		"192.0.0.192",                                    // Oracle Classic
		"fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", // AWS
		"fd20:ce::254", // Google
		"fd00:42::42":  // Scaleway
		return true
	}
	return false
}

func blocks4() []addressBlock {
	return []addressBlock{
		{netip.MustParsePrefix("255.255.255.255/32"), RuleBroadcast},
		{netip.MustParsePrefix("0.0.0.0/8"), RuleUnspecified},
		{netip.MustParsePrefix("127.0.0.0/8"), RuleLoopback},
		{netip.MustParsePrefix("10.0.0.0/8"), RulePrivate},
		{netip.MustParsePrefix("172.16.0.0/12"), RulePrivate},
		{netip.MustParsePrefix("192.168.0.0/16"), RulePrivate},
		{netip.MustParsePrefix("100.64.0.0/10"), RuleShared},
		{netip.MustParsePrefix("169.254.0.0/16"), RuleLinkLocal},
		{netip.MustParsePrefix("192.0.0.0/24"), RuleReserved},
		{netip.MustParsePrefix("192.0.2.0/24"), RuleDocumentation},
		{netip.MustParsePrefix("198.51.100.0/24"), RuleDocumentation},
		{netip.MustParsePrefix("203.0.113.0/24"), RuleDocumentation},
		{netip.MustParsePrefix("192.88.99.0/24"), RuleReserved}, // 6to4 relays, RFC 7526
		{netip.MustParsePrefix("198.18.0.0/15"), RuleBenchmark},
		{netip.MustParsePrefix("224.0.0.0/4"), RuleMulticast},
		{netip.MustParsePrefix("240.0.0.0/4"), RuleReserved},
	}
}

// blocks6 are in the order in which they are tried: what none covers is refused
// unless it lies in 2000::/3, the only global unicast space.
func blocks6() []addressBlock {
	return []addressBlock{
		{netip.MustParsePrefix("::/128"), RuleUnspecified},
		{netip.MustParsePrefix("::1/128"), RuleLoopback},
		{netip.MustParsePrefix("::/96"), RuleMapped}, // IPv4-compatible, RFC 4291
		{netip.MustParsePrefix("fe80::/10"), RuleLinkLocal},
		{netip.MustParsePrefix("fec0::/10"), RulePrivate}, // site-local, RFC 3879
		{netip.MustParsePrefix("fc00::/7"), RulePrivate},
		{netip.MustParsePrefix("ff00::/8"), RuleMulticast},
		{netip.MustParsePrefix("64:ff9b:1::/48"), RuleReserved}, // local NAT64, RFC 8215
		{netip.MustParsePrefix("2001:2::/48"), RuleBenchmark},
		{netip.MustParsePrefix("2001:db8::/32"), RuleDocumentation},
		{netip.MustParsePrefix("3fff::/20"), RuleDocumentation}, // RFC 9637
	}
}

// classify returns the rule that refuses addr, or "".
func classify(addr netip.Addr) Rule {
	switch {
	case !addr.IsValid():
		return RuleSpelling
	case addr.Zone() != "":
		return RuleZone
	case metadataHost(addr):
		return RuleMetadata
	case addr.Is4In6():
		return RuleMapped
	case addr.Is4():
		return match(blocks4(), addr)
	}
	if rule := match(blocks6(), addr); rule != "" {
		return rule
	}
	return classifyTunnel(addr)
}

func match(blocks []addressBlock, addr netip.Addr) Rule {
	for _, b := range blocks {
		if b.prefix.Contains(addr) {
			return b.rule
		}
	}
	return ""
}

// classifyTunnel returns the rule that refuses one of the IPv4 addresses that an
// IPv6 address leads to through a translator or a tunnel, or "".
func classifyTunnel(addr netip.Addr) Rule {
	b := addr.As16()
	at := func(i int, flip byte) Rule {
		return classify(netip.AddrFrom4([4]byte{b[i] ^ flip, b[i+1] ^ flip, b[i+2] ^ flip, b[i+3] ^ flip}))
	}
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr): // NAT64, RFC 6052: DNS64 networks need it
		return at(12, 0)
	case netip.MustParsePrefix("2002::/16").Contains(addr): // 6to4, RFC 3056
		return at(2, 0)
	case netip.MustParsePrefix("2001::/32").Contains(addr): // Teredo, RFC 4380: server, and client inverted
		if rule := at(4, 0); rule != "" {
			return rule
		}
		return at(12, 0xff)
	case netip.MustParsePrefix("2001::/23").Contains(addr): // other IETF assignments, ORCHID
		return RuleReserved
	case !netip.MustParsePrefix("2000::/3").Contains(addr):
		return RuleReserved
	case b[8]&^0x03 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP, RFC 5214
		return at(12, 0)
	}
	return ""
}
