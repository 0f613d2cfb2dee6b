package managed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// WriteEnvironment writes the addresses of this run as shell variables, for
// `slipway admin` or another worker beside it.
func WriteEnvironment(dir string, s *setting.Settings) error {
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"SLIPWAY_DATABASE_URL", string(s.DatabaseURL)}, {"SLIPWAY_REDIS_URL", string(s.RedisURL)},
		{"SLIPWAY_OBJECTS_URL", string(s.ObjectsURL)}, {"SLIPWAY_SIGNING_KEY", string(s.SigningKey)},
		{"SLIPWAY_SIGNING_KEYS_OLD", string(s.SigningKeysOld)},
		{"SLIPWAY_PUBLIC_URL", s.PublicURL}, {"SLIPWAY_REGION", s.Region},
	} {
		fmt.Fprintf(&b, "%s=%s\n", v.name, ShellQuote(v.value))
	}
	return localservice.ReplaceFile(filepath.Join(dir, "environment"), []byte(b.String()), 0o600)
}

// ReadEnvironment reads the addresses that slipway up wrote (WriteEnvironment), where the
// settings have none.
func ReadEnvironment(dir string, set *setting.Settings) error {
	raw, err := os.ReadFile(filepath.Join(dir, "environment"))
	if err != nil {
		return fmt.Errorf("slipway up is not ready yet: %w", err)
	}
	fields := map[string]*setting.Secret{"SLIPWAY_DATABASE_URL": &set.DatabaseURL, "SLIPWAY_OBJECTS_URL": &set.ObjectsURL,
		"SLIPWAY_SIGNING_KEY": &set.SigningKey, "SLIPWAY_SIGNING_KEYS_OLD": &set.SigningKeysOld}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if field := fields[name]; field != nil && *field == "" {
			*field = setting.Secret(shellUnquote(value))
		}
	}
	return nil
}

// ShellQuote quotes a text as one word for any POSIX shell.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// shellUnquote reads what ShellQuote wrote.
func shellUnquote(word string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(word, "'"), "'"), `'\''`, "'")
}
