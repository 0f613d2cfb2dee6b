package landing

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// The password of a page is stored as pbkdf2-sha256$ITERATIONS$SALT$KEY, SALT and KEY in
// base64 without padding. 600,000 iterations are what OWASP's Password Storage Cheat Sheet
// asks of this function; they take some 150 ms, so callers bound how many run at once.
const (
	passwordScheme     = "pbkdf2-sha256"
	passwordIterations = 600_000
	passwordSalt       = 16
	passwordKey        = 32
	minPassword        = 6
	// MaxPassword bounds a password in characters.
	MaxPassword = 200
)

// pagePassword returns the digest of a new password; "" for none.
func pagePassword(password string) (string, error) {
	if password == "" {
		return "", nil
	}
	if n := utf8.RuneCountInString(password); n < minPassword || n > MaxPassword {
		return "", storage.Invalid("landing_page_password", "must have %d to %d characters, or be null", minPassword, MaxPassword)
	}
	salt := make([]byte, passwordSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("salt of a password: %w", err)
	}
	key, err := pbkdf2.Key(sha256.New, password, salt, passwordIterations, passwordKey)
	if err != nil {
		return "", fmt.Errorf("digest of a password: %w", err)
	}
	code := base64.RawStdEncoding
	return strings.Join([]string{passwordScheme, strconv.Itoa(passwordIterations), code.EncodeToString(salt),
		code.EncodeToString(key)}, "$"), nil
}

// CheckPassword reports whether a password is that of a digest. It takes as long for a
// wrong one as for the right one.
func CheckPassword(digest, password string) bool {
	parts := strings.Split(digest, "$")
	if len(parts) != 4 || parts[0] != passwordScheme || utf8.RuneCountInString(password) > MaxPassword {
		return false
	}
	code := base64.RawStdEncoding
	iterations, err1 := strconv.Atoi(parts[1])
	salt, err2 := code.DecodeString(parts[2])
	want, err3 := code.DecodeString(parts[3])
	if err1 != nil || err2 != nil || err3 != nil {
		return false
	}
	key, err := pbkdf2.Key(sha256.New, password, salt, iterations, len(want))
	return err == nil && subtle.ConstantTimeCompare(key, want) == 1
}
