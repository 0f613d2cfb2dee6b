package crashproject

import (
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// maxOrigins bounds the origins of a crash project, each of up to maxOrigin bytes.
const (
	maxOrigins = 50
	maxOrigin  = 255
)

// cleanOrigins returns origins as they are stored: SCHEME://HOST[:PORT] in lower case, of
// which the host may begin with "*." for all names below it; or * alone.
func cleanOrigins(list []string) ([]string, error) {
	if len(list) > maxOrigins {
		return nil, storage.Invalid("allowed_origins", "at most %d", maxOrigins)
	}
	out := []string{}
	for _, text := range list {
		origin := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "/"))
		if origin != crash.AnyOrigin && !isOrigin(origin) {
			return nil, storage.Invalid("allowed_origins",
				"must be * or origins: https://shop.example, https://*.shop.example, http://localhost:3000")
		}
		if !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	if slices.Contains(out, crash.AnyOrigin) {
		return []string{crash.AnyOrigin}, nil
	}
	return out, nil
}

// isOrigin reports whether a text is an origin. Apps in web views have schemes of their own.
func isOrigin(text string) bool {
	if len(text) > maxOrigin || !condition.PlainText(text) {
		return false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	host := strings.TrimPrefix(u.Hostname(), "*.")
	return host != "" && !strings.ContainsAny(host, "*%\"'<>, ") && u.Scheme+"://"+u.Host == text
}
