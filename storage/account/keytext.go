package account

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// KeyKind is what a key is for; it stands in the key's text.
type KeyKind string

// The kinds.
const (
	KindAPI      KeyKind = "api"   // distribution, upload and crash reading
	KindAccess   KeyKind = "acc"   // authoring
	KindCrash    KeyKind = "crash" // submission of crash reports
	KindOperator KeyKind = "op"    // password of an operator
	KindBearer   KeyKind = "tok"   // Bearer token, an API key's for an hour
	KindSDK      KeyKind = "sdk"   // sessions and feedback of an app
)

// stored is the kind as the api_keys table names it.
func (k KeyKind) stored() (string, error) {
	switch k {
	case KindAPI:
		return "api", nil
	case KindAccess:
		return "access", nil
	}
	return "", &storage.InvalidError{Field: "kind", Msg: "must be api or acc"}
}

const (
	keyPrefix = "slp"
	// randomLength base62 characters are 238 bits: beyond guessing, so that a
	// digest needs neither salt nor stretching.
	randomLength = 40
	// maxKeyText bounds what ParseKey looks at: prefix, a region of at most 32
	// characters, kind and random part.
	maxKeyText = 3 + 1 + maxRegion + 1 + 5 + 1 + randomLength
	maxRegion  = 32
	hintLength = 4
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ErrMalformedKey means that a text is no key of this service at all.
var ErrMalformedKey = errors.New("not a key of this service")

// RegionError refuses a key that another region issued. Its text is meant for
// the caller.
type RegionError struct{ Have, Want string }

func (e *RegionError) Error() string {
	return fmt.Sprintf("this key belongs to the region %q; this is the region %q: use the key that this region issued", e.Have, e.Want)
}

// Digest is the SHA-256 of a key's text: what is stored and looked up.
type Digest [sha256.Size]byte

// DigestOf digests a key's text.
func DigestOf(text string) Digest { return sha256.Sum256([]byte(text)) }

// Equal compares in constant time with a stored digest.
func (d Digest) Equal(stored []byte) bool { return subtle.ConstantTimeCompare(d[:], stored) == 1 }

// Key is what a key's text contains. It does not prove that the key
// exists.
type Key struct {
	Region string
	Kind   KeyKind
	Digest Digest
}

// ParseKey reads `slp_<region>_<kind>_<40 base62 characters>`, or returns
// ErrMalformedKey.
func ParseKey(text string) (Key, error) {
	if len(text) > maxKeyText {
		return Key{}, ErrMalformedKey
	}
	parts := strings.Split(text, "_")
	if len(parts) != 4 || parts[0] != keyPrefix || !validRegion(parts[1]) || len(parts[3]) != randomLength {
		return Key{}, ErrMalformedKey
	}
	kind := KeyKind(parts[2])
	switch kind {
	case KindAPI, KindAccess, KindCrash, KindOperator, KindBearer, KindSDK:
	default:
		return Key{}, ErrMalformedKey
	}
	for i := range len(parts[3]) {
		if strings.IndexByte(base62, parts[3][i]) < 0 {
			return Key{}, ErrMalformedKey
		}
	}
	return Key{Region: parts[1], Kind: kind, Digest: DigestOf(text)}, nil
}

// In returns a *RegionError unless the key was issued in the region.
func (k Key) In(region string) error {
	if k.Region != region {
		return &RegionError{Have: k.Region, Want: region}
	}
	return nil
}

// Secret is a new key. Text is shown once and stored nowhere.
type Secret struct {
	Text   string
	Digest Digest
	Hint   string // the last four characters, to distinguish keys in a list
}

// SecretOf is the secret of a text that exists already.
func SecretOf(text string) Secret {
	return Secret{Text: text, Digest: DigestOf(text), Hint: text[max(0, len(text)-hintLength):]}
}

// String keeps the text out of logs.
func (s Secret) String() string { return "key ending in " + s.Hint }

// GoString keeps the text out of %#v.
func (s Secret) GoString() string { return s.String() }

// Issuer creates keys for one region.
type Issuer struct {
	region string
	random io.Reader
}

var regionForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

func validRegion(region string) bool {
	return len(region) <= maxRegion && regionForm.MatchString(region)
}

// NewIssuer creates an issuer. The region is 1 to 32 lower-case letters, digits
// and hyphens; random is crypto/rand.Reader when nil.
func NewIssuer(region string, random io.Reader) (*Issuer, error) {
	if !validRegion(region) {
		return nil, &storage.InvalidError{Field: "region", Msg: "must have 1 to 32 lower-case letters, digits and inner hyphens"}
	}
	if random == nil {
		random = rand.Reader
	}
	return &Issuer{region: region, random: random}, nil
}

// Region is the region that the issuer's keys name.
func (i *Issuer) Region() string { return i.region }

// New creates a key of the kind.
func (i *Issuer) New(kind KeyKind) (Secret, error) {
	part, err := i.text(randomLength)
	if err != nil {
		return Secret{}, fmt.Errorf("make a key: %w", err)
	}
	return SecretOf(strings.Join([]string{keyPrefix, i.region, string(kind), part}, "_")), nil
}

// text returns n base62 characters, each equally likely: bytes from 248 on are
// dropped, for 248 is the largest multiple of 62 that a byte holds.
func (i *Issuer) text(n int) (string, error) {
	out := make([]byte, 0, n)
	buf := make([]byte, 64)
	for len(out) < n {
		if _, err := io.ReadFull(i.random, buf); err != nil {
			return "", err
		}
		for _, b := range buf {
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out), nil
}

const (
	oidcKeyPrefix = "oidc_"
	// oidcKeyBytes are 192 random bits: a digest needs no salt.
	oidcKeyBytes = 24
)

// NewOIDC creates the key of an OIDC configuration: oidc_ and 48 hexadecimal digits.
func (i *Issuer) NewOIDC() (Secret, error) {
	random := make([]byte, oidcKeyBytes)
	if _, err := io.ReadFull(i.random, random); err != nil {
		return Secret{}, fmt.Errorf("make a configuration key: %w", err)
	}
	return SecretOf(oidcKeyPrefix + hex.EncodeToString(random)), nil
}

// ParseOIDCKey returns the digest of a configuration key, or ErrMalformedKey.
func ParseOIDCKey(text string) (Digest, error) {
	digits, ok := strings.CutPrefix(text, oidcKeyPrefix)
	if !ok || len(digits) != 2*oidcKeyBytes || strings.Trim(digits, "0123456789abcdef") != "" {
		return Digest{}, ErrMalformedKey
	}
	return DigestOf(text), nil
}
