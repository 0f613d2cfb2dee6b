package route

import (
	"net/http"

	"github.com/slipway-qa/slipway/storage"
)

// maxIdempotencyKey bounds the header; ids and commit names are shorter.
const maxIdempotencyKey = 200

// IdempotencyKeyOf returns the header Idempotency-Key, "" when there is none;
// *storage.InvalidError when it cannot be one.
func IdempotencyKeyOf(r *http.Request) (string, error) {
	key := r.Header.Get(IdempotencyKey)
	if len(key) > maxIdempotencyKey {
		return "", storage.Invalid(IdempotencyKey, "is longer than %d bytes", maxIdempotencyKey)
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return "", storage.Invalid(IdempotencyKey, "may hold printable ASCII")
		}
	}
	return key, nil
}
