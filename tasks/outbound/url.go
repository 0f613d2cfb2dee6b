package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Errors of CheckURL besides *ForbiddenError.
var (
	// ErrInvalidURL means that the text is not an absolute http or https URL.
	ErrInvalidURL = errors.New("not a valid URL")
	// ErrUnresolved means that the host's name has no address now. Whether that is
	// a mistake, the caller decides.
	ErrUnresolved = errors.New("the host name cannot be resolved")
)

const (
	// maxURL is the longest address that the API accepts anywhere.
	maxURL = 2048
	// lookupTimeout is how long whoever configures an address waits for DNS.
	lookupTimeout = 5 * time.Second
)

// CheckURL validates an address at the time of its configuration, and resolves
// its name: every address found must pass. It returns the parsed URL, or an
// error that is ErrInvalidURL, ErrForbiddenAddress or ErrUnresolved and may be
// shown. The address can lead elsewhere later: requests go through Client.
func (g *Guard) CheckURL(ctx context.Context, raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrInvalidURL, maxURL)
	}
	for i := range len(raw) {
		if raw[i] <= 0x20 || raw[i] == 0x7f || raw[i] == '\\' {
			return nil, fmt.Errorf("%w: it holds a space, a control character or a backslash", ErrInvalidURL)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's error repeats the text, which may hold a password.
		return nil, ErrInvalidURL
	}
	if err := g.checkParts(u); err != nil {
		return nil, err
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return u, nil // checkParts has checked it
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := g.cfg.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return nil, ErrUnresolved
	}
	for _, addr := range addrs {
		// The resolver returns IPv4 addresses in IPv6 form.
		if err := g.CheckAddr(addr.Unmap()); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// checkParts checks what needs no resolving.
func (g *Guard) checkParts(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return forbid(RuleScheme)
	}
	if u.User != nil {
		return forbid(RuleUser)
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return fmt.Errorf("%w: it has no host", ErrInvalidURL)
	}
	// After a colon; "http://host:/" means the default port.
	if port := u.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return fmt.Errorf("%w: the port is not a number up to 65535", ErrInvalidURL)
		}
		if err := g.checkPort(uint16(number)); err != nil {
			return err
		}
	}
	return g.checkHost(u.Hostname())
}

// checkHost refuses hosts that name an address in a way that programs interpret
// differently: 2130706433, 0x7f.1 and 127.1 are 127.0.0.1 for the resolver of
// the C library and names for others. The rule is that of the URL standard of
// the WHATWG (a host that ends in a number is an IPv4 address), with only the
// usual spelling accepted.
func (g *Guard) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.CheckAddr(addr)
	}
	if len(host) > 254 {
		return fmt.Errorf("%w: the host name is too long", ErrInvalidURL)
	}
	for i := range len(host) {
		c := host[i]
		// Other scripts have digits and dots that are mapped to ASCII later;
		// international names are written in their xn-- form.
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return forbid(RuleSpelling)
		}
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || endsInNumber(last) {
		return forbid(RuleSpelling)
	}
	if last == "localhost" && !g.cfg.AllowPrivate { // RFC 6761
		return forbid(RuleLoopback)
	}
	return nil
}

// endsInNumber reports whether a label is a decimal, octal or hexadecimal
// number.
func endsInNumber(label string) bool {
	digits, valid := label, "0123456789"
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		digits, valid = rest, "0123456789abcdef"
	}
	return strings.Trim(digits, valid) == ""
}

// checkPort refuses ports at which other protocols listen that would read parts of
// an HTTP request as commands, or respond to a probe: the bad
// ports of the Fetch standard of the WHATWG, and the usual ports of data stores
// and of container engines. All other ports are allowed, since webhook
// receivers and staging servers listen anywhere.
func (g *Guard) checkPort(port uint16) error {
	switch port {
	case 0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
		101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
		389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601,
		636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
		6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080:
		return forbid(RulePort)
	case 445, // SMB
		1433, 1521, 3306, 5432, 6432, // SQL servers, PgBouncer
		2375, 2376, // container engine
		2379, 2380, // etcd
		3389,        // remote desktop
		6379, 26379, // Redis, Sentinel
		9042, 11211, 27017: // Cassandra, memcached, MongoDB
		return forbid(RulePort)
	}
	return nil
}
