// Package seal encrypts the secrets that the database stores for organizations:
// those of storage connections, webhooks, test variables, environments, tunnels and commit
// statuses, and the logins of suite runs.
//
// The key is the installation's signing key (SLIPWAY_SIGNING_KEY), which is not in
// the database, so that a copy of the database alone discloses nothing. A key is
// derived from it for each purpose: a secret that was sealed for one cannot be
// unsealed for another, even when a row is copied to where it does not belong.
//
// A sealed secret names its key, so that the key can be changed: a Ring has the current
// key and the older ones that rows still need. What was sealed before keys had names
// (version 1) is tried with each. A secret that was damaged, or whose key the ring
// lacks, is ErrUnseal; nothing of it is returned.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A sealed secret is a version byte and the id of its key (idLength bytes), which are
// authenticated with it, then the output of AES-256-GCM with a random nonce: nonce,
// ciphertext, tag. Version 1 has no id.
const (
	unnamedVersion = 1
	sealVersion    = 2
	// minSigningKey is the strength of the cipher: a shorter key would be
	// weaker than it looks.
	minSigningKey = 32
)

// Purpose is what a secret is for. A secret sealed for one can be unsealed for no
// other.
type Purpose string

// The purposes. Stored secrets depend on their texts.
const (
	Connection   Purpose = "slipway storage connection secret"
	Variable     Purpose = "slipway test variable"
	Tunnel       Purpose = "slipway tunnel address"
	Webhook      Purpose = "slipway webhook secret"
	CommitStatus Purpose = "slipway commit status token"
	// RunVariables are the values that were given to one run.
	RunVariables Purpose = "slipway variables of a run"
	// DataKey is the key of the secret columns of one case's data, which are DataRow.
	DataKey Purpose = "slipway key of data rows"
	DataRow Purpose = "slipway secret values of a data row"
	// Environment are the secrets of an environment of tests.
	Environment Purpose = "slipway test environment"
	// Login is what the login of a suite run has left in its browser.
	Login Purpose = "slipway login of a suite run"
)

// ErrUnseal means that a secret was sealed with another key, or damaged.
var ErrUnseal = errors.New("the stored secret cannot be decrypted: neither SLIPWAY_SIGNING_KEY nor one of SLIPWAY_SIGNING_KEYS_OLD is " +
	"the key that it was stored with")

// Seal encrypts a secret with the current key (AES-256-GCM, the key derived from it by
// HKDF).
func Seal(ring Ring, of Purpose, secret string) ([]byte, error) {
	if !ring.CanSeal() {
		return nil, errShortKey
	}
	gcm, err := sealCipher(ring[0], of)
	if err != nil {
		return nil, err
	}
	mark := ring.Mark()
	return gcm.Seal(mark, nil, []byte(secret), mark), nil
}

var errShortKey = fmt.Errorf("SLIPWAY_SIGNING_KEY must have at least %d bytes; openssl rand -hex %d makes one",
	minSigningKey, minSigningKey)

// Unseal decrypts what Seal returned; ErrUnseal when the ring lacks its key.
func Unseal(ring Ring, of Purpose, sealed []byte) (string, error) {
	if !ring.CanSeal() {
		return "", errShortKey
	}
	switch {
	case len(sealed) > idLength && sealed[0] == sealVersion:
		key := ring.find([idLength]byte(sealed[1 : 1+idLength]))
		if key == nil {
			return "", ErrUnseal
		}
		return open(key, of, sealed, 1+idLength)
	case len(sealed) > 0 && sealed[0] == unnamedVersion:
		for _, key := range ring {
			if secret, err := open(key, of, sealed, 1); err == nil {
				return secret, nil
			}
		}
	}
	return "", ErrUnseal
}

// open decrypts what begins with so many bytes of mark.
func open(key []byte, of Purpose, sealed []byte, mark int) (string, error) {
	gcm, err := sealCipher(key, of)
	if err != nil {
		return "", err
	}
	secret, err := gcm.Open(nil, nil, sealed[mark:], sealed[:mark])
	if err != nil {
		return "", ErrUnseal
	}
	return string(secret), nil
}

func sealCipher(key []byte, of Purpose) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, string(of), 32)
	if err != nil {
		return nil, fmt.Errorf("derive the sealing key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("sealing cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
