package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Ring is the installation's signing keys: the current one first, which seals and signs,
// then older ones, which still open what they sealed. Without any, nothing can be sealed.
type Ring [][]byte

// NewRing returns the ring of a current key and older ones, those separated by white
// space. Keys that are empty are left out, and so is an older one that is current again.
// The error names the setting of a key that is too short.
func NewRing(current, older string) (Ring, error) {
	if current == "" {
		if strings.TrimSpace(older) != "" {
			return nil, fmt.Errorf("SLIPWAY_SIGNING_KEYS_OLD is set, and SLIPWAY_SIGNING_KEY is not")
		}
		return nil, nil
	}
	if len(current) < minSigningKey {
		return nil, errShortKey
	}
	ring := Ring{[]byte(current)}
	for _, key := range strings.Fields(older) {
		if len(key) < minSigningKey {
			return nil, fmt.Errorf("a key in SLIPWAY_SIGNING_KEYS_OLD has less than %d bytes", minSigningKey)
		}
		if ring.find(identify([]byte(key))) == nil {
			ring = append(ring, []byte(key))
		}
	}
	return ring, nil
}

// CanSeal reports whether there is a current key of enough bytes.
func (r Ring) CanSeal() bool { return len(r) > 0 && len(r[0]) >= minSigningKey }

// Fingerprints names the keys, the current one first.
func (r Ring) Fingerprints() []string {
	list := make([]string, 0, len(r))
	for _, key := range r {
		list = append(list, Fingerprint(key))
	}
	return list
}

// find returns the key with that id; nil when the ring lacks it.
func (r Ring) find(id [idLength]byte) []byte {
	for _, key := range r {
		if identify(key) == id {
			return key
		}
	}
	return nil
}

// idLength bytes of a fingerprint name the key in what it sealed: enough that two keys
// of a ring are never taken for each other.
const idLength = 8

// Fingerprint names a key without disclosing it: the first 16 bytes, in hexadecimal, of
// HMAC-SHA256 over a fixed text.
func Fingerprint(key []byte) string {
	sum := fingerprint(key)
	return hex.EncodeToString(sum[:16])
}

func fingerprint(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("slipway signing key fingerprint v1"))
	return mac.Sum(nil)
}

func identify(key []byte) (id [idLength]byte) {
	copy(id[:], fingerprint(key))
	return id
}

// ShortFingerprint is what people compare: the first eight characters.
func ShortFingerprint(fingerprint string) string { return fingerprint[:min(8, len(fingerprint))] }

// Current reports whether a sealed secret needs no older key: the current one sealed it,
// in the newest form.
func (r Ring) Current(sealed []byte) bool {
	return r.CanSeal() && strings.HasPrefix(string(sealed), string(r.Mark()))
}

// Mark begins all that the current key seals: the version and the key's id.
func (r Ring) Mark() []byte {
	id := identify(r[0])
	return append([]byte{sealVersion}, id[:]...)
}

// SealedBy returns the fingerprint of the key of the ring that opens a secret; "" when
// none does.
func (r Ring) SealedBy(of Purpose, sealed []byte) string {
	for _, key := range r {
		if _, err := Unseal(Ring{key}, of, sealed); err == nil {
			return Fingerprint(key)
		}
	}
	return ""
}
