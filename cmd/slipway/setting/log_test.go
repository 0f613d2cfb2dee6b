package setting

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/terminal"
)

// The log is for people only where they asked for it, or sit at the terminal of slipway up;
// tests have no terminal.
func TestLogFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command, format string
		people          bool
	}{{"up", "auto", terminal.Is(os.Stderr)}, {"worker", "auto", false}, {"worker", "people", true}, {"up", "json", false},
		{"up", "text", false}} {
		h := (&Settings{LogLevel: "info", LogFormat: c.format}).Logger(c.command).Handler()
		// Only the handler for people reads debug lines at the level info: it counts crashes.
		require.Equal(t, c.people, h.Enabled(t.Context(), slog.LevelDebug), "%s %s", c.command, c.format)
	}
}

func TestLogLevels(t *testing.T) {
	for _, level := range []string{"debug", "info", "warn", "error"} {
		s, err := parsed(t, "version", "--log-level", level)
		require.NoError(t, err)
		var want slog.Level
		require.NoError(t, want.UnmarshalText([]byte(level)))
		require.True(t, s.Logger("version").Enabled(t.Context(), want))
		require.False(t, s.Logger("version").Enabled(t.Context(), want-1))
	}
	_, err := parsed(t, "version", "--log-level", "loud")
	require.Error(t, err)
}
