// Package issuertest is an OpenID Connect provider for tests: it serves a discovery
// document and a key set over HTTP, as real ones do, and signs tokens.
//
// Keys can be changed while it runs. An answer can be replaced by another handler, to
// have an issuer that is slow, away, or lies; Counts reports how often each document was
// asked for. Serve adds what CI services have beside it, such as the address at which
// their jobs ask for a token.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The paths of the two documents.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeysPath      = "/keys"
)

// Key signs tokens.
type Key struct {
	ID        string
	Algorithm string
	Private   crypto.Signer
}

// NewKey creates a key for RS256, RS384, RS512, ES256 or, of another curve, ES384.
func NewKey(id, algorithm string) *Key {
	var private crypto.Signer
	var err error
	switch algorithm {
	case "ES256":
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		panic(err) // the system has no random numbers
	}
	return &Key{ID: id, Algorithm: algorithm, Private: private}
}

// Public returns the key as key sets have it.
func (k *Key) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: k.Algorithm, Use: "sig"}
}

// Sign returns a token in the compact form. Members of header replace those that the key
// has; one that is nil is left out.
func (k *Key) Sign(claims any, header map[jose.HeaderKey]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return k.SignText(payload, header)
}

// SignText signs a payload as it is.
func (k *Key) SignText(payload []byte, header map[jose.HeaderKey]any) string {
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{"typ": "JWT", "kid": k.ID}}
	for name, value := range header {
		options.ExtraHeaders[name] = value
		if value == nil {
			delete(options.ExtraHeaders, name)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(k.Algorithm), Key: k.Private}, options)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return text
}

// Issuer is a provider that runs until it is closed.
type Issuer struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	keys   []*Key
	routes map[string]http.HandlerFunc
	counts map[string]int
}

// New starts an issuer with one key for RS256.
func New() *Issuer {
	i := &Issuer{routes: map[string]http.HandlerFunc{}, counts: map[string]int{}, keys: []*Key{NewKey("first", "RS256")}}
	i.server = httptest.NewServer(http.HandlerFunc(i.serve))
	i.URL = i.server.URL
	return i
}

// Close stops the issuer.
func (i *Issuer) Close() { i.server.Close() }

// Key is the key that signs.
func (i *Issuer) Key() *Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// SetKeys replaces the keys that are published; the first of them signs.
func (i *Issuer) SetKeys(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Serve replaces what is served at a path; nil puts back what was there.
func (i *Issuer) Serve(path string, handler http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.routes[path] = handler
}

// Count returns how often a path was asked for.
func (i *Issuer) Count(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.counts[path]
}

// Claims are those of a token that is good for five minutes, with changes; nil leaves a
// claim out.
func (i *Issuer) Claims(changes map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": i.URL, "sub": "repo:acme/app:ref:refs/heads/main", "aud": "slipway", "iat": now,
		"nbf": now, "exp": now + 300,
		"repository": "acme/app", "repository_owner": "acme", "ref": "refs/heads/main"}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// Token signs Claims with the issuer's key.
func (i *Issuer) Token(changes map[string]any) string { return i.Key().Sign(i.Claims(changes), nil) }

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.counts[r.URL.Path]++
	handler := i.routes[r.URL.Path]
	i.mu.Unlock()
	if handler == nil {
		handler = i.document
	}
	handler(w, r)
}

// document writes the two documents.
func (i *Issuer) document(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case DiscoveryPath:
		Discovery(w, i.URL, i.URL+KeysPath)
	case KeysPath:
		i.mu.Lock()
		defer i.mu.Unlock()
		var set jose.JSONWebKeySet
		for _, key := range i.keys {
			set.Keys = append(set.Keys, key.Public())
		}
		_ = json.NewEncoder(w).Encode(set) // a client that has gone needs none
	default:
		http.NotFound(w, r)
	}
}

// Discovery writes a discovery document.
func Discovery(w http.ResponseWriter, issuer, keys string) {
	fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"id_token_signing_alg_values_supported":["RS256"]}`, issuer, keys)
}
