package install

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// ticketAge is how long an install button works after its page was loaded.
const ticketAge = time.Hour

// maxTicket bounds what is read of a stranger's query: two numbers of at most 19
// digits and 43 characters of signature.
const maxTicket = 19 + 1 + 19 + 1 + 43

// ticket stands for a visitor where no cookie is sent.
//
//	USER.EXPIRY.SIGNATURE
//
// USER is 0 for a visitor of an open page, EXPIRY in Unix seconds, SIGNATURE
// HMAC-SHA256, base64url without padding, over the build's id, both, and the
// passwords of its page where there are any.
type ticket struct {
	build, user int64
	locks       string // stands for the passwords of the page; "" without
	expires     time.Time
}

func (t ticket) signed(secret []byte) string {
	// A label of its own keeps tickets apart from whatever else the secret signs.
	mac := hmac.New(sha256.New, secret)
	parts := []string{"slipway install ticket v1", number(t.build), number(t.user), number(t.expires.Unix())}
	if t.locks != "" {
		parts = append(parts, t.locks)
	}
	for _, part := range parts {
		mac.Write([]byte(part + "\n"))
	}
	return number(t.user) + "." + number(t.expires.Unix()) + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// readTicket gives the person of a ticket for the build; the answer is false for
// one that was altered, is another build's or has expired.
func readTicket(secret []byte, text string, build int64, locks string, now time.Time) (user int64, ok bool) {
	if len(text) > maxTicket {
		return 0, false
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return 0, false
	}
	user, userErr := strconv.ParseInt(parts[0], 10, 64)
	expiry, expiryErr := strconv.ParseInt(parts[1], 10, 64)
	if userErr != nil || expiryErr != nil {
		return 0, false
	}
	t := ticket{build: build, user: user, locks: locks, expires: time.Unix(expiry, 0)}
	// The whole text is compared, so a number has only one spelling.
	if !hmac.Equal([]byte(t.signed(secret)), []byte(text)) || !now.Before(t.expires) {
		return 0, false
	}
	return user, true
}

// tickets signs tickets and reads them, with the secret of the installation.
type tickets struct {
	db  *storage.DB
	now func() time.Time

	mu     sync.Mutex
	secret []byte // nil until it was read
}

func (t *tickets) newTicket(ctx context.Context, build, user int64, locks string) (string, error) {
	secret, err := t.installationSecret(ctx)
	if err != nil {
		return "", err
	}
	return ticket{build: build, user: user, locks: locks, expires: t.now().Add(ticketAge)}.signed(secret), nil
}

// installationSecret reads the secret once; a failure is tried again.
func (t *tickets) installationSecret(ctx context.Context) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.secret == nil {
		secret, err := account.InstallationSecret(ctx, t.db)
		if err != nil {
			return nil, err
		}
		t.secret = secret
	}
	return t.secret, nil
}
