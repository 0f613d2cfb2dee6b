package webhookcall

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// Secrets as the Standard Webhooks specification (version 1.0.0) has them: a prefix and
// Base64 of 24 to 64 random bytes.
const (
	secretPrefix = "whsec_"
	secretSize   = 32
	leastSecret  = 24
	mostSecret   = 64
)

// NewSecret returns a random secret.
func NewSecret() string {
	b := make([]byte, secretSize)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// CheckSecret refuses a secret that a receiver's library would not take.
func CheckSecret(field, text string) error {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret || base64.StdEncoding.EncodeToString(key) != encoded {
		return storage.Invalid(field, "must be %s and Base64 of %d to %d bytes", secretPrefix, leastSecret, mostSecret)
	}
	return nil
}

// Secrets are those that sign for a webhook at a time: its own, and the former one while
// that is valid. The error is seal.ErrUnseal when they were sealed with another key.
func Secrets(keys seal.Ring, w *webhook.Webhook, now time.Time) ([]string, error) {
	secret, err := seal.Unseal(keys, seal.Webhook, w.Secret)
	if err != nil || w.FormerSecret == nil || w.FormerUntil == nil || !now.Before(*w.FormerUntil) {
		return []string{secret}, err
	}
	former, err := seal.Unseal(keys, seal.Webhook, w.FormerSecret)
	return []string{secret, former}, err
}

// Sign returns the header webhook-signature: a signature with each of the secrets, by
// HMAC-SHA256 over "id.timestamp.body".
func Sign(secrets []string, id string, at time.Time, body string) string {
	var list []string
	for _, secret := range secrets {
		// A stored secret was checked.
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "." + body))
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(list, " ")
}
