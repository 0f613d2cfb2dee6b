package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxKeys bounds a set; issuers publish two to ten, the largest some dozens.
	maxKeys = 100
	maxKid  = 512 // bytes
	// The bits of RSA keys: below is weak (NIST SP 800-131A), above is slow to verify.
	minRSA, maxRSA = 2048, 8192
	// maxTries bounds the signatures that are computed for one token without a kid, or
	// with one that several keys have.
	maxTries = 8
)

// KeySet is what an issuer published.
type KeySet struct {
	Issuer     string   // as the discovery document names it
	URI        string   // of the key set
	Algorithms []string // that the discovery document lists
	Published  int      // keys of the set, those that cannot be used too

	keys []jose.JSONWebKey
}

// publicKey are the members of a key that are read (RFC 7517 and 7518); private ones
// and certificates never are.
type publicKey struct {
	Kty string `json:"kty"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	Kid string `json:"kid,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
}

// newKeySet takes the keys that can verify something; others are ignored (RFC 7517,
// part 5).
func newKeySet(published []json.RawMessage) (*KeySet, error) {
	if len(published) > maxKeys {
		return nil, &FetchError{Text: fmt.Sprintf("the key set has more than %d keys", maxKeys)}
	}
	set := &KeySet{Published: len(published)}
	for _, text := range published {
		if key, ok := readKey(text); ok {
			set.keys = append(set.keys, key)
		}
	}
	if len(set.keys) == 0 {
		return nil, &FetchError{Text: "the key set has no key that can be used: RSA of 2048 to 8192 bits, or EC P-256"}
	}
	return set, nil
}

func readKey(text json.RawMessage) (key jose.JSONWebKey, ok bool) {
	var public publicKey
	if json.Unmarshal(text, &public) != nil || public.Use != "" && public.Use != "sig" || len(public.Kid) > maxKid {
		return key, false
	}
	if public.Kty != "RSA" && public.Kty != "EC" {
		return key, false
	}
	clean, err := json.Marshal(public)
	if err != nil || key.UnmarshalJSON(clean) != nil || !key.IsPublic() || !key.Valid() {
		return key, false
	}
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		bits := k.N.BitLen()
		return key, bits >= minRSA && bits <= maxRSA && k.N.Bit(0) == 1 && k.E >= 3 && k.E&1 == 1
	case *ecdsa.PublicKey:
		return key, k.Curve == elliptic.P256()
	}
	return key, false
}

// fits reports whether a key is for an algorithm.
func fits(key *jose.JSONWebKey, algorithm string) bool {
	if key.Algorithm != "" && key.Algorithm != algorithm {
		return false
	}
	switch key.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS")
	case *ecdsa.PublicKey:
		return algorithm == "ES256"
	}
	return false
}

// find returns the keys that may have signed: those with the kid, or all of the
// algorithm when the token names none.
func (s *KeySet) find(kid, algorithm string) []jose.JSONWebKey {
	var found []jose.JSONWebKey
	for i := range s.keys {
		if (kid == "" || s.keys[i].KeyID == kid) && fits(&s.keys[i], algorithm) {
			found = append(found, s.keys[i])
		}
	}
	return found[:min(len(found), maxTries)]
}

// Usable returns those of the algorithms that some key of the set is for.
func (s *KeySet) Usable(algorithms []string) []string {
	usable := []string{}
	for _, name := range algorithms {
		if slices.ContainsFunc(s.keys, func(k jose.JSONWebKey) bool { return fits(&k, name) }) {
			usable = append(usable, name)
		}
	}
	return usable
}
