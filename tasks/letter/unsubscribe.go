package letter

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// A token is two numbers of eight bytes and the first half of an HMAC-SHA-256, in
// Base64 for URLs: 43 characters behind the prefix, which keeps it out of the request
// log.
const (
	tokenPrefix  = "slp_mail_"
	tokenNumbers = 16
	tokenMAC     = 16
	tokenLength  = len(tokenPrefix) + 43
)

// UnsubscribeToken names a person of an organization in a link that ends mail to
// them. secret is the installation's.
func UnsubscribeToken(secret []byte, organizationID, userID int64) string {
	token := binary.BigEndian.AppendUint64(nil, uint64(organizationID))
	token = binary.BigEndian.AppendUint64(token, uint64(userID))
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(token, tokenSum(secret, token)...))
}

// ReadUnsubscribeToken returns who a token names; storage.ErrNotFound for one that
// this installation has not made.
func ReadUnsubscribeToken(secret []byte, token string) (organizationID, userID int64, err error) {
	encoded, found := strings.CutPrefix(token, tokenPrefix)
	b, err := base64.RawURLEncoding.DecodeString(encoded)
	if !found || err != nil || len(token) != tokenLength || len(b) != tokenNumbers+tokenMAC ||
		!hmac.Equal(b[tokenNumbers:], tokenSum(secret, b[:tokenNumbers])) {
		return 0, 0, storage.ErrNotFound
	}
	return int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:])), nil
}

func tokenSum(secret, numbers []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("unsubscribe\x00"))
	mac.Write(numbers)
	return mac.Sum(nil)[:tokenMAC]
}
