package outbound

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// RulePageScheme refuses other schemes of pages.
const RulePageScheme Rule = "only http and https pages"

// Pages checks which addresses tests may open in a browser.
type Pages struct {
	Guard *Guard
	// AllowFiles allows file: addresses: whoever writes a test can then read the
	// files of the browser's machine.
	AllowFiles bool
}

// Check refuses addresses that no test may open, in words for whoever chose it:
// other schemes than http and https, and what the guard refuses. A user name in
// the address is allowed, and a name that cannot be resolved here
// may be known where the browser runs (a tunnel, a hub). about:blank is an empty
// page and harmless.
func (p Pages) Check(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return ErrInvalidURL
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
	case "about":
		if strings.EqualFold(address, "about:blank") {
			return nil
		}
		return forbid(RulePageScheme)
	case "file":
		if p.AllowFiles {
			return nil
		}
		return forbid(RulePageScheme)
	case "":
		return ErrInvalidURL
	default:
		return forbid(RulePageScheme)
	}
	u.User = nil
	if _, err := p.Guard.CheckURL(ctx, u.String()); err != nil && !errors.Is(err, ErrUnresolved) {
		return err
	}
	return nil
}
