package oidc

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// The bounds of a configuration. They are far above what issuers need: they bound what
// one row holds and what a request has to compare.
const (
	maxText      = 2048   // a URL; an audience is one in many places
	maxScopes    = 50     //
	maxClaims    = 20     //
	maxPatterns  = 50     // for one claim
	maxPattern   = 255    // characters
	maxTeams     = 1000   //
	maxJWKSCache = 604800 // a week: for so long a key that the issuer withdrew is accepted
	maxClockSkew = 600    // ten minutes: for so long a token is accepted after its end
)

// Algorithms are the signatures that a configuration may allow, by RFC 7518. The
// symmetric ones (HS256 and its siblings) are not among them: whoever verifies could
// sign, and the published key of an issuer could pass for the secret.
func Algorithms() []string { return []string{"RS256", "RS384", "RS512", "ES256"} }

// sharedIssuers are issuers that everybody can have tokens from, with the claims that
// tell whose a token is.
// See https://docs.github.com/actions/reference/security/oidc,
// https://docs.gitlab.com/ci/secrets/id_token_authentication/ and
// https://developers.google.com/identity/openid-connect/openid-connect.
func sharedIssuers() map[string][]string {
	gitlab := []string{"sub", "project_path", "project_id", "namespace_path", "namespace_id"}
	return map[string][]string{
		"token.actions.githubusercontent.com": {"sub", "repository", "repository_id", "repository_owner", "repository_owner_id",
			"job_workflow_ref", "enterprise", "enterprise_id"},
		"gitlab.com":          gitlab,
		"accounts.google.com": {"sub", "email", "hd"},
		"agent.buildkite.com": {"sub", "organization_slug", "organization_id", "pipeline_slug", "pipeline_id"},
		"app.terraform.io":    {"sub", "terraform_organization_id", "terraform_organization_name"},
	}
}

func (s *Settings) check() error {
	if s.Mode != Only && s.Mode != OrKey {
		return storage.Invalid("mode", "must be oidc_only or oidc_or_key")
	}
	if err := checkIssuer("issuer_url", s.IssuerURL); err != nil {
		return err
	}
	for field, text := range map[string]string{"expected_issuer": s.ExpectedIssuer, "audience": s.Audience} {
		if clean, err := storage.Line(field, text, maxText); err != nil || clean != text {
			return storage.Invalid(field, "must be printable text of at most %d characters, without space around it", maxText)
		}
	}
	if len(s.AllowedAlgorithms) == 0 {
		return storage.Invalid("allowed_algorithms", "must have one of %s at least", strings.Join(Algorithms(), ", "))
	}
	for i, name := range s.AllowedAlgorithms {
		if !slices.Contains(Algorithms(), name) || slices.Contains(s.AllowedAlgorithms[:i], name) {
			return storage.Invalid("allowed_algorithms", "must be of %s, each once", strings.Join(Algorithms(), ", "))
		}
	}
	if s.JWKSCacheSeconds < 1 || s.JWKSCacheSeconds > maxJWKSCache {
		return storage.Invalid("jwks_cache_seconds", "must be 1 to %d", maxJWKSCache)
	}
	if s.ClockSkewSeconds < 0 || s.ClockSkewSeconds > maxClockSkew {
		return storage.Invalid("clock_skew_seconds", "must be 0 to %d", maxClockSkew)
	}
	if err := s.checkScopes(); err != nil {
		return err
	}
	return s.checkClaims()
}

// checkIssuer takes what discovery can be asked of: an issuer is a URL without query
// and fragment (OpenID Connect Discovery 1.0, part 2).
func checkIssuer(field, text string) error {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxText || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
		u.User != nil || strings.ContainsAny(text, "?#") || storage.Printable(field, text) != nil || strings.Contains(text, " ") {
		return storage.Invalid(field, "must be an https URL of at most %d characters without user, query and fragment", maxText)
	}
	return nil
}

func (s *Settings) checkScopes() error {
	if len(s.RequiredScopes) > maxScopes {
		return storage.Invalid("required_scopes", "has at most %d elements", maxScopes)
	}
	for _, scope := range s.RequiredScopes {
		if clean, err := storage.Name("required_scopes", scope, maxPattern); err != nil || clean != scope ||
			strings.ContainsAny(scope, " \"\\") {
			return storage.Invalid("required_scopes", "must be names of at most %d characters without space", maxPattern)
		}
	}
	return nil
}

func (s *Settings) checkClaims() error {
	if len(s.RequiredClaims) > maxClaims {
		return storage.Invalid("required_claims", "has at most %d members", maxClaims)
	}
	for name, patterns := range s.RequiredClaims {
		if _, err := storage.Name("required_claims", name, maxPattern); err != nil {
			return err
		}
		field := "required_claims." + name
		if len(patterns) == 0 || len(patterns) > maxPatterns {
			return storage.Invalid(field, "must have 1 to %d values", maxPatterns)
		}
		for _, pattern := range patterns {
			if _, err := storage.Name(field, pattern, maxPattern); err != nil {
				return err
			}
		}
	}
	return s.checkShared()
}

// checkShared refuses to trust an issuer that signs for everybody without a claim
// that ties tokens to their owner. A configuration that is not in force may be stored.
func (s *Settings) checkShared() error {
	u, err := url.Parse(s.IssuerURL)
	if err != nil || !s.Enabled {
		return err
	}
	names := sharedIssuers()[strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")]
	if names == nil {
		return nil
	}
	for _, name := range names {
		if patterns := s.RequiredClaims[name]; len(patterns) > 0 && !slices.ContainsFunc(patterns, unbound) {
			return nil
		}
	}
	return storage.Invalid("required_claims", "is required: everybody can have tokens of %s, so name who may, by one of %s",
		u.Hostname(), strings.Join(names, ", "))
}

// claimKey begins the claims of some issuers, before the owner: repo:acme/app:ref:...
var claimKey = regexp.MustCompile(`^[a-z_]+:`)

// unbound reports whether a pattern leaves open whose the token is: the owner stands
// first in all of these claims, and must stand there whole, for acme* is also whoever
// takes the name acme-2.
func unbound(pattern string) bool {
	owner, _, isPattern := strings.Cut(pattern, "*")
	return isPattern && !strings.ContainsAny(claimKey.ReplaceAllString(owner, ""), "/:")
}

// auditMembers are the settings as an audit entry shows them.
func (c *Configuration) auditMembers() map[string]any {
	if c == nil {
		return nil
	}
	return map[string]any{"enabled": c.Enabled, "mode": c.Mode, "issuer_url": c.IssuerURL, "expected_issuer": c.ExpectedIssuer,
		"audience": c.Audience, "allowed_algorithms": c.AllowedAlgorithms, "required_scopes": c.RequiredScopes,
		"required_claims": c.RequiredClaims, "jwks_cache_seconds": c.JWKSCacheSeconds, "clock_skew_seconds": c.ClockSkewSeconds,
		"role": c.Role, "all_teams": c.AllTeams, "team_ids": c.TeamIDs}
}

// differences returns the members of two audits that differ; all of the second when
// there is no first.
func differences(from, to map[string]any) (before, after map[string]any) {
	if from == nil {
		return nil, to
	}
	before, after = map[string]any{}, map[string]any{}
	for name, value := range to {
		if fmt.Sprint(from[name]) != fmt.Sprint(value) {
			before[name], after[name] = from[name], value
		}
	}
	return before, after
}
