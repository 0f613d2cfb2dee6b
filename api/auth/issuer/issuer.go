// Package issuer verifies the tokens that issuers of organizations sign: JSON Web
// Tokens (RFC 7519) of an OpenID Connect provider, such as those that CI services
// hand to their jobs.
//
// A token is refused before anything is fetched when it is no signed token, its
// algorithm is not allowed, or its claim iss is another. Then its signature is
// verified with a key of the issuer, and after that the claims are checked: exp, nbf
// and iat with the allowed skew of clocks, aud, scopes, and the claims that the
// organization requires. A *Refusal says in words for the caller what is wrong.
//
// The keys come from the issuer's discovery document and the key set that it names
// (OpenID Connect Discovery 1.0, RFC 7517). Both addresses are chosen by others, so
// requests go through the guard of package outbound, and bodies, numbers of keys and
// times are bounded. A Cache holds the keys of one issuer for each organization: one
// organization's issuer never delays another's requests. Keys are fetched by one
// goroutine at a time, which no request's end stops and whose deadline all that wait
// for it share.
//
// A key that is not in the set has the set fetched again, once in some seconds, so
// that issuers can change keys at any time. While an issuer is away, the keys that
// are there serve for a day longer than they would; after a failure the next attempt
// waits, longer each time. Without keys the Refusal is temporary.
//
// Tokens are not remembered: one that is sent again is accepted until it ends, since a
// job of a CI service makes all of its requests with one token.
package issuer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

const (
	// fetchTimeout bounds one fetch of a discovery document and its keys.
	fetchTimeout = 5 * time.Second
	// maxDocument bounds each of the two documents: the largest in use, with the
	// certificates of dozens of keys, have some 50 KiB.
	maxDocument = 256 << 10
	// maxAlgorithms bounds what a discovery document may list; there are some twenty.
	maxAlgorithms = 50
	wellKnown     = "/.well-known/openid-configuration"
)

// Source is where keys come from.
type Source struct {
	URL    string // of the issuer, exact
	Issuer string // what the discovery document may call itself instead; "" for nothing else
}

// FetchError is why an issuer's keys could not be had. Text is meant for the
// organization's admins and holds nothing that the address disclosed.
type FetchError struct {
	Text string
	// Temporary: the issuer may respond later.
	Temporary bool
	Err       error
}

func (e *FetchError) Error() string {
	if e.Err != nil {
		return e.Text + ": " + e.Err.Error()
	}
	return e.Text
}

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// Client fetches key sets.
type Client struct {
	guard   *outbound.Guard
	timeout time.Duration
}

// NewClient returns a client whose requests the guard checks.
func NewClient(guard *outbound.Guard) *Client { return &Client{guard: guard, timeout: fetchTimeout} }

// discovery is what is read of the document.
type discovery struct {
	Issuer     string   `json:"issuer"`
	JWKSURI    string   `json:"jwks_uri"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
}

// Fetch reads the discovery document of an issuer and the key set that it names. Errors
// are of type *FetchError.
func (c *Client) Fetch(ctx context.Context, from Source) (*KeySet, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var found discovery
	if err := c.read(ctx, "the discovery document", strings.TrimSuffix(from.URL, "/")+wellKnown, &found); err != nil {
		return nil, err
	}
	if found.Issuer != from.URL && (from.Issuer == "" || found.Issuer != from.Issuer) {
		return nil, &FetchError{Text: fmt.Sprintf("the issuer calls itself %q in its discovery document, not %q", cut(found.Issuer), from.URL)}
	}
	if len(found.Algorithms) > maxAlgorithms {
		return nil, &FetchError{Text: "the discovery document lists too many algorithms"}
	}
	if !strings.HasPrefix(found.JWKSURI, "https://") && strings.HasPrefix(from.URL, "https://") {
		return nil, &FetchError{Text: "the jwks_uri of the discovery document is not https"}
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := c.read(ctx, "the key set (jwks_uri)", found.JWKSURI, &document); err != nil {
		return nil, err
	}
	set, err := newKeySet(document.Keys)
	if err != nil {
		return nil, err
	}
	set.Issuer, set.URI, set.Algorithms = found.Issuer, found.JWKSURI, found.Algorithms
	return set, nil
}

func cut(text string) string { return text[:min(len(text), 200)] }

// read fetches one document.
func (c *Client) read(ctx context.Context, what, address string, into any) error {
	if err := c.allowPlain(address); err != nil {
		return &FetchError{Text: "the address of " + what + " is refused", Err: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return &FetchError{Text: "the address of " + what + " is no URL"}
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.guard.Client(c.timeout).Do(request)
	if err != nil {
		return unreachable(what, err)
	}
	body, err := outbound.ReadBody(response.Body, maxDocument)
	switch {
	case errors.Is(err, outbound.ErrTooLarge):
		return &FetchError{Text: fmt.Sprintf("%s is longer than %d bytes", what, maxDocument)}
	case err != nil:
		return unreachable(what, err)
	case response.StatusCode != http.StatusOK:
		again := response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return &FetchError{Text: fmt.Sprintf("%s has status %d", what, response.StatusCode), Temporary: again}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &FetchError{Text: what + " is no JSON object as it should be"}
	}
	return nil
}

// CheckPlain refuses an http address, whose answers anybody on the way could change,
// unless the installation allows private addresses: then it is one for trying out.
func CheckPlain(guard *outbound.Guard, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return outbound.ErrInvalidURL
	}
	if u.Scheme == "https" || guard.AllowsPrivate() {
		return nil
	}
	return errors.New("must be https")
}

func (c *Client) allowPlain(address string) error { return CheckPlain(c.guard, address) }

// unreachable says why without what the network disclosed of itself.
func unreachable(what string, err error) error {
	var refused *outbound.ForbiddenError
	var lookup *net.DNSError
	text := "cannot be fetched"
	switch {
	case errors.As(err, &refused):
		return &FetchError{Text: "the address of " + what + " is refused: " + string(refused.Rule)}
	case errors.As(err, &lookup):
		text += ": " + lookup.Err
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		text += ": it took too long"
	}
	return &FetchError{Text: what + " " + text, Temporary: true, Err: err}
}

func isTimeout(err error) bool {
	var slow net.Error
	return errors.As(err, &slow) && slow.Timeout()
}
