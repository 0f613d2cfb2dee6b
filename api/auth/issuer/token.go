package issuer

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/slipway-qa/slipway/storage/oidc"
)

// MaxToken bounds a token in bytes. Those of CI services have some two KiB, those with
// all groups of a person up to eight.
const MaxToken = 16 << 10

// The texts of refusals are those that clients of such services know.
const (
	textAlgorithm = "Unsupported algorithm"
	textIssuer    = "Invalid issuer"
	textAudience  = "Invalid audience"
	textExpired   = "Token has expired"
	textEarly     = "Token is not valid yet"
	textSignature = "Invalid token signature"
	textScope     = "Missing required scope"
	textKeys      = "Failed to fetch JWKS"
	textMalformed = "Invalid token: "
	textClaim     = "Missing required claim: "
)

// Refusal is why a token is not accepted. Its text is meant for the caller.
type Refusal struct {
	Text string
	// Temporary: the issuer could not be reached, the same token may be accepted later.
	Temporary bool
	Err       error
}

func (r *Refusal) Error() string {
	if r.Err != nil {
		return r.Text + ": " + r.Err.Error()
	}
	return r.Text
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(text string) error { return &Refusal{Text: text} }

// header is what is read of a token's header. Keys and addresses in it are not: a
// token must not say what verifies it.
type header struct {
	Algorithm string   `json:"alg"`
	KeyID     string   `json:"kid"`
	Critical  []string `json:"crit"`
}

// parsed is a token whose signature nobody has verified yet.
type parsed struct {
	header header
	signed *jose.JSONWebSignature
	claims Claims // of the payload as it is
}

// LooksLike reports whether a Bearer token is a JSON Web Token rather than one of ours:
// three parts, the first of which begins a JSON object.
func LooksLike(token string) bool {
	return strings.Count(token, ".") == 2 && strings.HasPrefix(token, "eyJ")
}

// parse reads a token in the compact form (RFC 7515, part 7.1), of the algorithms.
func parse(token string, algorithms []string) (*parsed, error) {
	if len(token) > MaxToken {
		return nil, refuse(textMalformed + "it is longer than 16384 bytes")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, refuse(textMalformed + "it is no signed JSON Web Token")
	}
	var p parsed
	text, err := base64.RawURLEncoding.Strict().DecodeString(parts[0])
	if err != nil || json.Unmarshal(text, &p.header) != nil {
		return nil, refuse(textMalformed + "its header cannot be read")
	}
	if !slices.Contains(algorithms, p.header.Algorithm) || !slices.Contains(oidc.Algorithms(), p.header.Algorithm) {
		return nil, refuse(textAlgorithm)
	}
	if len(p.header.Critical) > 0 || len(p.header.KeyID) > maxKid {
		return nil, refuse(textMalformed + "its header asks for what is not supported")
	}
	if p.signed, err = jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.header.Algorithm)}); err != nil {
		return nil, &Refusal{Text: textMalformed + "it cannot be read", Err: err}
	}
	if p.claims, err = readClaims(p.signed.UnsafePayloadWithoutVerification()); err != nil {
		return nil, err
	}
	return &p, nil
}

// verifiedBy reports whether one of the keys signed the token.
func (p *parsed) verifiedBy(keys []jose.JSONWebKey) bool {
	return slices.ContainsFunc(keys, func(k jose.JSONWebKey) bool {
		_, err := p.signed.Verify(&k)
		return err == nil
	})
}

// Verify returns the claims of a token that the organization's configuration accepts; a
// *Refusal when it does not.
func (c *Cache) Verify(ctx context.Context, by *oidc.Configuration, token string) (*Claims, error) {
	p, err := parse(token, by.AllowedAlgorithms)
	if err != nil {
		return nil, err
	}
	if p.claims.Issuer != by.Issuer() {
		return nil, refuse(textIssuer)
	}
	if err := c.verifySignature(ctx, by, p); err != nil {
		return nil, err
	}
	if err := p.claims.check(by, c.now()); err != nil {
		return nil, err
	}
	return &p.claims, nil
}

// verifySignature verifies with the keys that are here, and when none of them fits with
// those that the issuer has now. A key of the token's name decides: its set is not
// fetched again because of a signature that is wrong.
func (c *Cache) verifySignature(ctx context.Context, by *oidc.Configuration, p *parsed) error {
	from := Source{URL: by.IssuerURL, Issuer: by.ExpectedIssuer}
	maxAge := time.Duration(by.JWKSCacheSeconds) * time.Second
	keys, err := c.keys(ctx, by.OrganizationID, from, maxAge)
	if err != nil {
		return noKeys(err)
	}
	found := keys.find(p.header.KeyID, p.header.Algorithm)
	if p.verifiedBy(found) {
		return nil
	}
	if len(found) > 0 && p.header.KeyID != "" {
		return refuse(textSignature)
	}
	keys, err = c.newer(ctx, by.OrganizationID, keys, from, p.header.KeyID)
	if err != nil {
		return noKeys(err)
	}
	if p.verifiedBy(keys.find(p.header.KeyID, p.header.Algorithm)) {
		return nil
	}
	return refuse(textSignature)
}

func noKeys(err error) error {
	var failed *FetchError
	if errors.As(err, &failed) {
		return &Refusal{Text: textKeys, Temporary: failed.Temporary, Err: failed}
	}
	return err
}
