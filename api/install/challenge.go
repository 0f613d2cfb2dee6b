package install

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// signedNumbers writes numbers that nobody can alter, with points between them:
//
//	NUMBER.NUMBER.SIGNATURE
//
// SIGNATURE is HMAC-SHA256, base64url without padding, over the label and the numbers.
// A label of its own keeps each kind of text apart from whatever else the secret signs.
func signedNumbers(secret []byte, label string, numbers ...int64) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(label + "\n"))
	var b strings.Builder
	for _, n := range numbers {
		mac.Write([]byte(number(n) + "\n"))
		b.WriteString(number(n) + ".")
	}
	return b.String() + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// maxSigned bounds what is read of a stranger's text: five numbers of at most 20
// characters and 43 of signature.
const maxSigned = 5*21 + 43

// readSigned reads so many numbers; false for a text that was altered.
func readSigned(secret []byte, label, text string, count int) ([]int64, bool) {
	if len(text) > maxSigned {
		return nil, false
	}
	parts := strings.Split(text, ".")
	if len(parts) != count+1 {
		return nil, false
	}
	numbers := make([]int64, count)
	for i := range numbers {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return nil, false
		}
		numbers[i] = n
	}
	// The whole text is compared, so a number has only one spelling.
	return numbers, hmac.Equal([]byte(signedNumbers(secret, label, numbers...)), []byte(text))
}

const (
	challengeLabel = "slipway device challenge v1"
	resultLabel    = "slipway device result v1"
	// challengeAge is the time to install a profile: the device asks for its
	// passcode, and people look for the settings.
	challengeAge = 30 * time.Minute
)

// challenge names whom a device is registered for. Nonce makes each one serve one
// device.
type challenge struct {
	organization, user, build int64 // build 0: none
	expires                   time.Time
	nonce                     int64
}

func (q challenge) signed(secret []byte) string {
	return signedNumbers(secret, challengeLabel, q.organization, q.user, q.build, q.expires.Unix(), q.nonce)
}

// readChallenge returns false for one that was altered or has expired.
func readChallenge(secret []byte, text string, now time.Time) (challenge, bool) {
	n, ok := readSigned(secret, challengeLabel, text, 5)
	if !ok {
		return challenge{}, false
	}
	q := challenge{organization: n[0], user: n[1], build: n[2], expires: time.Unix(n[3], 0), nonce: n[4]}
	return q, now.Before(q.expires)
}

// result names a device that was registered, for the page that the device opens
// afterwards, maybe in a browser that nobody signed in with.
type result struct {
	organization, device, build int64 // build 0: none
	expires                     time.Time
}

func (r result) signed(secret []byte) string {
	return signedNumbers(secret, resultLabel, r.organization, r.device, r.build, r.expires.Unix())
}

func readResult(secret []byte, text string, now time.Time) (result, bool) {
	n, ok := readSigned(secret, resultLabel, text, 4)
	if !ok {
		return result{}, false
	}
	r := result{organization: n[0], device: n[1], build: n[2], expires: time.Unix(n[3], 0)}
	return r, now.Before(r.expires)
}
