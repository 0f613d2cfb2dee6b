// Package seal encrypts the secrets that the database stores for organizations:
// those of storage connections, webhooks, test variables and tunnels.
//
// The key is the installation's signing key (SLIPWAY_SIGNING_KEY), which is not in
// the database, so that a copy of the database alone discloses nothing. A key is
// derived from it for each purpose: a secret that was sealed for one cannot be
// unsealed for another, even when a row is copied to where it does not belong.
//
// A sealed secret has a version byte, so that the scheme can change later. A secret
// that was damaged, or sealed with another key, is ErrUnseal; nothing of it is
// returned.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A sealed secret is a version byte, which is authenticated with it, then the
// output of AES-256-GCM with a random nonce: nonce, ciphertext, tag.
const (
	sealVersion = 1
	// minSigningKey is the strength of the cipher: a shorter key would be
	// weaker than it looks.
	minSigningKey = 32
)

// Purpose is what a secret is for. A secret sealed for one can be unsealed for no
// other.
type Purpose string

// The purposes. Stored secrets depend on their texts.
const (
	Connection Purpose = "slipway storage connection secret"
	Variable   Purpose = "slipway test variable"
	Tunnel     Purpose = "slipway tunnel address"
	Webhook    Purpose = "slipway webhook secret"
)

// ErrUnseal means that a secret was sealed with another key, or damaged.
var ErrUnseal = errors.New("the stored secret cannot be decrypted: SLIPWAY_SIGNING_KEY is not the one it was stored with")

// Seal encrypts a secret (AES-256-GCM, the key derived from key by HKDF).
func Seal(key []byte, of Purpose, secret string) ([]byte, error) {
	gcm, err := sealCipher(key, of)
	if err != nil {
		return nil, err
	}
	version := []byte{sealVersion}
	return gcm.Seal(version, nil, []byte(secret), version), nil
}

// Unseal decrypts what Seal returned; ErrUnseal when the key is another.
func Unseal(key []byte, of Purpose, sealed []byte) (string, error) {
	gcm, err := sealCipher(key, of)
	if err != nil {
		return "", err
	}
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return "", ErrUnseal
	}
	secret, err := gcm.Open(nil, nil, sealed[1:], sealed[:1])
	if err != nil {
		return "", ErrUnseal
	}
	return string(secret), nil
}

func sealCipher(key []byte, of Purpose) (cipher.AEAD, error) {
	if len(key) < minSigningKey {
		return nil, fmt.Errorf("SLIPWAY_SIGNING_KEY must have at least %d bytes", minSigningKey)
	}
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
