package localservice

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

var secretForm = regexp.MustCompile(`^[0-9a-f]{48}$`)

// secret returns the password kept under a name. When there is none yet it
// draws one of 192 bits; in hex, since it stands in URLs, configuration files
// and SQL and must need no quoting in any.
func (f *Folder) secret(name string) (string, error) {
	folder := filepath.Join(f.dir, "secrets")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("private: %w", err)
	}
	path := filepath.Join(folder, name)
	kept, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		var random [24]byte
		rand.Read(random[:]) // never fails, by its contract
		word := hex.EncodeToString(random[:])
		return word, ReplaceFile(path, []byte(word), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("private: %w", err)
	}
	if !secretForm.Match(kept) {
		return "", fmt.Errorf("private: %s does not hold a password made by Slipway", path)
	}
	return string(kept), nil
}

// Secret returns a secret of the folder's owner that is no server's password,
// drawn at the first call and kept: 48 hexadecimal digits.
func (f *Folder) Secret(name string) (string, error) { return f.secret(name) }
